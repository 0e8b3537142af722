"""Parses command-line options (counts, files, models) and turns options into Hydra
overrides.
"""

import argparse
import contextlib
import os.path
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pddlego_local.core.errors import PddlegoError
from pddlego_local.runner.overrides import as_override


def count(most: int, least: int = 1) -> Callable[[str], int]:
    """Returns an argparse type: an integer from `least` to `most`."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a whole number from {least} to {most:,}"
        )

    return parse


def path(text: str) -> Path:
    """An argparse type: a path, with "~" for the home folder, which no shell expands in
    --out=~/x.

    An unknown user is no home folder.
    """
    return Path(os.path.expanduser(text))  # noqa: PTH111 - it raises for an unknown user


@contextlib.contextmanager
def as_error(kind: type[PddlegoError], what: object) -> Iterator[None]:
    """Turns an OSError into an error of this kind, such as "--out FILE: Permission
    denied".
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error


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
    return [
        as_override(key.replace("__", "."), value) for key, value in options.items()
    ]
