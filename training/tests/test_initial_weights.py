"""What a model from scratch can do before it is trained."""

import pytest
import torch
from pddlego_training.initial_weights import new_model
from pddlego_training.settings import Shape


class Tokens(list[str]):
    eos_token_id, pad_token_id = 0, 1

    def decode(self, ids: list[int]) -> str:
        (number,) = ids
        return self[number]


def shape(*, related_tokens: bool) -> Shape:
    return Shape(
        hidden_size=192,
        intermediate_size=512,
        layers=4,
        heads=3,
        vocabulary=1000,
        context_tokens=4096,
        related_tokens=related_tokens,
    )


def continued(model: torch.nn.Module, length: int) -> float:
    """Of random tokens said for the second time, the share that the model says."""
    once = torch.randint(
        2, 1000, (4, length), generator=torch.Generator().manual_seed(3)
    )
    twice = torch.cat([once, once], dim=1)
    with torch.no_grad():
        said = model(twice).logits.argmax(-1)
    return float((said[:, length:-1] == twice[:, length + 1 :]).float().mean())


@pytest.mark.parametrize("seed", [0, 1])
def test_it_copies_what_it_has_seen(seed: int) -> None:
    model = new_model(shape(related_tokens=False), Tokens(["word"] * 1000), seed)
    assert continued(model, 30) > 0.7
    assert continued(model, 300) > 0.4


@pytest.mark.parametrize("related_tokens", [False, True])
def test_it_copies_into_another_spelling_where_tokens_are_related(
    related_tokens: bool,
) -> None:
    """ " cabinet 13" of an observation is "cabinet13" in a file."""
    kinds = (
        "apple",
        "bread",
        "cabinet",
        "drawer",
        "egg",
        "fork",
        "garbagecan",
        "handtowel",
    )
    names = [(kind, number) for kind in kinds for number in range(1, 21)]
    spelled = [f" {kind} {number}" for kind, number in names]
    tokens = Tokens([*spelled, *(f"{kind}{number}" for kind, number in names)])
    model = new_model(shape(related_tokens=related_tokens), tokens, 0)
    seen = torch.randperm(len(names), generator=torch.Generator().manual_seed(3))[:60]
    with torch.no_grad():
        said = model(torch.cat([seen, seen + len(names)])[None]).logits.argmax(-1)[0]
    copied = float((said[len(seen) : -1] % len(names) == seen[1:]).float().mean())
    assert copied > 0.5 if related_tokens else copied < 0.1
