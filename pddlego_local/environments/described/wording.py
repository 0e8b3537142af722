"""Puts PDDL into words: what holds at the start, the goal, and what each action needs,
makes true, and makes false.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Block, read, source
from pddlego_local.pddl.task import ActionDefinition, Literal, TypedName

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_START = (
    "At the start these facts hold, and no others; each is beside the first object it"
    " names:"
)


def task_in_words(domain: str, problem: str, phrases: Mapping[str, str]) -> str:
    """Returns a line for each object on its type and the facts that begin with it, a
    line for the goal, and the lines of `rules_in_words`. Values of functions, the
    metric, derived predicates, and a goal that is not a conjunction of facts are quoted
    as PDDL. If a file has a syntax fault, the result is one line with the first fault.
    """
    faults = [
        fault for fault in check(domain, problem).faults if fault.kind == "syntax"
    ]
    if faults:
        return f"The PDDL cannot be put into words: {faults[0]}."
    task = read_problem(read(problem))
    things = {
        each.name: each
        for each in (*read_domain(read(domain)).constants, *task.objects)
    }
    spoken = {name: each.word.text for name, each in things.items()}
    about: dict[str, list[str]] = {name: [] for name in things}
    for fact in task.init:
        about.setdefault("".join(fact.atom.key[1:2]), []).append(
            _said([fact], phrases, spoken)
        )
    loose = about.pop("", []) + [source(problem, value.block) for value in task.values]
    named = {term for fact in task.init for term in fact.atom.key[1:]}
    lines = [_START]
    for name, facts in about.items():
        title = (
            f"{spoken[name]}, {_a(things[name].kind)}"
            if name in things
            else f"{name}, undeclared"
        )
        told = "; ".join(facts) or "no fact names it" * (name not in named)
        lines.append(f"  {': '.join(filter(None, (title, told)))}.")
    lines += [f"  {'; '.join(loose)}."] * bool(loose)
    goal = task.goal
    if goal:
        told = (
            _said(goal.literals, phrases, spoken)
            if goal.plain
            else source(problem, goal.block)
        )
        lines.append(f"The goal: {told}.")
    for text, head in ((problem, ":metric"), (domain, ":derived")):
        found = [each for each in _sections(text) if each.head == head]
        lines += [f"The PDDL also says: {source(text, each)}." for each in found]
    return "\n".join([*lines, rules_in_words(domain, phrases)])


def rules_in_words(domain: str, phrases: Mapping[str, str]) -> str:
    """Returns a line for each type with a parent and for each constant, and for each
    action lines on the things that it takes, what it needs, and what it makes true and
    false. `phrases` has the words for a predicate, such as "{0} is at {1}"; a predicate
    without a phrase appears under its name. A condition or effect that is not a
    conjunction of facts is quoted as PDDL. A text that is not a domain has no lines.
    """
    task = read_domain(read(domain))
    typed = [each for each in task.types if each.kind != "object"]
    lines = [f"Every {each.word} is {_a(each.kind)}." for each in typed]
    lines += [
        f"There is always {each.word}, {_a(each.kind)}." for each in task.constants
    ]
    blocks = [block for block in _sections(domain) if block.head == ":action"]
    for action, block in zip(task.actions, blocks, strict=False):
        lines += _action(action, _fields(domain, block), phrases)
    return "\n".join(lines)


def heads_of(domain: str) -> str:
    """Returns the actions of a domain, one per line, as "stack (?b - block ?under -
    block)".
    """
    return "\n".join(
        f"{action.word}"
        f" ({' '.join(f'{each.word} - {each.kind}' for each in action.parameters)})"
        for action in read_domain(read(domain)).actions
    )


def fact_in_words(
    fact: Sequence[str], phrases: Mapping[str, str], spoken: Mapping[str, str]
) -> str:
    """Returns (predicate, term, …) in words. `spoken` has the words for each term."""
    things = [spoken.get(term, term) for term in fact[1:]]
    equal = {"=": "{0} is {1}"} if len(things) == 2 else {}
    if phrase := {**equal, **phrases}.get(fact[0]):
        return phrase.format(*things)
    return f'"{fact[0]}" holds' + f" of {_list(things)}" * bool(things)


def _said(
    literals: Sequence[Literal], phrases: Mapping[str, str], spoken: Mapping[str, str]
) -> str:
    each = [
        "not: " * literal.negated + fact_in_words(literal.atom.key, phrases, spoken)
        for literal in literals
    ]
    return "; ".join(each) or "nothing"


def _sections(text: str) -> list[Block]:
    root = read(text)
    return root.blocks if root else []


def _action(
    action: ActionDefinition, fields: Mapping[str, str], phrases: Mapping[str, str]
) -> list[str]:
    """Returns the lines about one action."""
    spoken, name = _spoken(action.parameters), str(action.word).capitalize()
    needed, effect = action.precondition, action.effect
    lines = [f"{name} is done with {_list(list(spoken.values())) or 'nothing'}."]
    needs = (
        _said(needed.literals, phrases, spoken)
        if needed.plain
        else fields[":precondition"]
    )
    lines.append(f"  {name} needs: {needs}.")
    if effect.conditions or effect.quantified or not effect.complete:
        return [*lines, f"  {name} changes: {fields.get(':effect', 'nothing')}."]
    gone = [Literal(change.atom) for change in effect.changes if change.negated]
    made = [change for change in effect.changes if not change.negated]
    for what, changes in (("true", made), ("false", gone)):
        lines += [f"  {name} makes {what}: {_said(changes, phrases, spoken)}."] * bool(
            changes
        )
    if (cost := effect.cost) is not None:
        lines.append(f"  {name} costs: {cost if cost.terms else cost.predicate}.")
    return lines


def _fields(domain: str, block: Block) -> dict[str, str]:
    """Returns the text after each keyword of an action."""
    pairs = zip(block.items[2::2], block.items[3::2], strict=False)
    return {str(key).lower(): source(domain, value) for key, value in pairs}


def _spoken(parameters: Sequence[TypedName]) -> dict[str, str]:
    """Returns "the truck" for a parameter, or "the first place" if there are two
    places.
    """
    nouns = [each.kind if each.types else each.name.lstrip("?") for each in parameters]
    total, before, spoken = Counter(nouns), Counter[str](), dict[str, str]()
    for each, noun in zip(parameters, nouns, strict=True):
        place = (*_ORDINALS, f"{before[noun] + 1}th")[min(before[noun], len(_ORDINALS))]
        spoken[each.name] = f"the {place} {noun}" if total[noun] > 1 else f"the {noun}"
        before[noun] += 1
    return spoken


def _list(things: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(things[:-1])]), *things[-1:]])


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
