"""Forced tokens inside a real vLLM server: answers are those of a server without
them.
"""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from pddlego_local.core.nouns import Completion, Grammar, Message, Prefix, Sampling
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import ENVELOPE, PROMPT, TOY
from tests.models.staging import prefix_of
from tests.serving.served import told_by_vllm
from tools.gpu_check.server_processes import request

# Long forced runs with a choice between; "kitchen" | "kitchenette" has a seam that must
# be healed.
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


COUNTERS = {
    "steps": "iteration_tokens_total_count",
    "tokens": "generation_tokens_total",
    "drafted": "spec_decode_num_draft_tokens_total",
    "accepted": "spec_decode_num_accepted_tokens_total",
}


def counters(model: VllmModel) -> Counter[str]:
    """The server's own: steps of the engine, tokens of answers, of these drafted and
    accepted.
    """
    page = request(model, "metrics")
    counts = Counter[str]()
    for name, metric in COUNTERS.items():
        for value in re.findall(rf"^vllm:{metric}{{.*}} (\S+)$", page, re.M):
            counts[name] += int(float(value))
    return counts


def test_answers_do_not_depend_on_forced_tokens_nor_on_company(
    servers: dict[bool, VllmModel],
) -> None:
    """Greedy and seeded, with a grammar and without, alone and among others."""
    expected = all_answers(servers[False], 1)
    assert len(set(expected)) > len(ASKED) / 2
    assert all_answers(servers[True], 1) == expected
    for at_once in (8, len(ASKED)):
        for model in servers.values():
            assert all_answers(model, at_once) == expected


def test_every_draft_is_accepted_and_saves_its_step(
    servers: dict[bool, VllmModel],
) -> None:
    texts = set()
    spent = {}
    for forced, model in servers.items():
        before = counters(model)
        answer = model.complete(PROMPT, HOUSE, Sampling(max_tokens=200, seed=5))
        texts.add(told(answer))
        after = counters(model)
        spent[forced] = {name: after[name] - before[name] for name in COUNTERS}
    assert len(texts) == 1
    plain, forcing = spent[False], spent[True]
    assert plain["drafted"] == 0
    assert plain["steps"] == plain["tokens"]
    assert forcing["accepted"] == forcing["drafted"] > forcing["tokens"] / 2
    assert forcing["steps"] == forcing["tokens"] - forcing["accepted"]
    everything = counters(servers[True])
    assert everything["accepted"] == everything["drafted"]


def test_the_server_tells_how_many_were_forced(servers: dict[bool, VllmModel]) -> None:
    sampling = Sampling(max_tokens=200, seed=5)
    for forced, model in servers.items():
        before = counters(model)["accepted"]
        response = model.start()._chat(PROMPT, HOUSE, sampling, 1, {})
        assert response is not None
        assert response.forced_tokens == counters(model)["accepted"] - before
        assert (response.forced_tokens > 0) == forced


def in_stages(model: VllmModel, sampling: Sampling) -> list[tuple[Told, Prefix]]:
    prefix = Prefix()
    stages = []
    for grammar in (HOUSE, TOY, HOUSE):
        completion = model.complete(PROMPT, grammar, sampling, prefix)
        prefix = prefix_of(completion)
        stages.append((told(completion), prefix))
    return stages


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_answers_in_stages_are_the_same(
    servers: dict[bool, VllmModel], sampling: Sampling
) -> None:
    assert in_stages(servers[True], sampling) == in_stages(servers[False], sampling)


def test_samples_of_one_request_are_the_same(servers: dict[bool, VllmModel]) -> None:
    def samples(model: VllmModel) -> list[Told]:
        answers = model.complete_many(PROMPT, HOUSE, SAMPLINGS[1], 6)
        return [told(answer) for answer in answers]

    assert samples(servers[True]) == samples(servers[False])
    assert len(set(samples(servers[True]))) > 1


def test_thoughts_are_free_and_the_same(servers: dict[bool, VllmModel]) -> None:
    def ask(seed: int) -> str:
        sampling = Sampling(max_tokens=400, seed=seed, thinking=True)
        without = servers[False].complete(PROMPT, HOUSE, sampling)
        forced = servers[True].complete(PROMPT, HOUSE, sampling)
        assert forced.thought == without.thought
        assert told(forced) == told(without)
        return forced.finish_reason

    endings = set[str]()
    for first in range(0, 40, 8):
        with ThreadPoolExecutor(8) as pool:
            endings |= set(pool.map(ask, range(first, first + 8)))
        if endings >= {"stop", "unfinished_thought"}:
            return
    pytest.fail(f"only some kinds of ending: {endings}")


def test_neither_company_nor_a_cold_cache_changes_an_answer(
    servers: dict[bool, VllmModel],
) -> None:
    warm = all_answers(servers[True], 1)
    request(servers[True], "reset_prefix_cache", b"")
    assert all_answers(servers[True], 32) == warm


def test_a_draft_counts_only_where_it_is_forced() -> None:
    """The plugin's sampler alone: wrong drafts change nothing, and draws come as
    without drafts.
    """
    said = told_by_vllm("sampler_alone.py")
    for drafted, plain in said["many"]:
        assert drafted == plain
        assert {len(tokens) for tokens in drafted} >= {1, 2, 6, 16}
    for drafted, plain in said["few"]:
        assert drafted == plain
        assert [len(tokens) for tokens in drafted] == [3, 1, 1, 1]
        assert drafted[0][:2] == [3, 4]
        assert drafted[2] == [8]
    assert len({tuple(drafted[1]) for drafted, _ in said["few"]}) > 3
