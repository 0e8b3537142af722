"""Whether a model has layers of linear attention, as its config.json says.

Such a layer keeps one state in place of all earlier tokens (Mamba, gated delta nets,
short convolutions). vLLM has no batch-invariant mode for it, and keeps its states in
its prefix cache only at the ends of large blocks.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.formats import object_of

_LISTS = ("layer_types", "layers_block_type")
_KEYS = (
    "mamba_",
    "ssm_",
    "linear_attn_config",
    "linear_conv_kernel_dim",
    "hybrid_override_pattern",
    "attn_type_list",
)
_KINDS = ("mamba", "falcon_mamba", "rwkv")


def has_linear_attention(folder: Path) -> bool:
    """Returns whether the model in this folder has such layers; False without a
    config.json.
    """
    file = folder / "config.json"
    config = object_of(file) if file.is_file() else {}
    text = config.get("text_config")
    return _is_linear(text if isinstance(text, Mapping) else config)


def _is_linear(config: Mapping[str, Any]) -> bool:
    for name in _LISTS:
        layers = config.get(name)
        if isinstance(layers, list):
            # Granite 4 names its Mamba layers here, and its models without any have
            # the keys of Mamba all the same.
            return any(not _looks_back(str(layer)) for layer in layers)
    if str(config.get("model_type")).startswith(_KINDS):
        return True
    return any(key.startswith(_KEYS) for key in config)


def _looks_back(layer: str) -> bool:
    """Returns whether a layer of this kind looks at the earlier tokens themselves."""
    return layer.endswith("attention") and not layer.startswith("linear")
