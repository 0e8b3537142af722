"""Turns a file's blocks into a `task.Domain` or `task.Problem`.

Reading continues after a fault, so that one mistake does not cause a fault for every
later name.
"""

from pddlego_local.pddl.effects import read_effect, read_literal, refuse_number
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.file_order import (
    check_order,
    check_place,
    is_other_file,
    read_head,
    read_name,
    sections_in,
)
from pddlego_local.pddl.formulas import (
    is_number,
    read_condition,
    read_typed_list,
    type_groups,
)
from pddlego_local.pddl.reader import SECTIONS, Block, Node, Word
from pddlego_local.pddl.task import (
    ActionDefinition,
    Axiom,
    Domain,
    Predicate,
    Problem,
    TypedName,
    Value,
)

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
REQUIRED = (":domain", ":init", ":goal")


def read_domain(block: Block | None, log: FaultLog | None = None) -> Domain:
    """Reads the domain in `block`. Without a block, returns a domain whose content is
    unknown.
    """
    log = log or FaultLog("domain")
    if block is None or is_other_file(block, log):
        return Domain(
            block or Block(0), unreadable={":types", ":constants"}, whole=False
        )
    domain = Domain(block, read_head(block, log))
    seen: set[str] = set()
    for section in sections_in(block, domain, log):
        check_place(section, seen, log)
        seen.add(section.head)
        _read_domain_section(section, domain, log)
    return domain


def read_problem(block: Block | None, log: FaultLog | None = None) -> Problem:
    """Reads the problem in `block`. Without a block, returns a problem whose content is
    unknown.
    """
    log = log or FaultLog("problem")
    if block is None or is_other_file(block, log):
        return Problem(block or Block(0), unreadable={":objects"}, whole=False)
    name = read_head(block, log)
    problem = Problem(block)
    seen: list[str] = []
    for section in sections_in(block, problem, log):
        check_order(section, seen, log)
        seen.append(section.head)
        _read_problem_section(section, problem, log)
    called = f"the problem `{name}`" if name is not None else "the problem"
    for required in REQUIRED:
        if required not in seen:
            log.syntax(block, f"{called} has no `{required}`: add `({required} …)`")
    return problem


# ---- The sections of both files


def _read_requirements(block: Block, log: FaultLog) -> None:
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
            log.syntax(
                item,
                f"unknown requirement `{item}`: remove it (the planner knows"
                f" {', '.join(REQUIREMENTS)})",
            )


def _read_names(
    block: Block, names: list[TypedName], file: Domain | Problem, log: FaultLog
) -> None:
    """Adds the names in a section to `names`, or marks the section as unreadable."""
    listed = read_typed_list(block.items[1:], log)
    if listed is None:
        file.unreadable.add(block.head)
    else:
        names += listed


# ---- The sections of a domain


def _read_domain_section(block: Block, domain: Domain, log: FaultLog) -> None:
    match block.head:
        case ":requirements":
            _read_requirements(block, log)
        case ":types":
            _read_names(block, domain.types, domain, log)
        case ":constants":
            _read_names(block, domain.constants, domain, log)
        case ":predicates":
            domain.predicates = domain.predicates or []
            for item in block.items[1:]:
                if predicate := _predicate(item, log):
                    domain.predicates.append(predicate)
        case ":functions":
            _check_functions(block, log)
        case ":derived":
            _read_axiom(block, domain, log)
        case ":action":
            _read_action(block, domain, log)


def _predicate(node: Node, log: FaultLog) -> Predicate | None:
    name = node.item(0) if isinstance(node, Block) else None
    if isinstance(node, Word) or not isinstance(name, Word):
        log.syntax(
            node,
            f"`{node}` is no declaration of a predicate: `(name ?variable - type …)`",
        )
        return None
    parameters = read_typed_list(node.items[1:], log, variables=True, either=True)
    return Predicate(name, parameters)


def _check_functions(block: Block, log: FaultLog) -> None:
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


def _read_axiom(block: Block, domain: Domain, log: FaultLog) -> None:
    condition = block.last_of(3)
    if not isinstance(condition, Block):
        log.syntax(
            block, "`:derived` must be `(:derived (predicate ?x …) (condition))`"
        )
        return
    predicate = _predicate(block.items[1], log)
    if predicate is not None:
        domain.axioms.append(Axiom(predicate, read_condition(condition, log)))


def _read_action(block: Block, domain: Domain, log: FaultLog) -> None:
    name = block.item(1)
    if not isinstance(name, Word) or _is_field(name, block):
        log.syntax(block, "an action has no name: `(:action NAME :parameters (…) …)`")
        return
    action = ActionDefinition(name)
    fields, rest = _fields(block, name, log)
    if parameters := fields.get(":parameters"):
        names = read_typed_list(parameters.items, log, variables=True)
        action.parameters = names or []
        action.complete = names is not None
    if precondition := fields.get(":precondition"):
        action.precondition = read_condition(precondition, log)
    if effect := fields.get(":effect"):
        action.effect = read_effect(effect, log)
    else:
        action.effect.complete = False
    if rest:
        _refuse_rest(rest[0], name, bool(fields), log)
    elif effect is None:
        log.syntax(block, f"action `{name}` has no `:effect`: add `:effect (…)`")
    domain.actions.append(action)


def _is_field(name: Word, action: Block) -> bool:
    """Whether the word in the place of an action's name is a keyword with its list, or
    the last word of the action.
    """
    return name.name in ACTION_FIELDS and not isinstance(action.item(2), Word)


def _fields(
    action: Block, name: Word, log: FaultLog
) -> tuple[dict[str, Block], list[Node]]:
    """The lists after the keywords, in the one order that Fast Downward accepts, and
    the rest.
    """
    fields: dict[str, Block] = {}
    rest = action.items[2:]
    for keyword in ACTION_FIELDS:
        key = rest[0] if rest else None
        if not isinstance(key, Word) or key.name != keyword:
            continue
        value = rest[1] if len(rest) > 1 else None
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


# ---- The sections of a problem


def _read_problem_section(block: Block, problem: Problem, log: FaultLog) -> None:
    match block.head:
        case ":domain":
            problem.domain_word = read_name(block, log)
        case ":requirements":
            _read_requirements(block, log)
        case ":objects":
            _read_names(block, problem.objects, problem, log)
        case ":init":
            for item in block.items[1:]:
                _read_fact(item, problem, log)
        case ":goal":
            _read_goal(block, problem, log)
        case ":metric":
            asked = [str(item).lower() for item in block.items[1:]]
            if asked != ["minimize", "(total-cost)"]:
                log.syntax(
                    block,
                    "the only metric the planner knows is"
                    " `(:metric minimize (total-cost))`",
                )


def _read_goal(block: Block, problem: Problem, log: FaultLog) -> None:
    goal = block.last_of(2)
    if isinstance(goal, Block) and goal.items:
        problem.goal = read_condition(goal, log)
    else:
        log.syntax(
            block, "`:goal` must hold exactly one condition: join several with `and`"
        )


def _read_fact(node: Node, problem: Problem, log: FaultLog) -> None:
    if isinstance(node, Word) or not node.items:
        log.syntax(
            node,
            f"`{node}` stands in `:init`, where only facts `(predicate object …)` may",
        )
    elif node.head == "=":
        _read_value(node, problem, log)
    elif fact := read_literal(node, log):
        problem.init.append(fact)


def _read_value(block: Block, problem: Problem, log: FaultLog) -> None:
    target = block.item(1)
    number = block.last_of(3)
    words = target.items if isinstance(target, Block) else [target]
    function = [word.name for word in words if isinstance(word, Word)]
    is_read = function and len(function) == len(words)
    if not is_read or target is None or not isinstance(number, Word):
        log.syntax(
            block, f"`{block}` in `:init` must be `(= (function object …) number)`"
        )
        return
    if refuse_number(number, log):
        return
    name = target.name if isinstance(target, Word) else ""
    if name.startswith("-") or is_number(name):
        log.syntax(
            target, f"`{target}` must be a function: `(= (function object …) number)`"
        )
    elif number.name.isdigit():
        value = Value(tuple(function), int(number.name), block)
        problem.values.append(value)
    else:
        log.syntax(
            block,
            f"`{block}`: objects are never equal to others, so leave equality out of"
            " `:init`",
        )
