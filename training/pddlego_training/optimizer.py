"""One optimizer that uses Muon for the matrices that multiply hidden states, and AdamW
for the rest.

Muon (Jordan et al. 2024) updates a matrix by its momentum with all singular values set
to about 1. So rare directions, such as those that copy a name, are learned as fast as
common ones. Embeddings and norms are not such matrices. One learning rate suits both:
Muon's step is scaled to the usual size of AdamW's (Liu et al. 2025, arXiv 2502.16982,
§2.2).
"""

from collections.abc import Sequence
from typing import Any

import torch


class MuonAndAdamW(torch.optim.Optimizer):
    """Has the parameter groups of both optimizers, so that a learning rate schedule
    applies to both.
    """

    def __init__(
        self, model: torch.nn.Module, rate: float, weight_decay: float
    ) -> None:
        matrices = []
        others = []
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2 and "embed" not in name:
                matrices.append(parameter)
            else:
                others.append(parameter)
        muon = torch.optim.Muon(
            matrices, lr=rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"
        )
        adamw = torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0)
        self._both: Sequence[torch.optim.Optimizer] = (muon, adamw)
        super().__init__([*muon.param_groups, *adamw.param_groups], {})

    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no loss is computed again
        for optimizer in self._both:
            optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        return {"both": [optimizer.state_dict() for optimizer in self._both]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.param_groups = []
        for optimizer, state in zip(self._both, state_dict["both"], strict=True):
            optimizer.load_state_dict(state)
            self.param_groups += optimizer.param_groups
