"""The measures that the papers report about a system, computed from rows."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pddlego_local.core.outcomes import ACCEPTED, OUTCOMES, PLANNED
from pddlego_local.core.record.counting import Cluster, clusters
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.statistics.rates import Mean, Rate

NESTED = {
    "read": (*ACCEPTED, "translate_error"),
    "accepted": ACCEPTED,
    "has_plan": PLANNED,
}
"""The causes with which PDDL has reached each of these stages."""

UNCOMPARED = {None, "not fully specified", "undecided"}
"""The verdicts of an episode whose problem was not compared with the gold problem."""

EQUIVALENT = frozenset({"equivalent"})
EQUIVALENT_BUT_FOR_IDLE = EQUIVALENT | {"equivalent but for idle objects"}

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
    equivalent_but_for_idle   the same, without the objects that stand in no fact of
                              their file
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
    equivalent_but_for_idle: Rate
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
    def share_maps(self) -> bool:
        """Whether some games are known to have the same map."""
        return self.maps is not None and self.maps < self.games

    @property
    def has_idle(self) -> bool:
        """Whether some files are equivalent to gold only without idle objects."""
        return self.equivalent_but_for_idle.k > self.equivalent.k

    @property
    def judged_by_gold(self) -> bool:
        """Whether the answers were judged by gold files, as in described worlds."""
        return bool(self.equivalent.n or self.outcomes["valid_but_wrong"])


class _Place(NamedTuple):
    """A row with its game and its cluster; both have the number of its kind of games,
    since the same number in another kind is another game.
    """

    row: EpisodeRow
    game: tuple[int, int]
    cluster: tuple[int, Cluster]


def _places(parts: Iterable[Sequence[EpisodeRow]]) -> list[_Place]:
    places = []
    for part, rows in enumerate(parts):
        known = clusters(rows)
        for row in rows:
            game = part, row.game
            cluster = part, known[row.game]
            places.append(_Place(row, game, cluster))
    return places


def measure(*parts: Sequence[EpisodeRow]) -> Measures:
    """Computes the measures of these rows, such as those of a cell or of one task type.

    Each of the `parts` is one kind of games. The same game number in two parts is two
    games.
    """
    places = _places(parts)
    rows = [place.row for place in places]
    games = {place.game: place.cluster for place in places}
    solved = {place.game for place in places if place.row.success}
    maps_known = any(row.map for row in rows)
    outcomes = Counter(row.outcome for row in rows)
    causes = Counter[str]()
    for row in rows:
        causes += Counter(row.causes)
    any_compared = any(compared_with_gold(row) not in UNCOMPARED for row in rows)

    def rate(k: CountOf, n: CountOf = lambda row: 1) -> Rate:
        """The sum of `k` over all episodes, of the sum of `n`."""
        return Rate.of((place.cluster, k(place.row), n(place.row)) for place in places)

    def reached(stage: str) -> Rate:
        return rate(lambda row: has_reached(stage, row))

    def equivalent(verdicts: Collection[str]) -> Rate:
        return rate(
            lambda row: compared_with_gold(row) in verdicts,
            lambda row: any_compared and compared_with_gold(row) != "undecided",
        )

    return Measures(
        games=len(games),
        maps=len(set(games.values())) if maps_known else None,
        success=rate(lambda row: row.success),
        games_solved=Rate.of((at, game in solved, 1) for game, at in games.items()),
        outcomes=outcomes,
        causes=causes,
        read=reached("read"),
        accepted=reached("accepted"),
        has_plan=reached("has_plan"),
        valid_but_wrong=rate(lambda row: row.outcome == "valid_but_wrong"),
        equivalent=equivalent(EQUIVALENT),
        equivalent_but_for_idle=equivalent(EQUIVALENT_BUT_FOR_IDLE),
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


def has_reached(stage: str, row: EpisodeRow) -> bool:
    """Returns whether some answer of the episode reached a stage of `NESTED`."""
    return any(row.causes.get(cause) for cause in NESTED[stage])


def compared_with_gold(row: EpisodeRow) -> Any:
    """Returns whether the problem is the gold problem (`pddl.equivalence`); None if
    that is unknown.
    """
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
