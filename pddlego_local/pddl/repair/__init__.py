"""Files that the planner refuses, repaired where it is clear what was meant: an arm of its own.

    text → parentheses → sections → actions → names → facts

These are the slips that models make most: of what all repairs that were tried would mend of the
recorded pairs, these mend 94 %. Each step changes what only one reading can have been meant by, and
says so in words. Nothing is invented: no predicate, no object, no condition and no effect that the
model did not write.
"""

from dataclasses import dataclass

from pddlego_local.pddl.check import Check, check
from pddlego_local.pddl.faults import File
from pddlego_local.pddl.repair import actions, lists, sections, text
from pddlego_local.pddl.repair.text import Repair, Text

MOST_ROUNDS = 5  # of all the steps: one step may make work for an earlier one

BOTH: tuple[File, ...] = ("domain", "problem")
DOMAIN: tuple[File, ...] = ("domain",)
PROBLEM: tuple[File, ...] = ("problem",)
STEPS: tuple[tuple[Repair, tuple[File, ...]], ...] = (
    (text.unescaped, BOTH),
    (text.balanced, BOTH),
    (sections.renamed, BOTH),
    (sections.moved_to_domain, PROBLEM),
    (actions.with_regular_actions, DOMAIN),
    (sections.in_order, BOTH),
    (lists.with_all_types, DOMAIN),
    (lists.with_objects_declared_once, DOMAIN),
    (lists.with_plain_facts, PROBLEM),
)
"""Each with the files that it looks at, beside the other one; two change the other one too."""


@dataclass(frozen=True)
class Repaired:
    """The files after the repair, and a sentence for each change; without any the files are those
    that came in, byte for byte. `accepted`: the planner takes them."""

    domain: str
    problem: str
    changes: tuple[str, ...] = ()
    accepted: bool = False


def repair(domain: str, problem: str) -> Repaired:
    """Repairs what is clear in files that the planner refuses; raises nothing, whatever they are.

    Files that it takes come back as they are, and so do those that a repair would leave with more
    faults than before. A repair of repaired files changes nothing more.
    """
    before = check(domain, problem)
    if before.accepted:
        return Repaired(domain, problem, accepted=True)
    original = pair = Text("domain", domain), Text("problem", problem)
    told: dict[str, None] = {}
    for _ in range(MOST_ROUNDS):
        began = pair
        for step, files in STEPS:
            beside = {"domain": pair, "problem": pair[::-1]}
            changes = [change for file in files for change in step(*beside[file])]
            after = pair[0].changed(changes), pair[1].changed(changes)
            if after != pair:
                pair = after
                told |= dict.fromkeys(why for change in changes for why in change.why)
        if pair == began:
            break
    repaired = pair[0].text, pair[1].text
    after_all = check(*repaired) if pair != original else before
    if pair == original or _count(after_all) > _count(before):
        return Repaired(domain, problem)
    return Repaired(*repaired, tuple(told), after_all.accepted)


def _count(verdict: Check) -> int:
    return sum(fault.kind != "warning" for fault in verdict.faults)
