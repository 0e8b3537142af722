"""The reports of a training: a line for people, and a line in a file for the card."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

Line = Mapping[str, Any]


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

    def report(self, kind: str, number: int, line: Line) -> None:
        """Prints a line of round `number` and appends it to the file."""
        line = {"kind": kind, "round": number, **line}
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)
        self.console.print(in_words(line))

    def lines(self, kind: str, number: int | None = None) -> list[dict[str, Any]]:
        """Returns the lines of a kind in order, of all rounds or of one. Ignores an
        incomplete line.
        """
        if not self.path.is_file():
            return []
        found = []
        for text in self.path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                line: dict[str, Any] = json.loads(text)
                if line["kind"] == kind and number in (None, line["round"]):
                    found.append(line)
        return found


def in_words(line: Line) -> str:
    """For example "round 0, step 20/2000, loss 5.88, 0.10 million tokens, 1 h 5 min
    left".
    """
    parts = [f"round {line['round']}"]
    if line["kind"] != "step":
        known = (
            (key, value) for key, value in line.items() if key not in ("kind", "round")
        )
        return ", ".join([*parts, *(f"{key} {value}" for key, value in known)])
    parts.append(f"step {line['step']}/{line['steps']}")
    losses = (key for key in ("loss", "held_out_loss") if key in line)
    parts += [f"{key.replace('_', ' ')} {line[key]:.4f}" for key in losses]
    if "right" in line:
        parts.append(f"{line['right']:.0%} of held-out answers right")
    parts.append(f"{line['tokens'] / 1e6:.2f} million tokens")
    if "left_s" in line:
        hours, minutes = divmod(int(line["left_s"]) // 60, 60)
        parts.append(f"{hours} h {minutes} min left")
    return ", ".join(parts)
