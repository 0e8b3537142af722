"""What the files say of each other and of the world: the domain's name, facts, the goal."""

from collections.abc import Iterator
from dataclasses import replace

from pddlego_local.pddl.reader import Block, Patch, Word, source
from pddlego_local.pddl.repair.pair import Pair, Repair, Text


def with_the_domains_name(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """`(:domain …)` names the domain that there is."""
    domain, problem = pair.domain.domain, pair.problem.problem
    name = domain.word if domain is not None else None
    if name is None or problem is None or len(problem.block.items) < 2:
        return pair, ()
    word, title = problem.domain_word, problem.block.items[1]
    if word is not None and word.name != name.name:
        patch: Patch = (word.offset, word.offset + len(word.text), name.text)
    elif not pair.problem.sections(":domain") and isinstance(title, Block):
        patch = (title.end + 1, title.end + 1, f"\n  (:domain {name.text})")
    else:
        return pair, ()
    changes = (f"problem: wrote `(:domain {name})`, the domain's name",)
    return replace(pair, problem=pair.problem.patched([patch])), changes


def with_plain_facts(problem: Text) -> Repair:
    """`:init` lists what is true, each fact once: no `(not …)`, which says nothing, no `and`."""
    patches: list[Patch] = []
    changes: dict[str, None] = {}
    seen: set[str] = set()
    for section in problem.sections(":init"):
        for fact in _unjoined(section, patches):
            tidied = " ".join(source(problem.text, fact).lower().split())
            if fact.head == "not":
                changes["problem: removed `(not …)` from `:init`"] = None
            elif tidied in seen:
                changes["problem: removed facts that stood twice in `:init`"] = None
            else:
                seen.add(tidied)
                continue
            patches.append((fact.offset, fact.end + 1, ""))
    if any(new == " " for *_, new in patches):
        changes["problem: removed `and` around the facts of `:init`"] = None
    return problem.patched(patches), tuple(changes)


def _unjoined(section: Block, patches: list[Patch]) -> Iterator[Block]:
    """The facts; an `(and …)` around some of them is patched away."""
    for item in section.items[1:]:
        if not isinstance(item, Block):
            continue
        if item.head == "and" and all(isinstance(part, Block) for part in item.items[1:]):
            word = item.items[0]
            assert isinstance(word, Word)
            patches.append((item.offset, word.offset + len(word.text), " "))
            patches.append((item.end, item.end + 1, " "))
            yield from (part for part in item.items[1:] if isinstance(part, Block))
        else:
            yield item


def with_one_goal(problem: Text) -> Repair:
    """The conditions of a goal are joined by `and`."""
    patches: list[Patch] = []
    for goal in problem.sections(":goal"):
        parts = goal.items[1:]
        if len(parts) == 1 and isinstance(parts[0], Block) and not parts[0].head:
            parts = parts[0].items
        blocks = [part for part in parts if isinstance(part, Block)]
        if blocks and len(blocks) == len(parts) and parts != goal.items[1:2]:
            joined = " ".join(source(problem.text, part) for part in blocks)
            patches.append((goal.offset, goal.end + 1, f"(:goal (and {joined}))"))
    changes = ("problem: joined the conditions of `:goal` by `and`",) * bool(patches)
    return problem.patched(patches), changes


def without_double_predicates(file: Text) -> Repair:
    """Of a predicate declared twice with as many parameters the first declaration stays."""
    arities = {
        p.word.offset: (p.word.name, len(p.parameters))
        for p in (file.domain.predicates or () if file.domain else ())
        if p.parameters is not None
    }
    patches: list[Patch] = []
    seen: set[tuple[str, int]] = set()
    for section in file.sections(":predicates"):
        for item in section.items[1:]:
            word = item.items[0] if isinstance(item, Block) and item.items else None
            arity = arities.get(word.offset) if isinstance(word, Word) else None
            if arity in seen and isinstance(item, Block):
                patches.append((item.offset, item.end + 1, ""))
            elif arity is not None:
                seen.add(arity)
    changes = ("domain: removed predicates that were declared twice",) * bool(patches)
    return file.patched(patches), changes
