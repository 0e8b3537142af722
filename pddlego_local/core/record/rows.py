"""The lines of episodes.jsonl and faults.jsonl: how each episode ended, in numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic

from pddlego_local.core.formats import Recorded, one_of
from pddlego_local.core.outcomes import CAUSES, OUTCOMES


@dataclass(frozen=True, kw_only=True)
class Ending(Recorded):
    """How one trial of a game ended. `success` follows the papers' rule of the environment, `won`
    the game's own; `outcome` is one of `outcomes.OUTCOMES`."""

    game: int
    trial: int
    outcome: Annotated[str, one_of(OUTCOMES)]
    success: bool
    won: bool
    wall_time_s: float


@dataclass(frozen=True, kw_only=True)
class Counts(Recorded):
    """What the events of an episode add up to (`summary.summarize`), as PDDLego §4, and PDDLego+
    §5.3 and its published evaluation define it. Of several candidates (`best_of`) the chosen one
    stands for its request, whose prompt and time are counted once; tokens drawn are those of all.
    Times in seconds."""

    task_type: str  # the kind of game, as the environment names it; "" if it never began
    steps: int  # plan rounds begun, or actions named; commands, where no model was asked
    actions: int  # commands that the game carried out in the attempts that counted
    refused: int  # commands that were refused in any attempt, planned or named
    pddlego_steps: int  # actions + refused: PDDLego counts both as steps (§4)
    calls: int  # requests to the model
    causes: Mapping[Annotated[str, one_of(CAUSES)], int]  # {cause: calls}
    solver_errors: int  # attempts whose first PDDL gave nothing to do
    # … of which a retry gave a plan, and neither the budget nor a lost game ended the attempt
    solver_errors_fixed: int
    simulation_errors: int  # steps that needed more than one attempt
    simulation_errors_fixed: int  # … of which a later attempt ran to its end without a refusal
    edit_faults: int  # parts of edits that named something absent (PDDL-edit)
    prompt_tokens: int  # of all requests
    completion_tokens: int  # of all answers
    forced_tokens: int  # completion tokens that were not sampled: the grammar left no choice
    rollbacks: int  # times that some of an answer was taken back and resampled
    model_time_s: float
    planner_time_s: float  # what the planner worked
    planner_wait_s: float  # the wait for it before
    notes: Mapping[str, Any]  # what the method noted for the record, the last of each name
    map: str = ""  # hash: games with the same map are the same house; "" where none is known
    map_seen: bool = False  # whether it occurs in the training of the model that plays
    cut_after_answer: int = 0  # answers that were whole before the token limit cut what followed


@dataclass(frozen=True, kw_only=True)
class EpisodeRow(Counts, Ending):
    """One line of episodes.jsonl."""

    @property
    def sampled_tokens(self) -> int:
        return self.completion_tokens - self.forced_tokens


@dataclass(frozen=True, kw_only=True)
class FaultRow(Recorded):
    """One line of faults.jsonl: something of ours failed, and the episode is played again later."""

    game: int
    trial: int
    fault: str
    message: str
    time: str


ROW = pydantic.TypeAdapter(EpisodeRow)
