"""A byte-level BPE tokenizer, trained on the examples, that can spell any text.

Names that are copied from a prompt into PDDL must have the same tokens in both. So a
name never merges with the bracket, full stop or quote after it. Wherever a word occurs,
it has one piece after a blank and one after an underscore ("the living room.", "(at
living_room)", "behind_living_room_north"). A name with a number is one piece ("block
3", "block3"), and frequent pieces become one token.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from pddlego_local.core.resources import table
from pddlego_training.examples import Example, Kind, kind_of
from pddlego_training.settings import Shape

END, PADDING = "<|end|>", "<|padding|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
WORDS: dict[str, Any] = table(__file__)
LONGEST_BYTES = 240
UNFORCED_BYTES = 100
"""More bytes than any grammar forces at once in an answer."""


def learned_tokenizer(
    examples: Sequence[Example], shape: Shape, kinds: Sequence[Kind]
) -> Any:
    """Returns the tokenizer for a model of this shape, trained on these examples."""
    parts = []
    if shape.part_tokens:
        parts = shared_parts(examples, shape.part_tokens, shape.answer_parts, kinds)
    texts = []
    for example in examples:
        texts += [example.prompt, example.answer]
    return train_tokenizer(texts, shape.vocabulary, shape.context_tokens, parts)


def shared_parts(
    examples: Sequence[Example],
    share: float,
    of_answers: bool = False,
    kinds: Sequence[Kind] = ("coin",),
) -> list[AddedToken]:
    """Returns tokens for lines, including their line ends, that many questions share.

    A line is included if at least this share of the questions of one of the `kinds`
    with the same first line contains it. Pieces have 20 characters or more.

    A grammar does not allow a model to write a whole section as one token. A model that
    had learned to do so would have to continue a section that is already begun. So text
    that also occurs in answers is left out or, with `of_answers`, is a special token if
    it has UNFORCED_BYTES or more: `answers.encode` does not use special tokens, and
    llguidance uses them only for text that is forced from its first to its last
    character.
    """
    # Of each kind of game and first line: how many questions contain a line.
    alike = defaultdict[tuple[str, Kind], Counter[str]](Counter)
    for example in examples:
        lines = example.prompt.splitlines(keepends=True)
        kind = kind_of(example.game, kinds)
        alike[lines[0], kind].update({*lines})
    pieces = set()
    for (first, _), amount in alike.items():
        for line, count in amount.items():
            if count >= amount[first] * share and len(line) >= 20:
                pieces.update(_cut(line))
    answers = "\n".join({example.answer for example in examples})
    tokens = []
    for piece in sorted(pieces):
        in_answers = piece in answers
        is_long = len(piece.encode()) >= UNFORCED_BYTES
        if not in_answers or (of_answers and is_long):
            tokens.append(AddedToken(piece, normalized=False, special=in_answers))
    return tokens


def _cut(part: str) -> list[str]:
    """Cuts at sections and blanks. llguidance supports tokens of at most 256 bytes."""
    if len(part.encode()) <= LONGEST_BYTES:
        return [part]
    sections = re.split(r"(?<=.)(?= \(:)", part)
    if len(sections) == 1:
        place = part.rindex(" ", 1, LONGEST_BYTES * 3 // 4)
        sections = [part[:place], part[place:]]
    pieces = []
    for section in sections:
        pieces += _cut(section)
    return pieces


def train_tokenizer(
    texts: Iterable[str],
    vocabulary: int,
    context_tokens: int,
    parts: Sequence[AddedToken] = (),
) -> Any:
    """Trains a tokenizer with at most `vocabulary` tokens, including special tokens and
    all bytes, and with `parts` in addition.
    """
    bpe = Tokenizer(models.BPE())
    pattern = Regex("|".join(WORDS["pieces"]))
    pieces = pre_tokenizers.Split(pattern, behavior="isolated")
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([pieces, letters])
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
