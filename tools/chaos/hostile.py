"""A server that answers rightly, except for one answer of `hostile_answers.yaml`.

    python -m tools.chaos.hostile --out runs/hostile            (a part of `make chaos`)

Each hostile answer is first asked for on its own and must end as the table says. Then a
sweep meets those that are faults of the server, before any right answer. It must
survive each of them, and end with the rows of an undisturbed sweep. Exits with 1 if
anything is wrong.
"""

import argparse
import contextlib
import dataclasses
import gzip
import itertools
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.nouns import Completion, Grammar, Message, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.repetition import LoopWatch
from pddlego_local.decoding.session import Constraint, Stage, Stages, at_once
from pddlego_local.episode.drawing import draw
from pddlego_local.models import canary
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tools.chaos.simulated import key_of, recorded_answers
from tools.chaos.sweeps import (
    PATIENT,
    Rows,
    rows_of,
    undisturbed,
    wrong_records,
    wrong_rows,
)

TABLE = Path(__file__).with_name("hostile_answers.yaml")
MOST_TOKENS = 64
END_OF_TEXT = 256  # a token of the server's model is a byte; this one ends a text
TIMEOUT_S = 0.5
AT_ONCE = 8
STARTS = 40  # a sweep that needs more has failed

_LIST = Grammar(
    "list", "lark", 'start: "(" NAME ("," NAME) ~ 0 .. 5 ")"\nNAME: /[a-zé]{1,6}/\n'
)
_FIRST = Grammar("first", "lark", 'start: "(a " /[a-z]{1,5}/ ")"\n')
_SECOND = Grammar("second", "lark", 'start: " (b" (" " /[a-z]{1,5}/) ~ 1 .. 50 ")"\n')


def _in_stages(watched: bool) -> Constraint:
    def stages() -> Stages:
        first = yield Stage("first", _FIRST)
        yield Stage("second", _SECOND, watch=LoopWatch(first) if watched else None)

    return Constraint("in stages", stages)


@dataclasses.dataclass(frozen=True)
class Ask:
    """How an answer is asked for, and the right texts of its requests."""

    constraint: Constraint
    texts: tuple[str, ...]
    count: int = 1
    thinking: bool = False


ASKS = {
    "free": Ask(at_once(None), ("fine",)),
    "grammar": Ask(at_once(_LIST), ("(a,b)",)),
    "thought": Ask(at_once(None), ("fine",), thinking=True),
    "several": Ask(at_once(_LIST), ("(a,b)",), count=2),
    "stages": Ask(_in_stages(watched=False), ("(a b)", " (b c)")),
    "stream": Ask(_in_stages(watched=True), ("(a b)", " (b c)")),
}


@dataclasses.dataclass(frozen=True)
class Hostile:
    """One line of the table: the answer to the last request of an `ask`, and how that
    must end.
    """

    ask: str
    name: str
    ends: str
    reply: Mapping[str, Any]


def hostile_answers() -> list[Hostile]:
    """Returns the whole table."""
    table = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return [
        Hostile(ask, name, ends, reply)
        for ask, by_end in table.items()
        for ends, replies in by_end.items()
        for name, reply in replies.items()
    ]


def right(
    request: Mapping[str, Any], text: str, finish: str = "stop"
) -> dict[str, Any]:
    """Returns the response that vLLM would give; a token is a byte."""
    is_chat = "messages" in request
    drawn = [*text.encode("utf-8", "surrogatepass")]
    if finish == "stop":
        drawn.append(END_OF_TEXT)
    choice: dict[str, Any] = {"finish_reason": finish}
    if is_chat:
        prompt = tokens_of(request["messages"])
        choice["message"] = {"role": "assistant", "content": text}
    else:
        prompt = list(request["prompt"])
        choice["text"] = text
    if request.get("return_token_ids"):
        choice["token_ids"] = drawn
    count = request.get("n", 1)
    response = {
        "object": "chat.completion" if is_chat else "text_completion",
        "model": request["model"],
        "choices": [{"index": number, **choice} for number in range(count)],
        "usage": {
            "prompt_tokens": len(prompt),
            "completion_tokens": len(drawn) * count,
        },
    }
    if request.get("return_token_ids"):
        response["prompt_token_ids"] = prompt
    return response


def tokens_of(messages: Sequence[Mapping[str, str]]) -> list[int]:
    return list("\n".join(message["content"] for message in messages).encode())


class Handler(BaseHTTPRequestHandler):
    """Answers one request. `reply_of` says how a hostile server answers it, and
    `text_of` what a right one says.
    """

    protocol_version = "HTTP/1.1"
    reply_of: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    text_of: Callable[[Mapping[str, Any]], str]

    def do_GET(self) -> None:
        self._send_json({"version": "simulated"})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        if self.path.endswith("/detokenize"):
            self._send_json({"prompt": text_of_tokens(request["tokens"])})
        elif self.path.endswith("/tokenize"):
            if "prompt" in request:
                tokens = list(request["prompt"].encode())
            else:
                tokens = tokens_of(request["messages"])
            count = len(tokens)
            self._send_json(
                {"tokens": tokens, "count": count, "max_model_len": 100_000}
            )
        else:
            with contextlib.suppress(OSError):  # the client is gone
                self._answer(request, self.reply_of(request))

    def _answer(
        self, request: Mapping[str, Any], reply: Mapping[str, Any] | None
    ) -> None:
        text = self.text_of(request)
        if request.get("stream"):
            self._stream(request, text, reply or {})
        elif reply is None:
            self._send_json(right(request, text))
        elif "raw" in reply:
            self._write_raw(reply)
        elif "content" in reply:
            content = reply["content"].encode("latin-1") * reply.get("times", 1)
            if reply.get("gzip"):
                content = gzip.compress(content)
            self._send(content, reply.get("status", 200), reply.get("headers", {}))
        else:
            self._send_json(changed(right(request, text), request, reply))

    def _write_raw(self, reply: Mapping[str, Any]) -> None:
        """Writes bytes as they are, then perhaps others again and again, until the
        client goes.
        """
        self.close_connection = True
        self.wfile.write(reply["raw"].encode("latin-1"))
        endless = reply.get("endless", "").encode("latin-1")
        while endless:
            self.wfile.write(endless * reply.get("times", 1))
            time.sleep(reply.get("pause_s", 0))
        if reply.get("silent"):
            self._wait_for_client()

    def _wait_for_client(self) -> None:
        """Says nothing until the client goes."""
        self.connection.settimeout(60)
        self.rfile.read(1)

    def _stream(
        self, request: Mapping[str, Any], text: str, reply: Mapping[str, Any]
    ) -> None:
        """Streams a text byte by byte as vLLM does, with `lines` in place of its
        events.
        """
        self.close_connection = True
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in reply.get("lines", []) or events(request, text, reply):
            self._chunk(line if isinstance(line, str) else json.dumps(line))
        while endless := reply.get("endless"):
            self._chunk(endless)
            time.sleep(reply.get("pause_s", 0))
        if reply.get("silent"):
            self._wait_for_client()
        if not reply.get("torn"):
            self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, line: str) -> None:
        data = f"data: {line}\n\n".encode("utf-8", "surrogatepass")
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _send_json(self, content: object) -> None:
        self._send(json.dumps(content).encode())

    def _send(
        self, content: bytes, status: int = 200, headers: Mapping[str, str] = {}
    ) -> None:
        self.send_response(status)
        headers = {"Content-Length": str(len(content)), **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing."""


def changed(
    response: dict[str, Any], request: Mapping[str, Any], reply: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the right response with the changes of a hostile reply."""
    if "text" in reply:
        finish = reply.get("finish", "stop")
        response = right(request, changed_text("", reply), finish)
    choices = response["choices"]
    for choice in choices:
        choice |= reply.get("choice", {})
        if "message" in reply:
            choice["message"] |= reply["message"]
    if choices:
        choices[-1] |= reply.get("last_choice", {})
    response["usage"] |= reply.get("usage", {})
    response |= reply.get("body", {})
    for name in reply.get("without", ()):
        del response[name]
    return response


def changed_text(text: str, reply: Mapping[str, Any]) -> str:
    return str(reply.get("text", text)) * int(reply.get("times", 1))


def events(
    request: Mapping[str, Any], text: str, reply: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yields the events of a streamed answer: one for each byte of an ASCII text, and
    its end.
    """
    finish = reply.get("finish", "stop")
    tokens = [*changed_text(text, reply).encode()]
    if finish == "stop":
        tokens.append(END_OF_TEXT)
    for number, token in enumerate(tokens, start=1):
        choice = {
            "text": chr(token) if token < END_OF_TEXT else "",
            "token_ids": [token],
            "finish_reason": finish if number == len(tokens) else None,
        }
        usage = {
            "prompt_tokens": len(request["prompt"]),
            "completion_tokens": number,
        }
        event = {
            "model": request["model"],
            "choices": [choice | reply.get("choice", {})],
            "usage": usage | reply.get("usage", {}),
        }
        yield event | reply.get("body", {})


def text_of_tokens(tokens: Sequence[int]) -> str:
    encoded = bytes(token for token in tokens if token < END_OF_TEXT)
    return encoded.decode(errors="replace")


@contextlib.contextmanager
def server(
    text_of: Callable[[Mapping[str, Any]], str],
    reply_of: Callable[[Mapping[str, Any]], Mapping[str, Any] | None],
) -> Iterator[str]:
    """Yields the address of a server in this process."""

    class OneServersHandler(Handler):
        pass

    OneServersHandler.text_of = staticmethod(text_of)
    OneServersHandler.reply_of = staticmethod(reply_of)

    class Quiet(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Says nothing: the clients of these tests go away in the middle of
            answers.
            """

    with Quiet(("127.0.0.1", 0), OneServersHandler) as running:
        threading.Thread(
            target=running.serve_forever, args=(0.01,), daemon=True
        ).start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}/v1"
        finally:
            running.shutdown()


def ending(hostile: Hostile) -> str:
    """Asks for the answer; returns the name of the error, or what the answer is scored
    as.
    """
    ask = ASKS[hostile.ask]
    number = itertools.count(1)

    def reply_of(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return hostile.reply if next(number) >= len(ask.texts) else None

    def text_of(request: Mapping[str, Any]) -> str:
        return ask.texts[0 if "messages" in request else 1]

    with server(text_of, reply_of) as url:
        settings = Server(url=url, request_timeout_s=TIMEOUT_S)
        thinking = Thinking(switch=None) if ask.thinking else None
        model = VllmModel(weights="m", thinking=thinking, server=settings)
        question = Question(PDDL, (Message("user", "Well?"),), GrammarContext())
        sampling = Sampling(max_tokens=MOST_TOKENS, thinking=ask.thinking)
        with contextlib.closing(model):
            try:
                drawn = draw(model, question, ask.constraint, sampling, {}, ask.count)
            except PddlegoError as error:
                return type(error).__name__
            except Exception as error:
                return f"unexpected: {error!r:.200}"
    return scored(drawn[-1].completion)


def scored(completion: Completion) -> str:
    if completion.finish_reason == "unfinished_thought":
        return "unfinished_thought"
    if completion.finish_reason == "length":
        return "truncated"
    return "text" if completion.text else "empty"


class Queue:
    """Gives each hostile answer once, whatever is asked; then every request gets its
    right answer.

    The check whether the server obeys grammars always gets its right answer.
    """

    def __init__(self, hostile: Sequence[Hostile], answers: Mapping[str, str]) -> None:
        canary_messages = [vars(message) for message in canary._MESSAGES]
        self._canary = key_of(canary_messages)
        self._left = list(hostile)
        self._answers = {**answers, self._canary: f'"{canary._WORD}"'}
        self._lock = threading.Lock()

    def reply(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if key_of(request["messages"]) == self._canary:
            return None
        with self._lock:
            return self._left.pop().reply if self._left else None

    def text(self, request: Mapping[str, Any]) -> str:
        return self._answers[key_of(request["messages"])]


def sweep(hostile: Sequence[Hostile], out: Path, games: int) -> list[str]:
    """Plays a sweep that meets these answers, and returns what is wrong."""
    words = (f"games=0-{games - 1}", "decoding=free,json", "run.retries=0", PATIENT)
    reference = undisturbed("reference", (*words, "model=reference"), out / "reference")
    queue = Queue(hostile, recorded_answers(out / reference.name))
    with server(queue.text, queue.reply) as url:
        at = (
            "model=vllm",
            "model.weights=simulated",
            "model.thinking=null",
            f"model.server.url={url}",
        )
        return _played(
            out / "hostile", (*words, *at), rows_without_model(reference.rows)
        )


def _played(out: Path, words: Sequence[str], expected: Rows) -> list[str]:
    timeout = f"model.server.request_timeout_s={4 * TIMEOUT_S}"
    run = [sys.executable, "-m", "pddlego_local", "run"]
    command = [*run, "-m", f"run.out={out}", timeout, *words]
    for _ in range(STARTS):
        ended = subprocess.run(command, capture_output=True, encoding="utf-8")
        if ended.returncode not in (0, 3) or "Traceback" in ended.stderr:
            return [f"the sweep ended with {ended.returncode}: {ended.stderr[-2000:]}"]
        if ended.returncode == 0:
            break
    found = rows_without_model(rows_of(out))
    return [*wrong_rows(expected, found, ended=True), *wrong_records(out)]


def rows_without_model(rows: Rows) -> Rows:
    """Returns rows without what depends on the model's name and on its tokens, by
    decoding.
    """
    by_decoding: Rows = {}
    for cell, its_rows in rows.items():
        decoding = "json" if "json" in cell else "free"
        by_decoding[decoding] = [
            dataclasses.replace(
                row, prompt_tokens=0, completion_tokens=0, forced_tokens=0
            )
            for row in its_rows
        ]
    return by_decoding


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=24, help="games of each cell")
    parser.add_argument(
        "--in-sweep", type=int, default=999, help="at most so many in the sweep"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/hostile"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    table = hostile_answers()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(ending, table))
    wrong = []
    for hostile, end in zip(table, found, strict=True):
        if end != hostile.ends:
            place = f"{hostile.ask}: {hostile.name}"
            wrong.append(f"{place}: {end} in place of {hostile.ends}")
    faults = [
        hostile
        for hostile in table
        if hostile.ask == "free" and hostile.ends == "ModelFault"
    ]
    step = -(-len(faults) // given.in_sweep)  # rounded up
    met = faults[::step]
    wrong += sweep(met, given.out.absolute(), given.games)
    by_end = ", ".join(
        f"{ends} {count}" for ends, count in Counter(found).most_common()
    )
    print(*wrong, sep="\n")
    print(f"{len(table)} hostile answers ({by_end}), {len(met)} in a sweep too")
    print(f"{len(wrong)} with something wrong" if wrong else "each ended as it must")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
