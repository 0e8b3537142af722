"""Tables of cases in YAML, each beside the file of its tests."""

from pathlib import Path
from typing import Any

import yaml


def table(test: str, name: str = "") -> Any:
    """Reads the YAML file beside a file of tests. It has this name, or that of the
    tests without "test_".
    """
    file = Path(test)
    name = name or file.stem.removeprefix("test_")
    return yaml.safe_load(file.with_name(f"{name}.yaml").read_text(encoding="utf-8"))
