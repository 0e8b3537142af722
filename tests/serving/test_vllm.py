"""The vLLM backend against a real server.

Needs a serving environment: PDDLEGO_SERVING_ENV, else .venv-serving.
"""

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.runner import run as runner
from pddlego_local.runner.config import compose_cell
from tests.given import give
from tests.models.asking import (
    FORMS,
    PROMPT,
    TOY,
    TOY_LANGUAGE,
    assert_grammars_are_obeyed,
    finished,
)
from tests.serving.served import CONTEXT_TOKENS
from tools.chaos.blows import TARGETS
from tools.chaos.processes import below


def test_an_episode_is_played_under_the_grammar_and_recorded(
    model: VllmModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(model, monkeypatch)
    overrides = [
        "model=random_vllm",
        f"run.out={tmp_path}",
        "games=1",
        "decoding.max_tokens=700",
    ]
    result = runner.run_cell(compose_cell(overrides))
    assert result.faults == []
    (row,) = read_rows(result.folder / "episodes.jsonl")
    assert row.outcome == "solver_abort" and row.calls == 6
    events = read_events(result.folder / "transcripts" / "1-0.jsonl")
    calls = [event for event in events if isinstance(event, Call)]
    assert row.completion_tokens == sum(call.completion_tokens for call in calls) > 0
    whole = [call for call in calls if call.finish_reason == "stop"]
    assert whole and all(accepts(load("syntax"), call.text) for call in whole)


@pytest.mark.parametrize("target", ["server front end", "engine", "launcher"])
def test_what_chaos_is_to_kill_is_found(model: VllmModel, target: str) -> None:
    model.start()
    assert below(os.getpid(), TARGETS[target])


@pytest.mark.parametrize("seed", range(10))
def test_grammars_are_obeyed(model: VllmModel, seed: int) -> None:
    assert_grammars_are_obeyed(model, seed)


def test_every_form_is_drawn_as_it_is_read(model: VllmModel) -> None:
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda form: finished(model, form, seed=1), FORMS))
    assert sum(drawn) >= len(FORMS) - 1


def test_limits_and_counts(model: VllmModel) -> None:
    free = model.complete(PROMPT, None, Sampling(max_tokens=30, seed=1))
    assert (free.finish_reason, free.completion_tokens) == ("length", 30)
    cut = model.complete(PROMPT, TOY, Sampling(max_tokens=1))
    assert (cut.finish_reason, cut.text, cut.completion_tokens) == ("length", "(", 1)
    longer = (*PROMPT, Message("user", "Again."))
    assert (
        model.complete(longer, TOY, Sampling(max_tokens=50)).prompt_tokens
        > cut.prompt_tokens
    )


def test_the_context_bounds_prompt_and_answer(model: VllmModel) -> None:
    most = (Message("user", "the kitchen " * 1900),)
    for seed in range(10):  # random weights end a text now and then
        free = model.complete(most, None, Sampling(max_tokens=100_000, seed=seed))
        if free.finish_reason == "length":
            break
    assert free.finish_reason == "length"
    assert free.prompt_tokens + free.completion_tokens == CONTEXT_TOKENS
    long = (Message("user", "the kitchen " * 3000),)
    with pytest.raises(ConfigError, match=r"raise model\.context_tokens"):
        model.complete(long, TOY, Sampling(max_tokens=10))


def test_a_stranger_to_the_server_is_told_what_to_set(model: VllmModel) -> None:
    assert model._managed is not None
    url, key = model._managed.url, model._managed.api_key

    def stranger(
        thinking: Thinking | None = Thinking(),  # noqa: B008 - frozen
        **settings: str,
    ) -> contextlib.closing[VllmModel]:
        server = Server(url=url, **settings)  # type: ignore[arg-type]
        return contextlib.closing(
            VllmModel(weights=model.weights, thinking=thinking, server=server)
        )

    sampling = Sampling(max_tokens=99)
    with stranger(api_key=key) as friend:
        assert TOY_LANGUAGE.fullmatch(friend.complete(PROMPT, TOY, sampling).text)
        assert friend.identity()["backend_version"].startswith("0.")
    with (
        stranger(None, api_key=key) as guest,
        pytest.raises(ConfigError, match="reasoning parser"),
    ):
        guest.complete(PROMPT, TOY, sampling)
    with (
        stranger(api_key="wrong") as guest,
        pytest.raises(ConfigError, match=r"model\.server\.api_key"),
    ):
        guest.complete(PROMPT, TOY, sampling)
    with (
        stranger(api_key=key, name="other") as guest,
        pytest.raises(ConfigError, match=r"model\.server\.name"),
    ):
        guest.complete(PROMPT, TOY, sampling)
