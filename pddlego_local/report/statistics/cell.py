"""From rows to what the papers report of a system: numbers only."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.counting import clusters
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.statistics.rates import Mean, Rate


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
    rows = [row for part in parts for row in part]
    played = [row for row in rows if OUTCOMES[row.outcome].played]
    won = [row for row in played if row.success]
    lost = [row for row in played if not row.success]
    known = [clusters(part) for part in parts]
    placed = [
        (row, (number, row.game), (number, known[number][row.game]))
        for number, part in enumerate(parts)
        for row in part
    ]
    games = {game: cluster for _, game, cluster in placed}
    solved = {game for row, game, _ in placed if row.success}
    outcomes = Counter(row.outcome for row in rows)

    def total(number: Callable[[EpisodeRow], int]) -> int:
        return sum(map(number, rows))

    def rate(k: Callable[[EpisodeRow], int], n: Callable[[EpisodeRow], int]) -> Rate:
        return Rate.of((cluster, k(row), n(row)) for row, _, cluster in placed)

    return Measures(
        games=len(games),
        maps=len(set(games.values())) if any(row.map for row in rows) else None,
        success=rate(lambda row: row.success, lambda row: 1),
        games_solved=Rate.of((cluster, game in solved, 1) for game, cluster in games.items()),
        won=total(lambda row: row.won),
        outcomes=outcomes,
        causes=sum((Counter(row.causes) for row in rows), Counter()),
        steps=Mean.of(row.steps for row in played),
        steps_on_success=Mean.of(row.steps for row in won),
        steps_on_failure=Mean.of(row.steps for row in lost),
        actions=Mean.of(row.actions for row in played),
        actions_on_success=Mean.of(row.actions for row in won),
        refused=Mean.of(row.refused for row in played),
        refused_on_success=Mean.of(row.refused for row in won),
        pddlego_steps=Mean.of(row.pddlego_steps for row in played),
        pddlego_steps_on_success=Mean.of(row.pddlego_steps for row in won),
        calls=Mean.of(row.calls for row in played),
        solver_errors=total(lambda row: row.solver_errors),
        solver_errors_fixed=rate(
            lambda row: row.solver_errors_fixed, lambda row: row.solver_errors
        ),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors=total(lambda row: row.simulation_errors),
        simulation_errors_fixed=rate(
            lambda row: row.simulation_errors_fixed, lambda row: row.simulation_errors
        ),
        simulation_aborts=outcomes["simulation_abort"],
        edit_faults=total(lambda row: row.edit_faults),
        cut_after_answer=total(lambda row: row.cut_after_answer),
        prompt_tokens=Mean.of(row.prompt_tokens for row in played),
        sampled_tokens=Mean.of(row.sampled_tokens for row in played),
        forced_tokens=Mean.of(row.forced_tokens for row in played),
        rollbacks=Mean.of(row.rollbacks for row in played),
        model_time_s=Mean.of(row.model_time_s for row in played),
        planner_time_s=Mean.of(row.planner_time_s for row in played),
        planner_wait_s=Mean.of(row.planner_wait_s for row in played),
        wall_time_s=Mean.of(row.wall_time_s for row in played),
    )
