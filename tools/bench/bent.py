"""Where grammars bend a model: at which tokens a mask takes more than half of the probability.

    python -m tools.bench.bent [nano_early] [OVERRIDES …] [--rungs syntax,typed] [--games 30]

One answer to the first look at each game that is not over there, under masks, no token forced. A
token is of the kind of the last thing in it: a name, a ?variable, a keyword, a bracket, or what
is of JSON. Counted are the tokens whose mask left less than half of the probability; "nats" are
what all masks took of an answer: with 5, it is drawn e⁵ times as often as the model would write it.
"""

import argparse
import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

import torch

from pddlego_local.commands.sample import first_question
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.session import (
    Constraint,
    Stages,
    with_head_in_grammar,
)
from pddlego_local.episode.drawing import draw
from pddlego_local.models import generation
from pddlego_local.models.forced_runs import ForcedRuns
from pddlego_local.runner.config import compose_cell
from tools.bench.markdown import table

WORDS = ("define", "domain", "problem", "and", "or", "not", "imply", "exists", "forall", "when")
KINDS = ("name", "variable", "keyword", "bracket", "JSON")

Step = tuple[int, float]
"""A token, and the share that its mask left."""
steps = list[list[Step]]()
"""Those of each stage that was drawn."""


class Watched(ForcedRuns):
    """Notes what its masks leave. Nothing is forced but the end of a text that cannot go on."""

    def process_logits(self, input_ids: Any, logits: Any) -> Any:
        heat = self._sampling.temperature
        before = (logits / heat).logsumexp(dim=-1)
        masked = super().process_logits(input_ids, logits)
        self._left = math.exp(float((masked / heat).logsumexp(dim=-1) - before))
        return masked

    def _choose(self, scores: torch.Tensor, place: int) -> int:
        token = super()._choose(scores, place)
        steps[-1].append((token, self._left))
        return token

    def _read_forced(self) -> list[int]:
        return [self._end] if self._matcher.is_stopped() else []


def watched(masks: Any, sampling: Sampling, *, runs: bool) -> Watched:
    steps.append([])
    return Watched(masks, sampling, runs=runs)


def without_heads(constraint: Constraint) -> Constraint:
    """The same language in stages, none of which begins with forced text."""

    def stages() -> Stages:
        inner = constraint.stages()
        stage = next(inner)
        while True:
            text = yield with_head_in_grammar(stage)
            try:
                stage = inner.send(text)
            except StopIteration:
                return

    return Constraint("without heads", stages)


def kind(before: str, text: str) -> str:
    """What the last thing of a token is, given the text before it."""
    whole = before + text
    if found := re.search(r"[:?]?[\w-]+$", whole):
        word = found[0]
        if word.startswith("?"):
            return "variable"
        known = word.startswith(":") or any(known.startswith(word) for known in WORDS)
        return "keyword" if known or word in ("df", "pf") else "name"
    last = whole.rstrip()[-1:]
    return "bracket" if last in ("(", ")") else "keyword" if last in (":", "-", "?") else "JSON"


def counted(
    model: Any, config_of: Any, games: int
) -> Iterator[tuple[Counter[str], Counter[str], float]]:
    """Of each answer: its steps and the bent ones by kind, and what its masks took, in nats."""
    for game in range(games):
        config = config_of(game)
        try:
            question = first_question(config)
        except ConfigError:  # over before a model is asked
            continue
        decoding = config.build("decoding")
        scene = dataclasses.replace(question.scene, goal=decoding.goal)
        constraint = constraint_for(decoding.rung, question.form, scene, decoding.layout)
        steps.clear()
        draw(
            model, question, without_heads(constraint), decoding.sampling(derive_seed(game, 0)), {}
        )
        every, bent, nats = Counter[str](), Counter[str](), 0.0
        text = ""
        decode = model._loaded.tokenizer.decode
        for stage in steps:
            for token, left in stage:
                said = decode([token])
                every[of := kind(text, said)] += 1
                bent[of] += left < 0.5
                nats -= math.log(left)
                text += said
        yield every, bent, nats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", nargs="?", default="nano_early")
    parser.add_argument("overrides", nargs="*", help="such as model.weights=FOLDER")
    parser.add_argument("--rungs", default="json,syntax,typed,grounded")
    parser.add_argument("--games", type=int, default=30)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--max-tokens", type=int, default=1024)
    given = parser.parse_args()
    generation.ForcedRuns = watched  # type: ignore[attr-defined,assignment]
    rows, model = list[list[object]](), None
    for rung in given.rungs.split(","):

        def config_of(game: int, rung: str = rung) -> Any:
            return compose_cell(
                [
                    "environment=coin",
                    "environment.rooms=7",
                    "method=pddlego_plus",
                    "method.variant=compact",
                    f"model={given.model}",
                    f"decoding={rung}",
                    f"games={game}",
                    f"decoding.temperature={given.temperature}",
                    f"decoding.max_tokens={given.max_tokens}",
                    *given.overrides,
                ]
            )

        model = model or config_of(0).build("model")
        model.load()
        every, bent, nats = Counter[str](), Counter[str](), list[float]()
        for one, some, took in counted(model, config_of, given.games):
            every, bent = every + one, bent + some
            nats.append(took)
        share = [f"{bent[of]} of {every[of]}" for of in KINDS]
        rows.append([rung, len(nats), *share, f"{median(nats):.2f}", f"{max(nats):.1f}"])
    print(table(("rung", "answers", *KINDS, "nats, median", "most"), rows))


if __name__ == "__main__":
    main()
