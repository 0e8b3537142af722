"""Folders that are broken or made to harm: `run` and `doctor` say so, and run no code
of theirs.
"""

import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.transformers import TransformersModel
from tests.models.asking import CPU
from tests.pddlego import Pddlego

Change = Callable[[Path], object]
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(random_llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(random_llama, tmp_path / "model"))


def config(**changes: object) -> Change:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(
            json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes),
            encoding="utf-8",
        )

    return change


def written(name: str, content: str | bytes) -> Change:
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def cut(folder: Path) -> None:
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size - 100)


def looping(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("config.json")


def indexed(*shards: object) -> Change:
    index = {"weight_map": {f"w{number}": shard for number, shard in enumerate(shards)}}
    return written("model.safetensors.index.json", json.dumps(index))


def template(text: str) -> Change:
    return written("chat_template.jinja", text)


SEEN = {
    "no config": lambda folder: (folder / "config.json").unlink(),
    "a config that points to itself": looping,
    "garbage for a config": written("config.json", b"\x00\xff{"),
    "a list for a config": written("config.json", "[]"),
    "a very deep config": written("config.json", "[" * 100_000),
    "no tokenizer": lambda folder: (folder / "tokenizer.json").unlink(),
    "garbage for a tokenizer": written("tokenizer.json", "{]"),
    "a list for a tokenizer": written("tokenizer.json", "[]"),
    "garbage for a tokenizer's config": written("tokenizer_config.json", "{"),
    "garbage for generation": written("generation_config.json", "[1]"),
    "no weights": lambda folder: (folder / WEIGHTS).unlink(),
    "weights that are cut": cut,
    "no byte of weights": written(WEIGHTS, b""),
    "weights of another kind": written(WEIGHTS, b"GGUF" * 1000),
    "an index that is none": written("model.safetensors.index.json", "{"),
    "an index of numbers": indexed(1, 2),
    "an index without a map": written("model.safetensors.index.json", "{}"),
    "an index of absent shards": indexed(WEIGHTS, "model-2.safetensors"),
    "an index of files elsewhere": indexed("../../../etc/passwd"),
    "an index of an absolute path": indexed("/etc/passwd"),
    "a template that is none": template("{% for"),
    "a template that raises": template("{{ raise_exception('no') }}"),
    "a template that divides by 0": template("{{ 1 // 0 }}"),
    "a template in another encoding": written("chat_template.jinja", b"\xff\xfe\x00"),
}


@pytest.mark.parametrize("change", SEEN.values(), ids=SEEN.keys())
def test_doctor_and_run_say_what_is_wrong(
    folder: Path, change: Change, pddlego: Pddlego
) -> None:
    assert "/model" in pddlego("doctor", folder, code=(0, 1)).out
    change(folder)
    pddlego("doctor", folder, code=(1, 2))
    with pytest.raises(ConfigError, match=r"model|config"):
        _ = TransformersModel(weights=str(folder), engine=CPU).generation


def lacking(folder: Path) -> None:
    tensors: dict[str, Any] = load_file(folder / WEIGHTS)
    tensors.pop(sorted(tensors)[1])
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def other_sizes(folder: Path) -> None:
    tensors: dict[str, Any] = load_file(folder / WEIGHTS)
    save_file(
        {k: t[:1].clone() for k, t in tensors.items()},
        folder / WEIGHTS,
        {"format": "pt"},
    )


@pytest.mark.parametrize(
    "change",
    [
        lacking,
        other_sizes,
        config(model_type="none", architectures=["None"]),
        config(num_hidden_layers="two"),
        config(num_attention_heads=-2, num_key_value_heads=-2, head_dim=None),
        config(max_position_embeddings="long"),
    ],
)
def test_what_only_loading_shows(folder: Path, change: Change) -> None:
    change(folder)
    with pytest.raises(ConfigError, match="model"):
        _ = TransformersModel(weights=str(folder), engine=CPU).generation


@pytest.mark.parametrize(
    "weights", ["~nobody-here/x", "x" * 5000, "./a\0b", "./" + "y" * 300]
)
def test_what_can_be_no_path(weights: str) -> None:
    with pytest.raises(ConfigError, match=r"model\.weights"):
        _ = TransformersModel(weights=weights, engine=CPU).generation


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_in_a_folder_is_not_run_and_nobody_is_asked(
    folder: Path,
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = folder / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    path = folder / file
    told = json.loads(path.read_text(encoding="utf-8"))
    if file == "config.json":
        told |= {
            "model_type": "own",
            "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"},
        }
    else:
        told |= {
            "tokenizer_class": "Own",
            "auto_map": {"AutoTokenizer": ["own.T", None]},
        }
    path.write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 9))
    with pytest.raises(ConfigError, match="is not a model that transformers can load"):
        _ = TransformersModel(weights=str(folder), engine=CPU).generation
    assert not ran.exists() and "y/N" not in capsys.readouterr().out
