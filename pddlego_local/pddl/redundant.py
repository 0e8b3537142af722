"""What a file says twice, left out before the planner sees it.

Fast Downward refuses a file that declares an object twice, although nothing is wrong with it. So a
name that is declared again as the same, and a fact or an action that comes again word by word, are
left out. What contradicts an earlier entry stays, for the planner to refuse.
"""

from collections.abc import Callable, Hashable, Mapping

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.reader import Block, read
from pddlego_local.pddl.sections import listed, with_section
from pddlego_local.pddl.typed_list import read_typed_list


def domain_without_repetition(domain: str) -> tuple[str, tuple[str, ...]]:
    """The file, and what was left out of it."""
    again: list[str] = []
    for section in (":types", ":constants"):
        domain = _with_each_once(domain, section, {}, again)
    domain = _with_blocks_once(domain, ":predicates", again, _signature)
    return _with_blocks_once(domain, "define", again, _action), tuple(again)


def problem_without_repetition(problem: str, domain: str) -> tuple[str, tuple[str, ...]]:
    """The file, and what was left out of it; objects that are constants of the domain too."""
    again: list[str] = []
    block = read(domain, recover=True)
    constants = read_domain(block).constants if block else ()
    said = {entry.name: entry.type_names for entry in constants}
    problem = _with_each_once(problem, ":objects", said, again)
    return _with_blocks_once(problem, ":init", again, _fact), tuple(again)


def _with_each_once(text: str, section: str, said: Mapping[str, Hashable], again: list[str]) -> str:
    """A list of names with types, each once; adds what is left out to `again`."""
    entries = read_typed_list(listed(text, section).items[1:], FaultLog()) or []
    seen, kept, left_out = dict(said), list[str](), list[str]()
    for entry in entries:
        kind = entry.types[0].text if entry.types else "object"
        repeated = entry.name in seen and seen[entry.name] == entry.type_names
        (left_out if repeated else kept).append(f"{entry.word.text} - {kind}")
        seen.setdefault(entry.name, entry.type_names)
    again += [f"{section} {entry}" for entry in left_out]
    return with_section(text, section, f"({' '.join([section, *kept])})") if left_out else text


def _with_blocks_once(
    text: str, section: str, again: list[str], says: Callable[[Block, str], Hashable]
) -> str:
    """A list of blocks, each once; adds what is left out to `again`. `says` is what a block says,
    of its text too; None where it may come again."""
    seen, repeated = set[Hashable](), list[tuple[Block, str]]()
    for block in listed(text, section).blocks:
        written = " ".join(text[block.offset : block.end + 1].split())
        key = says(block, written)
        if key in seen and block.end >= 0:
            repeated.append((block, written))
        elif key is not None:
            seen.add(key)
    for block, _ in reversed(repeated):
        text = text[: block.offset] + text[block.end + 1 :]
    again += [f"{section} {written}" for _, written in repeated]
    return text


def _signature(predicate: Block, _: str) -> Hashable:
    """The name of a predicate and the types of its parameters."""
    parameters = read_typed_list(predicate.items[1:], FaultLog()) or []
    return (predicate.head, *(parameter.type_names for parameter in parameters))


def _fact(_: Block, written: str) -> Hashable:
    return written.lower()


def _action(block: Block, written: str) -> Hashable:
    return written.lower() if block.head == ":action" else None
