"""The connection to one vLLM server: requests, retries, and the meaning of its
failures.
"""

import contextlib
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pydantic
import tenacity

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.secrets import HIDDEN, hidden_in_text
from pddlego_local.models.vllm.answer import (
    Body,
    Detokenized,
    Streamed,
    Templated,
    Tokenized,
    Version,
)
from pddlego_local.models.vllm.http import MOST_BYTES, Excessive, HttpClient, Lost
from pddlego_local.models.vllm.plausible import AnyAnswers, check_answers, check_model
from pddlego_local.models.vllm.server import VllmServer

_MOST_WORDS = 2_000
# A response with more bytes than these allow cannot be right. A prompt comes back as
# numbers of tokens, and each token of a streamed answer as an event.
_BYTES_PER_SENT_BYTE = 64
_BYTES_PER_TOKEN = 4096
_MOST_BYTES_EVER = 1 << 30

T = TypeVar("T", bound=Body)
A = TypeVar("A", bound=AnyAnswers)
Watching = Callable[[str], bool]


class Refused(ConfigError):
    """The server answered with HTTP 400."""


class OtherStatus(Exception):
    """The server answered with an HTTP status other than success; the text is its
    message.
    """

    def __init__(self, status: int, said: bytes) -> None:
        super().__init__(_words(said))
        self.status = status


class Connection:
    """Sends requests to the server at `url`; thread-safe.

    `name` is the server's name for the model. `server` is the server process if this
    program started it; error messages then include its state.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        name: str,
        *,
        timeout_s: float,
        server: VllmServer | None,
    ) -> None:
        self.name = name
        self._key = api_key.encode()
        self._url = hidden_in_text(url.rstrip("/"))  # for messages
        headers = {
            "Authorization": f"Bearer {api_key}",
            "Content-Type": "application/json",
        }
        self._http = HttpClient(url, headers, timeout_s=timeout_s)
        self._text_of = functools.lru_cache(maxsize=10_000)(self._detokenized)
        self._server = server

    def close(self) -> None:
        """Closes the connection; requests under way fail."""
        self._http.close()

    def answer(
        self,
        path: str,
        body: dict[str, Any],
        kind: type[A],
        room: Callable[[], int],
        watch: Watching | None = None,
    ) -> A:
        """Sends a request for answers and returns the server's response.

        If the context has no room for the requested number of tokens, the request is
        repeated with as many as fit; `room` is then called to count these. If there is
        a `watch`, the response is stopped as soon as `watch` returns True for its text.
        Raises ConfigError for a request that the server refuses and for a response of
        another model, PromptTooLong if not one token fits, and ModelFault if the server
        fails or its response cannot be right (`plausible`).
        """
        if watch:
            options = {"include_usage": True, "continuous_usage_stats": True}
            body = {**body, "stream": True, "stream_options": options}
        try:
            return self._checked(path, body, kind, watch)
        except Refused:
            try:
                left = room()
            except (ConfigError, ModelFault):
                left = body["max_tokens"]
            if left >= body["max_tokens"]:
                raise
        if left < 1:
            raise PromptTooLong(
                "The prompt and the beginning of its answer leave no room in the"
                f" context of {self.name}; raise model.context_tokens or shorten"
                " the prompt."
            )
        # The finish reason will be "length".
        return self._checked(path, {**body, "max_tokens": left}, kind, watch)

    def _checked(
        self, path: str, body: dict[str, Any], kind: type[A], watch: Watching | None
    ) -> A:
        absent = (
            f"does not serve {self.name!r}; set model.server.name to a name that it"
            " serves."
        )
        response = self._post(path, body, kind, absent, watch)
        check_model(response, self.name)
        check_answers(response, body)
        return response

    def tokenize(self, **prompt: Any) -> Tokenized:
        """Returns the tokens of a prompt. Raises ConfigError or ModelFault."""
        return self._ask_tokenizer("tokenize", prompt, Tokenized)

    def prompt(
        self, messages: list[dict[str, str]], arguments: Mapping[str, Any]
    ) -> str:
        """Returns the prompt that the server's chat template makes of the messages.

        Asks as vLLM expects it, then as llama.cpp does. Raises ConfigError if the
        server answers neither, and ModelFault if it fails.
        """
        body = {"messages": messages, "chat_template_kwargs": arguments}
        try:
            return self.decode(self.tokenize(**body).tokens)
        except (ConfigError, ModelFault):
            absent = (
                "does not show its chat template, so nothing says whether"
                f" {self.name} thinks before it answers, and a grammar would then apply"
                " within a thought. Write model.thinking=null if it does not think, or"
                " its {start, end, switch, parser}."
            )
            return self._post("../apply-template", body, Templated, absent).prompt

    def is_token(self, text: str) -> bool:
        """Returns whether a text is one token; True if the server does not say so."""
        try:
            return len(self.encode(text)) == 1
        except (ConfigError, ModelFault):
            return True

    def encode(self, text: str) -> tuple[int, ...]:
        """Returns the tokens of a text inside an answer. Raises the same errors as
        `tokenize`.
        """
        return self.tokenize(prompt=text, add_special_tokens=False).tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Returns the text of some tokens. Raises the same errors as `tokenize`."""
        return self._text_of(tuple(tokens)) if tokens else ""

    def _detokenized(self, tokens: tuple[int, ...]) -> str:
        return self._ask_tokenizer("detokenize", {"tokens": tokens}, Detokenized).prompt

    def _ask_tokenizer(self, path: str, body: dict[str, Any], kind: type[T]) -> T:
        absent = (
            f"has no /{path}, which answers in stages need: point model.server.url at"
            " vLLM itself, not at a gateway, or choose decoding=syntax."
        )
        return self._post(f"../{path}", body, kind, absent)

    def version(self) -> str:
        """Returns the server's vLLM version; "unknown" behind a gateway that forwards
        only /v1.

        Raises ModelFault if the server cannot be reached or does not respond in time.
        """
        try:
            return Version.model_validate_json(self._send("GET", "../version")).version
        except (Excessive, Lost) as error:
            raise ModelFault(self._failure(error)) from error
        except (OtherStatus, pydantic.ValidationError):
            return "unknown"

    def is_healthy(self) -> bool:
        """Returns whether the server says that its engine runs, as vLLM can."""
        try:
            self._send("GET", "../health")
        except (Excessive, Lost, OtherStatus):
            return False
        return True

    def _post(
        self,
        path: str,
        body: dict[str, Any],
        kind: type[T],
        absent: str,
        watch: Watching | None = None,
    ) -> T:
        """Sends one request, with retries, and returns the parsed response.

        `absent` says what HTTP 404 means. Raises Refused, ConfigError or ModelFault.
        """
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._is_temporary),
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_exponential(multiplier=0.25, max=4),
            reraise=True,
        )
        data = json.dumps({"model": self.name, **body}).encode()
        tokens = body.get("max_tokens", 0)
        all_tokens = tokens * body.get("n", 1)
        most_bytes = MOST_BYTES + len(data) * _BYTES_PER_SENT_BYTE
        most_bytes += all_tokens * _BYTES_PER_TOKEN
        most_bytes = min(most_bytes, _MOST_BYTES_EVER)
        streamed = functools.partial(Streamed, watch, tokens) if watch else None
        try:
            response = retrying(self._send, "POST", path, data, most_bytes, streamed)
            return kind.model_validate_json(response)
        except OtherStatus as error:
            raise self._meaning(error, absent) from error
        except (Excessive, Lost) as error:
            raise ModelFault(self._failure(error)) from error
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False)[0]
            flaw = first["msg"]
            if first["loc"]:
                place = ".".join(map(str, first["loc"]))
                flaw = f"{place}: {flaw}, not {first['input']!r:.80}"
            raise ModelFault(
                f"{self._url}/ did not answer as vLLM does ({flaw:.200})."
                f" {self._last_words()}"
            ) from error

    def _send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        most_bytes: int = MOST_BYTES,
        streamed: Callable[[], Streamed] | None = None,
    ) -> bytes:
        """Returns the response body. Raises Excessive or Lost (`HttpClient`), or
        OtherStatus.
        """
        pieces = streamed() if streamed else None
        status, said = self._http.request(method, path, body, pieces, most_bytes)
        if 200 <= status < 300:
            return pieces.joined if pieces else said
        if len(self._key) > len(b"none"):  # the default, which is no secret
            said = said.replace(self._key, HIDDEN.encode())
        raise OtherStatus(status, said)

    def _meaning(self, error: OtherStatus, absent: str) -> Exception:
        """Returns the error that a status of a response stands for."""
        match error.status:
            case 400:
                return Refused(f"vLLM refused the request: {error}")
            case 401:
                return ConfigError(
                    f"The server at {self._url}/ refused the key; set"
                    " model.server.api_key."
                )
            case 404:
                return ConfigError(
                    f"The server at {self._url}/ {absent} Its message: {error}"
                )
        return ModelFault(self._failure(error))

    def _is_temporary(self, error: BaseException) -> bool:
        """Returns whether to retry: a lost connection or HTTP 429, from a server that
        is alive.
        """
        if self._http.is_closed or (self._server and not self._server.alive()):
            return False
        busy = isinstance(error, OtherStatus) and error.status == 429
        return busy or isinstance(error, Lost)

    def _last_words(self) -> str:
        if self._server:
            return self._server.last_words()
        return f"Check the server at {self._url}."

    def _failure(self, error: Exception) -> str:
        if isinstance(error, Excessive):
            return f"{self._url}/ {error}."
        status = f"HTTP {error.status}: " if isinstance(error, OtherStatus) else ""
        return (
            f"The vLLM server failed a request ({status}{error}). {self._last_words()}"
        )


def _words(said: bytes) -> str:
    """Returns the server's error message, without the JSON around it."""
    words = said.decode(errors="replace")
    with contextlib.suppress(
        ValueError, TypeError, AttributeError, LookupError, RecursionError
    ):
        reply = json.loads(words)
        words = str(reply.get("error", reply)["message"])
    words = words.strip()
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"


def reason_of_failure(error: ModelFault) -> str:
    """Returns the server's message if it failed a request with HTTP 500 or higher; ""
    for another fault.
    """
    cause = error.__cause__
    if isinstance(cause, OtherStatus) and cause.status >= 500:
        return str(cause) or f"HTTP {cause.status}"
    return ""
