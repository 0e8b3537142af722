"""Which arms are compared: any two that differ in one thing and played the same games; and which of
these answer a question."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pddlego_local.report.arms import BUDGETS, RECORDED, Arm, arms_of, differences
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.compare import Declared, choices_of

Role = Literal["primary", "secondary", "not asked"]
Place = tuple[int, str, str]


@dataclass(frozen=True)
class Couple:
    """Two arms that differ in `factor`, and in `budgets` besides."""

    factor: str
    base: Arm
    other: Arm
    budgets: frozenset[str]

    @property
    def arms(self) -> tuple[Arm, Arm]:
        return self.base, self.other

    @property
    def ends(self) -> frozenset[int]:
        return frozenset(map(id, self.arms))

    @property
    def turned(self) -> "Couple":
        return Couple(self.factor, self.other, self.base, self.budgets)


@dataclass(frozen=True)
class Group:
    """One comparison: a couple, or one of each of several kinds of games."""

    role: Role
    couples: tuple[Couple, ...]


def groups(cells: Sequence[CellRecord], asked: Iterable[Declared]) -> list[Group]:
    """What answers a question, primary ones first: where the same two arms played several kinds of
    games, all of these together. Then what nobody asked, a couple each."""
    every = couples(arms_of(cells))
    found: list[Group] = []
    answering = set[frozenset[int]]()
    for question in sorted(asked, key=lambda one: not one.primary):
        alike: dict[str, list[Couple]] = {}
        for couple in answers(question, every):
            if couple.ends not in answering:
                answering.add(couple.ends)
                alike.setdefault(_but_for_games(couple), []).append(couple)
        role: Role = "primary" if question.primary else "secondary"
        for many in alike.values():
            pooled = len(many) == len({couple.base.games for couple in many})
            found += [Group(role, tuple(many))] if pooled else [Group(role, (one,)) for one in many]
    alone = {one.couples[0].ends for one in found if len(one.couples) == 1}
    left = [one for one in every if one.ends not in alone]
    return [*found, *(Group("not asked", (one,)) for one in left)]


def couples(arms: Sequence[Arm]) -> list[Couple]:
    """Arms that differ in one thing. Where a budget differs too they are a couple only if no arm
    with the same budget is there in the place of one of them."""
    found = [one for a, b in combinations(arms, 2) for one in _couple(a, b)]
    clean = set[Place]().union(*(_places(couple) for couple in found if not couple.budgets))
    return [one for one in found if not (one.budgets and _places(one) & clean)]


def _places(couple: Couple) -> set[Place]:
    """Each of the two arms, with the value that it is compared with."""
    both = (couple, couple.turned)
    return {(id(one.base), one.factor, one.other.value(one.factor)) for one in both}


def _couple(a: Arm, b: Arm) -> Iterator[Couple]:
    differing = differences(a, b) if a.games == b.games else set()
    things, budgets = differing - BUDGETS, differing & BUDGETS
    if len(things or budgets) != 1:
        return
    (factor,) = things or budgets
    if factor.startswith("decoding.") and not (a.decodes and b.decodes):
        return
    if factor.startswith(("decoding.", "model")) and not (a.asks_a_model or b.asks_a_model):
        return
    order = choices_of(factor)  # else that of the report's cells
    base, other = sorted((a, b), key=lambda arm: order.index(arm.value(factor)) if order else 0)
    yield Couple(factor, base, other, frozenset(budgets if things else ()))


def answers(question: Declared, every: Sequence[Couple]) -> list[Couple]:
    """The couples that a question asks for, its base first. A value is one that reports name; if
    they name none such, one of the option itself."""

    def facing(spelled: Callable[[Arm, str], str]) -> Iterator[Couple]:
        for couple in every:
            for one in (couple, couple.turned) if couple.factor == question.factor else ():
                base, other = (spelled(arm, one.factor) for arm in one.arms)
                if question.base in ("", base) and question.other in ("", other):
                    yield one
                    break

    return list(facing(Arm.name)) or list(facing(Arm.value))


def choices(every: Iterable[Couple]) -> list[str]:
    """What --compare may be: each option, and each of its values."""
    found = set[str]()
    for couple in every:
        names = {arm.name(couple.factor) for arm in couple.arms}
        found |= {couple.factor, *(f"{couple.factor}={name}" for name in names)}
    return sorted(found)


def _but_for_games(couple: Couple) -> str:
    """What couples have in common that are pooled: all but the kind of games."""
    recorded = [[getattr(arm.first.run, name) for name in RECORDED] for arm in couple.arms]
    settings = [arm.settings for arm in couple.arms]
    return json.dumps([couple.base.environment, couple.factor, settings, recorded], sort_keys=True)
