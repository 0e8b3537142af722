"""Rejection sampling: draws free answers until one is in the language of a rung.

    the prompt → a free answer → is it in the language? → if not, another one, at most
    `tries`

An accepted answer thus follows the model's own distribution, conditioned on the
language. A mask draws from another distribution (docs/understand/control_arms.md).
"""

import dataclasses
from collections.abc import Callable

from pddlego_local.core.nouns import Completion, Messages, Sampling
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import Drawn
from pddlego_local.episode.one_answer import recorded


@dataclasses.dataclass(frozen=True)
class Rejection:
    """Draws at most `tries` answers. `why` returns the reason to reject one, or "" to
    accept it.
    """

    tries: int
    why: Callable[[Completion], str]

    def draw(
        self, model: LanguageModel, messages: Messages, sampling: Sampling
    ) -> Drawn:
        """Returns the first answer that is not rejected, or the last one if all are
        rejected.

        The first try is the answer of free decoding; each try has a separate seed. Each
        rejected answer is recorded as a stage. Tokens and latency include all tries.
        Raises the errors of the model.
        """
        rejected, drawn = [], []
        for number in range(self.tries):
            seed = (
                derive_seed(sampling.seed, "try", number) if number else sampling.seed
            )
            own = dataclasses.replace(sampling, seed=seed)
            drawn.append(model.complete(messages, None, own))
            if not (why := self.why(drawn[-1])):
                break
            stage = recorded("rejected", None, own, drawn[-1])
            rejected.append(dataclasses.replace(stage, why=why))
        whole = dataclasses.replace(
            drawn[-1],
            completion_tokens=sum(one.completion_tokens for one in drawn),
            latency_s=sum(one.latency_s for one in drawn),
        )
        return Drawn(whole, tuple(rejected))

    def accepted(self, drawn: Drawn) -> bool:
        """Returns whether the answer is in the language."""
        return len(drawn.stages) < self.tries
