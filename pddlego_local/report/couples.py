"""Which arms are compared: any two that differ in one thing and played the same games."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pddlego_local.report.arms import BUDGETS, Arm, arms_of, differences, place
from pddlego_local.report.cells import CellRecord


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
    def asked(self) -> set[str]:
        """As what it can be asked for: "decoding.rung", "decoding.rung=free"."""
        return {self.factor, *(f"{self.factor}={arm.name(self.factor)}" for arm in self.arms)}


def couples(arms: Sequence[Arm]) -> Iterator[Couple]:
    """Arms that differ in one thing. Where a budget differs too they are a couple only if no arm
    with the same budget is there in the place of one of them."""
    clean: set[tuple[int, str, str]] = set()
    doubtful = []
    for a, b in combinations(arms, 2):
        if a.games != b.games or not (differing := differences(a, b)):
            continue
        things, budgets = differing - BUDGETS, differing & BUDGETS
        if len(things or budgets) != 1:
            continue
        (factor,) = things or budgets
        if factor.startswith(("decoding.", "model")) and not (a.asks_a_model or b.asks_a_model):
            continue
        base, other = sorted((a, b), key=lambda arm: place(factor, arm))
        couple = Couple(factor, base, other, frozenset(budgets if things else ()))
        if couple.budgets:
            doubtful.append(couple)
            continue
        clean |= {(id(a), factor, b.value(factor)), (id(b), factor, a.value(factor))}
        yield couple
    for one in doubtful:
        sides = (one.arms, one.arms[::-1])
        if not any((id(a), one.factor, b.value(one.factor)) in clean for a, b in sides):
            yield one


def factors_of(cells: Sequence[CellRecord]) -> list[str]:
    """What comparisons there are, as `matches` takes them: each option, and each of its values."""
    return sorted({name for couple in couples(arms_of(cells)) for name in couple.asked})
