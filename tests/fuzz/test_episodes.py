"""Every method against hostile answers and a hostile game: an outcome of the table,
rightly scored.

The games and the planner are real. An answer is the reference's, mangled or cut, or
hostile text; or it has the form that was asked for and hostile text in every string.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego_local.core.nouns import Budget, Completion, Observation, Sampling
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import End
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import differences, summarize
from pddlego_local.core.resources import folder
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.config import compose_cell
from tests.fuzz.hostile import SLIPS, TABLE, TEXTS, Slip, fuzz, mangled, real_answers

METHODS = sorted(path.stem for path in (folder("conf") / "method").glob("*.yaml"))


def in_words(method: str) -> bool:
    """Whether it is for worlds that are told whole."""
    return method.startswith("formalizer")


def game_for(method: str) -> Environment:
    return Described(budget=BUDGET) if in_words(method) else Coin(budget=BUDGET)


BUDGET = Budget(unit="actions", limit=6)


@dataclass(frozen=True)
class Treatment:
    """What is made of an answer, or of what a game says."""

    kind: Literal["kept", "mangled", "inside", "text", "cut"]
    slips: tuple[Slip, ...]
    text: str
    number: int

    def inside(self, value: Any) -> Any:
        """The same JSON with a slip in every string; some strings are hostile text."""
        match value:
            case str():
                return mangled(value, self.slips) if len(value) % 2 else self.text
            case dict():
                return {key: self.inside(inner) for key, inner in value.items()}
            case list():
                return [self.inside(inner) for inner in value]
            case int():
                return self.number
        return value


TREATMENTS = st.lists(
    st.builds(
        Treatment,
        st.sampled_from(("kept", "mangled", "inside", "inside", "text", "cut")),
        SLIPS.map(tuple),
        TEXTS,
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=6,
)


class Hostile(Scripted):
    """Answers as the reference would, each treated as the next treatment says. Where
    the game's words are hostile the reference cannot read them, and an answer of the
    form takes its place.
    """

    def __init__(
        self, treatments: Sequence[Treatment], reference: ReferenceFormalizer | None
    ):
        super().__init__([])
        self._treatments = treatments
        self._reference = reference

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        treatment = self._treatments[len(self.asked) % len(self._treatments)]
        self.asked.append(question)
        text = self._real(question, sampling)
        match treatment.kind:
            case "mangled":
                text = mangled(text, treatment.slips)
            case "inside":
                text = json.dumps(_of_kind(treatment.inside(json.loads(text))))
            case "text":
                text = treatment.text
            case "cut":
                return Drawn(Completion(text[: len(text) // 2], "length", 1, 1, 0.0))
        return Drawn(Completion(text, "stop", 1, 1, 0.0))

    def _real(self, question: AnyQuestion, sampling: Sampling) -> str:
        if self._reference:
            return self._reference.answer(question, sampling).completion.text
        pddl = real_answers()[0].answer
        files = {
            key: pddl[key] for key in question.form.keys.model_fields if key in pddl
        }
        return json.dumps(files or TABLE["has_form"][question.form.name])


def _of_kind(answer: dict[str, Any]) -> dict[str, Any]:
    """A move stays a thought or an act, so that the answer has its form."""
    return answer | {"kind": "act"} if "kind" in answer else answer


class HostileGame:
    """A real game that says hostile things besides, the same whenever the same is
    done.
    """

    def __init__(self, game: Environment, treatments: Sequence[Treatment]) -> None:
        self._game = game
        self._treatments = treatments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def reset(self, seed: int) -> Observation:
        return self._treated(self._game.reset(seed))

    def step(self, command: str) -> Observation:
        return self._treated(self._game.step(command))

    def _treated(self, seen: Observation) -> Observation:
        treatment = self._treatments[len(seen.text) % len(self._treatments)]
        text = f"{mangled(seen.text, treatment.slips)} {treatment.text}"
        feedback = f"{seen.feedback} {treatment.text}" if seen.feedback else ""
        commands = (*seen.commands, treatment.text)
        return Observation(text, feedback, seen.success, seen.lost, commands)


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(limits=Limits(wall_s=20, cpu_s=10, memory_mb=512)) as planner:
        yield planner


def played(name: str, parts: Parts, out: Path) -> None:
    """One episode, whose record is whole and agrees with what the game said."""
    method = compose_cell([f"method={name}"]).build("method")
    with Cell(out) as cell:
        with cell.transcript(1, 0) as transcript:
            outcome = method(Episode(parts, transcript, run_seed=0, game=1, trial=0))
            success = outcome_named(outcome).success
            row = EpisodeRow(
                game=1,
                trial=0,
                outcome=outcome,
                success=success,
                won=success,
                wall_time_s=0.0,
                **vars(summarize(transcript.events, outcome)),
            )
            transcript(End(row=row))
        (out / "episodes.jsonl").unlink(missing_ok=True)
        cell.append(row)
    assert list(differences(out)) == []
    assert row.actions <= BUDGET.limit


DECODING = st.builds(
    lambda feedback, best_of: Decoding(rung="free", feedback=feedback, best_of=best_of),
    st.sampled_from(("planner", "explained")),
    st.sampled_from((1, 1, 2)),
)


@fuzz(0.1)
@given(st.sampled_from(METHODS), st.booleans(), DECODING, TREATMENTS)
def test_hostile_answers_end_an_episode_as_the_table_says(
    planner: FastDownward,
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    cooking: bool,
    decoding: Decoding,
    treatments: list[Treatment],
) -> None:
    game = Cooking(budget=BUDGET) if cooking and not in_words(name) else game_for(name)
    with (
        contextlib.closing(ReferenceFormalizer()) as reference,
        contextlib.closing(game),
    ):
        model = Hostile(treatments, reference)
        played(
            name,
            Parts(game, model, planner, decoding),
            tmp_path_factory.mktemp("played"),
        )


@fuzz(0.05)
@given(st.sampled_from(METHODS), DECODING, TREATMENTS, TREATMENTS)
def test_a_hostile_game_ends_as_the_table_says(
    planner: FastDownward,
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    decoding: Decoding,
    said: list[Treatment],
    answered: list[Treatment],
) -> None:
    game: Any = HostileGame(game_for(name), said)
    parts = Parts(game, Hostile(answered, None), planner, decoding)
    played(name, parts, tmp_path_factory.mktemp("played"))
