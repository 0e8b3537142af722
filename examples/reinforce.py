"""Trains a small formalizer with the planner's reward, using the simplest form of GRPO.

    python examples/reinforce.py OUT [--rung free] [--seed 0] [--updates 60] [--model nano_early]

A task is the first observation of a house of Coin. For each task a group of answers is drawn. The
planner plans with each answer, and its plan is played. The reward adds up the stages that the
answer reached (`REWARDS` in pddlego_local/episode/rewards.py). An answer's advantage is its reward
minus the group's mean, divided by the group's standard deviation (DeepSeekMath, arXiv 2402.03300,
section 4.1). Each group is used for one update, so no probability ratio has to be clipped. There is
no penalty for moving away from the initial weights.

On a rung with a grammar, the loss uses the probabilities with which the tokens were drawn, that is,
renormalized over the tokens that the mask permits. A forced token has probability 1 and adds
nothing to the loss.

OUT/step-N holds the weights after N updates; the same command continues from the last of them.
OUT/progress.jsonl has a line for each update.
"""

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev

import torch
from llguidance import LLMatcher

from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.events import Event, Start
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.rewards import REWARDS, reached
from pddlego_local.methods import Method
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.models.generation import Draw, Generation
from pddlego_local.models.weights import locate
from pddlego_local.runner.config import compose_cell

FIRST_HOUSE = 200_000  # games below 100,000 are only for evaluation
SAVED_EVERY = 20  # updates
TASK = (
    *("environment=coin", "environment.budget={unit: rounds, limit: 1}", "method=pddlego_plus"),
    *("method.variant=compact", "method.max_attempts=1", "method.max_retries=0"),
)
"""The overrides for one episode of one answer, whose plan is carried out."""


@dataclass
class Written:
    """The tokens of a prompt and of the text that was written after it.

    `drawn` has an entry (place, token, permitted) for each drawn token: `place` is the index in
    `tokens` of the token before it, and `permitted` is the grammar's mask (None: all tokens were
    permitted).
    """

    tokens: list[int]
    drawn: list[tuple[int, int, torch.Tensor | None]] = field(default_factory=list)


def written(draws: Sequence[Draw], ends: Sequence[int]) -> list[Written]:
    """Converts draws to texts. A stage that continues the draw before it joins that text."""
    found: list[Written] = []
    for draw in draws:
        if not found or found[-1].tokens != draw.before[: len(found[-1].tokens)]:
            found.append(Written([]))
        first = len(draw.before) - 1
        found[-1].drawn += [
            (first + number, token, permitted)
            for number, (token, permitted) in enumerate(zip(draw.tokens, masks(draw), strict=True))
        ]
        found[-1].tokens = [*draw.before, *(t for t in draw.tokens if t not in ends)]
    return found


def masks(draw: Draw) -> Iterator[torch.Tensor | None]:
    """Yields the mask of permitted tokens for each drawn token; None if all were permitted."""
    if draw.masks is None:
        yield from [None] * len(draw.tokens)
        return
    matcher = LLMatcher(draw.masks.llg_tokenizer, draw.masks.grammar)
    for token in draw.tokens:
        yield torch.frombuffer(bytearray(matcher.compute_logit_bias()), dtype=torch.uint8) > 0
        matcher.consume_token(token)


def log_probability(model: torch.nn.Module, text: Written, temperature: float) -> torch.Tensor:
    """Returns the sum of the drawn tokens' log probabilities, a scalar with its gradient."""
    scores = model(input_ids=torch.tensor([text.tokens])).logits[0].float() / temperature
    total: torch.Tensor = scores.new_zeros(())
    for place, token, permitted in text.drawn:
        row = scores[place]
        if permitted is not None:
            row = row[: len(permitted)].masked_fill(~permitted[: len(row)], -torch.inf)
        total = total + torch.log_softmax(row, dim=-1)[token]
    return total


@dataclass(frozen=True)
class Task:
    """A task: the model answers the prompt with the first observation of a house."""

    parts: Parts
    method: Method
    generation: Generation

    def answer(self, update: int, house: int, sample: int) -> tuple[float, list[Written], str]:
        """Draws one answer and returns its reward, the text written for it, and the house's map.

        Nothing is written if the game is won at its first observation.
        """
        draws: list[Draw] = []
        events: list[Event] = []
        self.generation.on_draw = draws.append
        episode = Episode(self.parts, events.append, run_seed=update, game=house, trial=sample)
        won = outcome_named(self.method(episode)).success
        (map_,) = (event.map for event in events if isinstance(event, Start))
        earned = reached(events, won=won, commands=False)
        return sum(REWARDS[name] for name in earned), written(draws, self.generation.end_ids), map_


def advantages(rewards: Sequence[float]) -> list[float]:
    """Returns the advantages in one group of answers; all are 0 if the rewards are equal."""
    if not rewards:
        return []
    mean, spread = fmean(rewards), pstdev(rewards)
    return [(reward - mean) / spread if spread else 0.0 for reward in rewards]


def learn(
    policy: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    weighted: Sequence[tuple[float, Written]],
    temperature: float,
) -> None:
    """Makes one optimizer step: texts with a positive advantage become more likely.

    The loss is a mean over all drawn tokens.
    """
    count = sum(len(text.drawn) for _, text in weighted)
    for advantage, text in weighted:
        loss = -advantage * log_probability(policy, text, temperature) / count
        loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


def main() -> None:
    options = _options()
    steps = {int(path.name.removeprefix("step-")): path for path in options.out.glob("step-*")}
    done = max(steps, default=0)
    rung = [f"model={options.model}", f"decoding={options.rung}", "decoding.max_tokens=640"]
    weights = [f"model.weights={steps[done].resolve()}"] if done else []
    config = compose_cell([*TASK, f"environment.rooms={options.rooms}", *rung, *weights])
    built = config.check()
    parts = Parts(built["environment"], built["model"], built["planner"], built["decoding"])
    task = Task(parts, built["method"], built["model"].generation)
    policy = task.generation.model
    optimizer = torch.optim.AdamW(policy.parameters(), lr=options.learning_rate, weight_decay=0)
    if done:
        optimizer.load_state_dict(torch.load(steps[done] / "optimizer.pt", weights_only=True))
    maps = set(built["model"].trained_on())
    source = locate(built["model"].weights)
    options.out.mkdir(parents=True, exist_ok=True)
    for update in range(done, options.updates):
        rewards, weighted = list[float](), list[tuple[float, Written]]()
        first = FIRST_HOUSE + (options.seed * 10_000 + update) * options.tasks
        for house in range(first, first + options.tasks):
            group = [task.answer(update, house, sample) for sample in range(options.group)]
            maps |= {map_ for _, _, map_ in group}
            answers = [(reward, texts) for reward, texts, _ in group if texts]
            rewards += [reward for reward, _ in answers]
            found = advantages([reward for reward, _ in answers])
            for advantage, (_, texts) in zip(found, answers, strict=True):
                weighted += [(advantage, text) for text in texts if any(found)]
        learn(policy, optimizer, weighted, built["decoding"].temperature)
        line = {"update": update + 1, "reward": fmean(rewards or [0.0]), "answers": len(rewards)}
        with (options.out / "progress.jsonl").open("a") as progress:
            progress.write(json.dumps(line) + "\n")
        print(line, flush=True)
        if (update + 1) % SAVED_EVERY == 0 or update + 1 == options.updates:
            _save(options.out / f"step-{update + 1}", policy, optimizer, source, maps)


def _save(
    folder: Path, policy: torch.nn.Module, optimizer: torch.optim.Optimizer, source: Path,
    maps: set[str],
) -> None:  # fmt: skip
    """Saves weights, optimizer and training maps; the folder appears once it is complete."""
    unfinished = folder.with_name(f"unfinished-{folder.name}")
    shutil.copytree(source, unfinished, dirs_exist_ok=True)
    policy.save_pretrained(unfinished)  # type: ignore[operator]
    torch.save(optimizer.state_dict(), unfinished / "optimizer.pt")
    (unfinished / TRAINING_MAPS).write_text("".join(f"{map_}\n" for map_ in sorted(maps)))
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder for weights and progress")
    parser.add_argument("--rung", default="free", help="free, json, syntax, typed or grounded")
    parser.add_argument("--model", default="nano_early", help="an in-process model of pddlego run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", type=int, default=7)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--tasks", type=int, default=8, help="houses for each update")
    parser.add_argument("--group", type=int, default=8, help="answers for each house")
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    return parser.parse_args()


if __name__ == "__main__":
    main()
