"""Writes the first questions of the suite's games, with right answers, as a data set.

python -m tools.dataset [--size quick] [--out build/dataset]

The answers are those of the rule-based reference, which plays the suite first. The
folder gets questions.jsonl, a card (README.md) and Croissant metadata. Nothing is
uploaded.
"""

import argparse
import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pddlego_local
from pddlego_local.core.record.entry import Entry, Played, read_entry
from pddlego_local.core.record.events import Call, Event
from pddlego_local.core.record.folder import read_events, read_rows, transcript_of
from pddlego_local.core.resources import jinja
from pddlego_local.environments.described.game import Described
from pddlego_local.runner.config import compose_cell, hydra_for
from pddlego_local.runner.suite import REFERENCE, suite, words_of

ABOUT = {
    "id": "the part and the game",
    "part": "the part of the suite (conf/suite)",
    "about": "what is played in this part",
    "game": "the game's seed",
    "map": "a hash: games with the same map are the same house; may be empty",
    "form": "what is asked for: both files (pddl), the problem, an edit, or commands",
    "prompt": "the question, as a model gets it in one message",
    "answer": "the answer of the rule-based reference",
    "won": "whether the reference won this game by going on in this way",
    "gold_domain": "the domain file of a described world, otherwise empty",
    "gold_problem": "the problem file of a described world, otherwise empty",
}
"""The fields of a line of questions.jsonl."""

TYPES = {"game": "sc:Integer", "won": "sc:Boolean"}
CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The standard context of Croissant 1.0, as the package mlcroissant writes it."""


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.dataset")
    parser.add_argument("--size", default="quick", choices=[*suite().sizes])
    parser.add_argument("--out", type=Path, default=Path("build/dataset"))
    given = parser.parse_args(words)
    card = pddlego_local.evaluate(REFERENCE, given.size, run__out=given.out / "runs")
    write(card.parent, given.out)


def write(run: Path, out: Path) -> None:
    """Writes the data set from the records of the reference in the folder `run`."""
    entry = read_entry(run)
    with hydra_for(None):
        questions = [line for play in entry.plays for line in _questions(run, play)]
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in questions]
    data = "".join(lines).encode()
    (out / "questions.jsonl").write_bytes(data)
    card = _card(entry, questions)
    (out / "README.md").write_text(card, encoding="utf-8")
    metadata = _croissant(entry, data)
    text = json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    (out / "croissant.json").write_text(text, encoding="utf-8")
    print(f"{out}: {len(questions)} questions")


def _questions(run: Path, play: Played) -> Iterator[dict[str, Any]]:
    """Yields a line for each game of a part in which the reference was asked."""
    if not play.cell:
        return
    cell = run / play.cell
    rows = {row.game: row for row in read_rows(cell / "episodes.jsonl")}
    with gold_of(play) as gold:
        for game in play.numbers:
            events = read_events(transcript_of(cell, game, 0))
            call = _first_call(events)
            if call is None:
                continue
            (message,) = call.messages
            domain, problem = gold(game)
            yield {
                "id": f"{play.part}/{game}",
                "part": play.part,
                "about": suite().parts[play.part].about,
                "game": game,
                "map": rows[game].map,
                "form": call.form,
                "prompt": message.content,
                "answer": call.text,
                "won": rows[game].won,
                "gold_domain": domain,
                "gold_problem": problem,
            }


def _first_call(events: list[Event]) -> Call | None:
    return next((event for event in events if isinstance(event, Call)), None)


@contextlib.contextmanager
def gold_of(play: Played) -> Iterator[Any]:
    """Lends a function from a game to its gold files, which are empty where there are
    none.
    """
    words = words_of(suite().parts[play.part], play.arm, play.numbers)
    environment = compose_cell([*words, "model=reference"]).build("environment")

    def files(game: int) -> tuple[str, str]:
        if not isinstance(environment, Described):
            return "", ""
        environment.reset(game)
        return environment.gold

    with contextlib.closing(environment):
        yield files


def _card(entry: Entry, questions: list[dict[str, Any]]) -> str:
    """Returns the card, with the front matter that hubs read."""
    template = Path(__file__).with_suffix(".jinja").read_text(encoding="utf-8")
    absent = sorted({play.part for play in entry.plays if not play.cell})
    return (
        jinja(keep_trailing_newline=True)
        .from_string(template)
        .render(entry=entry, questions=questions, absent=absent, fields=ABOUT)
    )


def _croissant(entry: Entry, data: bytes) -> Mapping[str, Any]:
    """Returns the metadata in the format Croissant 1.0."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"questions/{name}",
            "name": name,
            "description": about,
            "dataType": TYPES.get(name, "sc:Text"),
            "source": {
                "fileObject": {"@id": "questions.jsonl"},
                "extract": {"column": name},
            },
        }
        for name, about in ABOUT.items()
    ]
    return {
        "@context": json.loads(CONTEXT.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "name": f"pddlego_suite_{entry.suite}_{entry.size}_questions",
        "description": (
            f"The first questions of the games of suite {entry.suite}, size"
            f" {entry.size}, of pddlego_local, with right answers and gold files."
        ),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "https://spdx.org/licenses/MIT",
        "version": f"{entry.suite}.0.0",
        "creator": {"@type": "Organization", "name": "The pddlego_local developers"},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "questions.jsonl",
                "name": "questions.jsonl",
                "contentUrl": "questions.jsonl",
                "encodingFormat": "application/jsonlines",
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "questions",
                "name": "questions",
                "field": fields,
            }
        ],
    }


if __name__ == "__main__":
    main()
