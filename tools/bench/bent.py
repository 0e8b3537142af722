"""Measures how much probability masks remove from a model's answers, by stage and by
token.

    python -m tools.bench.bent [OVERRIDES …] [--rungs typed,grounded] [--calls 3]

Each game is played in process until the given number of its answers is drawn. What a
mask removes is -log of the probability that it leaves, in nats, at the temperature of
the draw. An answer from which masks remove 5 nats is drawn e⁵ times as often as the
model would write it. Drawn and forced tokens are measured. The forced prefix of a stage
is not, as it is part of the prompt.

The last element of a token decides its kind: a name, a ?variable, a keyword, a bracket,
or JSON. The table of places has one row for each pair of a wanted and a drawn token.
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

WORDS = (
    "define",
    "domain",
    "problem",
    "and",
    "or",
    "not",
    "imply",
    "exists",
    "forall",
    "when",
)
HALF = 0.693  # nats
AHEAD = 8  # tokens that the table shows of the drawn and of the wanted text
DEFAULTS = [
    "environment=coin",
    "environment.rooms=7",
    "method=pddlego_plus",
    "games=0-29",
]
DEFAULTS += ["method.variant=compact", "model=nano_early", "decoding.max_tokens=1024"]


@dataclass(frozen=True)
class Step:
    """A token of a stage. `took` is the probability that its mask removed, in nats.
    `before` is the answer up to the token, and `wanted` is the likeliest token without
    a mask. `ids` are the tokens of the prompt and the stage; this token is at `place`.
    """

    stage: str
    before: str
    text: str
    took: float
    wanted: int
    ids: Sequence[int]
    place: int

    @property
    def kind(self) -> str:
        """The kind of the token's last element."""
        whole = self.before[-100:] + self.text
        if found := re.search(r"[:?]?[\w-]+$", whole):
            word = found[0]
            if word.startswith("?"):
                return "variable"
            known = word.startswith(":") or any(
                known.startswith(word) for known in WORDS
            )
            return "keyword" if known or word in ("df", "pf") else "name"
        last = whole.rstrip()[-1:]
        return (
            "bracket"
            if last in ("(", ")")
            else "keyword"
            if last in (":", "-", "?")
            else "JSON"
        )


class Watched(ForcedTokens):
    """Notes the probability that masks leave, also for forced tokens. For each stage it
    notes the tokens before it and, for each token, the probability that was left, the
    likeliest token without a mask, and that token's probability if it was forbidden.
    The common beginning of requests is read once.
    """

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
        named = (
            name for name, value in given.items() if isinstance(value, DynamicCache)
        )
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
        """Returns the logits after the `ids`, the first of which are in the cache, and
        notes the forced tokens at their end.
        """
        new = ids[0, Watched.cache.get_seq_length() :].tolist()
        logits = read(model, new, len(self._unnoted) + 1)
        for (token, mask), free in zip(self._unnoted, logits[:-1], strict=True):
            self._note(token, free, mask)
        self._unnoted = ()
        return logits[-1:]

    def _note(self, token: int, logits: torch.Tensor, mask: torch.Tensor) -> None:
        likely = (logits.cpu() / (self._sampling.temperature or 1.0)).log_softmax(
            dim=-1
        )
        masked = likely[None].clone()
        apply_token_bitmask_inplace(masked, mask[None])
        wanted = int(logits.argmax())
        forbidden = float(likely[wanted].exp()) if masked[0, wanted].isinf() else 0.0
        Watched.noted[-1][1].append(
            (token, float(masked.exp().sum()), wanted, forbidden)
        )

    def _read_forced(self) -> list[int]:
        run = (
            []
            if self._matcher.is_stopped()
            else list(self._matcher.compute_ff_tokens())
        )
        self._unnoted = []
        for token in run:
            fill_next_token_bitmask(self._matcher, self.bitmask, 0)
            self._unnoted.append((token, self.bitmask[0].clone()))
            self._matcher.consume_token(token)
        self._check()
        return [*run, self._end] if self._matcher.is_stopped() else run


def keep(ids: Sequence[int]) -> Sequence[int]:
    """Crops the cache to what it shares with the beginning of `ids`, of which at least
    the last is read again. Returns the ids that are to be read.
    """
    same = len(os.path.commonprefix([list(ids[:-1]), Watched.read]))  # noqa: RUF071 (no paths)
    if extra := Watched.cache.get_seq_length() - same:
        Watched.cache.crop(-extra)
    del Watched.read[same:]
    return ids[same:]


def read(model: Any, ids: Sequence[int], most: int = 1) -> torch.Tensor:
    """Reads tokens after those of the cache. Returns the logits after the last `most`
    of them.
    """
    new, cache = (
        torch.tensor([list(ids)], device=model.device),
        {Watched.cache_name: Watched.cache},
    )
    output = model(input_ids=new, logits_to_keep=most, **cache)
    Watched.read.extend(ids)
    logits: torch.Tensor = output.logits[0].to(copy=True, dtype=torch.float32)
    return logits


@torch.inference_mode()
def wanted(model: Any, step: Step) -> list[int]:
    """Returns the model's likeliest continuation without a mask."""
    new, tokens = keep(step.ids[: step.place]), list[int]()
    while len(tokens) < AHEAD:
        tokens.append(int(read(model, new).argmax()))
        new = tokens[-1:]
    return tokens


class _Enough(Exception):
    """Ends a game that has its number of answers."""


def watched(config: CellConfig, model: Any, calls: int) -> Iterator[list[Step]]:
    """Yields the steps of the first `calls` answers of each game (none without a
    grammar).
    """
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
                method(
                    Episode(
                        parts, emit, run_seed=config.settings.seed, game=game, trial=0
                    )
                )
            yield from found


def _steps(call: Call, tokenizer: Any) -> Iterator[Step]:
    """Yields the steps of a call. A wanted token may cross the end of a stage, such as
    "},"; if the answer continues in the same way, its probability is not counted as
    removed.
    """
    stages = [(stage.name, stage.before + stage.head) for stage in call.stages] or [
        ("answer", "")
    ]
    ends = [*(None if stage.drop else stage.head for stage in call.stages[1:]), ""]
    for (name, text), (ids, tokens), end in zip(
        stages, Watched.noted, ends, strict=False
    ):
        said = [
            tokenizer.decode([token], skip_special_tokens=True) for token, *_ in tokens
        ]
        for place, (token, left, wanted, forbidden) in enumerate(tokens):
            rest, wish = "".join(said[place:]), tokenizer.decode([wanted])
            crosses = (
                wish.startswith(rest)
                if end is None
                else f"{rest}{end}".startswith(wish)
            )
            left += forbidden * crosses
            yield Step(
                name,
                text,
                said[place],
                -math.log(min(left, 1.0)),
                wanted,
                ids,
                len(ids),
            )
            text += said[place]
            ids.append(token)


def _row(answers: Sequence[Sequence[Step]]) -> list[object]:
    """Returns the number of tokens, the share whose mask left less than half, and the
    mean, median and maximum of what masks removed per answer.
    """
    nats = [sum(step.took for step in answer) for answer in answers]
    bent = [step.took > HALF for answer in answers for step in answer]
    share = f"{100 * sum(bent) / max(len(bent), 1):.1f} %"
    return [len(bent), share, *(f"{of(nats):.1f}" for of in (mean, median, max))]


def rows(answers: Sequence[Sequence[Step]]) -> Iterator[list[object]]:
    """Yields a row for all tokens, each stage and each kind, over answers that have
    such tokens.
    """
    yield ["all", len(answers), *_row(answers)]
    for of in (attrgetter("stage"), attrgetter("kind")):
        for name in sorted({of(step) for answer in answers for step in answer}):
            some = [[step for step in answer if of(step) == name] for answer in answers]
            yield [
                name,
                sum(map(bool, some)),
                *_row([steps for steps in some if steps]),
            ]


def places(answers: Iterable[Sequence[Step]], loaded: Any) -> Iterator[list[object]]:
    """Yields the ten places where a mask removed most, and how many similar places lost
    half.
    """
    alike = defaultdict[tuple[str, int, str], list[tuple[Step, str]]](list)
    for answer in answers:
        for number, step in enumerate(answer):
            if step.took > HALF:
                drawn = "".join(one.text for one in answer[number : number + AHEAD])
                alike[step.stage, step.wanted, step.text].append((step, drawn))
    worst = [
        (max(found, key=lambda one: one[0].took), len(found))
        for found in alike.values()
    ]
    for (step, drawn), times in sorted(worst, key=lambda one: -one[0][0].took)[:10]:
        texts = (
            step.before[-60:],
            drawn,
            loaded.tokenizer.decode(wanted(loaded.model, step)),
        )
        yield [step.stage, f"{step.took:.1f}", times, *map(_shown, texts)]


def _shown(text: str) -> str:
    return f"`{text!r}`".replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "overrides", nargs="*", default=DEFAULTS, help="default: %(default)s"
    )
    parser.add_argument("--rungs", default="json,syntax,typed,grounded")
    parser.add_argument("--calls", type=int, default=1, help="answers per game")
    given = parser.parse_args()
    model = None
    for rung in given.rungs.split(","):
        config = compose_cell([f"decoding={rung}", *given.overrides])
        model = model or config.build("model")
        answers = list(watched(config, model, given.calls))
        head = [
            "part",
            "answers",
            "tokens",
            "left less than half",
            "nats, mean",
            "median",
            "most",
        ]
        print(f"\n{rung}\n\n{table(head, rows(answers))}\n")
        head = ["stage", "nats", "times", "after", "drawn", "wanted"]
        print(table(head, places(answers, model._loaded)), flush=True)


if __name__ == "__main__":
    main()
