"""A cell keeps its name: a record that was begun with an earlier version goes on in its
folder.
"""

import hashlib
from pathlib import Path

import pytest

from pddlego_local.api.options import overrides_of
from pddlego_local.runner.config import compose_cell
from tests.planted import swept

# The names of paper_pddlego_plus_alfworld changed once: it writes the default
# temperature as 1.
SWEEPS = {  # the first digits of a hash of all names
    "ceiling": "7064d4c64e93",
    "first_evening": "2d2af52be473",
    "nano": "ce94a569b64d",
    "nano_edit": "fe1da844bd3c",
    "paper_fcrf": "2b80e67ea430",
    "paper_pddlego_plus_alfworld": "b24b9a1a347e",
    "replicate_qwen3_8b": "608164673b86",
    "sample": "f97bdfaa1306",
    "smoke": "af1e0ad36878",
    "workstation_trials": "77faf05e45ac",
}


def names_in(file: str) -> list[list[str]]:
    """A cell's name and its overrides, for each line of a file beside this one."""
    lines = Path(__file__).with_name(file).read_text("utf-8").splitlines()
    return [line.split() for line in lines if line[0] != "#"]


def test_every_cell_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments, methods, models and rungs in many combinations."""
    monkeypatch.setenv("ALFWORLD_DATA", "")
    lines = names_in("cell_names.txt")
    renamed = {
        " ".join(overrides): (name, composed)
        for name, *overrides in lines
        if (composed := compose_cell(overrides).cell) != name
    }
    assert not renamed and len(lines) > 200


def test_a_record_under_an_older_name_is_continued(tmp_path: Path) -> None:
    """Earlier versions named decoding.temperature=0.0 otherwise than 0: both are one
    cell now, but a record that was begun as 0.0 is found by the same words.
    """
    for older, *overrides in names_in("older_cell_names.txt"):
        config = compose_cell([*overrides, f"run.out={tmp_path}"])
        assert config.cell != older
        (tmp_path / "default" / older).mkdir(parents=True)
        (tmp_path / "default" / older / "run.json").write_text("{}", "utf-8")
        assert compose_cell([*overrides, f"run.out={tmp_path}"]).cell == older
        config.folder.mkdir()  # begun since, under the name for every spelling
        assert compose_cell([*overrides, f"run.out={tmp_path}"]).cell == config.cell


SPELLINGS = [
    ("decoding.temperature", ["0", "0.0", "'0'", "0e0", "-0.0", '" 0 "']),
    ("decoding.temperature", ["1", "1.0", "'1'", "1e0"]),
    ("decoding.temperature", ["0.4", "0.40", "'0.4'", "4e-1"]),
    ("decoding.top_p", ["1", "1.0", "'1.0'"]),
    ("decoding.max_tokens", ["2000", "2000.0", "2_000", "'2000'", "2e3"]),
    ("environment.rooms", ["5", "5.0", "'5'", "5e0"]),
    ("environment.doors", ["true", "True", "TRUE", "yes", "on", "1", "1.0", "'true'"]),
    ("environment.doors", ["false", "False", "no", "off", "0", "'false'"]),
    ("environment.budget.limit", ["30", "30.0", "'30'"]),
    (
        "environment.budget",
        ["{limit: 30}", "{limit: 30.0}", "{limit: '30', unit: actions}"],
    ),
    ("environment.sizes", ["[3,4]", "[3.0,4]", "['3', \"4\"]", "[3, 4.0]"]),
    ("decoding.reject", ["{rung: typed, tries: 4}", "{tries: 4.0, rung: 'typed'}"]),
    ("seed", ["7", "07", "7.0", "'7'"]),
    ("games", ["0-9", "0,1,2,3,4,5,6,7,8,9", "[0,1,2,3-9]", "'0-9'"]),
    ("planner", ["lama_first", "lama-first", "LAMA_first"]),
    ("model", ["qwen3_8b", "Qwen3-8B", "qwen3-8b"]),
]


@pytest.mark.parametrize(("option", "spellings"), SPELLINGS)
def test_every_spelling_of_a_value_is_one_cell(
    option: str, spellings: list[str]
) -> None:
    chosen = {
        "environment.sizes": ["environment=described"],
        "model": ["decoding=free"],
    }
    common = chosen.get(option, ["decoding=free"])
    cells = {
        (config.cell, *config.settings.games)
        for one in spellings
        if (config := compose_cell([*common, f"{option}={one}"])).build("environment")
    }
    assert len(cells) == 1


def test_a_value_of_a_program_is_the_same_cell_as_its_word() -> None:
    by_program = compose_cell(
        overrides_of({"environment__rooms": 5.0, "decoding__temperature": 0})
    )
    by_words = compose_cell(["environment.rooms=5", "decoding.temperature=0.0"])
    assert by_program.cell == by_words.cell


@pytest.mark.parametrize(("experiment", "digest"), SWEEPS.items())
def test_the_cells_of_an_experiment_keep_their_names(
    experiment: str, digest: str
) -> None:
    cells = map(compose_cell, swept(experiment))
    names = "\n".join(sorted(config.cell for config in cells))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == digest
