"""Computes the numbers of a report from rows: the measures that the papers report, for
each cell, each kind of task, and each trial.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
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


def measure(*parts: Sequence[EpisodeRow]) -> Measures:
    """Computes the measures of these rows, such as those of a cell or of one task type.

    Each of the `parts` is one kind of games. The same game number in two parts is two
    games.
    """
    # each row with its game and its cluster, both identified with the part's number
    placed = []
    for number, part in enumerate(parts):
        known = clusters(part)
        placed += [(row, (number, row.game), (number, known[row.game])) for row in part]
    rows = [row for row, _, _ in placed]
    played = [row for row in rows if OUTCOMES[row.outcome].played]
    episodes = {
        "": played,
        "success": [row for row in played if row.success],
        "failure": [row for row in played if not row.success],
    }
    games = {game: cluster for _, game, cluster in placed}
    solved = {game for row, game, _ in placed if row.success}
    outcomes = Counter(row.outcome for row in rows)
    without = {None, "not fully specified", "undecided"}
    compared = {row.notes.get("equivalence") for row in rows} - without

    def rate(k: str, n: str = "") -> Rate:
        """The rate of `k` over all episodes, or over the sum of `n`."""
        return Rate.of(
            (at, getattr(row, k), getattr(row, n) if n else 1) for row, _, at in placed
        )

    def mean(name: str) -> Mean:
        """For example "steps_on_success": the mean of `steps` over episodes that
        succeeded.
        """
        number, _, which = name.partition("_on_")
        return Mean.of(getattr(row, number) for row in episodes[which])

    numbers: dict[str, Any] = {
        name: sum(getattr(row, name) for row in rows) for name in SUMS
    }
    numbers |= {
        field.name: mean(field.name) for field in fields(Measures) if field.type is Mean
    }
    numbers |= {
        name: Rate.of(
            (at, any(row.causes.get(c) for c in causes), 1) for row, _, at in placed
        )
        for name, causes in NESTED.items()
    }
    return Measures(
        games=len(games),
        maps=len(set(games.values())) if any(row.map for row in rows) else None,
        success=rate("success"),
        games_solved=Rate.of(
            (cluster, game in solved, 1) for game, cluster in games.items()
        ),
        outcomes=outcomes,
        valid_but_wrong=Rate.of(
            (at, r.outcome == "valid_but_wrong", 1) for r, _, at in placed
        ),
        equivalent=Rate.of(
            (at, verdict == "equivalent", bool(compared) and verdict != "undecided")
            for row, _, at in placed
            for verdict in [row.notes.get("equivalence")]
        ),
        causes=sum((Counter(row.causes) for row in rows), Counter()),
        solver_errors_fixed=rate("solver_errors_fixed", "solver_errors"),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors_fixed=rate("simulation_errors_fixed", "simulation_errors"),
        simulation_aborts=outcomes["simulation_abort"],
        **numbers,
    )


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
        measures=measure(found.counted),
    )


def tries_used_up(cell: CellRecord, scored: Sequence[EpisodeRow]) -> tuple[Rate, Rate]:
    """Returns `tries_used_up` and `games_with_tries_used_up` of `CellNumbers` for these
    rows. Only transcripts tell them, so cells that reject nothing are not read.
    """
    reject = cell.run.identity.get("decoding", {}).get("reject")
    known = clusters(cell.rows)
    answers, games = list[Result](), list[Result]()
    for row in scored if reject else ():
        events, _ = cell.events(row)
        tries = [len(event.rejected) for event in events if isinstance(event, Call)]
        used_up = [rejected >= reject["tries"] for rejected in tries]
        cluster = known[row.game]
        answers += [(cluster, one, 1) for one in used_up]
        games += [(cluster, any(used_up), 1)] if events else []
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
    kept = counted(rows, also=also).counted
    trials = grouped((row.game, row) for row in kept)
    # A trial that was not played because an earlier one had won names no kind.
    kinds = grouped(
        (next((row.task_type for row in played if row.task_type), ""), game)
        for game, played in trials.items()
    )
    known = clusters(kept)
    not_begun = set(games) - {row.game for row in rows}
    by_kind = [(ALL, [*trials, *not_begun]), *sorted(kinds.items())] if kept else []
    return [
        _after(
            kind,
            [(known.get(game, game), trials.get(game, [])) for game in of_kind],
            trial,
        )
        for kind, of_kind in by_kind
        for trial in range(1 + max(row.trial for row in kept))
    ]


def _after(
    kind: str, games: Iterable[tuple[Cluster, list[EpisodeRow]]], trial: int
) -> TrialNumbers:
    """`games` has the cluster and the trials of each game."""
    over, missing = [], []
    for cluster, rows in games:
        if any(row.trial == trial for row in rows):
            over.append(
                (cluster, any(row.success for row in rows if row.trial <= trial), 1)
            )
        else:
            missing.append(cluster)
    of_asked = if_missing(over, missing)
    return TrialNumbers({}, kind, trial + 1, Rate.of(over), len(missing), of_asked)
