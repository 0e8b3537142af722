"""Puts the rules of a domain file into words: what each action needs, makes true, and makes
false."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.reader import Block, read, source
from pddlego_local.pddl.task import ActionDefinition, Literal, TypedName

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def rules_in_words(domain: str, phrases: Mapping[str, str]) -> str:
    """Returns a line for each type with a parent and for each constant, and for each action lines
    on the things that it takes, what it needs, and what it makes true and false. `phrases` has the
    words for a predicate, such as "{0} is at {1}"; a predicate without a phrase appears under its
    name. A condition or effect that is not a conjunction of facts is quoted as PDDL. A text that is
    not a domain has no lines."""
    root = read(domain)
    task = read_domain(root)
    typed = [each for each in task.types if each.kind != "object"]
    lines = [f"Every {each.word} is {_a(each.kind)}." for each in typed]
    lines += [f"There is always {each.word}, {_a(each.kind)}." for each in task.constants]
    blocks = [block for block in (root.blocks if root else []) if block.head == ":action"]
    for action, block in zip(task.actions, blocks, strict=False):
        lines += _action(action, _fields(domain, block), phrases)
    return "\n".join(lines)


def heads_of(domain: str) -> str:
    """Returns the actions of a domain, one per line, as "stack (?b - block ?under - block)"."""
    return "\n".join(
        f"{action.word} ({' '.join(f'{each.word} - {each.kind}' for each in action.parameters)})"
        for action in read_domain(read(domain)).actions
    )


def fact_in_words(
    fact: Sequence[str], phrases: Mapping[str, str], spoken: Mapping[str, str]
) -> str:
    """Returns (predicate, term, …) in words. `spoken` has the words for each term."""
    things = [spoken.get(term, term) for term in fact[1:]]
    own = f'"{fact[0]}" holds' + f" of {_list(things)}" * bool(things)
    return phrases.get(fact[0], "{0} is {1}" if fact[0] == "=" else own).format(*things)


def _action(
    action: ActionDefinition, fields: Mapping[str, str], phrases: Mapping[str, str]
) -> list[str]:
    """Returns the lines about one action."""
    spoken, name = _spoken(action.parameters), str(action.word).capitalize()

    def said(literals: Sequence[Literal]) -> str:
        each = [
            "not: " * literal.negated + fact_in_words(literal.atom.key, phrases, spoken)
            for literal in literals
        ]
        return "; ".join(each) or "nothing"

    needed, effect = action.precondition, action.effect
    lines = [f"{name} is done with {_list(list(spoken.values())) or 'nothing'}."]
    needs = said(needed.literals) if needed.plain else fields[":precondition"]
    lines.append(f"  {name} needs: {needs}.")
    if effect.conditions or effect.quantified or not effect.complete:
        return [*lines, f"  {name} changes: {fields.get(':effect', 'nothing')}."]
    gone = [Literal(change.atom) for change in effect.changes if change.negated]
    made = [change for change in effect.changes if not change.negated]
    lines += [f"  {name} makes true: {said(made)}."] * bool(made)
    return lines + [f"  {name} makes false: {said(gone)}."] * bool(gone)


def _fields(domain: str, block: Block) -> dict[str, str]:
    """Returns the text after each keyword of an action."""
    pairs = zip(block.items[2::2], block.items[3::2], strict=False)
    return {str(key).lower(): source(domain, value) for key, value in pairs}


def _spoken(parameters: Sequence[TypedName]) -> dict[str, str]:
    """Returns "the truck" for a parameter, or "the first place" if there are two places."""
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
