"""Trains a small formalizer with the planner's reward, by the plainest form of GRPO.

    python examples/reinforce.py OUT [--rung free] [--seed 0] [--updates 60] [--model nano_early]

A task is the first observation of a house of Coin. A group of answers is drawn for it, each answer
is planned with, and its plan is played: the reward says how far it came (`REWARDS` in
pddlego_local/commands/game.py). An answer's advantage is its reward less the group's mean, divided
by the group's standard deviation (DeepSeekMath, arXiv 2402.03300, section 4.1). Each group is used
for one update, so that no ratio of probabilities has to be clipped, and there is no penalty for
leaving the first weights.

Under a rung with a grammar the loss uses the probabilities that the tokens were drawn with, which
are those among the tokens that the mask left. A forced token has the probability 1 and adds none.

OUT/step-N holds the weights after N updates; the same command goes on from the last of them.
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

from pddlego_local.commands.game import REWARDS, reached
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.events import Event, Start
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.models.generation import Draw, Generation
from pddlego_local.models.weights import locate
from pddlego_local.runner.config import compose_cell

FIRST_HOUSE = 200_000  # the games below are for evaluation alone
SAVED_EVERY = 20  # updates
TASK = (
    *("environment=coin", "environment.budget={unit: rounds, limit: 1}", "method=pddlego_plus"),
    *("method.variant=compact", "method.max_attempts=1", "method.max_retries=0"),
)
"""One answer is asked for, and its plan is carried out."""


@dataclass
class Written:
    """The tokens of a prompt and what was written behind it. `drawn` are (place, token, permitted):
    the token was drawn from the scores behind `tokens[place]`, among those that were permitted."""

    tokens: list[int]
    drawn: list[tuple[int, int, torch.Tensor | None]] = field(default_factory=list)


def written(draws: Sequence[Draw], ends: Sequence[int]) -> list[Written]:
    """A stage that begins where the one before ended goes on in the same tokens."""
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
    """For each token that was drawn, which ones were permitted; None where all were."""
    if draw.masks is None:
        yield from [None] * len(draw.tokens)
        return
    matcher = LLMatcher(draw.masks.llg_tokenizer, draw.masks.grammar)
    for token in draw.tokens:
        yield torch.frombuffer(bytearray(matcher.compute_logit_bias()), dtype=torch.uint8) > 0
        matcher.consume_token(token)


def log_probability(model: torch.nn.Module, text: Written, temperature: float) -> torch.Tensor:
    """Of all tokens that were drawn, added up: a scalar with its gradient."""
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
    """Asks the model about the first observation of a house."""

    parts: Parts
    method: Method
    generation: Generation

    def answer(self, update: int, house: int, sample: int) -> tuple[float, list[Written], str]:
        """The reward of one answer, what was written for it (nothing for a game that is won at its
        first observation), and the map of the house."""
        draws: list[Draw] = []
        events: list[Event] = []
        self.generation.on_draw = draws.append
        episode = Episode(self.parts, events.append, run_seed=update, game=house, trial=sample)
        won = outcome_named(self.method(episode)).success
        (map_,) = (event.map for event in events if isinstance(event, Start))
        earned = reached(events, won=won, commands=False)
        return sum(REWARDS[name] for name in earned), written(draws, self.generation.end_ids), map_


def advantages(rewards: Sequence[float]) -> list[float]:
    """Of the answers of one group; 0 for all where no answer is better than another."""
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
    """One step: texts with a positive advantage become more likely. The loss is a mean over all
    tokens that were drawn."""
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
    """The folder appears when it is whole."""
    unfinished = folder.with_name(f"unfinished-{folder.name}")
    shutil.copytree(source, unfinished, dirs_exist_ok=True)
    policy.save_pretrained(unfinished)  # type: ignore[operator]
    torch.save(optimizer.state_dict(), unfinished / "optimizer.pt")
    (unfinished / TRAINING_MAPS).write_text("".join(f"{map_}\n" for map_ in sorted(maps)))
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("out", type=Path, help="the folder of this training")
    made.add_argument("--rung", default="free", help="free, json, syntax, typed or grounded")
    made.add_argument("--model", default="nano_early", help="as model= of pddlego run, in process")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--rooms", type=int, default=7)
    made.add_argument("--updates", type=int, default=60)
    made.add_argument("--tasks", type=int, default=8, help="houses for each update")
    made.add_argument("--group", type=int, default=8, help="answers for each house")
    made.add_argument("--learning-rate", type=float, default=1e-4)
    return made.parse_args()


if __name__ == "__main__":
    main()
