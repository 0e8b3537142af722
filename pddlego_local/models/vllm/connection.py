"""The connection to one vLLM server: requests, retries, and what its failures mean."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import openai
import pydantic
import tenacity

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.nouns import Grammar
from pddlego_local.models.vllm.answer import (
    Body,
    ChatAnswers,
    Detokenized,
    TextAnswers,
    Tokenized,
    Version,
)
from pddlego_local.models.vllm.http import HttpClient, excess
from pddlego_local.models.vllm.server import VllmServer

CONNECT_S = 30.0
_MOST_WORDS = 2_000

Send = Callable[..., Any]
"""Sends a request and returns what has the response's bytes as `content`."""

A = TypeVar("A", ChatAnswers, TextAnswers)
T = TypeVar("T", bound=Body)


class Connection:
    """Thread-safe. `server` is the one at `url` where it is our own: errors tell what became of
    it, and no proxy of the environment stands between."""

    def __init__(
        self,
        url: str,
        api_key: str,
        name: str,
        *,
        timeout_s: float,
        server: VllmServer | None = None,
    ) -> None:
        self.name = name
        self.openai = openai.OpenAI(
            base_url=url,
            api_key=api_key,
            max_retries=0,  # those of _post
            timeout=openai.Timeout(timeout_s, connect=CONNECT_S),
            http_client=HttpClient(proxies=server is None, timeout_s=timeout_s),
        )
        self._texts: dict[tuple[int, ...], str] = {}  # of single tokens
        self._timeout_s = timeout_s
        self._server = server

    def close(self) -> None:
        """What is under way fails."""
        self.openai.close()

    def answer(
        self,
        send: Send,
        request: dict[str, Any],
        kind: type[A],
        grammar: Grammar | None,
        room: Callable[[], int],
    ) -> A:
        """The server's response, with as many tokens as the context holds if fewer than asked.

        `room` counts them, when they have to be known. Raises ConfigError for a request that the
        server refuses, PromptTooLong if not one token fits, ModelFault when the server fails.
        """
        try:
            try:
                return self._post(send, request, kind)
            except openai.BadRequestError:
                left = None
                with contextlib.suppress(ConfigError, ModelFault):
                    left = room()
                if left is None or left >= request["max_tokens"]:
                    raise
            if left < 1:
                raise PromptTooLong(
                    f"The prompt, with the prefix of its answer, leaves no room in the context of "
                    f"{self.name}; raise model.context_tokens or shorten the prompt."
                )
            # The answer will end with "length".
            return self._post(send, request | {"max_tokens": left}, kind)
        except openai.BadRequestError as error:
            raise _refusal(error, grammar) from error
        except openai.NotFoundError as error:
            raise ConfigError(
                f"The server at {self.openai.base_url} does not serve {self.name!r}; set "
                f"model.server.name to a name that it serves. It said: {_words(error)}"
            ) from error

    def tokenize(self, **prompt: Any) -> Tokenized:
        """What the server says of a prompt. Raises ConfigError or ModelFault."""
        return self._ask_tokenizer("tokenize", prompt, Tokenized)

    def encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a text that stands inside an answer. Raises as `tokenize`."""
        return self.tokenize(prompt=text, add_special_tokens=False).tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens. Raises as `tokenize`."""
        key = tuple(tokens)
        if not key or key in self._texts:
            return self._texts.get(key, "")
        text = self._ask_tokenizer("detokenize", {"tokens": list(key)}, Detokenized).prompt
        if len(key) == 1:
            self._texts[key] = text
        return text

    def _ask_tokenizer(self, path: str, what: dict[str, Any], kind: type[T]) -> T:
        def send(**body: Any) -> Any:
            url, cast_to = self._beside_v1(path), openai.HttpxBinaryResponseContent
            return self.openai.post(url, body={"model": self.name, **body}, cast_to=cast_to)

        try:
            return self._post(send, what, kind)
        except openai.NotFoundError as error:
            raise ConfigError(
                f"The server at {self.openai.base_url} has no /{path}, which answers in stages "
                "need: point model.server.url at vLLM itself, not at a gateway, or choose "
                "decoding=syntax."
            ) from error
        except openai.BadRequestError as error:
            raise _refusal(error, None) from error

    def version(self) -> str:
        """The server's vLLM version, "unknown" behind a gateway that passes /v1 only."""
        kind = openai.HttpxBinaryResponseContent
        try:
            response = self.openai.get(self._beside_v1("version"), cast_to=kind)
            return Version.model_validate_json(response.content).version
        except openai.APIConnectionError as error:
            raise ModelFault(self._failure(error)) from error
        except (openai.APIStatusError, pydantic.ValidationError):
            return "unknown"

    def _beside_v1(self, path: str) -> str:
        return str(self.openai.base_url.join(f"../{path}"))

    def _post(self, send: Send, request: dict[str, Any], kind: type[T]) -> T:
        """One request, and what it brought. Raises BadRequestError and NotFoundError as they are,
        all else as errors of ours."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._passing),
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_exponential(multiplier=0.25, max=4),
            reraise=True,
        )
        try:
            return kind.model_validate_json(retrying(send, **request).content)
        except (openai.BadRequestError, openai.NotFoundError):
            raise
        except openai.AuthenticationError as error:
            raise ConfigError(
                f"The server at {self.openai.base_url} refused the key; set model.server.api_key."
            ) from error
        except openai.OpenAIError as error:
            raise ModelFault(self._failure(error)) from error
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            what = f"{place}: {first['msg']}" if place else first["msg"]
            raise ModelFault(
                f"{self.openai.base_url} did not answer as vLLM does ({what:.200}). "
                f"{self._last_words()}"
            ) from error

    def _passing(self, error: BaseException) -> bool:
        """Whether an error may be gone in a moment: a lost connection to a server that lives."""
        if isinstance(error, openai.APITimeoutError) or excess(error):
            return False
        again = isinstance(error, openai.APIConnectionError | openai.RateLimitError)
        alive = self._server is None or self._server.alive()
        return again and alive and not self.openai.is_closed()

    def _last_words(self) -> str:
        if self._server is None:
            return f"Check the server at {str(self.openai.base_url).removesuffix('/')}."
        return self._server.last_words()

    def _failure(self, error: openai.OpenAIError) -> str:
        if too_much := excess(error):
            return f"{self.openai.base_url} {too_much}."
        connected = type(error.__cause__).__name__ != "ConnectTimeout"  # httpx, or its heir
        if isinstance(error, openai.APITimeoutError) and connected:
            return (
                f"vLLM did not answer within {self._timeout_s:.0f} s; raise "
                "model.server.request_timeout_s if it only needs longer."
            )
        failure = f"The vLLM server failed a request ({type(error).__name__}: {_words(error)})."
        return f"{failure} {self._last_words()}"


def _refusal(error: openai.BadRequestError, grammar: Grammar | None) -> ConfigError:
    what = f"the request with the grammar {grammar.name!r}" if grammar else "the request"
    return ConfigError(f"vLLM refused {what}: {_words(error)}")


def _words(error: Exception) -> str:
    """What the server said, without the client's wrapping."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    words = str(message or error).strip()
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
