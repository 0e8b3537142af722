"""The reports of a training: a line for people, and a line in a file for the card."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console


@dataclass(frozen=True)
class Progress:
    """The file `progress.jsonl`. It has three kinds of lines, each with its `round`:

    - "data" when a round begins: games, questions, device, bf16
    - "step" at intervals: step, steps, tokens of this round, seconds since the previous
      line, and loss, or held_out_loss and right (the share of held-out answers with
      every token right)
    - "played" after the round: games (their overrides), rung, won, of
    """

    path: Path
    console: Console

    def report(self, kind: str, number: int, line: Mapping[str, Any]) -> None:
        """Prints a line of round `number` and appends it to the file."""
        line = {"kind": kind, "round": number, **line}
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)
        words = []
        for key, value in line.items():
            shown = f"{value:.4g}" if isinstance(value, float) else value
            words.append(f"{key} {shown}")
        self.console.print(", ".join(words))

    def lines(self, kind: str, number: int | None = None) -> list[dict[str, Any]]:
        """Returns the lines of a kind in order, of all rounds or of one. Ignores an
        incomplete line.
        """
        if not self.path.is_file():
            return []
        found = []
        for text in self.path.read_text(encoding="utf-8").splitlines():
            try:
                line: dict[str, Any] = json.loads(text)
            except ValueError:
                continue
            if line["kind"] == kind and number in (None, line["round"]):
                found.append(line)
        return found
