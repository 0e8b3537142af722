"""From rows to the numbers of a report: what the papers report of a system, and one row per cell,
per kind of task, and per trial."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pddlego_local.core.outcomes import ACCEPTED, OUTCOMES, PLANNED
from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, grouped, varying_options
from pddlego_local.report.statistics.rates import Mean, Range, Rate, if_missing

Labels = Mapping[str, str]
"""What tells a cell apart: its labels, "settings" and "budget"."""

ALL = "all"

NESTED = {"read": (*ACCEPTED, "translate_error"), "accepted": ACCEPTED, "has_plan": PLANNED}
"""Which causes say that PDDL got so far."""

SUMS = ("won", "solver_errors", "simulation_errors", "edit_faults", "cut_after_answer")


@dataclass(frozen=True)
class Measures:
    """What the papers report of a system, over the rows of one cell. Times in seconds.

    games, maps               how many, the trials of a game being one; None where no map is known.
                              A game whose map alone is not known counts as one
    success                   of the episodes; a game solved in an earlier trial counts as solved
    games_solved              games that some trial solved, of all games
    won                       episodes that the game's own rule calls won
    outcomes                  episodes by `outcomes.OUTCOMES`
    causes                    calls by `outcomes.CAUSES`
    read, accepted, has_plan  episodes in which some answer held files; the translator took such
                              files; they had a plan
    valid_but_wrong           episodes that ended with a plan that gold files refuse
    solver_errors, _aborts    attempts whose first PDDL gave nothing to do; episodes ended by them
    solver_errors_fixed       of those errors, the ones that a retry fixed (PDDLego+ §5.3)
    simulation_errors, _aborts, _fixed   likewise, steps that needed more than one attempt
    edit_faults               parts of edits that named something absent
    cut_after_answer          answers that were whole before the token limit cut what followed

    Games with the same map, and the trials of a game, are a cluster: intervals say so.
    The rest are means per episode that was played, of those that succeeded (`_on_success`) or did
    not. `actions` are the commands carried out (PDDLego+'s "avg_steps*"), `refused` the others, and
    `pddlego_steps` are both, as PDDLego §4 counts steps.
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
    sampled_tokens: Mean
    forced_tokens: Mean
    rollbacks: Mean
    model_time_s: Mean
    planner_time_s: Mean
    planner_wait_s: Mean
    wall_time_s: Mean


def measure(*parts: Sequence[EpisodeRow]) -> Measures:
    """The measures of these rows, whatever they are: a cell's, or those of one task type. Where
    several kinds of games are pooled each is a part: a game's number means one game in a part."""
    placed = []  # each row with its game and cluster, which a part's number makes the part's own
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

    def rate(k: str, n: str = "") -> Rate:
        """Of all episodes, or of the sum of another number."""
        return Rate.of((at, getattr(row, k), getattr(row, n) if n else 1) for row, _, at in placed)

    def mean(name: str) -> Mean:
        """Of "steps_on_success": `steps` of the episodes that succeeded."""
        number, _, which = name.partition("_on_")
        return Mean.of(getattr(row, number) for row in episodes[which])

    numbers: dict[str, Any] = {name: sum(getattr(row, name) for row in rows) for name in SUMS}
    numbers |= {field.name: mean(field.name) for field in fields(Measures) if field.type is Mean}
    numbers |= {
        name: Rate.of((at, any(row.causes.get(c) for c in causes), 1) for row, _, at in placed)
        for name, causes in NESTED.items()
    }
    return Measures(
        games=len(games),
        maps=len(set(games.values())) if any(row.map for row in rows) else None,
        success=rate("success"),
        games_solved=Rate.of((cluster, game in solved, 1) for game, cluster in games.items()),
        outcomes=outcomes,
        valid_but_wrong=Rate.of((at, r.outcome == "valid_but_wrong", 1) for r, _, at in placed),
        causes=sum((Counter(row.causes) for row in rows), Counter()),
        solver_errors_fixed=rate("solver_errors_fixed", "solver_errors"),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors_fixed=rate("simulation_errors_fixed", "simulation_errors"),
        simulation_aborts=outcomes["simulation_abort"],
        **numbers,
    )


@dataclass(frozen=True)
class CellNumbers:
    """One cell. `asked` = `finished` + `missing` episodes, and of the finished ones three kinds
    stand apart, with all trials of their games: `trivial` ones (but `with_trivial`), `unsolvable`
    ones, and those whose map the model has `seen_in_training` (but `with_seen`).
    `success_of_asked` treats what has no result as lost and as won."""

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
    measures: Measures


@dataclass(frozen=True)
class TaskNumbers:
    """The finished episodes of one kind of task in one cell."""

    labels: Labels
    tasks: str
    games: int
    maps: int | None
    success: Rate
    games_solved: Rate


@dataclass(frozen=True)
class TrialNumbers:
    """Games solved in this trial or before, of those whose trial of this number is over; `missing`
    games are still to be played so often, and `games_solved_of_asked` counts them as lost and as
    won. `tasks` is a kind, or `ALL`."""

    labels: Labels
    tasks: str
    after_trial: int
    games_solved: Rate
    missing: int
    games_solved_of_asked: Range


@dataclass(frozen=True)
class Numbers:
    """All of a report."""

    cells: list[CellNumbers]
    tasks: list[TaskNumbers]
    trials: list[TrialNumbers]


def report_numbers(cells: Sequence[CellRecord], *, also: Also = ()) -> Numbers:
    varying = varying_options(cells)
    numbers = Numbers([], [], [])
    for cell in cells:
        labels = {**cell.labels, "settings": cell.settings(varying), "budget": cell.budget}
        numbers.cells.append(_of_cell(cell, labels, also))
        for name, rows in rows_by_task(cell, also=also).items():
            m = measure(rows)
            numbers.tasks.append(
                TaskNumbers(labels, name, m.games, m.maps, m.success, m.games_solved)
            )
        if any(trial > 0 for _, trial in cell.requested):
            games = {game for game, _ in cell.requested}
            trials = success_after_trials(cell.rows, games, also=also)
            numbers.trials.extend(replace(trial, labels=labels) for trial in trials)
    return numbers


def _of_cell(cell: CellRecord, labels: Labels, also: Also) -> CellNumbers:
    found = counted(cell.rows, also=also)
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
        measures=measure(found.counted),
    )


def _of_asked(cell: CellRecord, counting: Sequence[EpisodeRow]) -> Range:
    """Of games that stand apart nothing that could count is missing."""
    known = clusters(cell.rows)
    apart = known.keys() - {row.game for row in counting}
    played = {(row.game, row.trial) for row in cell.rows}
    left = [game for game, _ in sorted(cell.requested - played) if game not in apart]
    finished = [(known[row.game], int(row.success), 1) for row in counting]
    return if_missing(finished, (known.get(game, game) for game in left))


def rows_by_task(cell: CellRecord, *, also: Also) -> dict[str, list[EpisodeRow]]:
    """By the environment's groups of task types, in its order; then games as they are named."""
    types = {row.game: row.task_type for row in cell.rows if row.task_type}
    counting = counted(cell.rows, also=also).counted
    groups = grouped((cell.group(types.get(row.game, "")), row) for row in counting)
    return {name: groups[name] for name in {**cell.run.task_groups, **groups} if name in groups}


def success_after_trials(
    rows: Iterable[EpisodeRow], games: Collection[int] = (), *, also: Also = ()
) -> list[TrialNumbers]:
    """Of all kinds of tasks, then of each, after the first trial, the second, …: how methods that
    learn between trials are judged. A game is solved from the first trial that solved it.

    `games` are those that shall be played; the kind of a game that was never played is not known.
    Games that stand apart are left out (`counting.counted`).
    """
    rows = sorted(rows, key=lambda row: row.trial)
    kept = counted(rows, also=also).counted
    trials = grouped((row.game, row) for row in kept)
    # A trial that was not played again, because an earlier one had won, names no kind.
    kinds = grouped(
        (next((row.task_type for row in played if row.task_type), ""), game)
        for game, played in trials.items()
    )
    known = clusters(kept)
    never_begun = set(games) - {row.game for row in rows}
    by_kind = [(ALL, [*trials, *never_begun]), *sorted(kinds.items())] if kept else []
    return [
        _after(kind, [(known.get(game, game), trials.get(game, [])) for game in of_kind], trial)
        for kind, of_kind in by_kind
        for trial in range(1 + max(row.trial for row in kept))
    ]


def _after(
    kind: str, games: Iterable[tuple[Cluster, list[EpisodeRow]]], trial: int
) -> TrialNumbers:
    """`games` are the trials of each, with its cluster."""
    over, missing = [], []
    for cluster, rows in games:
        if any(row.trial == trial for row in rows):
            over.append((cluster, any(row.success for row in rows if row.trial <= trial), 1))
        else:
            missing.append(cluster)
    of_asked = if_missing(over, missing)
    return TrialNumbers({}, kind, trial + 1, Rate.of(over), len(missing), of_asked)
