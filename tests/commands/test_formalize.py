"""`pddlego formalize` and its function: words in, PDDL and a plan out."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import pddlego_local
from pddlego_local.cli import run
from pddlego_local.commands.formalize import TextFormalizer, formalizer
from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.generated import generate
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell

WORLD = generate("blocksworld", "moderately", (3, 3), 5)
TEXT = f"{WORLD.domain_text}\n\n{WORLD.problem_text}"
DF, PF = json.dumps({"df": WORLD.domain}), json.dumps({"pf": WORLD.problem})
BOTH = json.dumps({"df": WORLD.domain, "pf": WORLD.problem})


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward() as planner:
        yield planner


def test_a_text_with_heads_is_one_question_and_one_without_two(planner: FastDownward) -> None:
    config = compose_cell(["model=random", "decoding=typed"])
    model = Scripted([BOTH])
    made = TextFormalizer(config, model, planner)(TEXT)
    assert made.outcome == "solved" and made.plan and made.domain == WORLD.domain
    (asked,) = model.asked
    assert asked.scene.actions[0].name == "pick-up"
    assert WORLD.problem_text in asked.messages[0].content

    model = Scripted([DF, PF])
    made = TextFormalizer(config, model, planner)("There are three blocks. Stack them.")
    assert made.outcome == "solved"
    first, second = model.asked
    assert (first.form.name, second.form.name) == ("domain", "problem")
    assert second.scene.domain == WORLD.domain


def test_a_domain_of_ones_own_is_kept(planner: FastDownward) -> None:
    model = Scripted([PF])
    config = compose_cell(["model=random", "decoding=typed"])
    made = TextFormalizer(config, model, planner, WORLD.domain)(TEXT)
    assert made.outcome == "solved" and made.domain == WORLD.domain
    assert model.asked[0].scene.domain == WORLD.domain


def test_what_is_missing_is_said_in_plain_words(planner: FastDownward) -> None:
    config = compose_cell(["model=random", "decoding=free"])
    lame = json.dumps({"df": WORLD.domain, "pf": WORLD.problem.replace("(hand-empty)", "")})
    made = TextFormalizer(config, Scripted([lame]), planner)(TEXT)
    assert (made.outcome, made.plan) == ("unsolvable", ())
    assert "problem line" in made.message and "no action can make" in made.message
    made = TextFormalizer(config, Scripted(["I would rather not."]), planner)(TEXT)
    assert (made.outcome, made.domain) == ("no_json", "")
    assert "no JSON object" in made.message


def test_the_planner_is_that_of_described_worlds_unless_another_is_named() -> None:
    for overrides, search in (([], "lama_first"), (["planner=fast_downward"], "astar(lmcut())")):
        with formalizer({"model": "random", "decoding": "syntax"}, overrides) as formalize:
            assert formalize._planner.search == search


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.txt", "--model", "random"], "nowhere.txt is missing"),
        (["empty.txt", "--model", "random"], "the text to formalize is empty"),
        (["mine.txt", "--model", "random", "--rung", "grounded"], "choose typed"),
        (["mine.txt", "--model", "random", "--rung", "tall"], "tall"),
        (["mine.txt", "--model", "nowhere/model"], "nowhere/model"),
        (["mine.txt", "--model", "my models (1), a=b"], "my models (1), a=b"),
        (["mine.txt", "--model", "reference"], "language model"),
        (["mine.txt", "--model", "random", "--domain", "no.pddl"], "no.pddl is missing"),
        (["nothing", "--model", "random"], "holds no worlds"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text(TEXT)
    Path("empty.txt").write_text(" \n")
    Path("nothing").mkdir()
    assert run(["formalize", *words]) in (2, 3)
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_random_weights_write_files_that_are_printed_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("p01", "p02"):
        (tmp_path / f"{name}_domain.txt").write_text(WORLD.domain_text)
        (tmp_path / f"{name}_problem.txt").write_text(WORLD.problem_text)
    words = ["formalize", str(tmp_path), "--model", "random", "--out", str(tmp_path / "out")]
    code = run([*words, "decoding.max_tokens=2000"])
    said = capsys.readouterr().out
    assert code in (0, 1) and "; ---- p01" in said and "; ---- p02" in said
    for name in ("p01", "p02"):
        domain = (tmp_path / "out" / name / "domain.pddl").read_text()
        problem = (tmp_path / "out" / name / "problem.pddl").read_text()
        assert pddlego_local.check(domain, problem).accepted
        assert domain in said
    assert run(words) == 2 and "is there already" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="empty"):
        pddlego_local.formalize("", "random")
