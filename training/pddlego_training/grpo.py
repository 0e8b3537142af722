"""Reinforcement with the planner's reward, by GRPO (DeepSeekMath, arXiv 2402.03300,
section 4.1).

A group of answers is drawn to the first observation of each game, by the same code as
in a run. The planner plans with each answer, its plan is played, and the reward says
how far the answer came (`episode.rewards`). The advantage of an answer is its reward
minus the mean of its group, divided by the group's standard deviation. Each group is
used for one step, so the ratio of probabilities is 1 and is not clipped. There is no KL
penalty.

Under a grammar, the loss uses the probabilities that the tokens were drawn with, which
are those among the permitted tokens. Forced tokens are left out.

    OUT/settings.json    the settings; other settings need another folder
        checkpoint.pt    weights and optimizer after the last update, and the lines of
                         progress
        progress.jsonl   a line for each update
        OUT-update-N/    a model folder after N updates (`model_folder`)

Every answer has its own seed, so an interrupted training continues as if it had not
been.
"""

import contextlib
import functools
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

import numpy as np
import torch
from llguidance import LLMatcher
from rich.console import Console

from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.events import Event
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.rewards import REWARDS, reached
from pddlego_local.methods import Method
from pddlego_local.models.generation import Draw, Generation
from pddlego_local.models.loading import load_model, load_tokenizer
from pddlego_local.models.weights import locate, training_maps
from pddlego_local.runner.config import compose_cell
from pddlego_training import data, maps
from pddlego_training.campaign import begin, whole
from pddlego_training.settings import GrpoSettings

FIRST_HOUSE, HOUSES_OF_SEED = 200_000, 10_000
CHECKPOINT = "checkpoint.pt"


class Sampled(NamedTuple):
    """A token that was sampled.

    `place` is the index of the token before it in its text. `permitted` has one bit for
    each token of the vocabulary, the lowest bit first; it is None if no mask was on.
    """

    place: int
    token: int
    permitted: bytes | None


@dataclass
class Text:
    """The tokens of a prompt and of what follows it, and which of these were
    sampled.
    """

    tokens: list[int]
    sampled: list[Sampled] = field(default_factory=list)


class Answer(NamedTuple):
    """An answer, with its reward and the names of the rewards that it reached
    (`REWARDS`).

    It has several texts if something was rolled back: what was removed was sampled too.
    """

    reward: float
    reached: tuple[str, ...]
    texts: list[Text]


def texts_of(draws: Sequence[Draw], ends: Sequence[int]) -> list[Text]:
    """Returns the texts of one answer. A stage that continues the draw before it joins
    its text.
    """
    found: list[Text] = []
    for draw in draws:
        so_far = found[-1].tokens if found else []
        if not found or draw.before[: len(so_far)] != so_far:
            found.append(Text([]))
        text = found[-1]
        text.sampled += _sampled(draw)
        kept = [token for token in draw.tokens if token not in ends]
        text.tokens = [*draw.before, *kept]
    return [text for text in found if text.sampled]


def _sampled(draw: Draw) -> Iterator[Sampled]:
    """Leaves out forced tokens, which are the only ones that their masks permit."""
    matcher = None
    if draw.masks:
        matcher = LLMatcher(draw.masks.llg_tokenizer, draw.masks.grammar)
    before = len(draw.before) - 1
    for place, token in enumerate(draw.tokens, before):
        permitted = matcher.compute_bitmask() if matcher else None
        if permitted is None or int.from_bytes(permitted).bit_count() > 1:
            yield Sampled(place, token, permitted)
        if matcher:
            matcher.consume_token(token)


def log_probabilities(model: torch.nn.Module, text: Text) -> torch.Tensor:
    """Returns log p of each sampled token, in nats, as it was drawn at temperature
    1.
    """
    output = model(input_ids=torch.tensor([text.tokens]), use_cache=False)
    places = [sampled.place for sampled in text.sampled]
    logits = output.logits[0, places]
    masks = [
        np.frombuffer(sampled.permitted, np.uint8)
        for sampled in text.sampled
        if sampled.permitted
    ]
    if masks:
        vocabulary = logits.shape[1]
        bits = np.unpackbits(
            np.stack(masks), axis=1, count=vocabulary, bitorder="little"
        )
        is_forbidden = torch.from_numpy(bits) == 0
        logits = logits.masked_fill(is_forbidden, -torch.inf)
    tokens = torch.tensor([[sampled.token] for sampled in text.sampled])
    likely: torch.Tensor = logits.log_softmax(dim=-1).gather(1, tokens)
    return likely[:, 0]


class Player(NamedTuple):
    """What plays a game."""

    parts: Parts
    method: Method
    generation: Generation


@functools.cache
def _player(settings: GrpoSettings) -> Player:
    """Loads the model once for each process."""
    built = compose_cell(settings.task).check()
    model = built["model"]
    parts = Parts(built["environment"], model, built["planner"], built["decoding"])
    return Player(parts, built["method"], model.generation)


def play(settings: GrpoSettings, house: int) -> list[Answer]:
    """Returns a group of answers, drawn with the weights of the checkpoint.

    Raises the errors of `compose_cell` and of an episode.
    """
    player = _player(settings)
    state = torch.load(settings.out / CHECKPOINT, weights_only=True)
    player.generation.model.load_state_dict(state["model"])
    done = len(state["lines"])
    return [_answer(player, house, done, sample) for sample in range(settings.group)]


def _answer(player: Player, house: int, run_seed: int, sample: int) -> Answer:
    draws: list[Draw] = []
    events: list[Event] = []
    player.generation.on_draw = draws.append
    episode = Episode(
        player.parts, events.append, run_seed=run_seed, game=house, trial=sample
    )
    won = outcome_named(player.method(episode)).success
    names = reached(events, won=won, commands=False)
    reward = sum(REWARDS[name] for name in names)
    return Answer(reward, names, texts_of(draws, player.generation.end_ids))


class House(NamedTuple):
    """A game to train on."""

    seed: int
    map: str


def houses(settings: GrpoSettings) -> Iterator[House]:
    """Yields the games to train on: those that are not solved at reset."""
    environment = compose_cell(settings.task).build("environment")
    first = FIRST_HOUSE + settings.seed * HOUSES_OF_SEED
    with contextlib.closing(environment):
        for seed in itertools.count(first):
            if not environment.reset(seed).success:
                yield House(seed, environment.map)


def advantages(rewards: Sequence[float]) -> list[float]:
    """Returns the advantages of one group of answers; all are 0 if the rewards are
    equal.
    """
    mean, spread = fmean(rewards), pstdev(rewards)
    if spread == 0:
        return [0.0] * len(rewards)
    return [(reward - mean) / (spread + 1e-6) for reward in rewards]


class Reinforcement:
    """A reinforcement in its folder, as far as its checkpoint says.

    `lines` are the lines of progress. Raises ConfigError if the folder holds a training
    with other settings.
    """

    def __init__(self, settings: GrpoSettings) -> None:
        begin(settings)
        torch.set_num_threads(1)  # more are slower for so small a model
        self.settings = settings
        self.lines: list[str] = []
        self.model = load_model(locate(settings.weights), dtype=torch.float32)
        # On a CPU, the backward pass of this kind of attention is faster.
        self.model.set_attn_implementation("eager")
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=settings.learning_rate, weight_decay=0
        )
        path = settings.out / CHECKPOINT
        if path.is_file():
            state: dict[str, Any] = torch.load(path, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.lines = state["lines"]
        self._save()

    def carry_out(self, console: Console) -> Path:
        """Makes the updates that are not made yet, and returns the folder of the last
        model.
        """
        settings = self.settings
        count = settings.updates * settings.houses
        known = list(itertools.islice(houses(settings), count))
        with data.players(settings.processes, settings.out) as pool:
            while len(self.lines) < settings.updates:
                first = len(self.lines) * settings.houses
                last = first + settings.houses
                self._update(known[first:last], pool)
                console.print(self.lines[-1])
                done = len(self.lines)
                is_saved = done % settings.model_every == 0
                if is_saved or done == settings.updates:
                    learned = {house.map for house in known[:last]}
                    self._save_model(learned)
                self._save()
        return model_folder(settings.out, settings.updates)

    def _update(self, chosen: Sequence[House], pool: ProcessPoolExecutor) -> None:
        start = time.perf_counter()
        seeds = [house.seed for house in chosen]
        groups = list(pool.map(functools.partial(play, self.settings), seeds))
        drawn = time.perf_counter()
        self.learn(groups)
        line = {
            "update": len(self.lines) + 1,
            **summary(groups),
            "drawn_s": drawn - start,
            "seconds": time.perf_counter() - start,
        }
        self.lines.append(json.dumps(line))

    def learn(self, groups: Sequence[Sequence[Answer]]) -> None:
        """Makes one step: answers with a positive advantage become more likely.

        What is maximized is a mean over answers of the mean over the answer's sampled
        tokens.
        """
        for group in groups:
            share = 1 / len(group) / len(groups)
            weights = advantages([answer.reward for answer in group])
            for answer, advantage in zip(group, weights, strict=True):
                if not advantage:
                    continue
                count = sum(len(text.sampled) for text in answer.texts)
                for text in answer.texts:
                    likely = log_probabilities(self.model, text).sum() / count
                    loss = -advantage * likely * share
                    loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _save(self) -> None:
        """Replaces the checkpoint at once, and then the lines of progress."""
        out = self.settings.out
        state = {
            "lines": self.lines,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        unfinished = out / f"unfinished-{CHECKPOINT}"
        torch.save(state, unfinished)
        unfinished.replace(out / CHECKPOINT)
        lines = "".join(f"{line}\n" for line in self.lines)
        (out / "progress.jsonl").write_text(lines, encoding="utf-8")

    def _save_model(self, learned: set[str]) -> None:
        """Makes a model folder, unless it was made before an interruption."""
        folder = model_folder(self.settings.out, len(self.lines))
        source = self.settings.weights
        if not folder.is_dir():
            with whole(folder) as unfinished:
                self.model.save_pretrained(unfinished)
                load_tokenizer(locate(source)).save_pretrained(unfinished)
                maps.write(unfinished, learned | training_maps(source))


def model_folder(out: Path, updates: int) -> Path:
    """Returns OUT/OUT-update-N. A cell's name holds the last part of this path only."""
    return out / f"{out.absolute().name}-update-{updates}"


def summary(groups: Sequence[Sequence[Answer]]) -> dict[str, float]:
    """Returns the mean reward, the shares of answers that had a plan and that won, the
    share of groups whose rewards differ, and the number of sampled tokens.
    """
    answers = list(itertools.chain(*groups))
    differing = []
    for group in groups:
        rewards = {answer.reward for answer in group}
        differing.append(len(rewards) > 1)
    texts = itertools.chain(*(answer.texts for answer in answers))
    return {
        "reward": fmean(answer.reward for answer in answers),
        "planned": fmean("planned" in answer.reached for answer in answers),
        "won": fmean("won" in answer.reached for answer in answers),
        "differ": fmean(differing),
        "tokens": sum(len(text.sampled) for text in texts),
    }
