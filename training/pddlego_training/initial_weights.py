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
from typing import Any

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


@torch.no_grad()
def _set_copying_heads(model: Any, related: Any) -> None:
    """If the tokenizer `related` is given, tokens with similar spelling get similar
    embeddings.

    The first head of the first layer adds to each position the identity of the previous
    token. The first head of the second layer attends to positions whose previous token
    is the current token, and predicts the token at these positions.

    The space of the hidden states has three parts: one direction that all tokens share,
    which the first head uses to attend by position, a part for the tokens, and a part
    for the previous tokens.
    """
    width = model.config.hidden_size
    size = width // model.config.num_attention_heads
    half = size // 2
    basis, _ = torch.linalg.qr(torch.randn(width, width))
    shared = basis[:, 0]
    token = basis[:, 1 : width - size]
    before = basis[:, width - size :]
    read = token[:, :size]
    said = token[:, -size:]

    embedding = model.model.embed_tokens.weight
    length = 0.12 * math.sqrt(width)
    own = normalize(torch.randn(len(embedding), token.shape[1]), dim=1)
    if related:
        own = _near_related(own, related)
    each = length / math.sqrt(2)  # the length of either half of an embedding
    embedding.copy_(each * (own @ token.T + shared))
    # The length of either half of an embedding after the norm.
    normed = math.sqrt(width / 2)
    # The length of what a head of this size reads.
    kept = normed * math.sqrt(size / token.shape[1])

    for layer in model.model.layers:  # layers have little effect at first
        torch.nn.init.normal_(layer.self_attn.o_proj.weight, std=0.005)
        torch.nn.init.normal_(layer.mlp.down_proj.weight, std=0.005)

    back = model.model.layers[0].self_attn
    angles = ROPE_THETA ** (-torch.arange(half) / half)  # of each pair, per token
    fast = angles[: half // 4]
    count = len(fast)
    there = torch.zeros(size)
    there[:count] = 1
    here = torch.zeros(size)
    here[:count] = fast.cos()
    here[half : half + count] = -fast.sin()
    sharp = 24 / normed
    back.q_proj.weight[:size] = sharp * torch.outer(here, shared)
    back.k_proj.weight[:size] = sharp * torch.outer(there, shared)
    back.v_proj.weight[:size] = read.T
    loud = 4 * length / math.sqrt(2) / kept
    back.o_proj.weight[:, :size] = loud * before

    copy = model.model.layers[1].self_attn
    # The pairs of dimensions that hardly rotate.
    first_slow = half // 2
    slow = [*range(first_slow, half), *range(half + first_slow, size)]
    sharp = 40 / normed
    copy.q_proj.weight[:size] = 0
    copy.k_proj.weight[:size] = 0
    copy.q_proj.weight[slow] = sharp * read.T[slow]
    copy.k_proj.weight[slow] = sharp * before.T[slow]
    copy.v_proj.weight[:size] = said.T
    loud = 6 * length / kept
    copy.o_proj.weight[:, :size] = loud * said


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
