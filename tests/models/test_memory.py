"""What a model needs of a GPU: arithmetic on its shape, and the shape from a YAML or
from files.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.memory import About, Needs, needs_found, needs_told

GB = 10**9
LLAMA_8B = Needs(
    parameters=8.03e9,
    most_context_tokens=131_072,
    weights=16_060_522_496,
    token=128 * 1024,
)


def test_the_cache_of_an_answer() -> None:
    assert LLAMA_8B.cache(32_768) == 4 * 1024**3


def test_a_layer_with_a_window_keeps_the_window() -> None:
    windowed = replace(LLAMA_8B, windowed=0.75, window=1000)
    assert windowed.cache(1000) == LLAMA_8B.cache(1000)
    assert windowed.cache(5000) == LLAMA_8B.cache(5000 - 3000)


def test_what_fits_is_weights_and_whole_answers() -> None:
    least = LLAMA_8B.weights + 3 * LLAMA_8B.cache(8192)
    assert LLAMA_8B.answers(8192, least) == 3
    assert LLAMA_8B.answers(8192, least - 1) == 2
    assert LLAMA_8B.answers(1, 0) == LLAMA_8B.answers(1, LLAMA_8B.weights) == 0


@pytest.mark.parametrize(
    ("tokens", "card", "count"),
    [
        (32_768, 80, 1),
        (32_768, 24, 2),
        (16_000, 24, 1),
        (32_768, 12, 4),
        (131_072, 24, 2),
    ],
)
def test_the_fewest_gpus(tokens: int, card: int, count: int) -> None:
    assert LLAMA_8B.fewest(tokens, card * GB) == count


def test_a_model_that_no_eight_gpus_hold() -> None:
    assert replace(LLAMA_8B, weights=10**12).fewest(1000, 80 * GB) is None


ABOUT = About(
    licence="MIT",
    parameters=8e9,
    most_context_tokens=1000,
    layers=4,
    windowed_layers=3,
    window=100,
    kv_heads=2,
    head_size=64,
    weights_gb=5,
)


def test_fewer_bits_count_unless_another_precision_is_asked_for() -> None:
    assert needs_told(ABOUT, "auto").weights == 5 * GB
    assert needs_told(ABOUT, "float32").weights == 32 * GB
    assert needs_told(ABOUT, "float32").token == 4 * 2 * 4 * 2 * 64


def test_files_tell_their_own_size_and_shape(random_llama: Path) -> None:
    config = json.loads((random_llama / "config.json").read_text(encoding="utf-8"))
    needs = needs_found(random_llama, "auto")
    assert needs.weights == (random_llama / "model.safetensors").stat().st_size
    heads = config["num_hidden_layers"] * config["num_key_value_heads"]
    assert needs.token == 4 * 2 * heads * config["head_dim"]
    assert needs.most_context_tokens == config["max_position_embeddings"]
    assert needs_found(random_llama, "bfloat16").weights == needs.weights // 2


def altered(files: Path, folder: Path, config: object) -> Path:
    """A copy with another config.json."""
    (folder / "model.safetensors").write_bytes(
        (files / "model.safetensors").read_bytes()
    )
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_the_part_of_config_json_that_is_about_text(
    random_llama: Path, tmp_path: Path
) -> None:
    """Gemma 3's nests it."""
    text = {
        "num_hidden_layers": 34,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "hidden_size": 2560,
        "max_position_embeddings": 131_072,
        "layer_types": ["sliding_attention"] * 17 + ["full_attention"] * 17,
        "sliding_window": 7,
    }
    config = {"text_config": text, "dtype": "bfloat16"}
    needs = needs_found(altered(random_llama, tmp_path, config), "auto")
    assert needs.token == 2 * 2 * 34 * 4 * 320
    assert (needs.windowed, needs.window) == (0.5, 7)


@pytest.mark.parametrize(
    "config", [{}, [], {"num_hidden_layers": 3}, {"text_config": 3}]
)
def test_a_config_that_tells_nothing_is_refused(
    random_llama: Path, tmp_path: Path, config: object
) -> None:
    with pytest.raises(
        ConfigError, match=r"config\.json does not state the model's shape"
    ):
        needs_found(altered(random_llama, tmp_path, config), "auto")
