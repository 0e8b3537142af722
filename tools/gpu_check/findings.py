"""A step's findings, written line by line, so that they are kept if the step is
stopped.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class NotHere(Exception):
    """This machine cannot run a step, for the reason in the message."""


class Wrong(Exception):
    """A step ran and gave a wrong result."""


@dataclass(frozen=True)
class Findings:
    """Rows of tables in a file, each with the title of its table."""

    path: Path

    def tell(self, title: str, row: Mapping[str, object]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps({"title": title, "row": dict(row)}), file=file)
        print(title, dict(row), flush=True)

    def tables(self) -> dict[str, list[dict[str, object]]]:
        """Returns the rows by title; an incomplete last line is ignored."""
        found: dict[str, list[dict[str, object]]] = {}
        if self.path.is_file():
            whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")
            for line in whole.splitlines():
                said = json.loads(line)
                found.setdefault(said["title"], []).append(said["row"])
        return found
