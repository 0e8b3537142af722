"""A tokenizer of our own: byte-level BPE, trained on the examples, that can spell any text.

What is copied from a prompt into PDDL must be the same tokens in both: a name never merges with the
bracket, stop or quote behind it, and has one piece behind a blank and one behind an underscore,
wherever it stands ("the living room.", "(at living_room)", "behind_living_room_north"). A name with
a number is one piece ("block 3", "block3"): what is seen often is one token.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from pddlego_local.core.errors import ConfigError
from pddlego_local.training.examples import Example, Kind, kind_of

END, PADDING = "<|end|>", "<|padding|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
LONGEST_BYTES = 240
UNFORCED_BYTES = 100
"""More than any grammar forces at once in an answer."""


def shared_parts(
    examples: Sequence[Example],
    share: float,
    of_answers: bool = False,
    kinds: Sequence[Kind] = ("coin",),
) -> list[AddedToken]:
    """What at least this share of the questions of one of the `kinds` has that begin alike, of 20
    characters or more: lines, each with its end.

    A grammar does not let a section be written as one token, so that a model that learned to would
    be asked for the rest of one that was begun. What stands in answers too is left out or, with
    `of_answers`, is a special token where it has UNFORCED_BYTES: `answers.encode` writes without
    those, and so does llguidance but for text that is forced from its first letter to its last.
    """
    alike = defaultdict[tuple[str, Kind], Counter[str]](Counter)
    for example in examples:
        lines = example.prompt.splitlines(keepends=True)
        alike[lines[0], kind_of(example.game, kinds)].update({*lines})
    shared = {
        part
        for (first, _), amount in alike.items()
        for part, count in amount.items()
        if count >= amount[first] * share
    }
    pieces = {piece for part in shared if len(part) >= 20 for piece in _cut(part)}
    answers = "\n".join({example.answer for example in examples})
    tokens = [AddedToken(one, normalized=False, special=one in answers) for one in sorted(pieces)]
    return [
        token
        for token in tokens
        if not token.special or (of_answers and len(token.content.encode()) >= UNFORCED_BYTES)
    ]


def _cut(part: str) -> list[str]:
    """Into sections and at blanks, down to what llguidance takes: it knows tokens of 256 bytes."""
    if len(part.encode()) <= LONGEST_BYTES:
        return [part]
    sections = re.split(r"(?<=.)(?= \(:)", part)
    if len(sections) == 1:
        at = part.rindex(" ", 1, LONGEST_BYTES * 3 // 4)
        sections = [part[:at], part[at:]]
    return [piece for section in sections for piece in _cut(section)]


def train_tokenizer(
    texts: Iterable[str], vocabulary: int, context_tokens: int, parts: Sequence[AddedToken] = ()
) -> Any:
    """At most `vocabulary` tokens, the special ones and every byte among them, and `parts`."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join(WORDS["pieces"])), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=[PADDING, END, *ROLES],
        min_frequency=2,
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    bpe.add_tokens([part for part in parts if not part.special])
    bpe.add_special_tokens([part for part in parts if part.special])
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bpe,
        pad_token=PADDING,
        eos_token=END,
        additional_special_tokens=list(ROLES),
        clean_up_tokenization_spaces=False,
        model_max_length=context_tokens,
    )
    tokenizer.chat_template = WORDS["chat_template"]
    return tokenizer


def check_spelling(tokenizer: Any, examples: Iterable[Example]) -> None:
    """Raises ConfigError with the first name or word of the examples that comes back from its
    tokens as another."""
    words = {word for e in examples for text in (e.prompt, e.answer) for word in text.split()}
    for word in sorted(words):
        ids = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        spelled = tokenizer.decode(ids, skip_special_tokens=True)
        if spelled.strip() != word:
            raise ConfigError(
                f"The tokenizer cannot spell {word!r}, which the examples have: it comes back as "
                f"{spelled.strip()!r}; train a model whose tokenizer knows every byte."
            )
