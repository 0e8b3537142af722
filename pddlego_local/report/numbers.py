"""Computes the numbers of a report from rows: the measures that the papers report, for
each cell, each kind of task, and each trial.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pddlego_local.core.grouping import grouped
from pddlego_local.core.outcomes import ACCEPTED, OUTCOMES, PLANNED
from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.statistics.rates import Mean, Range, Rate, Result, if_missing

Labels = Mapping[str, str]
"""The columns that identify a cell: its labels, "settings" and "budget"."""

ALL = "all"

NESTED = {
    "read": (*ACCEPTED, "translate_error"),
    "accepted": ACCEPTED,
    "has_plan": PLANNED,
}
"""The causes with which PDDL has reached each of these stages."""

UNCOMPARED = {None, "not fully specified", "undecided"}
"""The verdicts of an episode whose problem was not compared with the gold problem."""

CountOf = Callable[[EpisodeRow], int]

SUMS = ("won", "solver_errors", "simulation_errors", "edit_faults", "cut_after_answer")


@dataclass(frozen=True)
class Measures:
    """The measures that the papers report about a system, computed from the rows of one
    cell. Times are in seconds.

    games, maps               numbers of games and maps; all trials of a game are one
                              game. If no map is known, `maps` is None. If some are
                              unknown, each of these games is one map
    success                   the share of episodes that succeeded, including those that
                              were not played because an earlier trial had solved the
                              game
    games_solved              the share of games that at least one trial solved
    won                       the number of episodes that the game itself calls won
    outcomes                  episodes by `outcomes.OUTCOMES`
    causes                    calls by `outcomes.CAUSES`
    read, accepted, has_plan  shares of episodes in which an answer contained files, in
                              which the translator accepted them, and in which they had
                              a plan
    valid_but_wrong           the share of episodes that ended with a plan that is
                              invalid in the gold files
    equivalent                the share of episodes whose problem is the gold problem,
                              up to the names of its objects; only where the gold goal
                              is fully specified
    solver_errors, _aborts    attempts whose first PDDL gave nothing to carry out;
                              episodes ended by such errors
    solver_errors_fixed       the share of those errors that a retry fixed (PDDLego+
                              §5.3)
    simulation_errors, _aborts, _fixed   the same for steps that needed more than one
                                         attempt
    edit_faults               parts of edits that named something that does not exist
    cut_after_answer          answers that were complete before the token limit cut the
                              text

    Games with the same map, and the trials of a game, are one cluster when intervals
    are computed. All other numbers are means per played episode: per episode that
    succeeded (`_on_success`), that did not (`_on_failure`), or any. `actions` are the
    commands carried out (PDDLego+'s "avg_steps*"), `refused` are the other commands,
    and `pddlego_steps` are both, as PDDLego §4 counts steps.
    """

    games: int
    maps: int | None
    success: Rate
    games_solved: Rate
    won: int
    outcomes: Counter[str]
    causes: Counter[str]
    read: Rate
    accepted: Rate
    has_plan: Rate
    valid_but_wrong: Rate
    equivalent: Rate
    steps: Mean
    steps_on_success: Mean
    steps_on_failure: Mean
    actions: Mean
    actions_on_success: Mean
    refused: Mean
    refused_on_success: Mean
    pddlego_steps: Mean
    pddlego_steps_on_success: Mean
    calls: Mean
    solver_errors: int
    solver_errors_fixed: Rate
    solver_aborts: int
    simulation_errors: int
    simulation_errors_fixed: Rate
    simulation_aborts: int
    edit_faults: int
    cut_after_answer: int
    prompt_tokens: Mean
    completion_tokens: Mean
    sampled_tokens: Mean
    forced_tokens: Mean
    rollbacks: Mean
    model_time_s: Mean
    planner_time_s: Mean
    planner_wait_s: Mean
    wall_time_s: Mean

    @property
    def judged_by_gold(self) -> bool:
        """Whether the answers were judged by gold files, as in described worlds."""
        return bool(self.equivalent.n or self.outcomes["valid_but_wrong"])


@dataclass(frozen=True)
class _Placed:
    """A row with its game and its cluster; both have the number of its kind of games,
    since the same number in another kind is another game.
    """

    row: EpisodeRow
    game: tuple[int, int]
    cluster: tuple[int, Cluster]


def _placed(parts: Iterable[Sequence[EpisodeRow]]) -> list[_Placed]:
    placed = []
    for number, rows in enumerate(parts):
        known = clusters(rows)
        for row in rows:
            cluster = known[row.game]
            placed.append(_Placed(row, (number, row.game), (number, cluster)))
    return placed


def measure(*parts: Sequence[EpisodeRow]) -> Measures:
    """Computes the measures of these rows, such as those of a cell or of one task type.

    Each of the `parts` is one kind of games. The same game number in two parts is two
    games.
    """
    placed = _placed(parts)
    rows = [place.row for place in placed]
    games = {place.game: place.cluster for place in placed}
    solved = {place.game for place in placed if place.row.success}
    outcomes = Counter(row.outcome for row in rows)
    any_compared = any(_verdict(row) not in UNCOMPARED for row in rows)

    def rate(k: CountOf, n: CountOf = lambda row: 1) -> Rate:
        """The sum of `k` over all episodes, of the sum of `n`."""
        return Rate.of((place.cluster, k(place.row), n(place.row)) for place in placed)

    def reached(stage: str) -> Rate:
        return rate(lambda row: any(row.causes.get(c) for c in NESTED[stage]))

    return Measures(
        games=len(games),
        maps=len(set(games.values())) if any(row.map for row in rows) else None,
        success=rate(lambda row: row.success),
        games_solved=Rate.of((at, game in solved, 1) for game, at in games.items()),
        outcomes=outcomes,
        causes=sum((Counter(row.causes) for row in rows), Counter()),
        read=reached("read"),
        accepted=reached("accepted"),
        has_plan=reached("has_plan"),
        valid_but_wrong=rate(lambda row: row.outcome == "valid_but_wrong"),
        equivalent=rate(
            lambda row: _verdict(row) == "equivalent",
            lambda row: any_compared and _verdict(row) != "undecided",
        ),
        solver_errors_fixed=rate(
            lambda row: row.solver_errors_fixed, lambda row: row.solver_errors
        ),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors_fixed=rate(
            lambda row: row.simulation_errors_fixed, lambda row: row.simulation_errors
        ),
        simulation_aborts=outcomes["simulation_abort"],
        **{name: sum(getattr(row, name) for row in rows) for name in SUMS},
        **_means(rows),
    )


def _verdict(row: EpisodeRow) -> Any:
    """Whether the problem is the gold problem (`pddl.equivalence`); None if unknown."""
    return row.notes.get("equivalence")


def _means(rows: Iterable[EpisodeRow]) -> dict[str, Any]:
    """The fields of `Measures` that are means, over played episodes. For example,
    "steps_on_success" is the mean of `steps` over episodes that succeeded.
    """
    played = [row for row in rows if OUTCOMES[row.outcome].played]
    episodes = {
        "": played,
        "success": [row for row in played if row.success],
        "failure": [row for row in played if not row.success],
    }
    means = {}
    for field in fields(Measures):
        if field.type is Mean:
            number, _, which = field.name.partition("_on_")
            means[field.name] = Mean.of(getattr(row, number) for row in episodes[which])
    return means


@dataclass(frozen=True)
class CellNumbers:
    """The numbers of one cell.

    `asked` is the number of requested episodes, `finished` + `missing`. Three kinds of
    finished episodes are excluded, with all trials of their games: `trivial` ones
    (unless `with_trivial`), `unsolvable` ones, and those on maps that the model has
    `seen_in_training` (unless `with_seen`). `success_of_asked` is the range of the
    success rate with all missing results lost, or all won. `tries_used_up` is the share
    of answers for which rejection sampling rejected every try, so that the last one was
    used as it was, and `games_with_tries_used_up` the share of episodes with such an
    answer. Both are of no answers for an arm that rejects none, or without transcripts.
    `without_patches` says that a server of ours ran without serving/vllm_patches.py.
    """

    labels: Labels
    asked: int
    finished: int
    missing: int
    trivial: int
    unsolvable: int
    seen_in_training: int
    with_trivial: bool
    with_seen: bool
    games_teach_each_other: bool
    success_of_asked: Range
    tries_used_up: Rate
    games_with_tries_used_up: Rate
    without_patches: bool
    measures: Measures


@dataclass(frozen=True)
class TaskNumbers:
    """The numbers of the scored episodes of one kind of task in one cell."""

    labels: Labels
    tasks: str
    games: int
    maps: int | None
    success: Rate
    games_solved: Rate


@dataclass(frozen=True)
class TrialNumbers:
    """Games solved in this trial or before, among the games that have finished this
    trial.

    `missing` games have not finished it, and `games_solved_of_asked` is the range with
    all of them lost, or all won. `tasks` is a kind of task, or `ALL`.
    """

    labels: Labels
    tasks: str
    after_trial: int
    games_solved: Rate
    missing: int
    games_solved_of_asked: Range


@dataclass(frozen=True)
class Numbers:
    """All numbers of a report."""

    cells: list[CellNumbers]
    tasks: list[TaskNumbers]
    trials: list[TrialNumbers]


def report_numbers(cells: Sequence[CellRecord], *, also: Also = ()) -> Numbers:
    """Computes all numbers of a report. `also` are reasons for exclusion to ignore."""
    varying = varying_options(cells)
    numbers = Numbers([], [], [])
    for cell in cells:
        labels = {
            **cell.labels,
            "settings": cell.settings(varying),
            "budget": cell.budget,
        }
        numbers.cells.append(_of_cell(cell, labels, also))
        for name, rows in rows_by_task(cell, also=also).items():
            m = measure(rows)
            task = TaskNumbers(labels, name, m.games, m.maps, m.success, m.games_solved)
            numbers.tasks.append(task)
        if any(trial > 0 for _, trial in cell.requested):
            games = {game for game, _ in cell.requested}
            trials = success_after_trials(cell.rows, games, also=also)
            numbers.trials.extend(replace(trial, labels=labels) for trial in trials)
    return numbers


def _of_cell(cell: CellRecord, labels: Labels, also: Also) -> CellNumbers:
    found = counted(cell.rows, also=also)
    of_answers, of_games = tries_used_up(cell, found.counted)
    return CellNumbers(
        labels,
        asked=len(cell.rows) + cell.missing,
        finished=len(cell.rows),
        missing=cell.missing,
        trivial=len(found.apart["trivial"]),
        unsolvable=len(found.apart["unsolvable"]),
        seen_in_training=len(found.apart["seen in training"]),
        with_trivial="trivial" in also,
        with_seen="seen in training" in also,
        games_teach_each_other=cell.games_teach_each_other,
        success_of_asked=_of_asked(cell, found.counted),
        tries_used_up=of_answers,
        games_with_tries_used_up=of_games,
        without_patches=cell.run.model.get("patches") == "none",
        measures=measure(found.counted),
    )


def tries_used_up(cell: CellRecord, scored: Sequence[EpisodeRow]) -> tuple[Rate, Rate]:
    """Returns `tries_used_up` and `games_with_tries_used_up` of `CellNumbers` for these
    rows. Only transcripts tell them, so cells that reject nothing are not read.
    """
    reject = cell.run.identity.get("decoding", {}).get("reject")
    answers, games = list[Result](), list[Result]()
    if not reject:
        return Rate.of(answers), Rate.of(games)
    known = clusters(cell.rows)
    for row in scored:
        events, _ = cell.events(row)
        calls = [event for event in events if isinstance(event, Call)]
        used_up = [len(call.rejected) >= reject["tries"] for call in calls]
        cluster = known[row.game]
        answers += [(cluster, of_answer, 1) for of_answer in used_up]
        if events:
            games.append((cluster, any(used_up), 1))
    return Rate.of(answers), Rate.of(games)


def _of_asked(cell: CellRecord, scored: Sequence[EpisodeRow]) -> Range:
    """The range of the success rate. Missing trials of excluded games would not be
    scored.
    """
    known = clusters(cell.rows)
    excluded = known.keys() - {row.game for row in scored}
    played = {(row.game, row.trial) for row in cell.rows}
    left = [game for game, _ in sorted(cell.requested - played) if game not in excluded]
    finished = [(known[row.game], int(row.success), 1) for row in scored]
    return if_missing(finished, (known.get(game, game) for game in left))


def rows_by_task(cell: CellRecord, *, also: Also) -> dict[str, list[EpisodeRow]]:
    """Returns the scored rows by the environment's groups of task types, in the
    environment's order, then by task types without a group.
    """
    types = {row.game: row.task_type for row in cell.rows if row.task_type}
    scored = counted(cell.rows, also=also).counted
    groups = grouped((cell.group(types.get(row.game, "")), row) for row in scored)
    return {
        name: groups[name]
        for name in {**cell.run.task_groups, **groups}
        if name in groups
    }


def success_after_trials(
    rows: Iterable[EpisodeRow], games: Collection[int] = (), *, also: Also = ()
) -> list[TrialNumbers]:
    """Returns the games solved after each trial, for all kinds of tasks together and
    for each kind.

    Methods that learn between trials are judged by these numbers. A game is solved from
    the first trial on that solved it. `games` are the requested games. The kind of a
    game that was never played is unknown. Excluded games are left out
    (`counting.counted`).
    """
    rows = sorted(rows, key=lambda row: row.trial)
    scored = counted(rows, also=also).counted
    if not scored:
        return []
    played = grouped((row.game, row) for row in scored)
    games_of_kind = defaultdict[str, list[int]](list)
    for game, trials in played.items():
        # A trial that was not played because an earlier one had won names no kind.
        kind = next((row.task_type for row in trials if row.task_type), "")
        games_of_kind[kind].append(game)
    not_begun = set(games) - {row.game for row in rows}
    kinds = [(ALL, [*played, *not_begun]), *sorted(games_of_kind.items())]
    known = clusters(scored)
    last = max(row.trial for row in scored)
    return [
        _after(trial, kind, {game: played.get(game, []) for game in of_kind}, known)
        for kind, of_kind in kinds
        for trial in range(last + 1)
    ]


def _after(
    trial: int,
    kind: str,
    played: Mapping[int, Sequence[EpisodeRow]],
    known: Mapping[int, Cluster],
) -> TrialNumbers:
    """`played` has the trials of each game, and `known` the clusters of the games."""
    finished, missing = list[Result](), list[Cluster]()
    for game, rows in played.items():
        cluster = known.get(game, game)
        if any(row.trial == trial for row in rows):
            solved = any(row.success for row in rows if row.trial <= trial)
            finished.append((cluster, solved, 1))
        else:
            missing.append(cluster)
    return TrialNumbers(
        labels={},
        tasks=kind,
        after_trial=trial + 1,
        games_solved=Rate.of(finished),
        missing=len(missing),
        games_solved_of_asked=if_missing(finished, missing),
    )
