"""Weights and tokenizer of a model's folder, by transformers. No code that the folder brings is
run, nor is anybody asked whether it may be.
"""

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer

from pddlego_local.core.errors import ConfigError

_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def load_tokenizer(folder: Path) -> Any:
    """Raises ConfigError where transformers cannot read it."""
    return _loaded(AutoTokenizer, folder)


def load_model(folder: Path, **settings: Any) -> Any:
    """A causal model. Raises ConfigError where transformers cannot read it, or would make up some
    of its weights."""
    model, found = _loaded(AutoModelForCausalLM, folder, output_loading_info=True, **settings)
    if missing := sorted(found["missing_keys"]):
        raise ConfigError(
            f"model.weights: {folder} lacks {len(missing)} of its model's tensors, such as "
            f"{missing[0]}; get the folder again."
        )
    return model


def _loaded(kind: Any, folder: Path, **settings: Any) -> Any:
    try:
        return kind.from_pretrained(folder, **_LOCAL, **settings)
    except MemoryError:
        raise
    except Exception as error:  # of a foreign file transformers raises anything
        cause = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ConfigError(
            f"model.weights: {folder} is not a model that transformers can load "
            f"({type(error).__name__}: {cause:.300})"
        ) from error
