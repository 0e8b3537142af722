"""`pddlego formalize` and its function: words in, PDDL and a plan out. A model whose
card says which texts it knows is asked for no others.
"""

import itertools
import json
import shlex
import textwrap
from pathlib import Path

import pytest

import pddlego_local
from pddlego_local.api.formalize import (
    UNCHECKED,
    Formalized,
    TextFormalizer,
)
from pddlego_local.core.errors import ConfigError
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.environments.described.generated import Family, generate
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.environments.described.world import HEADS, World
from pddlego_local.models.card import known_texts
from pddlego_local.models.scripted import Scripted
from pddlego_local.models.weights import folder_named
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

WORLD = generate("blocksworld", "moderately", (3, 3), 5)
TEXT = f"{WORLD.domain_text}\n\n{WORLD.problem_text}"
DF, PF = json.dumps({"df": WORLD.domain}), json.dumps({"pf": WORLD.problem})
BOTH = json.dumps({"df": WORLD.domain, "pf": WORLD.problem})


def formalized(
    planner: FastDownward,
    text: str,
    *answers: str,
    rung: str = "typed",
    domain: str = "",
) -> tuple[Formalized, list[AnyQuestion]]:
    """What these answers make of a text, and what was asked."""
    model = Scripted(answers)
    config = compose_cell(["model=random", f"decoding={rung}"])
    return TextFormalizer(config, model, planner, domain)(text), model.asked


def test_a_text_with_heads_is_one_question_and_one_without_two(
    planner: FastDownward,
) -> None:
    made, (asked,) = formalized(planner, TEXT, BOTH)
    assert made.outcome == "solved"
    assert made.plan
    assert made.domain == WORLD.domain
    assert asked.context.actions[0].name == "pick-up"
    assert WORLD.problem_text in asked.messages[0].content

    text = "There are three blocks. Stack them."
    made, (first, second) = formalized(planner, text, DF, PF)
    assert made.outcome == "solved"
    assert first.form.name == "domain"
    assert second.form.name == "problem"
    assert second.context.domain == WORLD.domain


def test_a_domain_of_ones_own_is_kept(planner: FastDownward) -> None:
    made, (asked,) = formalized(planner, TEXT, PF, domain=WORLD.domain)
    assert made.outcome == "solved"
    assert made.domain == WORLD.domain
    assert asked.context.domain == WORLD.domain


def test_what_is_missing_is_said_in_plain_words(planner: FastDownward) -> None:
    lame = json.dumps(
        {"df": WORLD.domain, "pf": WORLD.problem.replace("(hand-empty)", "")}
    )
    made, _ = formalized(planner, TEXT, lame, rung="free")
    assert made.outcome == "unsolvable"
    assert made.plan == ()
    assert "problem line" in made.message
    assert "no action can make" in made.message
    made, _ = formalized(planner, TEXT, "I would rather not.", rung="free")
    assert made.outcome == "no_json"
    assert made.domain == ""
    assert "no JSON object" in made.message


@pytest.mark.parametrize(
    ("words", "said"),
    CASES["mistakes_are_told_in_a_sentence"],
)
def test_mistakes_are_told_in_a_sentence(
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pddlego: Pddlego,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text(TEXT, encoding="utf-8")
    Path("empty.txt").write_text(" \n", encoding="utf-8")
    Path("nothing").mkdir()
    error = pddlego("formalize", *shlex.split(words), code=(2, 3)).err
    assert said in error
    assert error.count("\n") == 1


def write_world(folder: Path, name: str, world: World) -> None:
    (folder / f"{name}_domain.txt").write_text(world.domain_text, encoding="utf-8")
    (folder / f"{name}_problem.txt").write_text(world.problem_text, encoding="utf-8")


def test_random_weights_write_files_that_are_printed_and_kept(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    out = tmp_path / "out"
    write_world(tmp_path, "p01", WORLD)
    words = ["formalize", tmp_path, "--model", "random", "--out", out]
    said = pddlego(*words, "decoding.max_tokens=2000", code=(0, 1)).out
    domain = (out / "domain.pddl").read_text(encoding="utf-8")
    problem = (out / "problem.pddl").read_text(encoding="utf-8")
    assert pddlego_local.check(domain, problem).accepted
    assert domain in said
    assert "already holds files" in pddlego(*words, code=2).err


ROOT = Path(__file__).parents[2]
PUZZLE = (ROOT / "examples" / "puzzle.txt").read_text(encoding="utf-8")
KNOWN = known_texts(folder_named("nano_worlds")) or {}
PUZZLES: dict[str, str] = {
    **table(__file__, "puzzles"),
    "nothing": " \n",
    "a rule more": PUZZLE.replace(HEADS, "  I must never touch block 3.\n\n" + HEADS),
    "a goal more": PUZZLE.rstrip().removesuffix(".") + "; my truck is clean.",
    "a sentence more": PUZZLE + "\nUse at most three moves.",
    "another action": PUZZLE.replace("pick-up (", "eat (?b - block)\npick-up ("),
    "no first name": PUZZLE.replace("There are block 1", "There are "),
    "half": PUZZLE[: len(PUZZLE) // 2],
}


def told(world: World) -> str:
    return f"{world.domain_text}\n\n{world.problem_text}"


@pytest.fixture(scope="module")
def unasked(planner: FastDownward) -> TextFormalizer:
    """Has the card of nano_worlds, and a model that has no answer."""
    return TextFormalizer(compose_cell(["model=nano_worlds"]), Scripted([]), planner)


@pytest.mark.parametrize("name", PUZZLES)
def test_puzzles_of_other_kinds_are_refused_unasked(
    name: str, unasked: TextFormalizer
) -> None:
    made = unasked(PUZZLES[name])
    assert made.outcome == "unknown_text"
    assert made.plan == ()
    assert made.domain == ""
    assert "does not know this text" in made.message
    assert "blocksworld with 2 to 9" in made.message


@pytest.mark.parametrize(
    ("family", "degree"), itertools.product(KNOWN, ("moderately", "heavily"))
)
def test_texts_of_its_own_kinds_are_known_in_any_layout(
    family: Family, degree: str
) -> None:
    for seed in range(20):
        text = told(generate(family, degree, (2, 9), seed))  # type: ignore[arg-type]
        wrapped = textwrap.fill(text, 70, break_on_hyphens=False)
        assert recognize(text, KNOWN) == recognize(wrapped, KNOWN) == (text, "")
        rules, _, rest = text.partition(f"{HEADS}\n")
        without_heads = rules + rest.partition("\n\n")[2]
        assert recognize(without_heads, KNOWN) == (without_heads, "")


def test_more_blocks_than_it_learned_are_refused() -> None:
    text = told(generate("blocksworld", "moderately", (12, 12), 0))
    assert recognize(text, KNOWN)[0] == ""
    assert recognize(text, {"blocksworld": (2, 12)}) == (text, "")
    assert recognize(text, {"logistics": (2, 12)})[0] == ""


def test_the_command_refuses_with_one_and_writes_nothing(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    file = tmp_path / "text.txt"
    out = tmp_path / "out"
    described = ["formalize", file, "--model", "nano_worlds"]
    file.write_text(PUZZLES["Tower of Hanoi"], encoding="utf-8")
    said = pddlego(*described, "--out", out, code=1).out
    assert said.startswith("; unknown_text: ")
    assert '"There are three pegs, A, B and C."' in said
    assert "(define" not in said
    assert not out.exists()

    file.write_text(PUZZLE, encoding="utf-8")
    said = pddlego("formalize", file, "--model", "nano", code=1).out
    assert "knows no texts of whole worlds" in said  # it plays CoinCollector

    domain = tmp_path / "domain.pddl"
    domain.write_text(WORLD.domain, encoding="utf-8")
    said = pddlego(*described, "--domain", domain, code=1).out
    assert "comes with a domain file" in said


def test_the_real_model_plans_for_texts_that_it_knows(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    for seed, family in enumerate(("blocksworld", "logistics", "mystery")):
        world = generate(family, "moderately", (3, 3), 70 + seed)
        write_world(tmp_path, family, world)
    out = tmp_path / "out"
    words = ["--model", "nano_worlds", "--explain", "--out", out]
    said = pddlego("formalize", tmp_path, *words, "decoding.temperature=0").out
    assert said.count(f")\n; {UNCHECKED}\n") == said.count("; ---- ") == 3
    assert "does not show" not in said
    explanation = out / "blocksworld" / "explanation.txt"
    explained = explanation.read_text(encoding="utf-8")
    assert "\nThe goal: " in explained
    assert textwrap.indent(explained, "; ") in said
    plan = (out / "mystery" / "plan.txt").read_text(encoding="utf-8")
    assert plan.startswith("(")
    assert plan.endswith(f")\n; {UNCHECKED}\n")


DOMAIN = (
    "(define (domain d) (:types bank boat) (:constants ferry - boat)"
    " (:predicates (at ?o - boat ?b - bank)) (:action cross :parameters (?b ?c - bank)"
    " :precondition (at ferry ?b) :effect (and (at ferry ?c) (not (at ferry ?b)))))"
)
PROBLEM = (
    "(define (problem p) (:domain d) (:objects leftbank right_bank bank9 - bank)"
    " (:init (at ferry {})) (:goal (at ferry right_bank)))"
)


@pytest.mark.parametrize(
    ("start", "outcome"), [("leftbank", "solved"), ("right_bank", "goal_already_true")]
)
def test_below_the_plan_stand_what_is_unchecked_and_the_names_that_the_text_lacks(
    start: str, outcome: str, planner: FastDownward
) -> None:
    """A model without a card is asked for any text."""
    files = json.dumps({"df": DOMAIN}), json.dumps({"pf": PROBLEM.format(start)})
    made, _ = formalized(planner, "Get from the left bank to the right bank.", *files)
    assert made.outcome == outcome
    assert (UNCHECKED in made.message) == (outcome == "solved")
    assert "does not show these names of the PDDL: ferry, bank9." in made.message


@pytest.mark.parametrize("texts", ["[blocksworld]", "{mystery: many}"])
def test_a_card_that_names_no_worlds_is_told(texts: str, tmp_path: Path) -> None:
    card = (
        "---\npddlego_local:\n  trained_on: {environment: described}\n  texts:"
        f" {texts}\n---\n"
    )
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"README\.md.*texts.*blocksworld"):
        known_texts(tmp_path)


def test_a_card_that_names_an_unknown_world_is_told() -> None:
    with pytest.raises(ConfigError, match=r"'chess' under `texts`.*blocksworld"):
        recognize("There are block 1 and block 2.", {"chess": (2, 9)})


def test_a_card_may_say_nothing_of_texts(tmp_path: Path) -> None:
    assert known_texts(tmp_path) is None
    (tmp_path / "README.md").write_text(
        "---\npddlego_local:\n  trained_on: {a: b}\n---\n", encoding="utf-8"
    )
    assert known_texts(tmp_path) == {}
    assert known_texts(folder_named("nano_edit")) == {}
