"""The answers of a real vLLM server do not depend on what else it answers, nor on what
it has cached.
"""

from concurrent.futures import ThreadPoolExecutor

from pddlego_local.core.nouns import Completion, Grammar, Message, Sampling
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import ENVELOPE, PROMPT, TOY
from tools.gpu_check.server_processes import request

# Long runs without an alternative, with a choice between; "kitchen" | "kitchenette" has
# a seam that must be healed.
HOUSE = Grammar(
    "house",
    "lark",
    'start: "(define (domain house) (:requirements :strips :typing)" ROOM ~ 1 .. 4'
    ' ")"\nROOM: " (:constants " NAME " - " ("kitchen" | "kitchenette" | "pantry")'
    ' ")"\nNAME: /[a-z]{1,5}/\n',
)
GRAMMARS = (HOUSE, ENVELOPE, TOY, None)
SAMPLINGS = (
    Sampling(temperature=0, max_tokens=120),
    Sampling(temperature=1, max_tokens=120, seed=11),
    Sampling(temperature=0.6, top_p=0.9, max_tokens=40, seed=12),
)


def question(number: int) -> tuple[Message, ...]:
    """Prompts of many lengths, which share their beginning."""
    rooms = " ".join(f"Room {n} is behind a closed door." for n in range(7 * number))
    return (*PROMPT, Message("user", f"{rooms} Go on with {number}."))


ASKED = [
    (question(number), grammar, sampling)
    for number in range(3)
    for grammar in GRAMMARS
    for sampling in SAMPLINGS
]


Told = tuple[str, str, int]


def told(completion: Completion) -> Told:
    return completion.text, completion.finish_reason, completion.completion_tokens


def all_answers(model: VllmModel, at_once: int) -> list[Told]:
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda asked: told(model.complete(*asked)), ASKED))


def test_neither_company_nor_a_cold_cache_changes_an_answer(model: VllmModel) -> None:
    """Greedy and seeded, with a grammar and without."""
    alone = all_answers(model, 1)
    assert len(set(alone)) > len(ASKED) / 2
    for at_once in (8, len(ASKED)):
        assert all_answers(model, at_once) == alone
    request(model, "reset_prefix_cache", b"")
    assert all_answers(model, len(ASKED)) == alone


def test_a_thought_is_the_same_in_company(model: VllmModel) -> None:
    def ask(seed: int) -> tuple[str, Told]:
        sampling = Sampling(max_tokens=400, seed=seed, thinking=True)
        completion = model.complete(PROMPT, HOUSE, sampling)
        return completion.thought, told(completion)

    alone = [*map(ask, range(8))]
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(ask, range(8))] == alone
