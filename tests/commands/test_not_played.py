"""Which reasons the program can have written for what an evaluation did not play: each
is possible in one place, and invented where it would also hold for what was played.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pddlego_local.api.not_played import Unplayed
from pddlego_local.runner.config import CellConfig, compose_cell, hydra_for
from pddlego_local.runner.suite import suite, words_of

VLLM = "pddlego_local.models.vllm.model.VllmModel"
TRANSFORMERS = "pddlego_local.models.transformers.TransformersModel"
LARK = "a Lark grammar, as vLLM's structured_outputs"
SERVER = f"the server does not obey {LARK} (`pddlego canary` asks it)"
PRIVATE = SERVER.replace("server", "<private>")
BEHIND = f"the server does not obey {LARK}, behind a thought (`pddlego canary` asks it)"
GRAMMARS = "decoding=typed cannot be used with model=x: no. Choose decoding=free."
DATA = "environment.data: no data set is named; set ALFWORLD_DATA"
TRAINED = "the model was not trained for "
FILES = f"{TRAINED}method.prompts=pddlego_plus"
EDITS = f"{TRAINED}method.prompts=pddlego"


def absent(environment: str) -> str:
    return f"{environment} is not installed here (see `pddlego doctor`)"


@pytest.fixture(scope="module", autouse=True)
def _hydra() -> Iterator[None]:
    with hydra_for(None):
        yield


def cell(
    place: str, target: str = VLLM, *, weights: str = "mine", thinking: bool = False
) -> CellConfig:
    """The suite's cell of "PART ARM", with a model of this class."""
    name, arm = place.split()
    part = suite().parts[name]
    words = words_of(part, arm, part.games, thinking=thinking)
    config = compose_cell([*words, "model=reference"])
    model = {"_target_": target, "weights": weights}
    return replace(config, tree={**config.tree, "model": model})


@pytest.mark.parametrize(
    ("place", "why", "played"),
    [
        ("coin typed", SERVER, "coin free"),
        ("coin_public_act act_grounded", SERVER, "coin rounds"),
        ("coin grounded", PRIVATE, "coin free"),
        ("coin typed", GRAMMARS, "coin free"),
        ("alfworld free", absent("alfworld_unseen"), "coin free"),
        ("coin free", absent("coin"), "blocksworld free"),
        ("alfworld_real free", DATA, "alfworld free"),
        ("coin free", f"{FILES}, environment=coin", "blocksworld free"),
        ("coin_edits typed", EDITS, "coin typed"),
    ],
)
def test_a_reason_that_holds_for_nothing_that_was_played_is_possible(
    place: str, why: str, played: str
) -> None:
    unplayed = Unplayed(cell(place), False, [], [cell(played)])
    assert unplayed.judge(why) == "possible"


@pytest.mark.parametrize(
    ("place", "why", "played"),
    [
        ("coin free", "the server has no free decoding", "coin typed"),
        ("coin free", SERVER, "coin_edits free"),
        ("coin repair_typed", SERVER, "coin free"),
        ("coin typed", SERVER, "coin grounded"),
        ("coin typed", BEHIND, "coin free"),
        ("coin typed", f"{SERVER} It is old.", "coin free"),
        ("coin free", GRAMMARS, "coin_edits free"),
        ("coin typed", GRAMMARS, "coin_edits typed"),
        ("coin typed", absent("coin"), "coin_edits free"),
        ("alfworld free", absent("coin"), "blocksworld free"),
        ("blocksworld free", absent("described"), "coin free"),
        ("explored_grid typed", absent("explored"), "coin free"),
        ("coin free", DATA, "blocksworld free"),
        ("alfworld_real typed", DATA, "alfworld_real free"),
        ("coin free", FILES, "coin typed"),
        ("coin free", FILES, "explored_grid typed"),
        ("coin free", f"{TRAINED}method.prompts=other", "blocksworld free"),
        ("coin free", f"{TRAINED}its games", "blocksworld free"),
        ("coin free", TRAINED, "blocksworld free"),
    ],
)
def test_a_reason_that_the_program_does_not_give_there_is_invented(
    place: str, why: str, played: str
) -> None:
    unplayed = Unplayed(cell(place), False, [], [cell(played)])
    assert unplayed.judge(why) == "invented"


def test_a_server_is_blamed_only_for_what_it_was_seen_not_to_obey() -> None:
    free = [cell("coin free")]
    assert Unplayed(cell("coin typed"), False, [LARK], free).judge(SERVER) == "invented"
    in_process = cell("coin typed", TRANSFORMERS)
    assert Unplayed(in_process, False, [], free).judge(SERVER) == "invented"
    thinks = cell("coin typed", thinking=True)
    assert Unplayed(thinks, False, [LARK], free).judge(BEHIND) == "possible"
    assert Unplayed(thinks, False, [LARK], free).judge(SERVER) == "invented"


@pytest.mark.parametrize(
    ("place", "why", "verdict"),
    [
        ("coin_edits free", EDITS, "known"),
        ("coin_edits free", f"{TRAINED}method.prompts=<private>", "known"),
        ("coin_edits free", f"{EDITS}, environment=coin", "invented"),
        ("coin_edits typed", SERVER, "invented"),
        ("coin_compact typed", FILES, "invented"),
        ("coin_compact typed", SERVER, "possible"),
    ],
)
def test_the_card_of_a_model_in_the_box_decides(
    place: str, why: str, verdict: str
) -> None:
    config = cell(place, weights="nano")
    played = [cell("blocksworld free")]
    assert Unplayed(config, True, [], played).judge(why) == verdict
