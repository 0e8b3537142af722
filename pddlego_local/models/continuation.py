"""Answers in stages, as every backend reads `Prefix`; and samples where a backend has no batch."""

import dataclasses
from collections.abc import Callable

from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.seeds import derive_seed


def continues(prefix: Prefix | None) -> bool:
    """Whether there are tokens to go on from; if not, the answer is begun.

    Raises ValueError for a text that stands behind no prompt: whoever asks has lost its tokens.
    """
    if prefix is None:
        return False
    if prefix.text and not prefix.opening:
        raise ValueError("prefix.text without prefix.opening: pass on Completion.prefix")
    return bool(prefix.opening)


def begins_forced(prefix: Prefix | None, sampling: Sampling) -> bool:
    """Whether an answer that is begun has a head, which goes behind the prompt.

    Raises ValueError where a thought would have to come between the two.
    """
    if prefix is None or continues(prefix) or not prefix.head:
        return False
    if sampling.thinking:
        raise ValueError("prefix.head before a thought: put the head in the grammar")
    return True


def one_by_one(
    complete: Callable[[Messages, Grammar | None, Sampling], Completion],
    messages: Messages,
    grammar: Grammar | None,
    sampling: Sampling,
    count: int,
) -> tuple[Completion, ...]:
    """`count` answers, asked for one after the other, each with a seed of its own."""
    return tuple(
        complete(
            messages,
            grammar,
            dataclasses.replace(sampling, seed=derive_seed(sampling.seed, number)),
        )
        for number in range(count)
    )
