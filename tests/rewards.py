"""The rewards of 52 games, which every way to play a `Game` from outside has to agree
with.

    python -m tests.rewards     makes tests/rewards.jsonl again, in some minutes

The texts are those of the rule-based formalizer, and wrong ones. The tests of each
integration play the rows through it, by `check`.
"""

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("rewards.jsonl")
COIN: dict[str, Any] = {"environment": "coin", "environment__rooms": 5}
COOKING: dict[str, Any] = {"environment": "cooking_easy"}
BLOCKS: dict[str, Any] = {"environment": "described"}
HOUSE: dict[str, Any] = {
    "environment": "explored",
    "environment__folder": "examples/house",
}
PLUS = {"actions": "pddl", "method": "pddlego_plus"}
EDIT = {"actions": "pddl", "method": "pddl_edit"}

FLY = "(:action fly :parameters () :effect (done))"
DONE = '(define (problem p) (:domain d) (:init) (:goal (done)))"}'
WRONG_FILES = (
    '{"df": "(define …", "pf": "(define …"}',
    '{"df": "(define", "pf": "(define"}',
    f'{{"df": "(define (domain d) (:predicates (done)))", "pf": "{DONE}',
    f'{{"df": "(define (domain d) (:predicates (done)) {FLY})", "pf": "{DONE}',
)
"""Not read; refused by the translator; without a plan; with one that the game refuses.
"""
NONE = '{"add": [], "replace": {}, "delete": []}'
WRONG_EDITS = (
    "I do not know.",
    (
        f'{{"objects": {NONE}, "init": {{"add": ["(flies pig)"], "replace": {{}},'
        ' "delete": []}}'
    ),
    f'{{"objects": {NONE}, "init": {NONE}}}',
)
WRONG_COMMANDS = ("dance", "look around")
GROUPS: tuple[tuple[dict[str, Any], str, tuple[str, ...], range], ...] = (
    (COIN | {"actions": "commands"}, "pddl_edit", WRONG_COMMANDS, range(10, 20)),
    (COIN | PLUS, "pddlego_plus", WRONG_FILES, range(20, 30)),
    (COIN | EDIT, "pddl_edit", WRONG_EDITS, range(30, 38)),
    (COOKING | {"actions": "commands"}, "pddl_edit", WRONG_COMMANDS, range(10, 18)),
    (COOKING | EDIT, "pddl_edit", WRONG_EDITS, range(20, 29)),
    (
        BLOCKS | {"actions": "pddl", "method": "formalizer"},
        "formalizer",
        WRONG_FILES,
        range(11),
    ),
    (HOUSE | {"actions": "commands"}, "pddl_edit", (), range(1)),
    (HOUSE | PLUS, "pddlego_plus", (), range(1)),
)
"""The options of `Game`, the method whose recorded games give the texts, wrong texts,
and games. Without wrong texts, all are right.
"""

Step = Callable[[str], tuple[float, bool]]
"""Takes a text; returns its reward, and whether the game is over."""


@dataclass(frozen=True)
class Row:
    """A game with the texts that are given, the reward of each, and how the game is
    after them.
    """

    options: dict[str, Any]
    game: int
    texts: list[str]
    rewards: list[float]
    outcome: str


def rows() -> list[Row]:
    return [
        Row(**json.loads(line))
        for line in FILE.read_text(encoding="utf-8").splitlines()
    ]


def groups(**options: object) -> Iterator[tuple[dict[str, Any], list[Row]]]:
    """The rows that have these options, by all their options: one `Game` plays a
    group.
    """
    wanted = (row for row in rows() if options.items() <= row.options.items())
    for _, group in itertools.groupby(wanted, lambda row: row.options):
        found = list(group)
        yield found[0].options, found


def check(row: Row, step: Step) -> None:
    """Gives the texts of a row. Raises AssertionError where a reward or the end is
    another.
    """
    told = [step(text) for text in row.texts]
    over = [False] * (len(told) - 1) + [bool(row.outcome)]
    expected = [(reward, end) for reward, end in zip(row.rewards, over, strict=True)]
    assert [(round(reward, 6), end) for reward, end in told] == expected, (row, told)


def texts_of(
    options: dict[str, Any], method: str, games: range
) -> Iterator[tuple[int, list[str]]]:
    """The number of each game that the rule-based formalizer played, and what it said:
    commands or answers.
    """
    import pddlego_local
    from pddlego_local.core.record.events import ActionTaken, Call
    from pddlego_local.core.record.folder import transcripts

    played = {
        name: value for name, value in options.items() if name.startswith("environment")
    }
    with tempfile.TemporaryDirectory() as out:
        numbers = ",".join(map(str, games))
        pddlego_local.run(
            **played, model="reference", method=method, games=numbers, run__out=out
        )
        for path, recorded in transcripts(Path(out)):
            events = list(recorded)
            answers = [event.text for event in events if isinstance(event, Call)]
            taken = [
                event.command or ""
                for event in events
                if isinstance(event, ActionTaken)
            ]
            texts = answers if options["actions"] == "pddl" else taken
            if texts:  # not won at the first observation
                yield int(path.name.partition("-")[0]), texts


def made() -> Iterator[Row]:
    """The table. Of each group the first games have the right texts, each further one
    begins with a wrong text, and the last ones have wrong texts alone, until the game
    ends.
    """
    from pddlego_local import Game

    for options, method, wrong, games in GROUPS:
        with closing(Game(**options)) as game:
            recorded = sorted(texts_of(options, method, games))
            for left, (number, right) in zip(
                range(len(recorded), 0, -1), recorded, strict=True
            ):
                kind = len(wrong) + 1 - left
                given = right if kind < 0 else [*wrong[kind : kind + 1], *right]
                given = given if kind < len(wrong) or not wrong else [*wrong] * 20
                told = []
                info = game.reset(number)[1]
                for text in given:
                    if not info["outcome"]:
                        _, reward, *_, info = game.step(text)
                        told.append(round(reward, 6))
                yield Row(options, number, given[: len(told)], told, info["outcome"])


if __name__ == "__main__":
    lines = [json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in made()]
    FILE.write_text("".join(lines), encoding="utf-8")
