"""PDDLego+ (Gong et al., "Zero-Shot Iterative Formalization and Planning in Partially
Observable Environments", §3): the model writes the domain and the problem, then extends
and repairs both.
"""

import dataclasses
import functools
import random
from pathlib import Path
from typing import Literal

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Turns
from pddlego_local.core.record.events import End, Plan
from pddlego_local.core.record.folder import transcripts
from pddlego_local.decoding.forms import PDDL, PROBLEM, Form, Pddl, Problem
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import Execution
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import (
    AtLeast0,
    AtLeast1,
    Player,
    added,
    prompting,
    settings,
)
from pddlego_local.methods.shared.solved import with_examples

Variant = Literal["detailed", "simple", "simple_goal", "simple_hint", "compact"]

SHOWN: dict[Variant, tuple[str, ...]] = {
    "detailed": ("goal_template", "goal_hint"),
    "simple": (),
    "simple_goal": ("goal_template",),
    "simple_hint": ("goal_hint",),
    "compact": ("brief",),
}


def template_of(variant: Variant) -> str:
    """Returns the template of a variant: "compact" has the content of "detailed" in few
    words, in a template of its own.
    """
    return "compact" if variant == "compact" else "prompt"


@settings
class PddlegoPlus(Player):
    """Settings of the method; calling it plays one episode.

    `keep_prefix` keeps the successful part of a plan whose later action failed, as
    later forks of the published code do; the paper discards it. `domains` is a folder
    of recorded runs: each episode draws a domain that won there and keeps it fixed, and
    the model writes only the problem ("RAG with DF", §5.5). `shots` is the number of
    solved games before the question (`shared.solved`).
    """

    max_attempts: AtLeast1 = 5
    rounds: AtLeast0 = 5
    variant: Variant = "detailed"
    keep_prefix: bool = False
    domains: Path | None = None
    shots: AtLeast0 = added(0)

    prompts = "pddlego_plus"

    def __post_init__(self) -> None:
        """Raises ConfigError if no episode was won in `domains`, or if examples, which
        show whole domains, are to come before a fixed one.
        """
        if self.domains and self.shots:
            raise ConfigError(
                f"method.shots={self.shots} shows games with domains of their own, and"
                " method.domains keeps one fixed; choose method.shots=0."
            )
        if self.domains:
            winning_domains(self.domains)

    @property
    def templates(self) -> tuple[str]:
        return (template_of(self.variant),)

    @property
    def forms(self) -> tuple[Form[Pddl | Problem]]:
        return (PROBLEM if self.domains else PDDL,)

    def play(self, episode: Episode) -> str:
        """Returns success, solver_abort, simulation_abort, game_lost or step_limit."""
        news = episode.memory
        pddl = self._reused_domain(episode) if self.domains else None
        for step in episode.steps():
            refusal: Execution | None = None
            # the outer loop, for simulation errors
            for attempt in range(1, self.max_attempts + 1):
                if attempt > 1:
                    episode.restart()
                pddl = self._refine_until_planned(
                    episode, step, attempt, news, pddl, refusal
                )
                if not pddl.plan:
                    return "solver_abort"
                execution = episode.execute(pddl.plan)
                if execution.ended:
                    return execution.ended
                if not execution.error:
                    break
                refusal = execution
                if self.keep_prefix:
                    episode.remember(execution.turns)
            else:
                return "simulation_abort"
            episode.remember(execution.turns)
            news = execution.turns
        return "step_limit"

    def _refine_until_planned(
        self,
        episode: Episode,
        step: int,
        attempt: int,
        news: Turns,
        previous: Formalization | None,
        refusal: Execution | None,
    ) -> Formalization:
        """Runs the inner loop for solver errors: asks again with the planner's message.
        If the domain is fixed, only the problem is asked for.
        """
        fixed = previous.domain if self.domains and previous else ""
        (form,) = self.forms
        error = ""
        for retry in range(self.rounds + 1):
            shown = prompting.render(
                f"pddlego_plus/{template_of(self.variant)}",
                episode.environment.package,
                actions=episode.environment.actions,
                shown=SHOWN[self.variant],
                observations=news,
                commands=episode.commands,
                shows_commands=episode.environment.shows_commands,
                memory=episode.memory,
                previous=previous if previous and previous.problem else None,
                fixed_domain=fixed,
                solver_error=error,
                refusal=refusal,
                repetition=" , ".join(repeated(episode.memory)),
            )
            examples = with_examples(episode, self.without_examples, self.shots, shown)
            question = episode.question(form, shown, examples, domain=fixed)
            pddl = episode.formalize(
                question, step=step, attempt=attempt, retry=retry, given=bool(fixed)
            )
            if pddl.plan:
                break
            error = pddl.message
            if pddl.problem:
                previous = pddl
        return pddl

    @property
    def without_examples(self) -> "PddlegoPlus":
        return dataclasses.replace(self, shots=0)

    def _reused_domain(self, episode: Episode) -> Formalization:
        """Draws one of the recorded domains with the episode's seed and notes its
        source.
        """
        assert self.domains
        choices = winning_domains(self.domains)
        source, domain = random.Random(episode.seed).choice(choices)
        episode.note(domain_from=source)
        return Formalization(domain, "", "", (), "")


def repeated(memory: Turns) -> list[str]:
    """Returns the commands that occur three times in a row at the end of the memory, if
    any.

    If there are several such sequences, it returns the shortest.
    """
    commands = [turn.command for turn in memory[1:]]
    for length in range(1, len(commands) // 3 + 1):
        last = commands[-length:]
        if commands[-3 * length :] == last * 3:
            return last
    return []


@functools.cache
def winning_domains(folder: Path) -> tuple[tuple[str, str], ...]:
    """Returns the domain of the last plan of every won episode below `folder`, sorted.

    Each entry is (source, text); the source is the transcript's path relative to
    `folder`. Raises ConfigError if there is none.
    """
    domains: list[tuple[str, str]] = []
    for path, events in transcripts(folder):
        ends = [event.row.outcome for event in events if isinstance(event, End)]
        plans = [each for each in events if isinstance(each, Plan) and each.plan]
        if "success" in ends and plans:
            source = str(path.relative_to(folder))
            domains.append((source, plans[-1].domain))
    if not domains:
        raise ConfigError(
            f"method.domains={folder}: there is no won episode with a plan below this"
            " folder; first play the runs that the domains come from, such as"
            " `make sweep EXPERIMENT=paper/pddlego_plus`"
        )
    return tuple(domains)
