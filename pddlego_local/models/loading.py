"""Loads weights and tokenizer of a model folder with transformers.

Code in the folder is never run, and transformers does not ask the user for permission
to run it.
"""

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer

from pddlego_local.core.errors import ConfigError

_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def load_tokenizer(folder: Path) -> Any:
    """Returns the folder's tokenizer. Raises ConfigError if transformers cannot read
    it.
    """
    return _loaded(AutoTokenizer, folder)


def load_model(folder: Path, **settings: Any) -> Any:
    """Returns the folder's causal model; `settings` go to `from_pretrained`.

    Raises ConfigError if transformers cannot read the folder, or if tensors are
    missing, which transformers would initialize at random.
    """
    model, found = _loaded(
        AutoModelForCausalLM, folder, output_loading_info=True, **settings
    )
    if missing := sorted(found["missing_keys"]):
        raise ConfigError(
            f"model.weights: {folder} lacks {len(missing)} of its model's tensors, such"
            f" as {missing[0]}; download the folder again."
        )
    return model


def _loaded(kind: Any, folder: Path, **settings: Any) -> Any:
    try:
        return kind.from_pretrained(folder, **_LOCAL, **settings)
    except MemoryError:
        raise
    # For a damaged file, transformers can raise any exception.
    except Exception as error:
        cause = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ConfigError(
            f"model.weights: {folder} is not a model that transformers can load "
            f"({type(error).__name__}: {cause:.300})"
        ) from error
