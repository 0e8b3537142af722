"""Weights by name or folder, and cards that tell what the files beside them must be."""

from pathlib import Path

import pytest

from pddlego_local.core import resources
from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models.card import listed
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.weights import locate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_random_llama(tmp_path / "tiny", seed=0)
    (made / "README.md").write_text(f"# tiny\n\n{listed(made)}")
    return made


def test_files_that_are_their_cards_are_taken(folder: Path) -> None:
    assert locate(str(folder)) == folder


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "generation_config.json"])
@pytest.mark.parametrize("altered", [True, False])
def test_a_file_that_is_not_its_cards_is_refused(folder: Path, file: str, altered: bool) -> None:
    path = folder / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content if altered else content[:-10])
    with pytest.raises(ConfigError, match=rf"{file} is not the file that .*README\.md tells of"):
        locate(str(folder))


def test_weights_that_come_with_the_package_have_a_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: folder.parent)
    assert locate("tiny") == folder
    with pytest.raises(MissingPart, match="make fetch MODEL=small"):
        locate("small")
    with pytest.raises(MissingPart, match="make nano"):
        locate("nano")
