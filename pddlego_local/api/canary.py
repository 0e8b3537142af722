"""Does a server obey a grammar? A few short questions, each under a constraint that
permits one unlikely word.

A server can ignore a constraint without a word: an option that its version does not
know, a gateway that drops the option, a reasoning parser that never lets the grammar
begin. So the answers are judged, not the server's claims.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pddlego_local.core.errors import ConfigError, ModelFault, PddlegoError
from pddlego_local.core.secrets import HIDDEN, hidden_in_text
from pddlego_local.models.thinking import Thinking, read_thinking
from pddlego_local.models.vllm.connection import Connection
from pddlego_local.models.vllm.http import Excessive, HttpClient, Lost
from pddlego_local.models.vllm.settings import Server

Verdict = Literal["obeyed", "ignored", "refused", "no answer", "answered"]
"""What became of a question. "answered" is said of the question without a constraint,
and "no answer" of one that the server did not finish in time, or broke off, or whose
answer its limit cut before it said anything.
"""

WORD = "zyxomma"
_QUESTION = "Is water wet? Answer with the single word yes or no."
_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": [WORD]}},
    "required": ["answer"],
    "additionalProperties": False,
}
_TOKENS = 64
_THOUGHT_TOKENS = 4096
_MOST_BYTES = 1 << 24
_SHOWN = 160  # characters of a server's answer

_JSON: dict[str, dict[str, Any]] = {
    "a JSON schema, as response_format": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA},
        }
    },
    "a JSON schema, as vLLM's structured_outputs": {
        "structured_outputs": {"json": _SCHEMA}
    },
    "a JSON schema, as the older guided_json": {"guided_json": _SCHEMA},
}
LARK = "a Lark grammar, as vLLM's structured_outputs"
_LARK: dict[str, dict[str, Any]] = {
    LARK: {"structured_outputs": {"grammar": f'start: "{WORD}"\n'}}
}
_GBNF: dict[str, dict[str, Any]] = {
    "a GBNF grammar, as llama.cpp's grammar": {"grammar": f'root ::= "{WORD}"'}
}
BEHIND_A_THOUGHT = ", behind a thought"


@dataclass(frozen=True)
class Probe:
    """One question to a server. `said` is the beginning of its answer, or its words of
    refusal.
    """

    asked: str
    verdict: Verdict
    said: str


@dataclass(frozen=True)
class Canary:
    """What a server obeys. `url` has no password; `model` is the server's name for its
    model. `advice` says what to type in this project to use the server.
    """

    url: str
    model: str
    probes: tuple[Probe, ...]
    thinking: str = field(default="")

    @property
    def obeyed(self) -> tuple[str, ...]:
        """The constraints that the server obeys."""
        return tuple(probe.asked for probe in self.probes if probe.verdict == "obeyed")

    @property
    def advice(self) -> str:
        words = ["pddlego", "run"]
        if any(name.startswith(tuple(_LARK)) for name in self.obeyed):
            words.append("model=vllm")
            decoding = "decoding=grounded"
        else:
            words.append("model=openai_server")
            usual = next(iter(_JSON))
            by_format = any(name.startswith(usual) for name in self.obeyed)
            decoding = "decoding=json" if by_format else "decoding=free"
        words += [f"model.weights={self.model}", f"model.server.url={self.url}"]
        if self.thinking:
            words.append(self.thinking)
        return " ".join([*words, decoding])


def canary(
    url: str, model: str | None = None, *, key: str = "none", seconds: float = 60
) -> Canary:
    """Asks the server at `url` (".../v1") questions under constraints, and judges its
    answers.

    `model` is the server's name for its model; None means the first one that it lists.
    `seconds` limit each question. Raises ConfigError for an address that is none and
    for a refused key, and ModelFault if no server answers.
    """
    Server(url=url).check_url()
    if not seconds > 0:
        raise ConfigError(f"--seconds: {seconds:g} is no time; give a positive number.")
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with contextlib.closing(HttpClient(url, headers, timeout_s=seconds)) as http:
        asking = _Asking(http, url, key)
        models = asking.models()
        names = [str(entry.get("id")) for entry in models]
        if model is None:
            if not names:
                raise ConfigError(
                    f"The server at {asking.shown_url} lists no models; name one with"
                    " --model NAME."
                )
            model = names[0]
        thinking, unknown = _how_it_thinks(url, key, model, seconds)
        is_llama_cpp = any("llama" in str(each.get("owned_by")) for each in models)
        constraints = {**_JSON, **_LARK, **(_GBNF if is_llama_cpp else {})}
        probes = tuple(asking.probes(model, constraints, thinking))
    setting = "model.thinking=null" if unknown else ""
    return Canary(asking.shown_url, model, probes, setting)


def _how_it_thinks(
    url: str, key: str, model: str, seconds: float
) -> tuple[Thinking | None, bool]:
    """Returns how the model thinks, as the server's template shows, and whether the
    server does not show it.
    """
    connection = Connection(url, key, model, timeout_s=seconds, server=None)
    with contextlib.closing(connection):
        try:
            return read_thinking(connection.prompt, connection.is_token, model), False
        except PddlegoError:
            return None, True


@dataclass(frozen=True)
class _Asking:
    """Sends questions to a server, one at a time, and each once."""

    http: HttpClient
    url: str
    key: str

    @property
    def shown_url(self) -> str:
        return hidden_in_text(self.url.rstrip("/"))

    def models(self) -> list[Mapping[str, Any]]:
        """Returns the models that the server lists; none if it lists none in OpenAI's
        way.
        """
        try:
            status, said = self.http.request("GET", "models")
        except (Excessive, Lost) as error:
            raise ModelFault(
                f"No server answers at {self.shown_url} ({error}); check the address,"
                " and that the server has started."
            ) from error
        if status in (401, 403):
            raise ConfigError(
                f"The server at {self.shown_url} refused the key; give it with --key."
            )
        try:
            listed = json.loads(said)["data"]
            return [entry for entry in listed if isinstance(entry, dict)]
        except (ValueError, TypeError, LookupError, RecursionError):
            return []

    def probes(
        self,
        model: str,
        constraints: Mapping[str, dict[str, Any]],
        thinking: Thinking | None,
    ) -> Iterator[Probe]:
        """Asks freely, then under each constraint, and behind a thought if the model
        thinks.
        """
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": _QUESTION}],
            "max_tokens": _TOKENS,
            "temperature": 0.0,
        }
        switch = thinking.switch if thinking else None
        if switch:
            body["chat_template_kwargs"] = {switch: False}
        yield self.probe("nothing", body, constrained=False)
        obeyed = [*constraints]
        always_thinks = thinking is not None and switch is None
        if not always_thinks:
            plain = [self.probe(name, body | constraints[name]) for name in constraints]
            yield from plain
            obeyed = [probe.asked for probe in plain if probe.verdict == "obeyed"]
        if thinking is None:
            return
        body["max_tokens"] = _THOUGHT_TOKENS
        if switch:
            body["chat_template_kwargs"] = {switch: True}
        for name in obeyed:
            yield self.probe(name + BEHIND_A_THOUGHT, body | constraints[name])

    def probe(
        self, asked: str, body: Mapping[str, Any], *, constrained: bool = True
    ) -> Probe:
        """Asks one question and judges the answer."""
        data = json.dumps(body).encode()
        try:
            status, said = self.http.request(
                "POST", "chat/completions", data, most_bytes=_MOST_BYTES
            )
        except (Excessive, Lost) as error:
            what, _, _ = str(error).partition(";")  # without the remedy of a run
            return Probe(asked, "no answer", self._shown(what))
        if not 200 <= status < 300:
            words = said.decode(errors="replace")
            return Probe(asked, "refused", self._shown(f"HTTP {status}: {words}"))
        text = _text_of(said)
        if text is None:
            words = said.decode(errors="replace")
            return Probe(asked, "no answer", self._shown(words))
        if not constrained:
            return Probe(asked, "answered", self._shown(text))
        return Probe(asked, _verdict(text), self._shown(text))

    def _shown(self, text: str) -> str:
        """Returns the beginning of a text of the server, without the key."""
        if len(self.key) > len("none"):
            text = text.replace(self.key, HIDDEN)
        text = hidden_in_text(" ".join(text.split()))
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _text_of(response: bytes) -> str | None:
    """Returns the text of a chat completion, "" if there is only a thought; None if the
    response is none.
    """
    try:
        message = json.loads(response)["choices"][0]["message"]
        return str(message.get("content") or "")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _verdict(text: str) -> Verdict:
    """Judges a text by the one word and the one object that are permitted.

    White space is left out: a small model fills its limit with it, where a schema
    permits it. A beginning that has come into the word is obedience, since no free
    answer begins so. A shorter one says nothing.
    """
    compact = "".join(text.split())
    for permitted in (WORD, f'{{"answer":"{WORD}"}}'):
        if permitted.startswith(compact):
            in_word = len(compact) > permitted.index(WORD) + 2
            return "obeyed" if in_word else "no answer"
    return "ignored"
