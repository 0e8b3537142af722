"""What a step finds, line by line, so that a step that is stopped has told what it knew."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class NotHere(Exception):
    """A step that this machine cannot do, and why."""


class Wrong(Exception):
    """Something ran and was not as it must be."""


@dataclass(frozen=True)
class Findings:
    """Rows of tables in a file, each with its table's title."""

    path: Path

    def tell(self, title: str, row: Mapping[str, object]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps({"title": title, "row": dict(row)}), file=file)
        print(title, dict(row), flush=True)

    def tables(self) -> dict[str, list[dict[str, object]]]:
        """By title; a torn last line is passed over."""
        found: dict[str, list[dict[str, object]]] = {}
        if self.path.is_file():
            whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")
            for line in whole.splitlines():
                said = json.loads(line)
                found.setdefault(said["title"], []).append(said["row"])
        return found
