"""What options may say: how many, which file, which model; and how Hydra is told of them."""

import argparse
import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping

from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.resources import folder


def count(most: int, least: int = 1) -> Callable[[str], int]:
    """For argparse: a whole number within these bounds."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a whole number from {least} to {most:,}"
        )

    return parse


@contextlib.contextmanager
def as_error(kind: type[PddlegoError], what: object) -> Iterator[None]:
    """What the system refuses is an error of this kind: "--out FILE: Permission denied"."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error


def model_options(model: str, server: str | None = None) -> dict[str, object]:
    """A configuration of ours, a model behind a server, or a Hugging Face name or folder."""
    if server:
        return {"model": "vllm", "model__weights": model, "model__server__url": server}
    if (folder("conf") / "model" / f"{model}.yaml").is_file():
        return {"model": model}
    return {"model": "transformers", "model__weights": model}


def overrides_of(options: Mapping[str, object]) -> list[str]:
    """For Hydra, quoted where that is needed: `decoding__temperature` is decoding.temperature."""
    return [f"{key.replace('__', '.')}={_quoted(value)}" for key, value in options.items()]


def _quoted(value: object) -> object:
    plain = isinstance(value, str) and re.fullmatch(r"[\w./:-]+", value)
    return value if plain else json.dumps(value, ensure_ascii=False, default=str)
