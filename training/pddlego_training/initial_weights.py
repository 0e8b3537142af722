"""The initial weights of a small Llama. They are random, with two exceptions. Two
attention heads are set to copy. If the shape says so, tokens that share a word or a
number get similar embeddings.

Most of what a formalizer writes is copied: names of rooms from observations, facts from
the previous file. Heads that copy ("induction heads", Olsson et al. 2022, In-context
Learning and Induction Heads) emerge slowly from random weights: 1,400 steps of training
only on copying did not produce them. So two heads are set to what they would become,
similar to mimetic initialization (Trockman and Kolter 2023). Training keeps or changes
them like all other weights.

The same thing is "cabinet 13" in one place, "cabinet13" in another, and has the type
"cabinet". If the embeddings of these tokens are similar at first, the two heads copy
from one spelling to another, and rare names need not be learned one by one.
"""

import math
import re
from typing import Any, NamedTuple

import torch
import transformers
from torch.nn.functional import normalize
from transformers import LlamaConfig, LlamaForCausalLM

from pddlego_training.settings import Shape

_WORD = re.compile(r"([^A-Za-z]*)([A-Za-z]+)([ _-]?)(\d*)([^A-Za-z0-9]*)")
ROPE_THETA = 1e6
"""Gives long waves: a quarter of a head's pairs of dimensions hardly rotate within
4,096 tokens.
"""


def new_model(shape: Shape, tokenizer: Any, seed: int) -> Any:
    """Returns a Llama in float32. With at least two layers and three heads, it
    continues a repeated text as the text went on before.
    """
    transformers.set_seed(seed)
    config = LlamaConfig(
        hidden_size=shape.hidden_size,
        intermediate_size=shape.intermediate_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        vocab_size=len(tokenizer),
        max_position_embeddings=shape.context_tokens,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        tie_word_embeddings=True,
        initializer_range=0.08,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    if shape.layers > 1 and shape.heads > 2:
        _set_copying_heads(model, tokenizer if shape.related_tokens else None)
    return model


class _Space(NamedTuple):
    """The three parts of the space of the hidden states: one direction that all tokens
    share, which the first head uses to attend by position, a part for the tokens, and a
    part for the previous tokens, which is as wide as a head.
    """

    shared: torch.Tensor
    token: torch.Tensor
    before: torch.Tensor

    @property
    def head_size(self) -> int:
        return self.before.shape[1]

    @property
    def normed(self) -> float:
        """The length of either half of an embedding after the norm."""
        return math.sqrt(len(self.shared) / 2)

    @property
    def kept(self) -> float:
        """The length of what a head reads of a token."""
        return self.normed * math.sqrt(self.head_size / self.token.shape[1])


@torch.no_grad()
def _set_copying_heads(model: Any, related: Any) -> None:
    """If the tokenizer `related` is given, tokens with similar spelling get similar
    embeddings.

    The first head of the first layer adds to each position the identity of the previous
    token. The first head of the second layer attends to positions whose previous token
    is the current token, and predicts the token at these positions.
    """
    width = model.config.hidden_size
    size = width // model.config.num_attention_heads
    basis, _ = torch.linalg.qr(torch.randn(width, width))
    space = _Space(
        shared=basis[:, 0],
        token=basis[:, 1 : width - size],
        before=basis[:, width - size :],
    )
    embedding = model.model.embed_tokens.weight
    length = 0.12 * math.sqrt(width)
    own = normalize(torch.randn(len(embedding), space.token.shape[1]), dim=1)
    if related:
        own = _near_related(own, related)
    half_length = length / math.sqrt(2)
    embedding.copy_(half_length * (own @ space.token.T + space.shared))

    for layer in model.model.layers:  # layers have little effect at first
        torch.nn.init.normal_(layer.self_attn.o_proj.weight, std=0.005)
        torch.nn.init.normal_(layer.mlp.down_proj.weight, std=0.005)
    first, second, *_ = model.model.layers
    _look_back(first.self_attn, space, half_length)
    _copy(second.self_attn, space, length)


def _look_back(attention: Any, space: _Space, half_length: float) -> None:
    """Makes the first head attend to the previous token, and add it to the position."""
    size = space.head_size
    half = size // 2
    angles = ROPE_THETA ** (-torch.arange(half) / half)  # of each pair, per token
    fast = angles[: half // 4]
    count = len(fast)
    there = torch.zeros(size)
    there[:count] = 1
    here = torch.zeros(size)
    here[:count] = fast.cos()
    here[half : half + count] = -fast.sin()
    sharpness = 24 / space.normed
    attention.q_proj.weight[:size] = sharpness * torch.outer(here, space.shared)
    attention.k_proj.weight[:size] = sharpness * torch.outer(there, space.shared)
    attention.v_proj.weight[:size] = space.token[:, :size].T
    loudness = 4 * half_length / space.kept
    attention.o_proj.weight[:, :size] = loudness * space.before


def _copy(attention: Any, space: _Space, length: float) -> None:
    """Makes the first head attend to where the current token was the previous one, and
    predict what followed.
    """
    size = space.head_size
    half = size // 2
    first_slow = half // 2
    # The pairs of dimensions that hardly rotate.
    slow = [*range(first_slow, half), *range(half + first_slow, size)]
    sharpness = 40 / space.normed
    read = space.token[:, :size]
    attention.q_proj.weight[:size] = 0
    attention.k_proj.weight[:size] = 0
    attention.q_proj.weight[slow] = sharpness * read.T[slow]
    attention.k_proj.weight[slow] = sharpness * space.before.T[slow]
    said = space.token[:, -size:]
    attention.v_proj.weight[:size] = said.T
    loudness = 6 * length / space.kept
    attention.o_proj.weight[:, :size] = loudness * said


def _near_related(own: torch.Tensor, tokenizer: Any) -> torch.Tensor:
    """Returns directions of tokens, of shape [vocabulary, width]. Each is the sum of
    the directions of the token's word and number and, with smaller weights, of its
    surrounding characters and its own direction.
    """
    directions = {}

    def direction(*key: str) -> torch.Tensor:
        if key not in directions:
            directions[key] = normalize(torch.randn(own.shape[1]), dim=0)
        return directions[key]

    sums = []
    for number, alone in enumerate(own):
        total = alone
        spelled = _WORD.fullmatch(tokenizer.decode([number]))
        if spelled:
            opening, word, blank, digits, closing = spelled.groups()
            around = direction("around", opening, blank, closing, str(bool(digits)))
            total = direction("word", word) + 0.5 * around + 0.3 * alone
            if digits:
                total = total + direction("number", digits)
        sums.append(normalize(total, dim=0))
    return torch.stack(sums)
