"""From which distribution answers come: masked, weighted, and the model's own within the grammar.

    python -m tools.bench.law [--out docs/law.png] [--draws 100000]

The answers can be listed: two different rooms, in two stages, where a room that comes twice is
rolled back. The exact distribution knows no grammar and no mask: it adds up the model's probability
of every way to spell an answer in tokens, over the same sum of all answers. What draws come from is
told by their weights, averaged over many draws; total variation is half of the differences' sum.
Each of the model's distributions is computed once, so that thousands of draws take seconds.
"""

import argparse
import itertools
import json
import math
import random
import tempfile
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import llguidance.torch
import torch
from llguidance import LLMatcher
from matplotlib import rc_context, rcParamsDefault
from matplotlib.figure import Figure
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from pddlego_local.core.nouns import Completion, Grammar, Message, Messages, Prefix, Sampling
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.stages import Constraint, Stage, StagedGrammar, Stages
from pddlego_local.episode.drawing import written
from pddlego_local.episode.weighting import draw_weighted
from pddlego_local.models.generation import Generation
from pddlego_local.models.seam import seam
from pddlego_local.models.thinking import Thinking
from pddlego_local.report.figures.plotting import COLOURS, DPI, SETTINGS, WIDTH
from tools.bench.markdown import table

MARKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
ROOMS = ("a", "ab", "ba", "bab")
MESSAGES = (Message("user", "b a (ab ba) b"),)
Law = Mapping[str, float]


def room(rooms: Sequence[str], before: str, after: str) -> Grammar:
    named = f"ROOM: {' | '.join(map(json.dumps, rooms))}"
    return Grammar("room", "lark", f'start: "{before}" ROOM "{after}"\n{named}\n')


def two_rooms() -> Stages:
    """As lists are drawn (`decoding.staged`): what comes twice is rolled back and excluded."""
    first = yield Stage("first", room(ROOMS, "(", " "))
    second = yield Stage("second", room(ROOMS, "", ")"))
    if (said := first[1:-1]) == second[:-1]:
        others = [room for room in ROOMS if room != said]
        yield Stage("second", room(others, "", ")"), len(second))


TWO_ROOMS = StagedGrammar("two rooms", two_rooms)
ANSWERS = tuple((f"({one} ", f"{other})") for one, other in itertools.permutations(ROOMS, 2))
"""Each as the texts of its stages."""


def make_tiny_llama(folder: Path, seed: int = 0) -> Path:
    """A Llama of random weights and strong likings, whose tokens are those of ROOMS."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=18, special_tokens=["<end>"], min_frequency=1, show_progress=False
    )
    bpe.train_from_iterator(["".join(answer) for answer in ANSWERS], trainer)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bpe, eos_token="<end>"
    )
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        initializer_range=0.2,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=0,
    )
    torch.manual_seed(seed)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class Step:
    """What may come next, and how likely it is drawn; the log of the mass that the mask leaves."""

    tokens: Sequence[int]
    upto: Sequence[float]
    log_mass: float


class Remembered:
    """A model in process as `Generation` draws from it, which computes each distribution once."""

    decodes: ClassVar[Literal[True]] = True
    weighs: ClassVar[Literal["stages"]] = "stages"

    def __init__(self, generation: Generation, temperature: float = 1.0) -> None:
        self._generation, self.temperature = generation, temperature
        self._likely = dict[tuple[int, ...], torch.Tensor]()
        self._steps = dict[tuple[str, tuple[int, ...], int], Step | None]()

    def likely(self, messages: Messages, tokens: tuple[int, ...]) -> torch.Tensor:
        """The log-probabilities behind the prompt and these tokens."""
        if tokens not in self._likely:
            prompt = self._generation._prompt(messages, Sampling())
            ids = torch.tensor([[*prompt, *tokens]])
            with torch.inference_mode():
                logits = self._generation._model(input_ids=ids).logits[0, -1].double()
            self._likely[tokens] = (logits / self.temperature).log_softmax(dim=-1)
        return self._likely[tokens]

    def step(
        self, messages: Messages, grammar: Grammar, tokens: tuple[int, ...], begun: int
    ) -> Step | None:
        """None where the stage that began behind `begun` tokens is over."""
        key = (grammar.text, tokens, begun)
        if key not in self._steps:
            self._steps[key] = self._computed(messages, grammar, tokens, tokens[begun:])
        return self._steps[key]

    def _computed(
        self,
        messages: Messages,
        grammar: Grammar,
        tokens: tuple[int, ...],
        stage: Sequence[int],
    ) -> Step | None:
        engine = self._generation._backend.llg_tokenizer
        matcher = LLMatcher(engine, LLMatcher.grammar_from_lark(grammar.text))
        assert matcher.consume_tokens(list(stage))
        if matcher.is_stopped():
            return None
        mask = llguidance.torch.allocate_token_bitmask(1, engine.vocab_size)
        llguidance.torch.fill_next_token_bitmask(matcher, mask, 0)
        likely = self.likely(messages, tokens)
        masked = likely.clone()
        llguidance.torch.apply_token_bitmask_inplace(masked, mask[0])
        permitted = masked.isfinite().nonzero()[:, 0].tolist()
        mass = float(masked.logsumexp(dim=-1))
        drawn = (masked[permitted] - mass).exp()
        return Step(permitted, drawn.cumsum(0).tolist(), mass)

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        assert grammar and sampling.temperature == self.temperature
        prefix, rng, spelling = prefix or Prefix(), random.Random(sampling.seed), self.spelling
        tokens = begun = tuple(seam(prefix, spelling).tokens)
        mass = 0.0
        while step := self.step(messages, grammar, tokens, len(begun)):
            place = min(bisect(step.upto, rng.random()), len(step.tokens) - 1)
            tokens, mass = (*tokens, step.tokens[place]), mass + step.log_mass
        text = spelling.decode(tokens)[len(spelling.decode(begun)) :]
        whole = Prefix(prefix.continued + text, (0,), tokens)
        drawn = len(tokens) - len(begun)
        return Completion(text, "stop", 0, drawn, 0.0, prefix=whole, log_mass=mass)

    @cached_property
    def spelling(self) -> Any:
        return self._generation._spelling

    def preflight(self, *, thinking: bool = False) -> None: ...

    def identity(self) -> dict[str, str]:
        return {}

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        raise NotImplementedError

    def close(self) -> None: ...


def generation(folder: Path, thinking: Thinking | None = None) -> Generation:
    """A model to draw with."""
    return Generation(
        folder,
        name="tiny",
        device="cpu",
        dtype="float32",
        context_tokens=None,
        thinking=thinking,
        forced_tokens=True,
    )


def exact(model: Remembered, answers: Sequence[Sequence[str]]) -> Law:
    """The model's own distribution of these answers, each in the texts of its stages."""
    vocabulary = defaultdict[str, list[int]](list)
    for token in range(model.spelling.tokenizer.get_vocab_size()):
        vocabulary[model.spelling.decode([token])].append(token)

    def probability(stages: Sequence[str], before: tuple[int, ...] = ()) -> float:
        """Of all spellings; a token ends where a stage does."""
        if not stages:
            return 1.0
        text, *others = stages
        if not text:
            return probability(others, before)
        total = 0.0
        for length in range(1, len(text) + 1):
            for token in vocabulary.get(text[:length], ()):
                share = math.exp(float(model.likely(MESSAGES, before)[token]))
                total += share * probability([text[length:], *others], (*before, token))
        return total

    found = {"".join(answer): probability(answer) for answer in answers}
    return {text: share / math.fsum(found.values()) for text, share in found.items()}


def law(model: Remembered, constraint: Constraint, particles: int, draws: int) -> Law:
    """From which distribution answers come: masked ones where `particles` is 0."""
    found = defaultdict[str, float](float)
    for seed in range(draws):
        sampling = Sampling(model.temperature, seed=seed, particles=particles)
        if particles:
            drawn = shares(draw_weighted(model, MESSAGES, constraint, sampling, {}))
        else:
            drawn = [(written(model, MESSAGES, constraint, sampling, {}).completion.text, 1.0)]
        for text, share in drawn:
            found[text] += share / draws
    return found


def shares(drawn: Drawn) -> list[tuple[str, float]]:
    """How likely each of the particles was to be the answer."""
    inside = [one for one in drawn.particles if one.log_weight is not None]
    if not inside:
        return [(one.text, float(one.chosen)) for one in drawn.particles]
    most = max(one.log_weight or 0.0 for one in inside)
    weights = [math.exp((one.log_weight or 0.0) - most) for one in inside]
    return [(one.text, w / sum(weights)) for one, w in zip(inside, weights, strict=True)]


def variation(one: Law, other: Law) -> float:
    """The total variation between two distributions."""
    return sum(abs(one.get(text, 0) - other.get(text, 0)) for text in {*one, *other}) / 2


def figure_of(masked: float, curve: Mapping[int, float], path: Path) -> None:
    """The total variation by the number of particles."""
    settings: Any = {**rcParamsDefault, **SETTINGS, "backend": "agg"}
    with rc_context(settings):
        figure = Figure((WIDTH, 2.8), layout="constrained")
        axes = figure.subplots()
        axes.axhline(masked, color=COLOURS[3], linestyle="--", label="masked")
        axes.loglog(
            list(curve), list(curve.values()), color=COLOURS[0], marker="o", label="weighted"
        )
        axes.set_xticks(list(curve), [str(count) for count in curve])
        axes.set_yticks(MARKS, [str(mark) for mark in MARKS])
        axes.minorticks_off()
        axes.set_xlabel("particles")
        axes.set_title("total variation from the model's own distribution")
        axes.legend()
        figure.savefig(path, dpi=DPI, metadata={"Software": None})


def main() -> None:
    """Draws the figure anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=Path("docs/law.png"))
    parser.add_argument("--draws", type=int, default=100_000, help="of particles, at each place")
    given = parser.parse_args()
    counts = [2**n for n in range(0, 9, 2)]
    with tempfile.TemporaryDirectory() as folder:
        model = Remembered(generation(make_tiny_llama(Path(folder))))
        wanted = exact(model, ANSWERS)
        masked = variation(law(model, TWO_ROOMS, 0, given.draws // 4), wanted)
        curve = [variation(law(model, TWO_ROOMS, n, given.draws // n), wanted) for n in counts]
    print(
        table(
            ("particles", "total variation"),
            [
                ("masked", f"{masked:.4f}"),
                *((n, f"{far:.4f}") for n, far in zip(counts, curve, strict=True)),
            ],
        )
    )
    figure_of(masked, dict(zip(counts, curve, strict=True)), given.out)


if __name__ == "__main__":
    main()
