"""A problem's blocks to `task.Problem`, in the one order that Fast Downward takes."""

from pddlego_local.pddl.domain import (
    is_other,
    read_head,
    read_name,
    read_names,
    read_requirements,
    refuse_section,
)
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import read_condition, read_literal, refuse_number
from pddlego_local.pddl.reader import Block, Node, Word
from pddlego_local.pddl.task import Problem, Value

ORDER = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
REQUIRED = (":domain", ":init", ":goal")
OF_A_DOMAIN = (":types", ":constants", ":predicates", ":functions", ":derived", ":action")


def read_problem(block: Block | None, log: FaultLog) -> Problem:
    """The problem in `block`; without one a problem of which nothing is known."""
    if block is None or is_other(block, "domain", log):
        return Problem(block or Block(0), unreadable={":objects"}, whole=False)
    name = read_head(block, "problem", log)
    problem = Problem(block)
    seen: list[str] = []
    for item in block.items[2:]:
        section = item.head if isinstance(item, Block) else ""
        if isinstance(item, Block) and section in ORDER:
            _check_order(item, section, seen, log)
            seen.append(section)
            _read_section(item, section, problem, log)
        else:
            refuse_section(item, "problem", OF_A_DOMAIN, log)
            problem.whole = False
    called = f"the problem `{name}`" if name is not None else "the problem"
    for section in REQUIRED:
        if section not in seen:
            log.syntax(block, f"{called} has no `{section}`: add `({section} …)`")
    return problem


def _check_order(item: Block, section: str, seen: list[str], log: FaultLog) -> None:
    if section in seen:
        log.syntax(item, f"a second `{section}`: join the two into one")
        return
    later = [earlier for earlier in seen if ORDER.index(earlier) > ORDER.index(section)]
    if later:
        log.syntax(item, f"`{section}` must stand before `{later[0]}`: move it up")


def _read_section(block: Block, section: str, problem: Problem, log: FaultLog) -> None:
    if section == ":domain":
        problem.domain_word = read_name(block, log)
    elif section == ":requirements":
        read_requirements(block, problem, log)
    elif section == ":objects":
        read_names(block, problem.objects, problem, log)
    elif section == ":init":
        for item in block.items[1:]:
            _read_fact(item, problem, log)
    elif section == ":goal":
        goal = block.items[1] if len(block.items) == 2 else None
        if isinstance(goal, Block) and goal.items:
            problem.goal, problem.goal_block = read_condition(goal, log), goal
        else:
            log.syntax(block, "`:goal` must hold exactly one condition: join several with `and`")
    elif [str(item).lower() for item in block.items[1:]] == ["minimize", "(total-cost)"]:
        problem.minimizes = True
    else:
        log.syntax(block, "the only metric the planner knows is `(:metric minimize (total-cost))`")


def _read_fact(node: Node, problem: Problem, log: FaultLog) -> None:
    if not isinstance(node, Block) or not node.items:
        log.syntax(node, f"`{node}` stands in `:init`, where only facts `(predicate object …)` may")
        return
    if node.head == "=":
        _read_value(node, problem, log)
    elif (fact := read_literal(node, log)) is not None:
        problem.init.append(fact)


def _read_value(block: Block, problem: Problem, log: FaultLog) -> None:
    target, number = block.items[1:] if len(block.items) == 3 else (block, None)
    words = target.items if isinstance(target, Block) else [target]
    function = tuple(word.name for word in words if isinstance(word, Word))
    if not words or len(function) != len(words) or not isinstance(number, Word):
        log.syntax(block, f"`{block}` in `:init` must be `(= (function object …) number)`")
        return
    if refuse_number(number, log):
        return
    name = target.name if isinstance(target, Word) else ""
    if name.startswith("-") or name.replace(".", "").isdigit():
        log.syntax(target, f"`{target}` must be a function: `(= (function object …) number)`")
    elif number.name.isdigit():
        problem.values.append(Value(function, int(number.name), block))
    else:
        never = "objects are never equal to others, so leave equality out of `:init`"
        log.syntax(block, f"`{block}`: {never}")
