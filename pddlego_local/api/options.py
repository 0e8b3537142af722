"""Turns the arguments of a program into the overrides of a configuration."""

import re
from collections.abc import Mapping
from pathlib import Path

from pddlego_local.runner.overrides import as_override


def model_options(model: str, server: str | None = None) -> dict[str, object]:
    """Returns the options for a model with a YAML file, one behind a vLLM server, or a
    Hugging Face name or folder. A single word that is no folder of weights names a YAML
    file.
    """
    if server:
        return {"model": "vllm", "model__weights": model, "model__server__url": server}
    if re.fullmatch(r"\w+", model) and not (Path(model) / "config.json").is_file():
        return {"model": model}
    return {"model": "transformers", "model__weights": model}


def overrides_of(options: Mapping[str, object]) -> list[str]:
    """Returns Hydra overrides that hold just these values: `decoding__temperature`
    becomes decoding.temperature. Nothing in a value is interpolated (`as_override`).

    Raises ConfigError for a key or a value that cannot be written as an override.
    """
    return [as_override(dotted(key), value) for key, value in options.items()]


def dotted(key: str) -> str:
    return key.replace("__", ".")
