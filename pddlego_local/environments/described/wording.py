"""Puts PDDL into words: what holds at the start, the goal, and what each action needs,
makes true, and makes false.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Block, read, source
from pddlego_local.pddl.task import ActionDefinition, Literal, Problem, TypedName

Words = Mapping[str, str]
"""Predicates to phrases such as "{0} is at {1}", or terms to words such as "the
truck".
"""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_START = (
    "At the start these facts hold, and no others; each is beside the first object it"
    " names:"
)


def task_in_words(domain: str, problem: str, phrases: Words) -> str:
    """Returns a line for each object on its type and the facts that begin with it, a
    line for the goal, and the lines of `rules_in_words`. Values of functions, the
    metric, derived predicates, and a goal that is not a conjunction of facts are quoted
    as PDDL. If a file has a syntax fault, the result is one line with the first fault.
    """
    for fault in check(domain, problem).faults:
        if fault.kind == "syntax":
            return f"The PDDL cannot be put into words: {fault}."
    task = read_problem(read(problem))
    objects = (*read_domain(read(domain)).constants, *task.objects)
    things = {thing.name: thing for thing in objects}
    spoken = {name: thing.word.text for name, thing in things.items()}
    values = [source(problem, value.block) for value in task.values]
    lines = [_START, *_start_in_words(task, things, values, phrases, spoken)]
    goal = task.goal
    if goal:
        quoted = source(problem, goal.block)
        told = _said(goal.literals, phrases, spoken) if goal.plain else quoted
        lines.append(f"The goal: {told}.")
    for text, head in ((problem, ":metric"), (domain, ":derived")):
        for section in _sections(text, head):
            lines.append(f"The PDDL also says: {source(text, section)}.")
    lines.append(rules_in_words(domain, phrases))
    return "\n".join(lines)


def _start_in_words(
    task: Problem,
    things: Mapping[str, TypedName],
    values: Sequence[str],
    phrases: Words,
    spoken: Words,
) -> Iterator[str]:
    """Yields a line for each thing that is declared or that a fact begins with, and one
    for the facts that begin with none. `values` are the values of functions as PDDL.
    """
    begun: dict[str, list[str]] = {name: [] for name in things}
    named: set[str] = set()
    for fact in task.init:
        terms = fact.atom.key[1:]
        named.update(terms)
        first = terms[0] if terms else ""
        begun.setdefault(first, []).append(_said([fact], phrases, spoken))
    loose = [*begun.pop("", []), *values]
    for name, facts in begun.items():
        declared = things.get(name)
        title = f"{spoken[name]}, {_a(declared.kind)}" if declared else name
        if not declared:
            title += ", undeclared"
        if facts:
            title += f": {'; '.join(facts)}"
        elif name not in named:
            title += ": no fact names it"
        yield f"  {title}."
    if loose:
        yield f"  {'; '.join(loose)}."


def rules_in_words(domain: str, phrases: Words) -> str:
    """Returns a line for each type with a parent and for each constant, and for each
    action lines on the things that it takes, what it needs, and what it makes true and
    false. `phrases` has the words for a predicate, such as "{0} is at {1}"; a predicate
    without a phrase appears under its name. A condition or effect that is not a
    conjunction of facts is quoted as PDDL. A text that is not a domain has no lines.
    """
    rules = read_domain(read(domain))
    lines = []
    for subtype in rules.types:
        if subtype.kind != "object":
            lines.append(f"Every {subtype.word} is {_a(subtype.kind)}.")
    for constant in rules.constants:
        lines.append(f"There is always {constant.word}, {_a(constant.kind)}.")
    blocks = _sections(domain, ":action")
    for action, block in zip(rules.actions, blocks, strict=False):
        lines += _action(action, _fields(domain, block), phrases)
    return "\n".join(lines)


def heads_of(domain: str) -> str:
    """Returns the actions of a domain, one per line, as "stack (?b - block ?under -
    block)".
    """
    lines = []
    for action in read_domain(read(domain)).actions:
        parameters = [f"{each.word} - {each.kind}" for each in action.parameters]
        lines.append(f"{action.word} ({' '.join(parameters)})")
    return "\n".join(lines)


def fact_in_words(fact: Sequence[str], phrases: Words, spoken: Words) -> str:
    """Returns (predicate, term, …) in words. `spoken` has the words for each term."""
    predicate, *terms = fact
    things = [spoken.get(term, term) for term in terms]
    phrase = phrases.get(predicate, "")
    if predicate == "=" and len(things) == 2:
        phrase = phrase or "{0} is {1}"
    if phrase:
        return phrase.format(*things)
    return (
        f'"{predicate}" holds of {_list(things)}' if things else f'"{predicate}" holds'
    )


def _said(literals: Sequence[Literal], phrases: Words, spoken: Words) -> str:
    said = []
    for literal in literals:
        fact = fact_in_words(literal.atom.key, phrases, spoken)
        said.append(f"not: {fact}" if literal.negated else fact)
    return "; ".join(said) or "nothing"


def _sections(text: str, head: str) -> list[Block]:
    root = read(text)
    return [block for block in root.blocks if block.head == head] if root else []


def _action(action: ActionDefinition, fields: Words, phrases: Words) -> list[str]:
    """Returns the lines about one action."""
    name, spoken = str(action.word).capitalize(), _spoken(action.parameters)
    needed, effect = action.precondition, action.effect
    things = _list(list(spoken.values())) or "nothing"
    needs = fields.get(":precondition", "")
    if needed.plain:
        needs = _said(needed.literals, phrases, spoken)
    lines = [f"{name} is done with {things}.", f"  {name} needs: {needs}."]
    if effect.conditions or effect.quantified or not effect.complete:
        lines.append(f"  {name} changes: {fields.get(':effect', 'nothing')}.")
        return lines
    made = [change for change in effect.changes if not change.negated]
    if made:
        lines.append(f"  {name} makes true: {_said(made, phrases, spoken)}.")
    gone = [Literal(change.atom) for change in effect.changes if change.negated]
    if gone:
        lines.append(f"  {name} makes false: {_said(gone, phrases, spoken)}.")
    if (cost := effect.cost) is not None:
        lines.append(f"  {name} costs: {cost if cost.terms else cost.predicate}.")
    return lines


def _fields(domain: str, block: Block) -> dict[str, str]:
    """Returns the text after each keyword of an action."""
    keys, values = block.items[2::2], block.items[3::2]
    pairs = zip(keys, values, strict=False)
    return {str(key).lower(): source(domain, value) for key, value in pairs}


def _spoken(parameters: Sequence[TypedName]) -> dict[str, str]:
    """Returns "the truck" for a parameter, or "the first place" if there are two
    places.
    """
    nouns = [
        parameter.kind if parameter.types else parameter.name.lstrip("?")
        for parameter in parameters
    ]
    so_far: Counter[str] = Counter()
    spoken = {}
    for parameter, noun in zip(parameters, nouns, strict=True):
        so_far[noun] += 1
        which = f"{_ordinal(so_far[noun])} " if nouns.count(noun) > 1 else ""
        spoken[parameter.name] = f"the {which}{noun}"
    return spoken


def _ordinal(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"


def _list(things: Sequence[str]) -> str:
    *others, last = things or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
