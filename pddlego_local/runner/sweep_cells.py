"""The cells of a sweep, known before its first job begins."""

import itertools
import math

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from pddlego_local.core.errors import ConfigError

MOST_CELLS = 10_000


def cells_of(config: DictConfig) -> list[list[str]]:
    """The overrides of every job that Hydra's basic sweeper will start, in its order.

    `config` holds Hydra's own node: what the command line asks takes the place of
    `hydra.sweeper.params`. Raises ConfigError for more than `MOST_CELLS`.
    """
    params = config.hydra.sweeper.get("params") or {}
    overrides = [*(f"{key}={value}" for key, value in params.items()), *config.hydra.overrides.task]
    choices: dict[str, list[str]] = {}
    for override in OverridesParser.create().parse_overrides(overrides):
        key = override.get_key_element()
        if override.is_sweep_override():
            values = itertools.islice(override.sweep_string_iterator(), MOST_CELLS + 1)
            choices[key] = [f"{key}={value}" for value in values]
        else:
            choices[key] = [override.input_line or ""]
    if math.prod(map(len, choices.values())) > MOST_CELLS:
        raise ConfigError(f"This sweep has more than {MOST_CELLS:,} cells; ask for fewer values.")
    return [list(cell) for cell in itertools.product(*choices.values())]
