"""The steps that need a vLLM server with random weights."""

import contextlib
import re
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice

import psutil

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.models import machine
from pddlego_local.models.canary import check_obedience
from pddlego_local.models.vllm.model import VllmModel
from tools.bench.answers import Answer, typed
from tools.bench.decode import decode_rows, first_token_rows, tokens_in
from tools.bench.played import played
from tools.gpu_check.episodes import play_cell
from tools.gpu_check.findings import Findings, Wrong
from tools.gpu_check.scale import Setting
from tools.gpu_check.server_processes import (
    group_of,
    request,
    seconds_by_process,
    wait_until_gone,
)

_QUESTION = (Message("user", "Name the rooms of a house."),)
_GREEDY = Sampling(temperature=0, max_tokens=32)
_TRIES = 20
_MEMORY_LEFT_MIB = 500  # tolerance, as other processes may use the GPU too
_MEMORY_WORDS = re.compile(
    r"(Model loading|Graph capturing|KV cache|memory profiling).*\d"
)
_REST_S = 30  # time for the driver to release a process's memory
_METRICS = tuple(
    f"vllm:{what}_total"
    for what in (
        "prefix_cache_queries",
        "prefix_cache_hits",
        "num_preemptions",
        "generation_tokens",
    )
)
_TRIED_GAMES = range(100, 104)


def plain(setting: Setting, findings: Findings) -> None:
    """Checks one server in vLLM's default mode: grammars, cost, a killed engine, a
    clean end.
    """
    taken = _gpu_memory_used()
    model = setting.server(batch_invariant=False)
    with contextlib.closing(model):
        began = time.monotonic()
        model.start()
        findings.tell("server", {"what": "started", "seconds": _since(began)})
        for words in _of_memory(model):
            findings.tell("vLLM's log on memory", {"message": words})
        began = time.monotonic()
        check_obedience(model, stages=True)
        obeys = "obeys the canary's grammars, alone and 8 at once"
        findings.tell("server", {"what": obeys, "seconds": _since(began)})
        _costs(setting, findings, model)
        findings.tell("episodes of Coin", _episode(setting, model))
        for line in request(model, "metrics").splitlines():
            name, _, value = line.rpartition(" ")
            if (what := name.partition("{")[0]) in _METRICS:
                findings.tell("/metrics", {"what": what, "value": float(value)})
        groups = [_group(model), _killed(findings, model)]
        began = time.monotonic()
    for group in groups:
        if left := wait_until_gone(group):
            raise Wrong(f"{len(left)} processes of the server are left: {left}")
    findings.tell(
        "server", {"what": "ended without processes left", "seconds": _since(began)}
    )
    until = time.monotonic() + _REST_S
    while (more := _gpu_memory_used() - taken) > _MEMORY_LEFT_MIB:
        if time.monotonic() > until:
            raise Wrong(f"{more} MiB of the GPU's memory were not released")
        time.sleep(1)


def _costs(setting: Setting, findings: Findings, model: VllmModel) -> None:
    """Measures each rung's cost, its CPU time by process, and the first token of new
    grammars.
    """
    scale = setting.scale
    for at_once in scale.decoding_at_once:
        before = seconds_by_process(_group(model))
        tokens = tokens_in(model, at_once, scale.decoding_s)
        for row in decode_rows(model, {at_once: tokens}, turns=1):
            findings.tell("decoding, relative to free answers of the same lengths", row)
        spent = {
            f"{name}, CPU s": round(now - before[name], 1)
            for name, now in seconds_by_process(_group(model)).items()
        }
        findings.tell("CPU time of all rungs", {"at once": at_once, **spent})
    for row in first_token_rows(model, scale.first_token_turns):
        findings.tell("first token, one request at a time", row)


def _episode(setting: Setting, model: VllmModel) -> dict[str, object]:
    server = model._managed
    assert server is not None
    overrides = [
        "model=vllm",
        f"model.weights={setting.weights}",
        "decoding.max_tokens=800",
    ]
    overrides += [
        f"model.server.url={server.url}",
        f"model.server.api_key={server.api_key}",
    ]
    return play_cell(
        setting, "random weights", [*overrides, "games=1", "decoding=grounded"]
    )


def _killed(findings: Findings, model: VllmModel) -> int:
    """Kills the engine. Returns the process group of the server that replaces the dead
    one.
    """
    answer = model.complete(_QUESTION, None, _GREEDY).text
    first, began = _group(model), time.monotonic()
    for process in group_of(first):
        if process.pid != first:
            process.kill()
    again = _answer_after_all(model)
    same = "the same answer" if again == answer else "another answer"
    result = f"answers after its engine was killed: {same}"
    findings.tell("server", {"what": result, "seconds": _since(began)})
    return _group(model)


def invariance(setting: Setting, findings: Findings) -> None:
    """Compares answers one at a time and in a batch, with a cold and with a warm
    cache.
    """
    model = setting.server()  # batch-invariant if the GPU supports it
    invariant = model.server.is_batch_invariant()
    with contextlib.closing(model):
        differing = _compare_company(
            setting, findings, model, "batch_invariant" if invariant else "–"
        )
    if differing and (invariant or setting.device == "cpu"):
        raise Wrong(f"{differing} answers differ although none should")


def _compare_company(
    setting: Setting, findings: Findings, model: VllmModel, options: str
) -> int:
    answers = _answers(setting)
    model.start()
    alone: list[str] = []
    differing = 0
    for cache, at_once in [
        ("cold", 1),
        *(("warm", number) for number in setting.scale.compared_at_once),
        ("cold", setting.scale.compared_at_once[-1]),
    ]:
        if alone and cache == "cold":
            request(model, "reset_prefix_cache", b"")
        texts, seconds = _texts(model, answers, at_once)
        alone = alone or texts
        differ = sum(one != other for one, other in zip(texts, alone, strict=True))
        differing += differ
        row = {
            "server": options,
            "at once": at_once,
            "cache": cache,
            "answers": len(texts),
            "differ from one at a time": differ,
            "answers per s": round(len(texts) / seconds, 2),
        }
        findings.tell("answers one at a time and in a batch", row)
    return differing


def _questions() -> list[AnyQuestion]:
    return [one.question for one in played("coin", _TRIED_GAMES) if one.first]


def _answers(setting: Setting) -> list[Answer]:
    """Returns requests for answers to first observations, greedy and seeded by
    turns.
    """
    questions, scale = _questions(), setting.scale
    return [
        (
            questions[number % len(questions)],
            Sampling(
                temperature=number % 2, max_tokens=scale.compared_tokens, seed=number
            ),
        )
        for number in islice(count(), scale.compared_answers)
    ]


def _texts(
    model: VllmModel, answers: list[Answer], at_once: int
) -> tuple[list[str], float]:
    began = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        texts = [
            said.text for said in pool.map(lambda answer: typed(model, answer), answers)
        ]
    return texts, time.monotonic() - began


def _answer_after_all(model: VllmModel) -> str:
    """Returns an answer of the server that replaces the dead one, after some requests
    fail.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(ModelFault):
            return model.complete(_QUESTION, None, _GREEDY).text
        time.sleep(1)
    raise Wrong("there was no answer after the engine was killed")


def _of_memory(model: VllmModel) -> list[str]:
    """Returns the server's log lines on weights, cache and graphs, without their
    prefixes.
    """
    assert model._managed is not None
    lines = model._managed.log_text().splitlines()
    return [line.partition("] ")[2] for line in lines if _MEMORY_WORDS.search(line)]


def _group(model: VllmModel) -> int:
    assert model._managed is not None
    group = model._managed.process_group()
    assert group is not None and psutil.pid_exists(group)
    return group


def _gpu_memory_used() -> int:
    """Returns the MiB in use on all GPUs; 0 without a GPU."""
    lines = machine.driver_says(
        "--query-gpu=memory.used", "--format=csv,noheader,nounits"
    )
    return sum(int(line) for line in lines if line.isdecimal())


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)
