"""The answers of a perfect formalizer for a described world: its gold files."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.described.world import world_of
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.sections import with_section
from pddlego_local.pddl.solvability import fact_of


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) of the world in the first turn, in its state after the
    actions so far.
    """
    world = world_of(memory[0].text)
    done = [turn.command.lower().split() for turn in memory[1:] if turn.text]
    if not done:
        return world.domain, world.problem
    actions = {a.word.name: a for a in read_domain(read(world.domain)).actions}
    facts = {f.atom.key for f in read_problem(read(world.problem)).init}
    for name, *things in done:
        action = actions[name]
        values = dict(zip([p.name for p in action.parameters], things, strict=True))
        changed = [(c.negated, fact_of(c, values)) for c in action.effect.changes]
        facts -= {
            (fact[0].removeprefix("not "), *fact[1:]) for gone, fact in changed if gone
        }
        facts |= {fact for gone, fact in changed if not gone}
    init = " ".join(sorted(f"({' '.join(fact)})" for fact in facts))
    return world.domain, with_section(world.problem, ":init", f"(:init {init})")


def problem(memory: Turns) -> str:
    return formalize(memory)[1]


def subgoals(memory: Turns) -> tuple[str, ...]:
    return ("bring about what must be so in the end",)


def command(planned: str) -> str:
    return planned.strip("()")
