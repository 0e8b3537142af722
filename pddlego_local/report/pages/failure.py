"""Finds the moment where a game failed: the last problem file, the line that was
refused, and why.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan
from pddlego_local.pddl.check import check
from pddlego_local.report.pages.readable import readable_file


@dataclass(frozen=True)
class Progress:
    """A game after some event: the method's `step`, the last `plan`, how many commands
    of it the game carried out, and what was refused and why; "" if nothing was.
    """

    step: int = 1
    plan: Plan | None = None
    done: int = 0
    refused: str = ""
    why: str = ""

    def after(self, event: Event) -> Self:
        """Returns the progress after one more event."""
        match event:
            case Call():
                return replace(self, step=event.where.step)
            case Plan():
                refused, why = ("", "") if event.plan else refusal_of(event)
                return replace(self, plan=event, done=0, refused=refused, why=why)
            case ActionTaken() if event.refused:
                command = event.command or event.planned or ""
                return replace(self, refused=command, why=event.feedback)
            case ActionTaken():
                return replace(self, done=self.done + 1)
        return self


def progress_of(events: Iterable[Event]) -> Progress:
    """Returns how far a game came."""
    progress = Progress()
    for event in events:
        progress = progress.after(event)
    return progress


def refusal_of(plan: Plan) -> tuple[str, str]:
    """Returns the first line of PDDL that the planner refuses, and why. If it accepts
    both files, returns the goal, which has no plan or nothing to do.
    """
    files = {
        "domain": readable_file(plan.domain),
        "problem": readable_file(plan.problem),
    }
    for fault in check(files["domain"], files["problem"]).faults:
        if fault.kind != "warning":
            lines = files[fault.file].split("\n")
            return lines[fault.line - 1].strip(), fault.message
    goals = [line for line in files["problem"].split("\n") if "(:goal" in line]
    return (goals[-1].strip() if goals else "(:goal"), plan.message
