"""Every YAML composes; what is unknown or impossible is refused in one sentence."""

from pathlib import Path

import pytest

from pddlego_local.api.options import overrides_of
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import CellConfig, compose_cell
from tests.tables import table

CASES = table(__file__)

CONF = folder("conf")
OPTIONS = sorted(
    path.relative_to(CONF).with_suffix("").as_posix().replace("/", "=", 1)
    for path in CONF.glob("*/**/[!_]*.yaml")
    if path.relative_to(CONF).parts[0] not in ("hydra", "suite")
)


def composed(option: str) -> CellConfig:
    nothing_won_yet = ["method.domains=null"]
    extra = {
        "experiment=paper/pddlego_plus_domain": nothing_won_yet,
        "experiment=paper/pddlego_plus_domain_alfworld": nothing_won_yet,
        "experiment=question/instead_partial": ["environment.world=coin"],
        "model=transformers": ["model.weights=some/model"],
        "model=vllm": ["model.weights=some/model"],
        "model=openai_server": [
            *("model.weights=some/model", "model.server.url=http://127.0.0.1:1/v1"),
            "decoding=free",
        ],
        "model=gpt_oss_20b": ["decoding=free"],
        "environment=explored": ["environment.folder=examples/house", "games=0"],
        "method=formalizer": ["environment=described"],
        "method=formalizer_problem": ["environment=described"],
        "method=formalizer_two_step": ["environment=described"],
        "model=gpt_oss_120b": ["decoding=free"],
    }.get(option, [])
    if option.startswith("arm="):
        extra = ["environment=described"]
    return compose_cell([option, *extra])


@pytest.mark.parametrize("option", OPTIONS)
def test_every_yaml_composes_and_its_parts_can_be_built(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json_2.1.1" / "valid_seen").mkdir(parents=True)
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    composed(option).check()


@pytest.mark.parametrize(
    ("overrides", "search"),
    CASES["an_environment_brings_the_planner_that_suits_it"],
)
def test_an_environment_brings_the_planner_that_suits_it(
    overrides: list[str], search: str
) -> None:
    assert compose_cell(overrides).tree["planner"]["search"] == search


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        *CASES["bad_values_are_refused_naming_the_key"],
        ([f"games=0-{'9' * 4000}"], "write seeds"),
        ([f"name={'n' * 300}"], "100 bytes at most"),
    ],
)
def test_bad_values_are_refused_naming_the_key(overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        compose_cell(overrides).check()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "rung", ["free", "json", "syntax", "signatures", "typed", "grounded"]
)
def test_a_rung_comes_with_its_goal_and_the_two_top_ones_take_any(rung: str) -> None:
    composed = compose_cell([f"decoding={rung}"])
    assert composed.build("decoding").goal == ("unmet" if rung == "grounded" else "any")
    for goal in ("any", "unmet"):
        other = compose_cell([f"decoding={rung}", f"decoding.goal={goal}"])
        if goal == "any" or rung in ("typed", "grounded"):
            assert other.build("decoding").goal == goal
        else:
            with pytest.raises(ConfigError, match=rf"decoding\.goal={goal}"):
                other.check()


@pytest.mark.parametrize(
    ("override", "games"),
    [
        ("games=0-2,7", (0, 1, 2, 7)),
        ("games='0-2,7, 9'", (0, 1, 2, 7, 9)),
        ("games=[0,3]", (0, 3)),
        ("games=[0-2, 7]", (0, 1, 2, 7)),
        ("games=7", (7,)),
        ("++games=3,5", (3, 5)),
    ],
)
def test_games_need_no_quotes(override: str, games: tuple[int, ...]) -> None:
    assert compose_cell([override]).settings.games == games


@pytest.mark.parametrize(
    ("model", "draft", "answer", "fits"),
    CASES["a_draft_and_an_answer_must_fit_the_context"],
)
def test_a_draft_and_an_answer_must_fit_the_context(
    model: str, draft: int, answer: int, fits: bool
) -> None:
    limits = [f"decoding.draft_tokens={draft}", f"decoding.max_tokens={answer}"]
    compose_cell([f"model={model}", *limits]).check()
    drafting = compose_cell([f"model={model}", "decoding.reason=draft", *limits])
    if fits:
        drafting.check()
    else:
        with pytest.raises(
            ConfigError, match=rf"draft_tokens={draft}.*model\.context_tokens=\d+"
        ):
            drafting.check()


WITHOUT_EFFECT = [
    "games=0-59",
    "trials=3",
    "run.concurrency=9",
    "run.out=elsewhere",
    "name=other",
    "planner.limits.cpu_s=9",
    "planner.limits.wall_s=9",
]
WITH_EFFECT = [
    "seed=1",
    "environment.rooms=7",
    "method.variant=simple",
    "decoding=free",
    "decoding.reason=draft",
    "model=random",
    "planner=lama_first",
]


def test_a_cells_name_depends_on_what_changes_results_and_on_nothing_else() -> None:
    default = compose_cell([]).cell
    assert default.startswith("coin-pddlego_plus-reference-syntax-s0-")
    assert {compose_cell([word]).cell for word in WITHOUT_EFFECT} == {default}
    others = {compose_cell([word]).cell for word in WITH_EFFECT}
    assert len(others) == len(WITH_EFFECT) and default not in others


@pytest.mark.parametrize(
    "option",
    [
        "model=transformers model.weights={}/tiny",
        "environment=alfworld_real environment.data={}/tiny",
    ],
)
def test_weights_and_data_count_by_their_name_wherever_they_lie(
    option: str, tmp_path: Path
) -> None:
    cells = set()
    for place in (tmp_path / "here", tmp_path / "there"):
        (place / "tiny" / "valid_seen").mkdir(parents=True)
        cells.add(compose_cell(option.format(place).split()).cell)
    assert len(cells) == 1


SPELLINGS = CASES["spellings"]


@pytest.mark.parametrize(("option", "spellings"), SPELLINGS)
def test_every_spelling_of_a_value_is_one_cell(
    option: str, spellings: list[str]
) -> None:
    words = ["decoding=free"]
    if option == "environment.sizes":
        words = ["environment=described"]
    cells = set()
    for spelling in spellings:
        config = compose_cell([*words, f"{option}={spelling}"])
        config.build("environment")
        cells.add((config.cell, config.settings.games))
    assert len(cells) == 1


def test_a_value_of_a_program_is_the_same_cell_as_its_word() -> None:
    by_program = compose_cell(
        overrides_of({"environment__rooms": 5.0, "decoding__temperature": 0})
    )
    by_words = compose_cell(["environment.rooms=5", "decoding.temperature=0.0"])
    assert by_program.cell == by_words.cell


def test_a_file_of_before_names_a_renamed_option(tmp_path: Path) -> None:
    """An arm that was written for an earlier version still means the same."""
    arm = tmp_path / "arm" / "earlier.yaml"
    arm.parent.mkdir()
    text = "# @package _global_\nmethod: {max_retries: 2}\n"
    arm.write_text(text, encoding="utf-8")
    for method, option in (("pddlego_plus", "rounds"), ("pddl_edit", "max_retries")):
        config = compose_cell([f"method={method}", "arm=earlier"], tmp_path)
        assert config.identity["method"][option] == 2
        assert getattr(config.build("method"), option) == 2
