"""From rows to what the papers report of a system: numbers only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from pddlego_local.core.outcomes import OUTCOMES, PLANNED
from pddlego_local.core.record.counting import clusters
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.statistics.rates import Mean, Rate

ACCEPTED = (*PLANNED, "unsolvable", "timeout", "out_of_memory")
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
