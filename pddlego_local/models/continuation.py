"""Answers in stages, as every backend reads `Written`; and samples where a backend has no batch."""

import dataclasses
from collections.abc import Callable

from pddlego_local.core import Completion, Grammar, Prompt, Sampling, Written
from pddlego_local.seeds import derive_seed


def continues(written: Written | None) -> bool:
    """Whether there are tokens to go on from; if not, the answer is begun.

    Raises ValueError for a text that stands behind no prompt: whoever asks has lost its tokens.
    """
    if written is None:
        return False
    if written.text and not written.opening:
        raise ValueError("written.text without written.opening: pass on Completion.written")
    return bool(written.opening)


def one_by_one(
    complete: Callable[[Prompt, Grammar | None, Sampling], Completion],
    prompt: Prompt,
    grammar: Grammar | None,
    sampling: Sampling,
    count: int,
) -> tuple[Completion, ...]:
    """`count` answers, asked for one after the other, each with a seed of its own."""
    return tuple(
        complete(
            prompt,
            grammar,
            dataclasses.replace(sampling, seed=derive_seed(sampling.seed, number)),
        )
        for number in range(count)
    )
