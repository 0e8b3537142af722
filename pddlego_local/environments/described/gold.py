"""Gold files as the planner and the simulator take them: public ones are looser than either."""

import re
from collections.abc import Sequence

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.environments.maps import map_hash
from pddlego_local.pddl.files import ORDER, read_domain, read_problem
from pddlego_local.pddl.reader import Block, read, source

_DOMAIN_ORDER = (":requirements", ":types", ":constants", ":predicates", ":functions")
_ACTION = re.compile(r"(\(\s*:action\s+)([^\s()]+)", re.IGNORECASE)


def in_order(text: str) -> str:
    """The file with its sections in the one order that Fast Downward takes; a text that is no list
    as it is. Some public problems have their goal before `:init`."""
    if (root := read(text)) is None:
        return text
    head, sections = root.items[:2], [item for item in root.items[2:] if isinstance(item, Block)]
    order = [*_DOMAIN_ORDER, *ORDER]
    sections.sort(key=lambda block: order.index(block.head) if block.head in order else len(order))
    return f"({' '.join(source(text, node) for node in [*head, *sections])})"


def with_heads(domain: str, heads: Sequence[Action], where: str) -> str:
    """The domain with its actions under the names of the heads: each head's action is the one of
    its name, else the next one that no head names. Raises ConfigError where a head has none, or one
    with another number of parameters."""
    gold = {action.word.name: action for action in read_domain(read(domain)).actions}
    named = {head.name.lower() for head in heads}
    free = iter([name for name in gold if name not in named])
    renamed = {}
    for head in heads:
        name = head.name.lower() if head.name.lower() in gold else next(free, "")
        if not name or len(gold[name].parameters) != len(head.variables):
            there = ", ".join(f"{n} with {len(a.parameters)} parameters" for n, a in gold.items())
            raise ConfigError(
                f"{where}: the action head {head.name} {head.parameters} fits no action of "
                f"the gold domain, which has {there}"
            )
        renamed[name] = head.name

    def rename(match: re.Match[str]) -> str:
        return f"{match[1]}{renamed.get(match[2].lower(), match[2])}"

    return _ACTION.sub(rename, domain)


def with_distinct_names(domain: str) -> str:
    """The domain with a variable of its own for each parameter of a predicate, and with actions
    that share no predicate's name: unified-planning's reader needs both, PDDL neither."""
    root = read(domain)
    parts = []
    for item in root.items if root else ():
        text = source(domain, item)
        if isinstance(item, Block) and item.head == ":predicates":
            pieces = re.split(r"\?[\w-]+", text)
            text = "".join(f"?v{n}{piece}" if n else piece for n, piece in enumerate(pieces))
        parts.append(_ACTION.sub(r"\1do-\2", text))
    return f"({' '.join(parts)})"


def task_hash(problem: str) -> str:
    """One for all problems with the same objects, initial facts and goal, in whatever order."""
    written = read_problem(read(problem))
    goal = written.goal.literals if written.goal else []
    return map_hash(
        "described",
        sorted(entry.name for entry in written.objects),
        sorted(fact.atom.key for fact in written.init if not fact.negated),
        sorted((literal.negated, *literal.atom.key) for literal in goal),
    )


def objects_in(problem: str, domain: str = "") -> tuple[str, ...]:
    """The objects that actions can have: the problem's, and the constants of the domain."""
    entries = [*read_domain(read(domain)).constants, *read_problem(read(problem)).objects]
    return tuple(entry.word.text for entry in entries)
