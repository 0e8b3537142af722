"""What a model needs of a GPU: arithmetic on its shape, and the shape from a YAML or from files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.memory import READ_AT_ONCE, RESERVE, About, Shape, shape_found, shape_told
from pddlego_local.models.random import make_random_llama

GB = 10**9
LLAMA_8B = Shape(
    weights=16_060_522_496,
    most_context_tokens=131_072,
    layers=32,
    kv_heads=8,
    head_size=128,
    element=2,
)


def test_a_token_of_llama_8b_takes_128_kib_of_cache() -> None:
    assert LLAMA_8B.cache(1) == 128 * 1024
    assert LLAMA_8B.cache(32_768) == 4 * 1024**3


def test_heads_are_shared_among_gpus_and_never_divided() -> None:
    assert [LLAMA_8B.cache(1000, gpus) for gpus in (2, 4, 8, 16)] == [
        LLAMA_8B.cache(1000) // share for share in (2, 4, 8, 8)
    ]
    assert replace(LLAMA_8B, kv_heads=1).cache(1000, 4) == LLAMA_8B.cache(1000, 8)


def test_a_layer_with_a_window_keeps_the_window() -> None:
    windowed = replace(LLAMA_8B, windowed_layers=31, window=1000)
    token = LLAMA_8B.cache(1) // LLAMA_8B.layers
    assert windowed.cache(10_000) == LLAMA_8B.cache(10_000)
    assert windowed.cache(32_000) == token * (32_000 + 31 * (1000 + READ_AT_ONCE))


def test_what_fits_is_weights_and_reserve_and_whole_answers() -> None:
    least = LLAMA_8B.weights + RESERVE + 3 * LLAMA_8B.cache(8192)
    assert LLAMA_8B.answers(8192, 1, least, used=1) == 3
    assert LLAMA_8B.answers(8192, 1, least - 1, used=1) == 2
    assert LLAMA_8B.answers(1, 1, LLAMA_8B.weights, used=1) == 0


@pytest.mark.parametrize(
    ("tokens", "card", "count"),
    [(32_768, 80, 1), (32_768, 24, 2), (16_000, 24, 1), (32_768, 12, 4), (131_072, 24, 2)],
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
    assert shape_told(ABOUT, "auto").weights == 5 * GB
    assert shape_told(ABOUT, "float32").weights == 32 * GB
    assert shape_told(ABOUT, "float32").element == 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_llama(tmp_path_factory.mktemp("model") / "tiny", seed=0)


def test_files_tell_their_own_size_and_shape(files: Path) -> None:
    config = json.loads((files / "config.json").read_text())
    shape = shape_found(files, "auto")
    assert shape.weights == (files / "model.safetensors").stat().st_size
    assert shape.layers == config["num_hidden_layers"]
    assert shape.kv_heads == config["num_key_value_heads"]
    assert shape.most_context_tokens == config["max_position_embeddings"]
    assert (shape.windowed_layers, shape.element) == (0, 4)
    assert shape_found(files, "bfloat16").weights == shape.weights // 2


def altered(files: Path, folder: Path, config: object) -> Path:
    """A copy with another config.json."""
    (folder / "model.safetensors").write_bytes((files / "model.safetensors").read_bytes())
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_what_config_json_leaves_open_the_yaml_tells(files: Path, tmp_path: Path) -> None:
    """Gemma 3's leaves its heads to its class, and nests the text's part."""
    config = {"text_config": {"num_hidden_layers": 34, "hidden_size": 2560}, "dtype": "bfloat16"}
    shape = shape_found(altered(files, tmp_path, config), "auto", ABOUT)
    assert (shape.layers, shape.kv_heads, shape.head_size) == (34, 2, 64)
    assert (shape.windowed_layers, shape.window, shape.most_context_tokens) == (3, 100, 1000)
    kinds = ["sliding_attention"] * 30 + ["full_attention"] * 4
    config["text_config"] |= {"layer_types": kinds, "sliding_window": 7}  # type: ignore[operator]
    shape = shape_found(altered(files, tmp_path, config), "auto", ABOUT)
    assert (shape.windowed_layers, shape.window) == (30, 7)


@pytest.mark.parametrize("config", [{}, [], {"num_hidden_layers": 3}, {"text_config": 3}])
def test_a_config_that_tells_nothing_is_refused(
    files: Path, tmp_path: Path, config: object
) -> None:
    with pytest.raises(ConfigError, match=r"config\.json does not tell the model's shape"):
        shape_found(altered(files, tmp_path, config), "auto")
