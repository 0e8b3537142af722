"""A run's rows are confirmed by playing them again, and every tampering is named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.commands.shared.bundle_check import check
from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Completion, PlanResult, Sampling
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.planner import FastDownward
from pddlego_local.report.bundle import pack
from pddlego_local.runner.cell import ModelStore
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cell
from tests.report.test_rescoring import edited

Object = dict[str, Any]
GAMES = "20001-20002"


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cells of a small model, freely and under a grammar, of two games each."""
    out = tmp_path_factory.mktemp("bundled")
    cells = pddlego_local.run(
        name="bundled",
        run__out=str(out),
        model="nano",
        method__variant="compact",
        environment__rooms=5,
        decoding=["free", "grounded"],
        decoding__temperature=0.5,
        games=GAMES,
    )
    return cells[0].parent


def checked(file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = check(file)
    return code, capsys.readouterr().out


def test_a_bundle_of_a_real_run_is_confirmed(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "run.tar.xz"
    pack(run, bundle)
    code, said = checked(bundle, capsys)
    assert code == 0, said
    assert "4 of 4 rows confirmed in 2 cells" in said
    assert "not verified: tokens, times" in said


# ---- Tampering


def free(run: Path) -> Path:
    (cell,) = run.glob("*-free-*")
    return cell


def grounded(run: Path) -> Path:
    (cell,) = run.glob("*-grounded-*")
    return cell


def rows(cell: Path, change: Callable[[list[Object]], object]) -> None:
    edited(cell / "episodes.jsonl", change)


def transcript(cell: Path, game: int = 20001) -> Path:
    return cell / "transcripts" / f"{game}-0.jsonl"


def events(cell: Path, change: Callable[[list[Object]], object]) -> None:
    edited(transcript(cell), change)


def first(events: list[Object], kind: str) -> Object:
    return next(event for event in events if event["event"] == kind)


def settings(cell: Path, change: Callable[[Object], object]) -> None:
    path = cell / "run.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def everywhere(cell: Path, **changes: object) -> None:
    """Changes a row and the end of its transcript in the same way."""
    rows(cell, lambda found: game_of(found, 20001).update(changes))
    events(cell, lambda found: found[-1]["row"].update(changes))


def game_of(rows: list[Object], game: int) -> Object:
    return next(row for row in rows if row["game"] == game)


def another_outcome(run: Path) -> None:
    rows(free(run), lambda found: found[0].update(outcome="step_limit", success=False))


def another_outcome_everywhere(run: Path) -> None:
    everywhere(free(run), outcome="step_limit", success=False, won=False)
    events(
        free(run),
        lambda found: [e.update(success=False) for e in found if "success" in e],
    )


def a_removed_row(run: Path) -> None:
    rows(free(run), lambda found: found.pop())


def a_removed_episode(run: Path) -> None:
    rows(free(run), lambda found: found.remove(game_of(found, 20001)))
    transcript(free(run)).unlink()


def an_added_episode(run: Path) -> None:
    def add(found: list[Object]) -> None:
        found.append({**game_of(found, 20001), "game": 20009})

    rows(free(run), add)
    lines = transcript(free(run)).read_text(encoding="utf-8")
    text = lines.replace('"game": 20001', '"game": 20009')
    transcript(free(run), 20009).write_text(text, encoding="utf-8")


def a_row_twice(run: Path) -> None:
    rows(free(run), lambda found: found.append(found[0]))


def an_edited_answer(run: Path) -> None:
    def change(found: list[Object]) -> None:
        call = first(found, "call")
        call["text"] = call["text"].replace("kitchen", "cellar")

    events(free(run), change)


def an_answer_outside_its_rung(run: Path) -> None:
    def change(found: list[Object]) -> None:
        call = first(found, "call")
        stage = call["stages"][-1]
        stage["text"] = stage["text"] + " (invented cellar)"

    events(grounded(run), change)


def an_edited_prompt(run: Path) -> None:
    def change(found: list[Object]) -> None:
        message = first(found, "call")["messages"][0]
        message["content"] += " The coin is in the kitchen."

    events(free(run), change)


def an_edited_plan(run: Path) -> None:
    def change(found: list[Object]) -> None:
        plan = first(found, "plan")
        plan["plan"] = [*plan["plan"], "(move kitchen cellar west)"]

    events(free(run), change)


def an_invented_command(run: Path) -> None:
    def change(found: list[Object]) -> None:
        action = first(found, "action")
        at = found.index(action)
        found.insert(at, {**action, "command": "take coin", "planned": None})

    events(free(run), change)
    rows(free(run), lambda found: game_of(found, 20001).update(actions=99))


def an_edited_observation(run: Path) -> None:
    def change(found: list[Object]) -> None:
        first(found, "start")["observation"] += " You see a coin."

    events(free(run), change)


def an_edited_seed(run: Path) -> None:
    settings(free(run), lambda run: run["starts"][0]["config"].update(seed=1))


def an_edited_seed_everywhere(run: Path) -> None:
    an_edited_seed(run)
    settings(free(run), lambda run: run["identity"].update(seed=1))


def edited_tokens(run: Path) -> None:
    rows(free(run), lambda found: found[0].update(completion_tokens=1))


def a_removed_cell(run: Path) -> None:
    shutil.rmtree(grounded(run))


def a_transcript_of_another_game(run: Path) -> None:
    shutil.copy(transcript(free(run), 20002), transcript(free(run), 20001))


def a_lost_transcript(run: Path) -> None:
    transcript(free(run)).unlink()


def other_prompts(run: Path) -> None:
    settings(free(run), lambda run: run.update(used_prompt_sha256="0" * 64))


def fewer_attempts(run: Path) -> None:
    def change(run: Object) -> None:
        run["identity"]["method"]["max_attempts"] = 1
        run["starts"][0]["config"]["method"]["max_attempts"] = 1
        run["identity"]["decoding"]["temperature"] = 0
        run["starts"][0]["config"]["decoding"]["temperature"] = 0

    settings(free(run), change)


TAMPERINGS = [
    (another_outcome, "outcome is 'step_limit' in the row"),
    (another_outcome_everywhere, "when it is played again"),
    (a_removed_row, "requested, but no row"),
    (a_removed_episode, "game 20001, trial 0: requested, but no row"),
    (an_added_episode, "nobody requested game 20009"),
    (a_row_twice, "a further row of game"),
    (an_edited_answer, "game 20001, trial 0: event"),
    (an_answer_outside_its_rung, "is outside the grammar"),
    (an_edited_prompt, "messages.0.content is"),
    (an_edited_plan, "(plan): plan is"),
    (an_invented_command, "(action): "),
    (an_edited_observation, "(start): observation is"),
    (an_edited_seed, "its configuration and its identity differ in seed"),
    (an_edited_seed_everywhere, "1 answers are requested here"),
    (edited_tokens, "completion_tokens is 1 in the row"),
    (a_removed_cell, "requested by a sweep (2 rows), but not here"),
    (a_transcript_of_another_game, "game 20001, trial 0: "),
    (a_lost_transcript, "a row without a transcript"),
    (other_prompts, "other prompts"),
    (fewer_attempts, "1 answers are requested here"),
]


@pytest.mark.parametrize(
    ("tamper", "told"), TAMPERINGS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_tampered_bundle_is_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    tamper: Callable[[Path], None], told: str,
) -> None:  # fmt: skip
    copy = Path(shutil.copytree(run, tmp_path / "bundled"))
    tamper(copy)
    bundle = tmp_path / "tampered.tar.xz"
    pack(copy, bundle)
    code, said = checked(bundle, capsys)
    assert code == 1 and told in said, said


# ---- What cannot be confirmed, and what is not imported


class Given(ModelStore):
    """Lends one model, whatever the configuration says."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._given = model

    def get(self, config: CellConfig) -> Any:
        return self._given

    def open(self, config: CellConfig, model: Any) -> None:
        return


class Saying:
    """Gives these answers in turn, each after a thought if one is asked for."""

    decodes = True

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    def preflight(self, *, thinking: bool = False) -> None:
        return

    def identity(self) -> dict[str, str]:
        return {"backend": "saying", "weights": "saying"}

    def complete(
        self, messages: Any, grammar: Any, sampling: Sampling, prefix: Any = None
    ) -> Completion:
        if not self._answers:
            raise PromptTooLong("the prompt is too long")
        thought = "Hm. (define …" if sampling.thinking else ""
        return Completion(self._answers.pop(0), "stop", 5, 5, 0.1, thought=thought)

    def close(self) -> None:
        return


def played(out: Path, *answers: str, words: tuple[str, ...] = ()) -> Path:
    """The folder of a cell that a model with these answers played."""
    shared = ["model=random", "decoding=free", "environment.rooms=5", "games=20001"]
    config = compose_cell([f"run.out={out}", *shared, *words])
    result = run_cell(config, models=Given(Saying(*answers)))
    assert result.played == 1, result.faults
    return result.folder


@pytest.fixture(scope="session")
def solved(run: Path) -> str:
    """An answer with a plan."""
    lines = transcript(free(run)).read_text(encoding="utf-8").splitlines()
    return str(first([json.loads(line) for line in lines], "call")["text"])


def test_a_thought_is_no_hindrance(
    solved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("decoding.reason=think", "method.max_attempts=1", "method.rounds=0")
    cell = played(tmp_path, *[solved] * 9, words=words)
    assert '"thought": "Hm.' in transcript(cell).read_text(encoding="utf-8")
    code, said = checked(cell, capsys)
    assert code == 0 and "1 of 1 rows confirmed" in said


def test_a_prompt_that_was_too_long_is_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = played(tmp_path, "I do not know.")
    code, said = checked(cell, capsys)
    assert code == 1 and "0 of 1 rows confirmed, 1 not checked in 1 cells" in said
    assert "not checked (1 row): a prompt was too long for the model's context" in said


def out_of_time(self: FastDownward, domain: str, problem: str) -> PlanResult:
    return PlanResult("timeout", (), "Fast Downward reached its CPU time limit.", 60.0)


def test_a_limit_of_the_planner_is_never_a_difference(
    run: Path, solved: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with monkeypatch.context() as slow:
        slow.setattr(FastDownward, "plan", out_of_time)
        cell = played(tmp_path, *[solved] * 9)
    code, said = checked(cell, capsys)
    assert "not checked (1 row): the planner reached a limit" in said
    assert code == 1 and "difference" not in said
    monkeypatch.setattr(FastDownward, "plan", out_of_time)
    code, said = checked(free(run), capsys)
    assert "not checked (2 rows): the planner reached a limit" in said
    assert code == 1 and "difference" not in said


@pytest.mark.parametrize(
    "target", ["os.system", "pddlego_local.core.durable.replace_file", "mine.game.Mine"]
)
def test_nothing_that_a_record_names_is_imported(
    target: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = Path(shutil.copytree(free(run), tmp_path / "cell"))
    for group in ("environment", "method", "model", "planner"):

        def change(run: Object, group: str = group) -> None:
            run["starts"][0]["config"][group]["inner"] = {"_target_": target}

        settings(cell, change)
    code, said = checked(cell, capsys)
    assert f"it is played by code from outside the project ({target})" in said
    assert code == 1 and "0 of 2 rows confirmed, 2 not checked" in said


def test_what_needs_files_that_are_not_here_is_not_checked(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = Path(shutil.copytree(free(run), tmp_path / "run" / "cell"))

    def change(run: Object) -> None:
        target = "pddlego_local.environments.explored.game.Explored"
        own: Object = {"_target_": target, "folder": "my_own_world"}
        own["budget"] = {"unit": None, "limit": None}
        run["starts"][0]["config"]["environment"] = own

    settings(cell, change)
    code, said = checked(cell, capsys)
    assert code == 1 and "not checked (2 rows): " in said and "my_own_world" in said


@pytest.mark.parametrize(("drawn", "code"), [("", 0), (" Or so.", 1)])
def test_greedy_answers_are_drawn_again(
    drawn: str, code: int, solved: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = ("decoding.temperature=0", "method.max_attempts=1", "method.rounds=0")
    cell = played(tmp_path, *[solved] * 9, words=words)

    def complete(self: VllmModel, *_: object) -> Completion:
        assert self.weights == "saying"
        return Completion(solved + drawn, "stop", 5, 5, 0.1)

    monkeypatch.setattr(VllmModel, "complete", complete)
    assert check(cell, "http://127.0.0.1:9/v1") == code
    said = capsys.readouterr().out
    equal = "greedy answers drawn again are equal" in said
    assert equal and ("saying at http://127.0.0.1:9/v1 answers" in said) == bool(code)
