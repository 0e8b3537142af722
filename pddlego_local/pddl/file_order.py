"""Which kind of file a block is, which sections it has, and in which order they stand.

Fast Downward accepts only one order of sections, so every other order is a fault.
"""

from collections.abc import Iterator, Mapping, Sequence

from pddlego_local.pddl.faults import FaultLog, File
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Word
from pddlego_local.pddl.task import Domain, Problem

ORDER = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_SECTIONS: Mapping[File, Sequence[str]] = {
    "domain": (
        ":requirements",
        ":types",
        ":constants",
        ":predicates",
        ":functions",
        ":derived",
        ":action",
    ),
    "problem": ORDER,
}
_OTHER: Mapping[File, File] = {"domain": "problem", "problem": "domain"}


def is_other_file(block: Block, log: FaultLog) -> bool:
    """Returns whether `block` is the other kind of file. Reports this, and nothing else
    in the block.
    """
    other = _OTHER[log.file]
    first_list = block.blocks[0] if block.blocks else block
    is_it = block.head == "define" and first_list.head == other
    if is_it:
        log.syntax(block, f"this is a {other}, where the {log.file} is expected")
    return is_it


def read_head(block: Block, log: FaultLog) -> Word | None:
    """Returns the name in `(define (domain name) …` or `(define (problem name) …`, or
    None if the text begins in another way.
    """
    kind = log.file
    if block.head != "define":
        log.syntax(
            block,
            f"the text must begin with `(define ({kind} NAME)`, not with `{block}`",
        )
        return None
    title = block.item(1)
    if not isinstance(title, Block) or title.head != kind:
        log.syntax(title or block, f"`(define` must be followed by `({kind} NAME)`")
        return None
    return read_name(title, log)


def read_name(block: Block, log: FaultLog) -> Word | None:
    """Returns the one name after the head of `block`."""
    name = block.last_of(2)
    if isinstance(name, Word):
        return name
    log.syntax(block, f"`{block}` must hold exactly one name: `({block.head} NAME)`")
    return None


def sections_in(block: Block, file: Domain | Problem, log: FaultLog) -> Iterator[Block]:
    """Yields the sections that a file may have, and refuses everything else."""
    for item in block.items[2:]:
        if isinstance(item, Block) and item.head in _SECTIONS[log.file]:
            yield item
        else:
            _refuse_section(item, log)
            file.whole = False


def check_place(section: Block, seen: set[str], log: FaultLog) -> None:
    """Reports a section of a domain that is repeated or stands after an action."""
    name = section.head
    if name in (":action", ":derived"):
        return
    if name in seen:
        log.syntax(section, f"a second `{name}`: join the two lists into one")
    elif seen & {":action", ":derived"}:
        log.syntax(
            section, f"`{name}` must stand before the first `:action`: move it up"
        )


def check_order(section: Block, seen: Sequence[str], log: FaultLog) -> None:
    """Reports a section of a problem that is repeated or stands too late."""
    name = section.head
    if name in seen:
        log.syntax(section, f"a second `{name}`: join the two into one")
        return
    place = ORDER.index(name)
    for earlier in seen:
        if ORDER.index(earlier) > place:
            log.syntax(section, f"`{name}` must stand before `{earlier}`: move it up")
            return


def _refuse_section(item: Node, log: FaultLog) -> None:
    """Reports an item that is not a section of this file, with a remedy."""
    file = log.file
    other = _OTHER[file]
    if isinstance(item, Word):
        if item.name in SECTIONS:
            log.syntax(
                item, f"`{item}` has no parenthesis before it: write `({item} …)`"
            )
        else:
            log.syntax(
                item, f"`{item}` stands between the sections of the {file}: remove it"
            )
        return
    name = item.head
    if name == ":durative-action":
        log.numeric(item, name)
    elif name in _SECTIONS[other]:
        log.syntax(
            item, f"`{name}` belongs to the {other} file, not to the {file}: move it"
        )
    elif meant := _section_like(name):
        log.syntax(item, f"`{name}` is no section of a {file}: write `({meant} …)`")
    else:
        log.syntax(
            item,
            f"`{name or item}` is no section of a {file} that the planner knows:"
            " remove it",
        )


def _section_like(name: str) -> str:
    """The section with this name but for a colon or a plural, "" if there is none."""
    singular = name.rstrip("s")
    for likely in (f":{name}", singular, f":{singular}"):
        if likely in SECTIONS:
            return likely
    return ""
