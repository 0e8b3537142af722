"""The games of pddlego_local as environments of TRL:
`GRPOTrainer(environment_factory=…)`.

TRL offers the model every public method except `reset` and `get_reward` as a tool. So
each class has exactly one other public method, `submit_pddl` or `submit_edits`.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

from pddlego_local import Game


class _Games:
    """Plays the game that a row of the training data names: {"prompt": […], "game":
    7}.
    """

    method: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        defaults = {"environment": "coin", "method": self.method}
        self._game = Game(**(defaults | options), actions="pddl")
        self._earned = 0.0
        self._outcome = ""

    def reset(self, game: int = 0, **row: Any) -> str:
        """Begins a game and returns its first text, which TRL appends to the row's
        prompt.
        """
        text, info = self._game.reset(game)
        self._earned = 0.0
        self._outcome = info["outcome"]
        return text

    def get_reward(self) -> float:
        """Returns the sum of the rewards of all calls since `reset`."""
        return self._earned

    def _submit(self, answer: str) -> str:
        if self._outcome:
            return f"The game is over: {self._outcome}."
        text, reward, _, _, info = self._game.step(answer)
        self._earned += reward
        self._outcome = info["outcome"]
        return text


class Formalizer(_Games):
    """The model writes a domain and a problem."""

    method = "pddlego_plus"

    def submit_pddl(self, domain: str, problem: str) -> str:
        """
        Plans with these PDDL files and carries the plan out.

        Args:
            domain: The domain file.
            problem: The problem file.

        Returns:
            What was seen or refused, and what is asked next.
        """
        return self._submit(json.dumps({"df": domain, "pf": problem}))


class Editor(_Games):
    """The model edits the problem that it wrote before."""

    method = "pddl_edit"

    def submit_edits(self, edits: str | dict[str, Any]) -> str:
        """
        Changes the problem file, plans, and carries the plan out.

        Args:
            edits: The changes as JSON, in the form that the last message asks for.

        Returns:
            What was seen or refused, and what is asked next.
        """
        return self._submit(edits if isinstance(edits, str) else json.dumps(edits))


def train_rows(number: int, prompt: str, **options: Any) -> Iterator[dict[str, Any]]:
    """Yields rows of training data for the first `number` games of
    `Game.train_seeds`.
    """
    game = Game(**{"environment": "coin"} | options)
    for seed in islice(game.train_seeds, number):
        yield {"prompt": [{"role": "user", "content": prompt}], "game": seed}
    game.close()
