"""Arms that differ in one factor, compared on the same games: numbers only.

`report.arms` says which arms these are, `report.statistics.paired` how they are tested, and
`report.verdicts` puts the result into words.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report import arms
from pddlego_local.report.arms import Arm, Group, Role
from pddlego_local.report.cells import CellRecord, grouped, varying_options
from pddlego_local.report.declared import declarations, declared_by, games_before
from pddlego_local.report.numbers import Labels
from pddlego_local.report.statistics.marginal import Odds, odds
from pddlego_local.report.statistics.paired import Paired, Tally, holm
from pddlego_local.report.statistics.rates import LEVEL, Interval, Rate
from pddlego_local.runner.settings import Declared

Conclusion = Literal["higher", "lower", "not shown", "no pairs", "not asked"]

GameKey = tuple[str, Cluster]
"""What makes the games, and a game's number, or the cluster that it belongs to."""

Before = Callable[[Sequence[Arm]], set[GameKey]]
"""Which games of these arms their weights had played before the declaration."""

Trials = Sequence[EpisodeRow]
"""Of one game with one seed by one arm, in order; none where the result is missing."""


@dataclass(frozen=True)
class Pair:
    """One game with one seed, as both arms played it."""

    game: GameKey
    seed: int
    cluster: GameKey
    base: Trials
    other: Trials

    @property
    def base_won(self) -> bool:
        return solved(self.base)

    @property
    def finished(self) -> bool:
        return bool(self.base and self.other)


def solved(trials: Trials) -> bool:
    return any(row.success for row in trials)


def pairs_of(base: Arm, other: Arm, also: Also) -> Iterator[Pair]:
    """Of all games, seeds and trials that both arms were to play. A game that stands apart in one
    arm stands apart in both."""
    rows = [*base.rows.values(), *other.rows.values()]
    counting = {row.game for row in counted(rows, also=also).counted}
    apart = {row.game for row in rows} - counting
    maps = clusters(rows)
    both = sorted(base.requested & other.requested)
    common = grouped(((game, seed), trial) for game, seed, trial in both)
    for (game, seed), trials in common.items():
        if game not in apart:
            cluster = base.games, maps.get(game, game)
            results = (_trials(arm, game, seed, trials) for arm in (base, other))
            yield Pair((base.games, game), seed, cluster, *results)


def _trials(arm: Arm, game: int, seed: int, trials: Sequence[int]) -> Trials:
    """None as long as a trial that may yet solve the game is missing."""
    found = [arm.rows.get((game, seed, trial)) for trial in trials]
    rows = [row for row in found if row]
    return rows if len(rows) == len(trials) or solved(rows) else []


@dataclass(frozen=True)
class Side:
    """One of the two arms, over the compared games. `value` is what sets it apart: "free".
    `per_success_`: all that all trials of these games took, lost ones too, by the games solved;
    None where nothing was won."""

    value: str
    success: Rate
    per_success_calls: float | None
    per_success_sampled_tokens: float | None


@dataclass(frozen=True)
class Answer:
    """To one question, which takes games or maps for independent units.

    differ      units of which the arms won different numbers
    p, p_holm   two-sided, alone and adjusted for the family of those of the same role
    level       at which a difference is shown (`statistics.paired.holm`); 5 % of what is not tested
    interval    what the test does not refuse at that level: without 0, a difference is shown
    odds        what a logistic model says of the same question
    """

    differ: int
    p: float | None
    p_holm: float | None
    level: float
    interval: Interval
    odds: Odds

    @property
    def shown(self) -> bool:
        return self.p is not None and self.p < self.level


@dataclass(frozen=True)
class Comparison:
    """`other` less `base`, on the games that both finished.

    role                "primary" and "secondary" ones are tested, the others are differences alone
    factor              the option in which they differ, such as "decoding.rung"
    labels              what they share: labels, and the settings that vary in the report
    pooled              what is pooled, such as "rooms 3, 5, 7"; "" for one kind of games
    layout              the layout that comes with the grammar of one of them; "" for none
    caveats             what else differs between the two, in words
    games, maps, pairs  compared; games of unknown map are a map each. `missing` pairs were asked of
                        both, and one result or both are absent
    difference          in success, from -1 to 1; None of no pairs
    plain               its interval of 95 % for new maps, before Holm
    family              how many comparisons of the same role are tested
    here                of new games on these maps: the game is the unit
    new                 of new maps, which decides; the same where each game has its map
    of_asked            the interval's ends for new maps if all results that are missing had gone
                        against `other`, or all for it
    smallest_shown      the difference that as many such maps would have shown in four of five
                        experiments (`statistics.power`); None if none
    shows_10_points     the share of experiments that would have shown a difference of 10 points
    within              the share of pairs that disagree on maps where any does, as they take it
    discordant          the pairs that one arm alone won
    seen_before         games that records of the same weights had played before the declaration
    """

    role: Role
    factor: str
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
    within: float | None
    discordant: tuple[Pair, ...]
    seen_before: int

    @property
    def won_by(self) -> tuple[int, int, int, int]:
        """Of the pairs: by the base alone, the other alone, both and neither."""
        base = sum(pair.base_won for pair in self.discordant)
        both, discordant = self.base.success.k - base, len(self.discordant)
        return base, discordant - base, both, self.pairs - discordant - both

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
        """Whether the results that are missing could take a conclusion away."""
        shown = self.conclusion in ("higher", "lower")
        return bool(shown and self.missing) and self.of_asked.low <= 0 <= self.of_asked.high


@dataclass(frozen=True)
class Compared:
    """`tested` are the declared comparisons, primary ones first; `others` differ in one factor too,
    and nobody declared them. `origin` says who declared what was, and `history` when; `looked_at`
    are the cells in which older records of the same weights were looked for."""

    declared: Sequence[Declared]
    origin: str
    history: list[str]
    looked_at: int
    tested: list[Comparison]
    others: list[Comparison]


def compared(
    cells: Sequence[CellRecord], *, also: Also = (), earlier: Sequence[CellRecord] = ()
) -> Compared:
    """What the cells' experiments declare. Holm's families are the primary comparisons and the
    secondary ones. `earlier` are other records, in which games may have been seen before. Raises as
    `declared.declared_by`."""
    experiments = declarations(cells)
    declared, origin = declared_by(experiments)
    varying = varying_options(cells) - {"seed"}
    every = list({cell.folder.resolve(): cell for cell in (*earlier, *cells)}.values())

    before = partial(games_before, experiments=experiments, older=every)
    primary, secondary, others = (
        _family(role, of_role, varying, also, before)
        for role, of_role in arms.groups(cells, declared).items()
    )
    history = [told for one in experiments if (told := str(one))]
    return Compared(declared, origin, history, len(every), primary + secondary, others)


def _family(
    role: Role, groups: Sequence[Group], varying: Set[str], also: Also, before: Before
) -> list[Comparison]:
    pairs = [[pair for one in group for pair in pairs_of(*one.arms, also)] for group in groups]
    both = [[pair for pair in of if pair.finished] for of in pairs]
    new = _answers(role, both, lambda pair: pair.cluster)
    here = _answers(role, both, lambda pair: pair.game)
    family = 0 if role == "not asked" else sum(map(bool, both))
    return [
        _comparison(role, *one, family, varying, before)
        for one in zip(groups, pairs, here, new, strict=True)
    ]


def _answers(
    role: Role, comparisons: Sequence[Sequence[Pair]], unit: Callable[[Pair], GameKey]
) -> list[Answer]:
    """Of each comparison's pairs to the question that takes these units for independent."""
    paired = [_paired(pairs, unit) for pairs in comparisons]
    tested = [None if role == "not asked" else found.p for found in paired]
    levels = iter(holm([p for p in tested if p is not None]))
    answers = []
    for pairs, found, p in zip(comparisons, paired, tested, strict=True):
        p_holm, level = (None, LEVEL) if p is None else next(levels)
        won = [(unit(pair), pair.base_won, solved(pair.other)) for pair in pairs]
        answers.append(
            Answer(
                differ=sum(cluster.gained != cluster.lost for cluster in found.clusters),
                p=p,
                p_holm=p_holm,
                level=level,
                interval=found.interval(level),
                odds=Odds() if p is None else odds(won),
            )
        )
    return answers


def _paired(
    pairs: Iterable[Pair], unit: Callable[[Pair], GameKey], missing_favour_other: bool = False
) -> Paired:
    """Success is that after the last trial; what is missing went for the other arm, or against."""
    tallies: dict[GameKey, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        base = solved(pair.base) if pair.base else not missing_favour_other
        other = solved(pair.other) if pair.other else missing_favour_other
        tallies[unit(pair)].update(pairs=1, gained=other and not base, lost=base and not other)
    return Paired([Tally(**tally) for tally in tallies.values()])


def _comparison(
    role: Role,
    group: Group,
    pairs: Sequence[Pair],
    here: Answer,
    new: Answer,
    family: int,
    varying: Set[str],
    before: Before,
) -> Comparison:
    def by_map(pairs: Iterable[Pair], missing_favour_other: bool = False) -> Paired:
        return _paired(pairs, lambda pair: pair.cluster, missing_favour_other)

    both = [pair for pair in pairs if pair.finished]
    first, found = group[0], by_map(both)
    base = [(pair.cluster, pair.base) for pair in both]
    other = [(pair.cluster, pair.other) for pair in both]
    worst, best = by_map(pairs), by_map(pairs, missing_favour_other=True)
    games = {pair.game for pair in both}
    sides = [arm for one in group for arm in one.arms]
    power = found.power(new.level) if new.p is not None else None
    return Comparison(
        role=role,
        factor=first.factor,
        labels=arms.labels(group, varying),
        pooled=arms.pooled_over(group),
        layout=arms.layout(first),
        base=_side(arms.value(first.factor, first.base, first.other, varying), base),
        other=_side(arms.value(first.factor, first.other, first.base, varying), other),
        caveats=tuple(dict.fromkeys(arms.caveats(group))),
        games=len(games),
        maps=len(found.clusters),
        pairs=found.sums.pairs,
        missing=len(pairs) - len(both),
        difference=found.difference,
        plain=found.interval(),
        family=family if new.p is not None else 0,
        here=here,
        new=new,
        of_asked=Interval(worst.interval(new.level).low, best.interval(new.level).high),
        smallest_shown=power.smallest if power else None,
        shows_10_points=power.at(0.1) if power else None,
        within=power.within if power else None,
        discordant=tuple(pair for pair in both if solved(pair.base) != solved(pair.other)),
        seen_before=len(games & before(sides)) if new.p is not None else 0,
    )


def _side(value: str, played: Sequence[tuple[GameKey, Trials]]) -> Side:
    """`played` are the trials of each game, with its cluster."""
    rows = [row for _, trials in played for row in trials]
    success = Rate.of((cluster, solved(trials), 1) for cluster, trials in played)
    calls, tokens = sum(row.calls for row in rows), sum(row.sampled_tokens for row in rows)
    won = success.k
    return Side(value, success, calls / won if won else None, tokens / won if won else None)
