"""How likely a model finds the reference's answers, by layout and envelope, in nats.

    python -m tools.bench.likelihood FOLDER [--games 4] [--later 2] [--dtype float32]

FOLDER is a model's, such as `make fetch MODEL=smollm2` names. The prompts are the real ones, in
the model's chat template; those of later rounds show the files so far in the layout that is
measured. "any" is the reference's own layout. One pass of the model an answer.

"to sample" are the nats of the tokens that "typed" leaves a choice for, JSON and layout given: what
a layout costs the model in what it says, apart from how it is written.
"""

import argparse
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from llguidance import LLTokenizer
from llguidance.hf import from_tokenizer
from rich.console import Console
from rich.progress import track
from transformers import AutoModelForCausalLM, AutoTokenizer

from pddlego_local.core.nouns import Messages
from pddlego_local.decoding.layout import REQUIREMENTS, Layout
from tools.bench.markdown import table
from tools.bench.played import ENVIRONMENTS, Asked, played
from tools.bench.steps import LAYOUTS, Text
from tools.bench.walk import tokens_of

Score = tuple[float, int]
"""Nats, and how many tokens they are of."""


class Scorer:
    """A model that says how likely it finds texts as answers to one prompt at a time."""

    def __init__(self, folder: Path, dtype: torch.dtype) -> None:
        tokenizers: Any = AutoTokenizer
        self._tokenizer = tokenizers.from_pretrained(folder)
        self._model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
        self.engine: LLTokenizer = from_tokenizer(self._tokenizer)

    @torch.inference_mode()
    def ask(self, messages: Messages) -> None:
        chat = [{"role": message.role, "content": message.content} for message in messages]
        prompt = self._tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )["input_ids"]
        read = self._model(prompt, use_cache=True, logits_to_keep=1)
        self._cache, self._first = read.past_key_values, read.logits

    @torch.inference_mode()
    def nats(self, tokens: Sequence[int]) -> torch.Tensor:
        """Of each token of an answer, as surprising as the model finds it."""
        answer = torch.tensor([tokens])
        read = self._model(answer[:, :-1], past_key_values=self._cache, use_cache=True)
        self._cache.crop(1 - len(tokens))
        logits = torch.cat([self._first, read.logits], dim=1)[0]
        return torch.nn.functional.cross_entropy(logits.float(), answer[0], reduction="none")

    def whole(self, text: str) -> Score:
        """All of a text and its end."""
        tokens = [*self.engine.tokenize_str(text), self._tokenizer.eos_token_id]
        return float(self.nats(tokens).sum()), len(tokens)

    def after(self, beginning: str, rest: str) -> Score:
        given, tokens = (self.engine.tokenize_str(text) for text in (beginning, rest))
        return float(self.nats([*given, *tokens])[len(given) :].sum()), len(tokens)

    def sampled(self, text: Text, layout: Layout) -> Score:
        """What "typed" does not force. Raises ValueError if it excludes the text."""
        written, chosen = list[int](), list[bool]()
        for stage, piece in text.stages(layout):
            head = self.engine.tokenize_str(stage.head)
            tokens = list(tokens_of(self.engine, stage, piece))
            written += [*head, *(token.number for token in tokens)]
            chosen += [*(False for _ in head), *(not token.forced for token in tokens)]
        return float(self.nats(written)[torch.tensor(chosen)].sum()), sum(chosen)


def fenced(files: Mapping[str, str]) -> str:
    return "\n\n".join(f"```pddl\n{file.strip()}\n```" for file in files.values())


def hanging(file: str) -> str:
    """A file of the layout "lines", with the brackets that close several lines on their own."""
    closed = re.sub(
        r"(\n  \(\S.*(?:\n    .*)+)\)(?=\n  \(|\)$)", lambda section: f"{section[1]}\n  )", file
    )
    return f"{closed.removesuffix(')')}\n)"


def envelopes(scorer: Scorer, asked: Asked, layout: Layout) -> dict[str, Score]:
    """One answer in JSON, fenced, and what of it is left to sample."""
    text = Text((), asked.question.scene, asked.answer)
    return {
        f"{layout}, JSON": scorer.whole(json.dumps(asked.answer, ensure_ascii=False)),
        f"{layout}, fenced": scorer.whole(fenced(asked.answer)),
        f"{layout}, to sample": scorer.sampled(text, layout),
    }


def headers(scorer: Scorer, asked: Asked) -> dict[str, Score]:
    """What follows the header of a domain of one line, by what the header says."""
    text = json.dumps(asked.answer, ensure_ascii=False)
    before, rest = text.split(f" {REQUIREMENTS}")
    ways = {"as it is": f" {REQUIREMENTS}", ":adl": " (:requirements :adl)", "none": ""}
    return {way: scorer.after(before + header, rest) for way, header in ways.items()}


def brackets(scorer: Scorer, asked: Asked) -> dict[str, Score]:
    """An answer in lines, fenced, so that line ends are line ends."""
    hung = {key: hanging(file) for key, file in asked.answer.items()}
    arms = {"attached": asked.answer, "hanging": hung}
    return {
        f"{way}, {name}": scorer.whole(write(files))
        for way, files in arms.items()
        for name, write in (("JSON", json.dumps), ("fenced", fenced))
    }


def spread(asked: Iterable[Asked], later: int) -> Iterator[Asked]:
    """The first look of each game and some later rounds, at even distances, its last among them."""
    for _, of_game in itertools.groupby(asked, lambda one: one.game):
        first, *rest = of_game
        places = {round((number + 1) * len(rest) / later) - 1 for number in range(later)}
        yield first
        yield from (rest[place] for place in sorted(places) if place >= 0)


def scores(scorer: Scorer, games: int, later: int) -> Iterator[tuple[str, str, dict[str, Score]]]:
    """(table, row, score of each arm) of questions of some games."""
    arms = [(environment, layout) for environment in ENVIRONMENTS for layout in LAYOUTS]
    for environment, layout in track(arms, console=Console(stderr=True)):
        for asked in spread(played(environment, range(games), layout=layout), later):
            scorer.ask(asked.question.messages)
            row = f"{environment}, {'first look' if asked.first else 'later'}"
            yield "Layouts and envelopes", row, envelopes(scorer, asked, layout)
            if asked.first and layout == "line":
                yield "After the header", environment, headers(scorer, asked)
            if asked.first and layout == "lines":
                yield "Closing brackets", environment, brackets(scorer, asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=4, help="of each environment")
    parser.add_argument("--later", type=int, default=2, help="later rounds of each game")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    given = parser.parse_args()
    Rows = dict[str, dict[str, list[Score]]]
    tables: dict[str, Rows] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    scorer = Scorer(given.folder, getattr(torch, given.dtype))
    for title, row, arms in scores(scorer, given.games, given.later):
        for arm, score in arms.items():
            for group in (row, "all"):
                tables[title][group][arm].append(score)
    for title, rows in tables.items():
        arms_ = list(rows["all"])
        body = [
            [row, len(next(iter(own.values()))), *(_mean(own[arm]) for arm in arms_)]
            for row, own in sorted(rows.items())
        ]
        print(f"\n## {title}: mean nats (tokens)\n", table(["", "n", *arms_], body), sep="\n")


def _mean(found: Sequence[Score]) -> str:
    nats, tokens = (sum(column) / len(found) for column in zip(*found, strict=True))
    return f"{nats:.0f} ({tokens:.0f})"


if __name__ == "__main__":
    main()
