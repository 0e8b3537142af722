"""Compares arms that differ in one factor on the same games; numbers only.

`report.contrasts` selects the arms, `report.pairs` pairs their results,
`report.statistics.paired` tests them, and `report.verdicts` puts the results into
words.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.counting import Also
from pddlego_local.report import contrasts
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.contrasts import Group, Role
from pddlego_local.report.declared import declarations, declared_by
from pddlego_local.report.numbers import Labels
from pddlego_local.report.outcomes import judged
from pddlego_local.report.pairs import GameKey, Pair, Trials, pairs_of, tallied
from pddlego_local.report.statistics.paired import holm
from pddlego_local.report.statistics.rates import LEVEL, Interval, Rate
from pddlego_local.runner.settings import BY_GOLD, Declared, Outcome

Conclusion = Literal["higher", "lower", "not shown", "no pairs", "not asked"]


@dataclass(frozen=True)
class Side:
    """One of the two arms, over the compared games.

    `value` is the value of the factor in this arm, such as "free". `per_success_`
    numbers are the totals over all trials of these games, lost ones included, divided
    by the number of games solved. They are None if no game was solved.
    """

    value: str
    success: Rate
    per_success_calls: float | None
    per_success_tokens: float | None
    per_success_prompt_tokens: float | None


@dataclass(frozen=True)
class Answer:
    """The answer to one of the two questions, whose independent units are games or
    maps.

    differ      the number of units of which the arms won different numbers of pairs
    p, p_holm   two-sided, alone and adjusted for the family of comparisons with the
                same role
    level       the significance level of this test (`statistics.paired.holm`); 5 % if
                none is made
    interval    the differences that the test does not reject at that level; a
                difference is shown if and only if the interval excludes 0
    """

    differ: int
    p: float | None
    p_holm: float | None
    level: float
    interval: Interval

    @property
    def shown(self) -> bool:
        return self.p is not None and self.p < self.level


@dataclass(frozen=True)
class Comparison:
    """The arm `other` minus the arm `base`, on the games that both finished.

    role                "primary" and "secondary" comparisons are tested; "not asked"
                        ones were not declared and are not tested
    factor              the option in which the arms differ, such as "decoding.rung"
    outcome             what is compared; "wins" and "success" stand for it
    margin_points       the declared margin of "as good", in points; None without one
    labels              what the arms share: labels, and settings that vary in the
                        report
    pooled              what is pooled, such as "rooms 3, 5, 7"; "" for one kind of
                        games
    layout              the layout that the grammar of one arm fixes; "" for none
    caveats             what else differs between the arms, in words
    games, maps, pairs  how many are compared; a game whose map is unknown is a map of
                        its own
    missing             pairs that were requested for both arms and lack at least one
                        result
    difference          in the outcome, from -1 to 1; None if there are no pairs
    plain               the 95 % interval of the difference for new maps, before Holm
    family              the number of tested comparisons with the same role
    here                the answer for new games on these maps: the game is the unit
    new                 the answer for new maps: the map is the unit. This answer
                        decides. Both are the same if each game has its own map
    of_asked            the lower end of the interval for new maps if all missing
                        results had gone against `other`, and the upper end if all had
                        gone in its favour
    smallest_shown      the smallest difference that four of five experiments with as
                        many such maps would have shown (`statistics.power`); None if
                        there is none
    shows_10_points     the share of such experiments that would have shown 10 points
    opposing            the share of pairs that are assumed to go against the simulated
                        difference
    within              the share of pairs assumed to disagree on maps where any pair
                        disagrees
    discordant          the pairs that only one arm won
    """

    role: Role
    factor: str
    outcome: Outcome
    margin_points: float | None
    labels: Labels
    pooled: str
    layout: str
    base: Side
    other: Side
    caveats: tuple[str, ...]
    games: int
    maps: int
    pairs: int
    missing: int
    difference: float | None
    plain: Interval
    family: int
    here: Answer
    new: Answer
    of_asked: Interval
    smallest_shown: float | None
    shows_10_points: float | None
    opposing: float | None
    within: float | None
    discordant: tuple[Pair, ...]

    @property
    def won_by(self) -> tuple[int, int, int, int]:
        """The numbers of pairs won by the base alone, the other alone, both, and
        neither.
        """
        base_alone = sum(pair.base_won for pair in self.discordant)
        other_alone = len(self.discordant) - base_alone
        both = self.base.success.k - base_alone
        neither = self.pairs - len(self.discordant) - both
        return base_alone, other_alone, both, neither

    @property
    def share_maps(self) -> bool:
        """Whether some of the games have the same map."""
        return self.maps < self.games

    @property
    def as_good(self) -> bool:
        """Whether the arms are shown to differ by less than the declared margin: the
        adjusted interval for new maps lies within it.
        """
        if self.margin_points is None or self.new.p is None:
            return False
        margin = self.margin_points / 100
        low, high = self.new.interval
        return -margin < low and high < margin

    @property
    def conclusion(self) -> Conclusion:
        if self.role == "not asked":
            return "not asked"
        if self.difference is None:
            return "no pairs"
        if not self.new.shown:
            return "not shown"
        return "higher" if self.difference > 0 else "lower"

    @property
    def overturned_by_missing(self) -> bool:
        """Whether the missing results could overturn the conclusion that a difference
        is shown.
        """
        if not self.missing or self.conclusion not in ("higher", "lower"):
            return False
        return self.of_asked.low <= 0 <= self.of_asked.high


@dataclass(frozen=True)
class Compared:
    """All comparisons of a report.

    `tested` are the declared comparisons, primary ones first. `without_arms` are the
    declarations that no two arms fit. `others` are the undeclared comparisons of arms
    that differ in one factor. `origin` says where the declarations come from, `history`
    at which commit they were made, and `known_before` what was known by then.
    """

    declared: Sequence[Declared]
    origin: str
    history: list[str]
    known_before: list[str]
    tested: list[Comparison]
    without_arms: list[Declared]
    others: list[Comparison]


def compared(cells: Sequence[CellRecord], *, also: Also = ()) -> Compared:
    """Compares the arms of these cells and tests what their experiments declare.

    Holm's families are the primary comparisons and the secondary ones. Raises
    ConfigError as `declared.declarations` does.
    """
    experiments = declarations(cells)
    declared, origin = declared_by(experiments)
    varying = varying_options(cells) - {"seed"}
    every = contrasts.contrasts(cells)
    found = {
        role: family(role, groups, varying, also)
        for role, groups in contrasts.groups(every, declared).items()
    }
    without_arms = []
    for declaration in declared:
        if not contrasts.matching(declaration, every):
            without_arms.append(declaration)
    return Compared(
        declared=declared,
        origin=origin,
        history=[made.history for made in experiments if made.history],
        known_before=[
            sentence for made in experiments for sentence in made.known_before
        ],
        tested=found["primary"] + found["secondary"],
        without_arms=without_arms,
        others=found["not asked"],
    )


def family(
    role: Role, groups: Sequence[Group], varying: Set[str], also: Also
) -> list[Comparison]:
    """Returns the comparisons of one role, which Holm's adjustment treats together."""
    requested = []
    for group in groups:
        pairs = list[Pair]()
        for contrast in group:
            outcome = contrast.asked.outcome
            pairs += pairs_of(contrast.base, contrast.other, also, outcome)
        _refuse_unjudged(pairs)
        requested.append(pairs)
    finished = [[pair for pair in pairs if pair.finished] for pairs in requested]
    new = _answers(role, finished, lambda pair: pair.cluster)
    here = _answers(role, finished, lambda pair: pair.game)
    with_pairs = sum(bool(pairs) for pairs in finished)
    tested = 0 if role == "not asked" else with_pairs
    return [
        _comparison(
            role,
            group,
            requested[number],
            here=here[number],
            new=new[number],
            family=tested if finished[number] else 0,
            varying=varying,
        )
        for number, group in enumerate(groups)
    ]


def _refuse_unjudged(pairs: Sequence[Pair]) -> None:
    """Raises ConfigError if no episode was judged by the gold file that the outcome
    needs.
    """
    rows = [row for pair in pairs for row in (*pair.base, *pair.other)]
    if not rows or pairs[0].outcome not in BY_GOLD:
        return
    outcome = pairs[0].outcome
    if not judged(rows, outcome):
        raise ConfigError(
            f"compare: outcome={outcome} is decided by a gold file, and no episode of"
            " these arms was compared with one; choose outcome=success, accepted or"
            " plan."
        )


def _answers(
    role: Role, comparisons: Sequence[Sequence[Pair]], unit: Callable[[Pair], GameKey]
) -> list[Answer]:
    """Returns the answer of each comparison to the question with these independent
    units.
    """
    paired = [tallied(pairs, unit) for pairs in comparisons]
    tested = [] if role == "not asked" else [found.p for found in paired]
    adjusted = iter(holm([p for p in tested if p is not None]))
    answers = []
    for found in paired:
        p = None if role == "not asked" else found.p
        test = None if p is None else next(adjusted)
        level = test.level if test else LEVEL
        answers.append(
            Answer(
                differ=sum(cluster.difference != 0 for cluster in found.clusters),
                p=p,
                p_holm=test.p if test else None,
                level=level,
                interval=found.interval(level),
            )
        )
    return answers


def _comparison(
    role: Role,
    group: Group,
    requested: Sequence[Pair],
    *,
    here: Answer,
    new: Answer,
    family: int,
    varying: Set[str],
) -> Comparison:
    by_map = partial(tallied, unit=lambda pair: pair.cluster)
    pairs = [pair for pair in requested if pair.finished]
    found = by_map(pairs)
    if_lost = by_map(requested).interval(new.level)
    if_won = by_map(requested, missing_favour_other=True).interval(new.level)
    first = group[0]
    factor = first.factor
    base, other = first.arms
    power = found.power(new.level) if new.p is not None else None
    return Comparison(
        role=role,
        factor=factor,
        outcome=first.asked.outcome,
        margin_points=first.asked.margin_points,
        labels=contrasts.labels(group, varying),
        pooled=contrasts.pooled_over(group),
        layout=contrasts.layout(first),
        base=_side(
            contrasts.value(factor, base, other, varying),
            [(pair.cluster, pair.base, pair.base_won) for pair in pairs],
        ),
        other=_side(
            contrasts.value(factor, other, base, varying),
            [(pair.cluster, pair.other, pair.other_won) for pair in pairs],
        ),
        caveats=tuple(dict.fromkeys(contrasts.caveats(group))),
        games=len({pair.game for pair in pairs}),
        maps=len(found.clusters),
        pairs=found.sums.pairs,
        missing=len(requested) - len(pairs),
        difference=found.difference,
        plain=found.interval(),
        family=family,
        here=here,
        new=new,
        of_asked=Interval(if_lost.low, if_won.high),
        smallest_shown=power.smallest if power else None,
        shows_10_points=power.at(0.1) if power else None,
        opposing=power.opposing if power else None,
        within=power.within if power else None,
        discordant=tuple(pair for pair in pairs if pair.discordant),
    )


def _side(value: str, played: Sequence[tuple[GameKey, Trials, bool]]) -> Side:
    """`played` has the cluster and the trials of each game, and whether it was won."""
    rows = [row for _, trials, _ in played for row in trials]
    success = Rate.of((cluster, won, 1) for cluster, _, won in played)

    def per_success(total: int) -> float | None:
        return total / success.k if success.k else None

    return Side(
        value,
        success,
        per_success_calls=per_success(sum(row.calls for row in rows)),
        per_success_tokens=per_success(sum(row.completion_tokens for row in rows)),
        per_success_prompt_tokens=per_success(sum(row.prompt_tokens for row in rows)),
    )
