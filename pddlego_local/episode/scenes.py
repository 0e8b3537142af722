"""From what a prompt shows to the names that a grammar may know: no more and no less.

The names are those of the game's texts, as the environment reads them, of the commands, and of the
objects that the PDDL files in the prompt declare; demonstrations count as what else is shown.
"""

from collections.abc import Iterable, Iterator

from pddlego_local.core.nouns import Action, Names, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.episode.shown import Shown
from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.reader import Block, read


def names_shown(environment: Environment, shown: Shown, tracked: tuple[Turn, ...] = ()) -> Names:
    """`Names.goals` alone comes from `tracked`, the whole memory where a tracker's help is asked
    for (`decoding.goal=frontier`): it is not the prompt's."""
    texts = environment.names(shown.turns)
    declared = [name for text in shown.pddl for name in _declared(text)]
    in_commands = _arguments(environment.actions, (turn.command for turn in shown.turns))
    objects = {name.lower(): name for name in reversed([*texts.objects, *declared])}
    return Names(
        tuple(reversed(objects.values())),
        tuple(dict.fromkeys([*texts.things, *in_commands])),
        environment.names(tracked).goals if tracked else (),
    )


def _declared(text: str) -> Iterator[str]:
    """The constants of a domain or the objects of a problem, as far as the text can be read."""
    block = read(text, lambda *_: None)
    if block is None:
        return
    heads = {item.head for item in block.items if isinstance(item, Block)}
    if "problem" in heads:
        entries = read_problem(block, FaultLog("problem", text)).objects
    else:
        entries = read_domain(block, FaultLog("domain", text)).constants
    yield from (entry.word.text for entry in entries)


def _arguments(actions: Iterable[Action], commands: Iterable[str]) -> Iterator[str]:
    schemas = tuple(actions)
    for command in commands:
        for action in schemas:
            yield from (action.arguments(command) or {}).values()
