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
from pddlego_local.core.nouns import Grammar
from pddlego_local.core.secrets import HIDDEN, hidden_in_text
from pddlego_local.models.vllm.answer import (
    Body,
    Detokenized,
    Streamed,
    Tokenized,
    Version,
)
from pddlego_local.models.vllm.http import MOST_BYTES, Excessive, HttpClient, Lost
from pddlego_local.models.vllm.plausible import AnyAnswers, check_answers, check_model
from pddlego_local.models.vllm.server import VllmServer

_MOST_WORDS = 2_000
# A response of more bytes than these allow is none: the longest tokens have about 200
# bytes.
_BYTES_PER_SENT_BYTE = (
    64  # a prompt comes back as numbers of tokens, and such numbers as text
)
_BYTES_PER_TOKEN = 512
_BYTES_PER_EVENT = 4096
_MOST_BYTES_EVER = 1 << 30

T = TypeVar("T", bound=Body)
A = TypeVar("A", bound=AnyAnswers)


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
        grammar: Grammar | None,
        room: Callable[[], int],
        watch: Callable[[str], bool] | None = None,
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
            streamed = {"include_usage": True, "continuous_usage_stats": True}
            body = {**body, "stream": True, "stream_options": streamed}
        try:
            try:
                return self._checked(path, body, kind, grammar, watch)
            except Refused:
                left = None
                with contextlib.suppress(ConfigError, ModelFault):
                    left = room()
                if left is None or left >= body["max_tokens"]:
                    raise
            if left < 1:
                raise PromptTooLong(
                    "The prompt and the beginning of its answer leave no room in the"
                    f" context of {self.name}; raise model.context_tokens or shorten"
                    " the prompt."
                )
            # The finish reason will be "length".
            return self._checked(
                path, body | {"max_tokens": left}, kind, grammar, watch
            )
        except OtherStatus as error:
            raise ConfigError(
                f"The server at {self._url}/ does not serve {self.name!r}; set"
                f" model.server.name to a name that it serves. Its message: {error}"
            ) from error

    def _checked(
        self,
        path: str,
        body: dict[str, Any],
        kind: type[A],
        grammar: Grammar | None,
        watch: Callable[[str], bool] | None,
    ) -> A:
        """Sends a request for answers; raises as `answer` and `_post`."""
        response = self._post(path, body, kind, grammar, watch)
        check_model(response, self.name)
        check_answers(response, body)
        return response

    def tokenize(self, **prompt: Any) -> Tokenized:
        """Returns the tokens of a prompt. Raises ConfigError or ModelFault."""
        return self._ask_tokenizer("tokenize", prompt, Tokenized)

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
        try:
            return self._post(f"../{path}", body, kind)
        except OtherStatus as error:
            raise ConfigError(
                f"The server at {self._url}/ has no /{path}, which answers in stages"
                " need: point model.server.url at vLLM itself, not at a gateway, or"
                " choose decoding=syntax."
            ) from error

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
        hides = len(self._key) > len(b"none")  # the default, which is no secret
        raise OtherStatus(
            status, said.replace(self._key, HIDDEN.encode()) if hides else said
        )

    def _post(
        self,
        path: str,
        body: dict[str, Any],
        kind: type[T],
        grammar: Grammar | None = None,
        watch: Callable[[str], bool] | None = None,
    ) -> T:
        """Sends one request, with retries, and returns the parsed response.

        Raises OtherStatus for HTTP 404, and otherwise Refused, ConfigError or
        ModelFault.
        """
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._is_temporary),
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_exponential(multiplier=0.25, max=4),
            reraise=True,
        )
        try:
            said = json.dumps({"model": self.name, **body}).encode()
            tokens, most_bytes = body.get("max_tokens", 0), _most_bytes(body, len(said))
            streamed = functools.partial(Streamed, watch, tokens) if watch else None
            response = retrying(self._send, "POST", path, said, most_bytes, streamed)
            return kind.model_validate_json(response)
        except OtherStatus as error:
            if error.status == 404:
                raise
            if error.status == 400:
                what = (
                    f"request with the grammar {grammar.name!r}"
                    if grammar
                    else "request"
                )
                raise Refused(f"vLLM refused the {what}: {error}") from error
            if error.status == 401:
                raise ConfigError(
                    f"The server at {self._url}/ refused the key; set"
                    " model.server.api_key."
                ) from error
            raise ModelFault(self._failure(error)) from error
        except (Excessive, Lost) as error:
            raise ModelFault(self._failure(error)) from error
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            flaw = (
                f"{place}: {first['msg']}, not {first['input']!r:.80}"
                if place
                else first["msg"]
            )
            raise ModelFault(
                f"{self._url}/ did not answer as vLLM does ({flaw:.200})."
                f" {self._last_words()}"
            ) from error

    def _is_temporary(self, error: BaseException) -> bool:
        """Returns whether to retry: a lost connection or HTTP 429, from a server that
        is alive.
        """
        again = isinstance(error, Lost) or (
            isinstance(error, OtherStatus) and error.status == 429
        )
        alive = self._server is None or self._server.alive()
        return again and alive and not self._http.is_closed

    def _last_words(self) -> str:
        return (
            self._server.last_words()
            if self._server
            else f"Check the server at {self._url}."
        )

    def _failure(self, error: Exception) -> str:
        if isinstance(error, Excessive):
            return f"{self._url}/ {error}."
        status = f"HTTP {error.status}: " if isinstance(error, OtherStatus) else ""
        return (
            f"The vLLM server failed a request ({status}{error}). {self._last_words()}"
        )


def _most_bytes(body: Mapping[str, Any], sent_bytes: int) -> int:
    """Returns the size that no response to a request can have."""
    tokens: int = body.get("max_tokens", 0) * body.get("n", 1)
    per_token = _BYTES_PER_EVENT if body.get("stream") else _BYTES_PER_TOKEN
    most = MOST_BYTES + sent_bytes * _BYTES_PER_SENT_BYTE + tokens * per_token
    return min(most, _MOST_BYTES_EVER)


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
