"""Where grammars bend a model: what masks take of the probability, by stage, and at which tokens.

    python -m tools.bench.bent [OVERRIDES …] [--rungs typed,grounded] [--calls 3]

Each game is played in process until so many answers of it are drawn. What a mask takes is -log of
the probability that it leaves, in nats, at the temperature of the draw: an answer of which masks
take 5 is drawn e⁵ times as often as the model would write it. Tokens are measured whether they are
drawn or forced, but not what a stage begins with (its head), which is part of the prompt.

A token is of the kind of the last thing in it: a name, a ?variable, a keyword, a bracket, or what
is of JSON. The table of places has one row for each pair of what was wanted and what was drawn.
"""

import argparse
import contextlib
import math
import os.path
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import mean, median
from typing import Any, ClassVar

import torch
from llguidance.torch import apply_token_bitmask_inplace, fill_next_token_bitmask
from transformers import DynamicCache

from pddlego_local.core.record.events import Call, Event
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.models import generation
from pddlego_local.models.forced_tokens import ForcedTokens
from pddlego_local.runner.config import CellConfig, compose_cell
from tools.bench.markdown import table

WORDS = ("define", "domain", "problem", "and", "or", "not", "imply", "exists", "forall", "when")
HALF = 0.693  # nats
AHEAD = 8  # tokens that are shown of what was drawn, and of what was wanted
DEFAULTS = ["environment=coin", "environment.rooms=7", "method=pddlego_plus", "games=0-29"]
DEFAULTS += ["method.variant=compact", "model=nano_early", "decoding.max_tokens=1024"]


@dataclass(frozen=True)
class Step:
    """A token of a stage, and what its mask took, in nats. `before` is the answer up to there, and
    `wanted` the likeliest token without a mask. `ids` are the prompt's and the stage's tokens, of
    which this is the one at `place`."""

    stage: str
    before: str
    text: str
    took: float
    wanted: int
    ids: Sequence[int]
    place: int

    @property
    def kind(self) -> str:
        """What the last thing of the token is."""
        whole = self.before[-100:] + self.text
        if found := re.search(r"[:?]?[\w-]+$", whole):
            word = found[0]
            if word.startswith("?"):
                return "variable"
            known = word.startswith(":") or any(known.startswith(word) for known in WORDS)
            return "keyword" if known or word in ("df", "pf") else "name"
        last = whole.rstrip()[-1:]
        return "bracket" if last in ("(", ")") else "keyword" if last in (":", "-", "?") else "JSON"


class Watched(ForcedTokens):
    """Notes what its masks leave, of forced tokens too: of each stage the tokens before it, and
    each token with the probability that was left, the likeliest token without a mask, and its
    probability if it was forbidden. What requests have in common is read once."""

    noted: ClassVar[list[tuple[list[int], list[tuple[int, float, int, float]]]]] = []
    read: ClassVar[list[int]] = []
    cache: ClassVar[DynamicCache] = DynamicCache()
    cache_name: ClassVar[str] = ""  # of the model's argument
    _unnoted: Sequence[tuple[int, torch.Tensor]] = ()  # forced tokens, with their masks

    def __init__(self, *masks: Any, **options: Any) -> None:
        super().__init__(*masks, **options)
        Watched.noted.append(([], []))

    def decode(self, model: Any, input_ids: torch.Tensor, **given: Any) -> torch.Tensor:
        ids = input_ids[0, : input_ids.shape[1] - len(self._unnoted)].tolist()
        Watched.noted[-1][0].extend(ids)
        named = (name for name, value in given.items() if isinstance(value, DynamicCache))
        Watched.cache_name = next(named)
        keep(ids)
        ended = False
        while not ended:
            logits = self._logits(model, input_ids)
            free, place = logits.clone(), input_ids.shape[1]
            token = self._choose(given["logits_processor"](input_ids, logits), place)
            self._note(token, free[0], self.bitmask[0])
            room = given["generation_config"].max_length - place
            drawn = [token, *self._run_after(token)][:room]
            self._unnoted = self._unnoted[: len(drawn) - 1]
            input_ids = torch.cat([input_ids, input_ids.new_tensor([drawn])], dim=-1)
            ended = bool(given["stopping_criteria"](input_ids, None).all())
        if self._unnoted:
            self._logits(model, input_ids[:, : place + 1 + len(self._unnoted)])
        return input_ids

    def _logits(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        """Those behind the `ids`, of which the cache holds the first. Notes the forced tokens at
        their end."""
        new = ids[0, Watched.cache.get_seq_length() :].tolist()
        logits = read(model, new, len(self._unnoted) + 1)
        for (token, mask), free in zip(self._unnoted, logits[:-1], strict=True):
            self._note(token, free, mask)
        self._unnoted = ()
        return logits[-1:]

    def _note(self, token: int, logits: torch.Tensor, mask: torch.Tensor) -> None:
        likely = (logits / (self._sampling.temperature or 1.0)).log_softmax(dim=-1)
        masked = likely[None].clone()
        apply_token_bitmask_inplace(masked, mask[None])
        wanted = int(logits.argmax())
        forbidden = float(likely[wanted].exp()) if masked[0, wanted].isinf() else 0.0
        Watched.noted[-1][1].append((token, float(masked.exp().sum()), wanted, forbidden))

    def _read_forced(self) -> list[int]:
        run = [] if self._matcher.is_stopped() else list(self._matcher.compute_ff_tokens())
        self._unnoted = []
        for token in run:
            fill_next_token_bitmask(self._matcher, self.bitmask, 0)
            self._unnoted.append((token, self.bitmask[0].clone()))
            self._matcher.consume_token(token)
        self._check()
        return [*run, self._end] if self._matcher.is_stopped() else run


def keep(ids: Sequence[int]) -> Sequence[int]:
    """Of the cache, what these tokens but the last begin with; the rest of them."""
    same = len(os.path.commonprefix([list(ids[:-1]), Watched.read]))  # noqa: RUF071 (no paths)
    if extra := Watched.cache.get_seq_length() - same:
        Watched.cache.crop(-extra)
    del Watched.read[same:]
    return ids[same:]


def read(model: Any, ids: Sequence[int], most: int = 1) -> torch.Tensor:
    """Reads tokens behind those of the cache; the logits behind the last `most` of them."""
    new, cache = torch.tensor([list(ids)], device=model.device), {Watched.cache_name: Watched.cache}
    output = model(input_ids=new, logits_to_keep=most, **cache)
    Watched.read.extend(ids)
    logits: torch.Tensor = output.logits[0].to(copy=True, dtype=torch.float32)
    return logits


@torch.inference_mode()
def wanted(model: Any, step: Step) -> list[int]:
    """How the model would have gone on without a mask, at its likeliest."""
    new, tokens = keep(step.ids[: step.place]), list[int]()
    while len(tokens) < AHEAD:
        tokens.append(int(read(model, new).argmax()))
        new = tokens[-1:]
    return tokens


class _Enough(Exception):
    """A game has had its number of answers."""


def watched(config: CellConfig, model: Any, calls: int) -> Iterator[list[Step]]:
    """The first `calls` answers of each game: their steps. An answer without a grammar has none."""
    found: list[list[Step]] = []

    def emit(event: Event) -> None:
        if isinstance(event, Call):
            found.append(list(_steps(event, model._loaded.tokenizer)))
            Watched.noted.clear()
            if len(found) == calls:
                raise _Enough

    Watched.noted.clear()
    generation.ForcedTokens = Watched  # type: ignore[attr-defined]
    method = config.build("method")
    with (
        contextlib.closing(config.build("environment")) as environment,
        contextlib.closing(config.build("planner")) as planner,
    ):
        parts = Parts(environment, model, planner, config.build("decoding"))
        for game in config.settings.games:
            found.clear()
            with contextlib.suppress(_Enough):
                method(Episode(parts, emit, run_seed=config.settings.seed, game=game, trial=0))
            yield from found


def _steps(call: Call, tokenizer: Any) -> Iterator[Step]:
    """A token across the end of a stage, such as "},", is not taken where the answer says that."""
    stages = [(stage.name, stage.before + stage.head) for stage in call.stages] or [("answer", "")]
    ends = [*(None if stage.drop else stage.head for stage in call.stages[1:]), ""]
    for (name, text), (ids, tokens), end in zip(stages, Watched.noted, ends, strict=False):
        said = [tokenizer.decode([token], skip_special_tokens=True) for token, *_ in tokens]
        for place, (token, left, wanted, forbidden) in enumerate(tokens):
            rest, wish = "".join(said[place:]), tokenizer.decode([wanted])
            crosses = wish.startswith(rest) if end is None else f"{rest}{end}".startswith(wish)
            left += forbidden * crosses
            yield Step(name, text, said[place], -math.log(min(left, 1.0)), wanted, ids, len(ids))
            text += said[place]
            ids.append(token)


def _row(answers: Sequence[Sequence[Step]]) -> list[object]:
    """Tokens of all answers, those whose mask left less than half, and what masks took of each."""
    nats = [sum(step.took for step in answer) for answer in answers]
    bent = [step.took > HALF for answer in answers for step in answer]
    share = f"{100 * sum(bent) / max(len(bent), 1):.1f} %"
    return [len(bent), share, *(f"{of(nats):.1f}" for of in (mean, median, max))]


def rows(answers: Sequence[Sequence[Step]]) -> Iterator[list[object]]:
    """For all tokens, each stage and each kind, over the answers that have such tokens."""
    yield ["all", len(answers), *_row(answers)]
    for of in (attrgetter("stage"), attrgetter("kind")):
        for name in sorted({of(step) for answer in answers for step in answer}):
            some = [[step for step in answer if of(step) == name] for answer in answers]
            yield [name, sum(map(bool, some)), *_row([steps for steps in some if steps])]


def places(answers: Iterable[Sequence[Step]], loaded: Any) -> Iterator[list[object]]:
    """The ten where a mask took most, and how often it took half there or in places like them."""
    alike = defaultdict[tuple[str, int, str], list[tuple[Step, str]]](list)
    for answer in answers:
        for number, step in enumerate(answer):
            if step.took > HALF:
                drawn = "".join(one.text for one in answer[number : number + AHEAD])
                alike[step.stage, step.wanted, step.text].append((step, drawn))
    worst = [(max(found, key=lambda one: one[0].took), len(found)) for found in alike.values()]
    for (step, drawn), times in sorted(worst, key=lambda one: -one[0][0].took)[:10]:
        texts = (step.before[-60:], drawn, loaded.tokenizer.decode(wanted(loaded.model, step)))
        yield [step.stage, f"{step.took:.1f}", times, *map(_shown, texts)]


def _shown(text: str) -> str:
    return f"`{text!r}`".replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("overrides", nargs="*", default=DEFAULTS, help="default: %(default)s")
    parser.add_argument("--rungs", default="json,syntax,typed,grounded")
    parser.add_argument("--calls", type=int, default=1, help="answers in a game")
    given = parser.parse_args()
    model = None
    for rung in given.rungs.split(","):
        config = compose_cell([f"decoding={rung}", *given.overrides])
        model = model or config.build("model")
        model.load()
        answers = list(watched(config, model, given.calls))
        head = ["of", "answers", "tokens", "left less than half", "nats, mean", "median", "most"]
        print(f"\n{rung}\n\n{table(head, rows(answers))}\n")
        head = ["stage", "took", "times", "behind", "drawn", "wanted"]
        print(table(head, places(answers, model._loaded)), flush=True)


if __name__ == "__main__":
    main()
