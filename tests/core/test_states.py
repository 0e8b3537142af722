"""True states in a record: they come back as they were, and no prompt holds them."""

import dataclasses
import json
from pathlib import Path

import pytest

from pddlego_local.core.nouns import Roles, TrueState
from pddlego_local.core.record.events import State
from pddlego_local.core.record.states import NOTHING, after, change
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.explored.game import Explored
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.methods.test_every_method import IN_WORDS, ONE_ANSWER_A_STEP


def state(*facts: str, **objects: str) -> TrueState:
    every = frozenset(tuple(fact.split()) for fact in facts)
    return TrueState(objects, every, frozenset((f[0], len(f) - 1) for f in every))


def test_a_state_comes_back_from_its_differences() -> None:
    states = [
        state("at hall", "closed hall attic", hall="room", attic="room"),
        state("at attic", "hands-full", "closed hall attic", hall="room", attic="room"),
        state("at attic", hall="room", attic="room", cat="animal"),
    ]
    before = read = NOTHING
    predicates = frozenset[tuple[str, int]]()
    for now in states:
        event = change(before, now)
        assert event is not None
        read = after(read, event)
        predicates |= now.predicates
        assert read == TrueState(now.objects, now.facts, predicates)
        before = now
    assert change(states[-1], states[-1]) is None


def test_what_words_mean_is_written_once() -> None:
    roles: Roles = {"player": ("at/1",), "doors": ("closed/2",), "places": ("room",)}
    first = dataclasses.replace(state("at hall", hall="room"), roles=roles)
    later = dataclasses.replace(state("at attic", attic="room"), roles=roles)
    events = [change(NOTHING, first), change(first, later)]
    assert [event and event.roles for event in events] == [roles, {}]
    read = NOTHING
    for event in filter(None, events):
        read = after(read, event)
    assert read.roles == roles


@pytest.mark.parametrize("text", ["", "()", "(((", "a b", "x/y/z", "at/x"])
def test_any_text_can_be_read_as_a_state(text: str) -> None:
    event = State(
        added=(text,), removed=(text,), objects={text: (text,)}, predicates=(text,)
    )
    assert after(NOTHING, event).objects == {text: text}


@pytest.mark.parametrize("method", [*ONE_ANSWER_A_STEP, *IN_WORDS])
def test_what_only_the_true_state_says_is_in_no_prompt(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_secret(monkeypatch, Coin)
    keeps_the_secret([f"method={method}", "environment.rooms=5"], tmp_path)


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit", "fcrf", "deps"])
def test_what_only_the_true_state_says_is_in_no_prompt_of_alfworld(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_secret(monkeypatch, Alfworld)
    keeps_the_secret([f"method={method}", "environment=alfworld"], tmp_path)


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit", "action_gen"])
def test_what_only_the_true_state_says_is_in_no_prompt_of_a_partly_seen_world(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_secret(monkeypatch, Explored)
    keeps_the_secret(
        [f"method={method}", "environment=explored", "environment.world=vault"],
        tmp_path,
    )


def with_a_secret(patch: pytest.MonkeyPatch, environment: type) -> None:
    secret = state("at zzsecret", zzsecret="zztype")
    secret = dataclasses.replace(secret, roles={"player": ("zzsecret/1",)})
    patch.setattr(environment, "true_state", lambda self: secret)


def keeps_the_secret(words: list[str], out: Path) -> None:
    """A planted fact may stand nowhere in a transcript but in its states."""
    always = ["model=reference", "games=1", "decoding=grounded", f"run.out={out}"]
    folder = run_cell(compose_cell([*words, *always])).folder
    lines = (folder / "transcripts" / "1-0.jsonl").read_text(encoding="utf-8")
    events = [json.loads(line) for line in lines.splitlines()]
    assert {event["event"] for event in events if "zzsecret" in str(event)} == {"state"}
    assert any(event["event"] == "call" for event in events)
