"""Weights and tokenizer of a model's folder, by transformers. No code that the folder brings is
run, nor is anybody asked whether it may be.
"""

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.whole import brings_code

LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def load_tokenizer(folder: Path) -> Any:
    """Raises ConfigError where transformers cannot read it."""
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, **LOCAL)
    except Exception as error:  # of a foreign file transformers raises anything
        raise _refused(folder, error) from error
    return tokenizer


def load_model(folder: Path, **settings: Any) -> Any:
    """A causal model. Raises ConfigError where transformers cannot read it, or would make up some
    of its weights."""
    load: Any = AutoModelForCausalLM.from_pretrained
    try:
        model, found = load(folder, output_loading_info=True, **LOCAL, **settings)
    except MemoryError:
        raise
    except Exception as error:
        raise _refused(folder, error) from error
    if missing := sorted(found["missing_keys"]):
        raise ConfigError(
            f"model.weights: {folder} lacks {len(missing)} of its model's tensors, such as "
            f"{missing[0]}; get the folder again."
        )
    return model


def _refused(folder: Path, error: Exception) -> ConfigError:
    if file := brings_code(folder):
        return ConfigError(
            f"model.weights: {folder} brings code of its own ({file}: auto_map), which is never "
            "run here (trust_remote_code=False), and transformers has no class of its own for "
            "it; choose a model of an architecture that transformers knows."
        )
    cause = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ConfigError(
        f"model.weights: {folder} is not a model that transformers can load "
        f"({type(error).__name__}: {cause:.300})"
    )
