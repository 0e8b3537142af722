"""What a model from scratch can do before it is trained."""

import pytest
import torch

from pddlego_local.training.initial_weights import new_model
from pddlego_local.training.settings import Shape


class Tokens(list[str]):
    eos_token_id, pad_token_id = 0, 1


def continued(model: torch.nn.Module, length: int) -> float:
    """Of random tokens said for the second time, the share that the model says."""
    once = torch.randint(2, 1000, (4, length), generator=torch.Generator().manual_seed(3))
    twice = torch.cat([once, once], dim=1)
    with torch.no_grad():
        said = model(twice).logits.argmax(-1)
    return float((said[:, length:-1] == twice[:, length + 1 :]).float().mean())


@pytest.mark.parametrize("seed", [0, 1])
def test_it_copies_what_it_has_seen(seed: int) -> None:
    shape = Shape(
        hidden_size=192,
        intermediate_size=512,
        layers=4,
        heads=3,
        vocabulary=1000,
        context_tokens=4096,
    )
    model = new_model(shape, Tokens(["word"] * 1000), seed)
    assert continued(model, 30) > 0.7
    assert continued(model, 300) > 0.4
