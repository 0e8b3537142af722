"""From rows to what the papers report of a system: numbers only."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pddlego_local.metrics.rates import Mean, Rate
from pddlego_local.outcomes import OUTCOMES
from pddlego_local.rows import EpisodeRow


@dataclass(frozen=True)
class Measures:
    """What the papers report of a system, over the rows of one cell. Times in seconds.

    success                   of the episodes; a game solved in an earlier trial counts as solved.
                              Several trials of a game are one sample: the interval is of games
    games_solved              games that some trial solved, of all games
    won                       episodes that the game's own rule calls won
    outcomes                  episodes by `outcomes.OUTCOMES`
    causes                    calls by `outcomes.CAUSES`
    solver_errors, _aborts    attempts whose first PDDL gave nothing to do; episodes ended by them
    solver_errors_fixed       of those errors, the ones that a retry fixed (PDDLego+ §5.3)
    simulation_errors, _aborts, _fixed   likewise, steps that needed more than one attempt
    edit_faults               parts of edits that named something absent

    The rest are means per episode that was played, of those that succeeded (`_on_success`) or did
    not. `actions` are the commands carried out (PDDLego+'s "avg_steps*"), `refused` the others, and
    `pddlego_steps` are both, as PDDLego §4 counts steps.
    """

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
    prompt_tokens: Mean
    sampled_tokens: Mean
    forced_tokens: Mean
    rollbacks: Mean
    model_time_s: Mean
    planner_time_s: Mean
    planner_wait_s: Mean
    wall_time_s: Mean


def measure(rows: Sequence[EpisodeRow]) -> Measures:
    """The measures of these rows, whatever they are: a cell's, or those of one task type."""
    played = [row for row in rows if OUTCOMES[row.outcome].played]
    won = [row for row in played if row.success]
    lost = [row for row in played if not row.success]
    games = {row.game for row in rows}
    solved = {row.game for row in rows if row.success}
    outcomes = Counter(row.outcome for row in rows)

    def total(number: Callable[[EpisodeRow], int]) -> int:
        return sum(map(number, rows))

    solver_errors = total(lambda row: row.solver_errors)
    simulation_errors = total(lambda row: row.simulation_errors)
    return Measures(
        success=Rate(total(lambda row: row.success), len(rows), len(games)),
        games_solved=Rate(len(solved), len(games)),
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
        solver_errors=solver_errors,
        solver_errors_fixed=Rate(total(lambda row: row.solver_errors_fixed), solver_errors),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors=simulation_errors,
        simulation_errors_fixed=Rate(
            total(lambda row: row.simulation_errors_fixed), simulation_errors
        ),
        simulation_aborts=outcomes["simulation_abort"],
        edit_faults=total(lambda row: row.edit_faults),
        prompt_tokens=Mean.of(row.prompt_tokens for row in played),
        sampled_tokens=Mean.of(row.sampled_tokens for row in played),
        forced_tokens=Mean.of(row.forced_tokens for row in played),
        rollbacks=Mean.of(row.rollbacks for row in played),
        model_time_s=Mean.of(row.model_time_s for row in played),
        planner_time_s=Mean.of(row.planner_time_s for row in played),
        planner_wait_s=Mean.of(row.planner_wait_s for row in played),
        wall_time_s=Mean.of(row.wall_time_s for row in played),
    )
