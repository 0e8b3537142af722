"""Turns a file's blocks into a `task.Domain` or `task.Problem`.

Fast Downward accepts only one order of sections, so every other order is a fault.
Reading continues after a fault, so that one mistake does not cause a fault for every
later name.
"""

from collections.abc import Callable, Container

from pddlego_local.pddl import task
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import (
    read_condition,
    read_effect,
    read_literal,
    read_typed_list,
    refuse_number,
    type_groups,
)
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Word

REQUIREMENTS = (
    ":strips",
    ":adl",
    ":typing",
    ":negation",
    ":equality",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":derived-predicates",
    ":action-costs",
)
ACTION_FIELDS = (":parameters", ":precondition", ":effect")
NUMERIC_REQUIREMENTS = frozenset(
    {
        ":fluents",
        ":numeric-fluents",
        ":durative-actions",
        ":duration-inequalities",
        ":time",
        ":continuous-effects",
        ":timed-initial-literals",
        ":timed-effects",
    }
)
ORDER = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
REQUIRED = (":domain", ":init", ":goal")
OF_A_DOMAIN = (
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":derived",
    ":action",
)
OF_A_PROBLEM = (":domain", ":objects", ":init", ":goal", ":metric")


def read_domain(block: Block | None, log: FaultLog | None = None) -> task.Domain:
    """Reads the domain in `block`. Without a block, returns a domain whose content is
    unknown.
    """
    log = log or FaultLog()
    if block is None or _is_other(block, "problem", log):
        return task.Domain(
            block or Block(0), unreadable={":types", ":constants"}, whole=False
        )
    domain = task.Domain(block, read_head(block, "domain", log))
    seen: set[str] = set()
    for item in block.items[2:]:
        section = item.head if isinstance(item, Block) else ""
        if not isinstance(item, Block) or section not in _READERS:
            _refuse_section(item, "domain", OF_A_PROBLEM, log)
            domain.whole = False
            continue
        if section not in (":action", ":derived"):
            if section in seen:
                log.syntax(item, f"a second `{section}`: join the two lists into one")
            elif seen & {":action", ":derived"}:
                log.syntax(
                    item,
                    f"`{section}` must stand before the first `:action`: move it up",
                )
        seen.add(section)
        _READERS[section](item, domain, log)
    return domain


def _is_other(block: Block, other: str, log: FaultLog) -> bool:
    """Whether `block` is the other kind of file. Reports this, and nothing else in the
    block.
    """
    is_it = block.head == "define" and [b.head for b in block.blocks[:1]] == [other]
    if is_it:
        log.syntax(block, f"this is a {other}, where the {log.file} is expected")
    return is_it


def read_head(block: Block, kind: str, log: FaultLog) -> Word | None:
    """Returns the name in `(define (kind name) …`, or None if the text begins in
    another way.
    """
    if block.head != "define":
        log.syntax(
            block,
            f"the text must begin with `(define ({kind} NAME)`, not with `{block}`",
        )
        return None
    title = block.items[1] if len(block.items) > 1 else None
    if not isinstance(title, Block) or title.head != kind:
        log.syntax(title or block, f"`(define` must be followed by `({kind} NAME)`")
        return None
    return _read_name(title, log)


def _read_name(block: Block, log: FaultLog) -> Word | None:
    """The one name after the head of `block`."""
    name = block.items[1] if len(block.items) == 2 else None
    if isinstance(name, Word):
        return name
    log.syntax(block, f"`{block}` must hold exactly one name: `({block.head} NAME)`")
    return None


def _read_requirements(
    block: Block, _file: task.Domain | task.Problem, log: FaultLog
) -> None:
    for item in block.items[1:]:
        if isinstance(item, Block):
            log.syntax(
                item, f"`{item}` stands in `:requirements`, where only names may stand"
            )
        elif item.name in SECTIONS:
            log.syntax(
                item, f"`{item}` stands in `:requirements`: write `)` and `(` before it"
            )
        elif item.name in NUMERIC_REQUIREMENTS:
            log.numeric(item, item.name)
        elif item.name not in REQUIREMENTS:
            known = f"the planner knows {', '.join(REQUIREMENTS)}"
            log.syntax(item, f"unknown requirement `{item}`: remove it ({known})")


def _refuse_section(
    item: Node, file: str, of_the_other: Container[str], log: FaultLog
) -> None:
    """Reports an item that is not a section of this file, with a remedy."""
    name = item.name if isinstance(item, Word) else item.head
    likely = (f":{name}", name.rstrip("s"), f":{name}".rstrip("s"))
    meant = next((section for section in likely if section in SECTIONS), "")
    if isinstance(item, Word) and name in SECTIONS:
        log.syntax(item, f"`{item}` has no parenthesis before it: write `({item} …)`")
    elif isinstance(item, Word):
        log.syntax(
            item, f"`{item}` stands between the sections of the {file}: remove it"
        )
    elif name == ":durative-action":
        log.numeric(item, name)
    elif name in of_the_other:
        right_file = "problem" if file == "domain" else "domain"
        log.syntax(
            item,
            f"`{name}` belongs to the {right_file} file, not to the {file}: move it",
        )
    elif meant:
        log.syntax(item, f"`{name}` is no section of a {file}: write `({meant} …)`")
    else:
        no_section = (
            f"`{name or item}` is no section of a {file} that the planner knows"
        )
        log.syntax(item, f"{no_section}: remove it")


def _names(
    block: Block,
    names: list[task.TypedName],
    file: task.Domain | task.Problem,
    log: FaultLog,
) -> None:
    """Adds the names in a section to `names`, or marks the section as unreadable."""
    listed = read_typed_list(block.items[1:], log)
    if listed is None:
        file.unreadable.add(block.head)
    names += listed or []


def _predicates(block: Block, domain: task.Domain, log: FaultLog) -> None:
    domain.predicates = domain.predicates or []
    for item in block.items[1:]:
        predicate = _predicate(item, log)
        if predicate is not None:
            domain.predicates.append(predicate)


def _predicate(node: Node, log: FaultLog) -> task.Predicate | None:
    name = node.items[0] if isinstance(node, Block) and node.items else None
    if not isinstance(node, Block) or not isinstance(name, Word):
        log.syntax(
            node,
            f"`{node}` is no declaration of a predicate: `(name ?variable - type …)`",
        )
        return None
    return task.Predicate(
        name, read_typed_list(node.items[1:], log, variables=True, either=True)
    )


def _functions(block: Block, domain: task.Domain, log: FaultLog) -> None:
    for group, type_node in type_groups(block.items[1:], log):
        if isinstance(type_node, Block) or (type_node and type_node.name != "number"):
            log.syntax(
                type_node, f"a function must have the type `number`, not `{type_node}`"
            )
        for item in group:
            if isinstance(item, Block) and item.head:
                read_typed_list(item.items[1:], log)
            else:
                log.syntax(
                    item,
                    f"`{item}` is no declaration of a function: `(name ?variable …)`",
                )


def _axiom(block: Block, domain: task.Domain, log: FaultLog) -> None:
    condition = block.items[2] if len(block.items) == 3 else None
    if not isinstance(condition, Block):
        log.syntax(
            block, "`:derived` must be `(:derived (predicate ?x …) (condition))`"
        )
        return
    predicate = _predicate(block.items[1], log)
    if predicate is not None:
        domain.axioms.append(task.Axiom(predicate, read_condition(condition, log)))


def _action(block: Block, domain: task.Domain, log: FaultLog) -> None:
    name = block.items[1] if len(block.items) > 1 else None
    unnamed = isinstance(name, Word) and name.name in ACTION_FIELDS
    if not isinstance(name, Word) or (unnamed and block.blocks[:1] == block.items[2:3]):
        log.syntax(block, "an action has no name: `(:action NAME :parameters (…) …)`")
        return
    action = task.ActionDefinition(name)
    fields, rest = _fields(block, log)
    if ":parameters" in fields:
        parameters = read_typed_list(fields[":parameters"].items, log, variables=True)
        action.parameters, action.complete = parameters or [], parameters is not None
    if ":precondition" in fields:
        action.precondition = read_condition(fields[":precondition"], log)
    if ":effect" in fields:
        action.effect = read_effect(fields[":effect"], log)
    else:
        action.effect.complete = False
    if rest:
        _refuse_rest(rest[0], name, bool(fields), log)
    elif ":effect" not in fields:
        log.syntax(block, f"action `{name}` has no `:effect`: add `:effect (…)`")
    domain.actions.append(action)


def _fields(action: Block, log: FaultLog) -> tuple[dict[str, Block], list[Node]]:
    """The lists after the keywords, in the one order that Fast Downward accepts, and
    the rest.
    """
    fields = {}
    name, rest = action.items[1], action.items[2:]
    for keyword in ACTION_FIELDS:
        key, value = [*rest, None, None][:2]
        if not isinstance(key, Word) or key.name != keyword:
            continue
        if not isinstance(value, Block):
            log.syntax(
                value or key,
                f"`{keyword}` of action `{name}` must be followed by a list",
            )
            value = Block(key.offset)
        fields[keyword] = value
        rest = rest[2:]
    return fields, rest


def _refuse_rest(first: Node, action: Word, has_fields: bool, log: FaultLog) -> None:
    if isinstance(first, Block) and not has_fields:
        remedy = "write `:parameters` before the list of parameters"
    elif isinstance(first, Block):
        remedy = "join several conditions or effects with `(and … …)`"
    elif first.name in ACTION_FIELDS:
        remedy = (
            "each field may stand once, in the order `:parameters :precondition"
            " :effect`"
        )
    else:
        remedy = "the only fields are `:parameters`, `:precondition` and `:effect`"
    log.syntax(first, f"`{first}` is not expected here in action `{action}`: {remedy}")


_READERS: dict[str, Callable[[Block, task.Domain, FaultLog], None]] = {
    ":requirements": _read_requirements,
    ":types": lambda block, domain, log: _names(block, domain.types, domain, log),
    ":constants": lambda block, domain, log: _names(
        block, domain.constants, domain, log
    ),
    ":predicates": _predicates,
    ":functions": _functions,
    ":derived": _axiom,
    ":action": _action,
}


def read_problem(block: Block | None, log: FaultLog | None = None) -> task.Problem:
    """Reads the problem in `block`. Without a block, returns a problem whose content is
    unknown.
    """
    log = log or FaultLog()
    if block is None or _is_other(block, "domain", log):
        return task.Problem(block or Block(0), unreadable={":objects"}, whole=False)
    name = read_head(block, "problem", log)
    problem = task.Problem(block)
    seen: list[str] = []
    for item in block.items[2:]:
        section = item.head if isinstance(item, Block) else ""
        if isinstance(item, Block) and section in ORDER:
            _check_order(item, section, seen, log)
            seen.append(section)
            _read_section(item, section, problem, log)
        else:
            _refuse_section(item, "problem", OF_A_DOMAIN, log)
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


def _read_section(
    block: Block, section: str, problem: task.Problem, log: FaultLog
) -> None:
    if section == ":domain":
        problem.domain_word = _read_name(block, log)
    elif section == ":requirements":
        _read_requirements(block, problem, log)
    elif section == ":objects":
        _names(block, problem.objects, problem, log)
    elif section == ":init":
        for item in block.items[1:]:
            _read_fact(item, problem, log)
    elif section == ":goal":
        goal = block.items[1] if len(block.items) == 2 else None
        if isinstance(goal, Block) and goal.items:
            problem.goal = read_condition(goal, log)
        else:
            log.syntax(
                block,
                "`:goal` must hold exactly one condition: join several with `and`",
            )
    elif [str(item).lower() for item in block.items[1:]] != [
        "minimize",
        "(total-cost)",
    ]:
        log.syntax(
            block,
            "the only metric the planner knows is `(:metric minimize (total-cost))`",
        )


def _read_fact(node: Node, problem: task.Problem, log: FaultLog) -> None:
    if not isinstance(node, Block) or not node.items:
        log.syntax(
            node,
            f"`{node}` stands in `:init`, where only facts `(predicate object …)` may",
        )
        return
    if node.head == "=":
        _read_value(node, problem, log)
    elif (fact := read_literal(node, log)) is not None:
        problem.init.append(fact)


def _read_value(block: Block, problem: task.Problem, log: FaultLog) -> None:
    target, number = block.items[1:] if len(block.items) == 3 else (block, None)
    words = target.items if isinstance(target, Block) else [target]
    function = tuple(word.name for word in words if isinstance(word, Word))
    if not words or len(function) != len(words) or not isinstance(number, Word):
        log.syntax(
            block, f"`{block}` in `:init` must be `(= (function object …) number)`"
        )
        return
    if refuse_number(number, log):
        return
    name = target.name if isinstance(target, Word) else ""
    if name.startswith("-") or name.replace(".", "").isdigit():
        log.syntax(
            target, f"`{target}` must be a function: `(= (function object …) number)`"
        )
    elif number.name.isdigit():
        problem.values.append(task.Value(function, int(number.name), block))
    else:
        never = "objects are never equal to others, so leave equality out of `:init`"
        log.syntax(block, f"`{block}`: {never}")
