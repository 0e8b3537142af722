"""Turns examples into batches, and trains on them."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import torch
import transformers
from torch.nn.functional import cross_entropy, pad

from pddlego_training import data
from pddlego_training.examples import Example
from pddlego_training.optimizer import MuonAndAdamW

IGNORED = -100
_NAME = re.compile(r"[a-z]+[0-9]+")
STRIDE = 64  # tokens


class Row(TypedDict):
    """A question and its answer as tokens. The last `answer_tokens` are the answer's,
    including the end token.
    """

    input_ids: npt.NDArray[np.int32]
    answer_tokens: int


def rows_of(
    shards: Sequence[Path],
    tokenizer: Any,
    longest: int,
    repeats: int = 1,
    alike: int | None = None,
) -> list[Row]:
    """Returns the training rows of these shards.

    A question occurs at most `repeats` times. If `alike` is given, at most `alike`
    questions are kept among those of one game whose answers differ only in numbered
    names. Rows with more than `longest` tokens are left out.
    """
    examples = list(data.read(shards))
    if alike is not None:
        examples = _varied(examples, alike)
    rows = []
    asked: Counter[str] = Counter()
    for example in examples:
        if asked[example.prompt] >= repeats:
            continue
        asked[example.prompt] += 1
        row = encode(tokenizer, example.prompt, example.answer)
        if len(row["input_ids"]) <= longest:
            rows.append(row)
    return rows


def _varied(examples: list[Example], alike: int) -> list[Example]:
    """Limits similar examples, in random order: the first questions of a game are
    short.
    """
    seen: Counter[tuple[int, str]] = Counter()
    kept = []
    for example in random.Random(0).sample(examples, len(examples)):
        answer = (example.game, _NAME.sub("", example.answer))
        seen[answer] += 1
        if seen[answer] <= alike:
            kept.append(example)
    return kept


def encode(tokenizer: Any, prompt: str, answer: str) -> Row:
    """Returns a conversation as a backend sees it, as tokens."""
    opening = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}],
        tokenize=False,
        add_generation_prompt=True,
    )
    before = tokenizer(opening, add_special_tokens=False)["input_ids"]
    spelled = tokenizer(answer, add_special_tokens=False, split_special_tokens=True)
    after = [*spelled["input_ids"], tokenizer.eos_token_id]
    tokens = np.array([*before, *after], dtype=np.int32)
    return {"input_ids": tokens, "answer_tokens": len(after)}


def collate(rows: Sequence[Row], padding: int) -> dict[str, torch.Tensor]:
    """Makes tensors of shape [rows, width], padded on the left so that all answers end
    at the same place.

    The width is a multiple of STRIDE, because on a CPU PyTorch compiles its matrix
    products anew for every new length.
    """
    longest = max(len(row["input_ids"]) for row in rows)
    width = math.ceil(longest / STRIDE) * STRIDE

    def padded(parts: Iterable[torch.Tensor], value: int) -> torch.Tensor:
        return torch.stack(
            [pad(part, (width - len(part), 0), value=value) for part in parts]
        )

    ids = []
    learned = []
    for row in rows:
        tokens = torch.from_numpy(row["input_ids"]).long()
        ids.append(tokens)
        learned.append(tokens[-row["answer_tokens"] :])
    return {
        "input_ids": padded(ids, padding),
        "attention_mask": padded(map(torch.ones_like, ids), 0),
        "labels": padded(learned, IGNORED),
    }


class AnswerTrainer(transformers.Trainer):
    """Trains with the cross-entropy on the answers and, with the weight
    `question_loss`, on the questions. In an evaluation, the logits of the questions,
    which have most of the tokens, are not computed.
    """

    loss_is_scaled_for_ga = False  # the loss is a mean over examples computed together

    def __init__(
        self,
        *,
        question_loss: float,
        muon: bool,
        compiled: bool,
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self.question_loss = question_loss
        self.muon = muon
        self._loss = torch.compile(_loss, dynamic=True) if compiled else _loss

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        if self.muon and self.optimizer is None and self.model is not None:
            self.optimizer = MuonAndAdamW(
                self.model, self.args.learning_rate, self.args.weight_decay
            )
        made: torch.optim.Optimizer = super().create_optimizer(model)
        return made

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        attention = inputs["attention_mask"]
        learned = inputs["labels"] != IGNORED
        # The logits at a place are those of the next token.
        keep = learned.shape[1]
        if return_outputs:
            keep = int(learned.sum(dim=1).max()) + 1
        output = model(
            input_ids=inputs["input_ids"],
            attention_mask=attention,
            logits_to_keep=keep,
            use_cache=False,
        )
        logits = output.logits[:, :-1]
        kept = slice(1 - keep, None)
        targets = inputs["input_ids"][:, kept]
        learned = learned[:, kept]
        weights = learned / learned.sum()
        if not return_outputs:
            question = (attention[:, kept] > 0) & ~learned
            weights = weights + self.question_loss * question / question.sum()
        loss = self._loss(logits, targets, weights)
        if not return_outputs:
            return loss
        right = (logits.argmax(-1) == targets) | ~learned
        return loss, {"right": right.all(dim=1, keepdim=True).float()}


def _loss(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """The weighted cross-entropy in nats, for logits of shape [examples, tokens,
    vocabulary].
    """
    each = cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), reduction="none"
    )
    return (each * weights.flatten()).sum()
