"""Reads `world.yaml`, and names the traps of YAML into which its authors fall: a phrase
that begins with `{`, a variable `?x` within brackets, and a key that is there twice.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import ConfigError

_SLOT_FIRST = re.compile(r"[:,{\[]\s*\{[\w -]+\*?\}")
_QUOTED_PHRASE = 'a phrase with { } needs quotes, such as "{x} is lit"'
_QUOTED_VARIABLE = 'a variable within [ ] or { } needs quotes, such as "(open ?x)"'


def load(path: Path, text: str) -> Any:
    """Returns the content of a file. Raises ConfigError with the line and what to
    write.
    """
    try:
        return yaml.load(text, Loader=_OneKeyEach)
    except yaml.YAMLError as error:
        if trap := _trap(text, error):
            line = error.problem_mark.line + 1  # type: ignore[attr-defined]
            raise ConfigError(f"{path}, line {line}: {trap}.") from error
        raise ConfigError(f"{yaml_faults.fault_of(error, path)}.") from error


def is_slot(value: object) -> bool:
    """Returns whether YAML made a mapping of an unquoted slot such as {x}."""
    return isinstance(value, dict) and [*value.values()] == [None]


def why_quoted() -> str:
    return _QUOTED_PHRASE


def _trap(text: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return ""
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    stopped_at = line[mark.column : mark.column + 1]
    if stopped_at == "?":
        return _QUOTED_VARIABLE
    if stopped_at == "{" or _SLOT_FIRST.search(line):
        return _QUOTED_PHRASE
    return ""


class _OneKeyEach(yaml.SafeLoader):
    """Refuses a key that a mapping has twice, of which YAML would take the last, and
    reads every key as it is written: `on` is a predicate, and not "true".
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        seen = set[str]()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"found duplicate key {key.value}", key.start_mark
                )
            seen.add(str(key.value))
            if isinstance(key, yaml.ScalarNode):
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)
