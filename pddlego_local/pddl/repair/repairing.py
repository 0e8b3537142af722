"""The steps of a repair, in order, until none changes anything."""

from dataclasses import dataclass

from pddlego_local.pddl.check import Check, check
from pddlego_local.pddl.repair import actions, facts, lists, sections, text
from pddlego_local.pddl.repair.pair import Pair, Step, for_each_file

MOST_ROUNDS = 5

STEPS: tuple[Step, ...] = (
    for_each_file(text.without_fences),
    for_each_file(text.unescaped),
    for_each_file(text.with_define),
    for_each_file(text.balanced),
    for_each_file(sections.renamed),
    for_each_file(sections.without_unknown_requirements),
    sections.moved_to_domain,
    for_each_file(actions.with_regular_actions),
    for_each_file(lists.flattened),
    facts.with_the_domains_name,
    for_each_file(sections.in_order),
    lists.with_all_types,
    lists.with_objects_declared_once,
    for_each_file(facts.without_double_predicates),
    for_each_file(facts.with_plain_facts),
    for_each_file(facts.with_one_goal),
)


@dataclass(frozen=True)
class Repaired:
    """The files after the repair, and a sentence for each change; without any the files are those
    that came in, byte for byte."""

    domain: str
    problem: str
    changes: tuple[str, ...] = ()


def repair(domain: str, problem: str) -> Repaired:
    """Repairs what is clear in files that the planner refuses; raises nothing, whatever they are.

    Files that it takes come back as they are, and so do those that a repair would leave with more
    faults than before. A repair of repaired files changes nothing more.
    """
    before = check(domain, problem)
    pair, changes = Pair(domain, problem), []
    for _ in range(0 if before.accepted else MOST_ROUNDS):
        changed: list[str] = []
        for step in STEPS:
            after, sentences = step(pair)
            if after != pair:
                pair = after
                changed += sentences
        changes += changed
        if not changed:
            break
    if pair == Pair(domain, problem) or _count(check(pair.domain, pair.problem)) > _count(before):
        return Repaired(domain, problem)
    return Repaired(pair.domain, pair.problem, tuple(dict.fromkeys(changes)))


def _count(verdict: Check) -> int:
    return sum(fault.kind != "warning" for fault in verdict.faults)
