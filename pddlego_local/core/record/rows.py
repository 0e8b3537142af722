"""The lines of episodes.jsonl and faults.jsonl: how each episode ended, in numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic

from pddlego_local.core.formats import Recorded, one_of
from pddlego_local.core.outcomes import CAUSES, OUTCOMES

GameTrial = tuple[int, int]
"""A game and a trial: an episode of a cell."""


@dataclass(frozen=True, kw_only=True)
class Ending(Recorded):
    """How one trial of a game ended.

    `success` follows the rule that the papers use for this environment, and `won` the
    game's own rule. `outcome` is a key of `outcomes.OUTCOMES`.
    """

    game: int
    trial: int
    outcome: Annotated[str, one_of(OUTCOMES)]
    success: bool
    won: bool
    wall_time_s: float

    @property
    def episode(self) -> GameTrial:
        return self.game, self.trial


@dataclass(frozen=True, kw_only=True)
class Counts(Recorded):
    """Counts over the events of an episode (`summary.summarize`).

    PDDLego §4, PDDLego+ §5.3 and the published evaluation of PDDLego+ define them. If a
    request has several candidates (`best_of`), the chosen one determines the result of
    the request. The prompt and the time of the request are counted once; the tokens of
    all candidates are counted. Times are in seconds.
    """

    task_type: str  # the environment's name for it; "" if the game never began
    steps: int  # plan rounds begun, or actions named; commands if no model was asked
    actions: int  # commands carried out since the last reset, including replayed ones
    refused: int  # commands that were refused in any attempt, planned or named
    pddlego_steps: int  # actions + refused: PDDLego counts both as steps (§4)
    calls: int  # questions to the model, however many requests an answer took
    causes: Mapping[Annotated[str, one_of(CAUSES)], int]  # {cause: calls}
    solver_errors: int  # attempts whose first PDDL gave nothing to do
    # … of which a retry gave a plan, and neither the budget nor a lost game ended the
    # attempt
    solver_errors_fixed: int
    simulation_errors: int  # steps that needed more than one attempt
    simulation_errors_fixed: int  # … of which a later attempt ran without a refusal
    edit_faults: int  # parts of edits that named something absent (PDDL-edit)
    prompt_tokens: int  # of all calls; the prompt of a call counts once
    completion_tokens: int  # of all answers
    forced_tokens: int  # completion tokens that the grammar fixed: not sampled
    rollbacks: int  # how often a part of an answer was rolled back and resampled
    model_time_s: float
    planner_time_s: float  # the planner's own time
    planner_wait_s: float  # the time spent waiting for the planner
    notes: Mapping[str, Any]  # what the method noted, the last value of each name
    map: str = ""  # hash: games with the same map are the same house; "" if unknown
    map_seen: bool = False  # whether the playing model was trained on this map
    cut_after_answer: int = 0  # answers that were complete before the token limit


@dataclass(frozen=True, kw_only=True)
class EpisodeRow(Counts, Ending):
    """One line of episodes.jsonl."""

    @property
    def sampled_tokens(self) -> int:
        return self.completion_tokens - self.forced_tokens


@dataclass(frozen=True, kw_only=True)
class FaultRow(Recorded):
    """One line of faults.jsonl: an infrastructure failure. The episode is played again
    later.

    `fault` is the type of the exception. `traceback` is that of an exception that
    nobody expected, such as one of an environment of one's own; "" for the failures in
    `core.errors`.
    """

    game: int
    trial: int
    fault: str
    message: str
    time: str
    traceback: str = ""


ROW = pydantic.TypeAdapter(EpisodeRow)
