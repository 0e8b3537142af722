"""Files that the planner refuses, repaired where it is clear what was meant: an arm of its own.

    text → parentheses → sections → actions → lists → names → facts

Each step changes what only one reading can have been meant by, and says so in words. Nothing is
invented: no predicate, no object, no condition and no effect that the model did not write.
"""

from dataclasses import dataclass

from pddlego_local.pddl.check import Check, check
from pddlego_local.pddl.repair import actions, facts, lists, sections, text
from pddlego_local.pddl.repair.pair import Pair, Step, Text, in_both, in_domain, in_problem

MOST_ROUNDS = 5  # of all the steps: one step may make work for an earlier one

STEPS: tuple[Step, ...] = (
    in_both(text.without_fences),
    in_both(text.unescaped),
    in_both(text.with_define),
    in_both(text.balanced),
    in_both(sections.renamed),
    in_both(sections.without_unknown_requirements),
    sections.moved_to_domain,
    in_domain(actions.with_regular_actions),
    in_both(lists.flattened),
    facts.with_the_domains_name,
    in_both(sections.in_order),
    lists.with_all_types,
    lists.with_objects_declared_once,
    in_domain(facts.without_double_predicates),
    in_problem(facts.with_plain_facts),
    in_problem(facts.with_one_goal),
)


@dataclass(frozen=True)
class Repaired:
    """The files after the repair, and a sentence for each change; without any the files are those
    that came in, byte for byte. `accepted`: the planner takes them."""

    domain: str
    problem: str
    changes: tuple[str, ...] = ()
    accepted: bool = False


def repair(domain: str, problem: str) -> Repaired:
    """Repairs what is clear in files that the planner refuses; raises nothing, whatever they are.

    Files that it takes come back as they are, and so do those that a repair would leave with more
    faults than before. A repair of repaired files changes nothing more.
    """
    before = check(domain, problem)
    if before.accepted:
        return Repaired(domain, problem, accepted=True)
    original = pair = Pair(Text("domain", domain), Text("problem", problem))
    changes: dict[str, None] = {}
    for _ in range(MOST_ROUNDS):
        began = pair
        for step in STEPS:
            after, sentences = step(pair)
            if after != pair:
                pair = after
                changes |= dict.fromkeys(sentences)
        if pair == began:
            break
    after_all = check(pair.domain.text, pair.problem.text) if pair != original else before
    if pair == original or _count(after_all) > _count(before):
        return Repaired(domain, problem)
    return Repaired(pair.domain.text, pair.problem.text, tuple(changes), after_all.accepted)


def _count(verdict: Check) -> int:
    return sum(fault.kind != "warning" for fault in verdict.faults)
