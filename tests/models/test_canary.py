"""The canary for forced tokens against models that garble answers in ways others have
seen.
"""

import re
import threading

import pytest

from pddlego_local.core.errors import GrammarIgnored
from pddlego_local.core.nouns import Completion, Grammar, Messages, Sampling
from pddlego_local.models.canary import check_forced_tokens

SENTENCE = "From the pantry a closed door leads to the west. "


class AtOnce:
    """Waits until eight ask at once; then `garble` is done to the answers of odd
    seeds.
    """

    def __init__(self, old: str, new: str) -> None:
        self._together = threading.Barrier(8, timeout=30)
        self._old, self._new = old, new

    def complete(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling
    ) -> Completion:
        self._together.wait()
        text = 3 * SENTENCE
        if sampling.seed % 2:
            text = re.sub(self._old, self._new, text, count=1)
        return Completion(text, "stop", 1, 60, 0.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("door", "door door"),  # a token twice
        ("closed ", ""),  # a token lost
        ("pantry", "west"),  # another request's token
        (r"west\. $", "west"),  # cut
    ],
)
def test_a_garbled_answer_is_noticed(old: str, new: str) -> None:
    with pytest.raises(GrammarIgnored, match="several at once"):
        check_forced_tokens(AtOnce(old, new))  # type: ignore[arg-type]


def test_right_answers_pass() -> None:
    check_forced_tokens(AtOnce("nothing", ""))  # type: ignore[arg-type]
