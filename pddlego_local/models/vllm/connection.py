"""The connection to one vLLM server: requests, retries, and what its failures mean."""

import contextlib
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import openai
import pydantic
import tenacity

from pddlego_local.core.errors import ConfigError, ModelFault, PromptTooLong
from pddlego_local.core.nouns import Grammar
from pddlego_local.models.vllm.answer import Body, Detokenized, Tokenized, Version
from pddlego_local.models.vllm.http import HttpClient, excess
from pddlego_local.models.vllm.server import VllmServer

_MOST_WORDS = 2_000

T = TypeVar("T", bound=Body)


class Refused(ConfigError):
    """HTTP 400."""


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
        self._http = HttpClient(proxies=server is None, timeout_s=timeout_s)
        # For the kinds of its errors; sending by it would take three times as long.
        self._openai = openai.OpenAI(base_url=url, api_key=api_key, http_client=self._http)
        self._url = str(self._openai.base_url).removesuffix("/")
        self._headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        self._address = functools.cache(self._openai.base_url.join)
        self._text_of = functools.lru_cache(maxsize=10_000)(self._detokenized)
        self._timeout_s = timeout_s
        self._server = server

    def close(self) -> None:
        """What is under way fails."""
        self._http.close()

    def answer(
        self,
        path: str,
        body: dict[str, Any],
        kind: type[T],
        grammar: Grammar | None,
        room: Callable[[], int],
    ) -> T:
        """The server's response, with as many tokens as the context holds if fewer than asked.

        `room` counts them, when they have to be known. Raises ConfigError for a request that the
        server refuses, PromptTooLong if not one token fits, ModelFault when the server fails.
        """
        try:
            try:
                return self._post(path, body, kind, grammar)
            except Refused:
                left = None
                with contextlib.suppress(ConfigError, ModelFault):
                    left = room()
                if left is None or left >= body["max_tokens"]:
                    raise
            if left < 1:
                raise PromptTooLong(
                    f"The prompt, with the prefix of its answer, leaves no room in the context of "
                    f"{self.name}; raise model.context_tokens or shorten the prompt."
                )
            # The answer will end with "length".
            return self._post(path, body | {"max_tokens": left}, kind, grammar)
        except openai.NotFoundError as error:
            raise ConfigError(
                f"The server at {self._url}/ does not serve {self.name!r}; set model.server.name "
                f"to a name that it serves. It said: {_words(error)}"
            ) from error

    def tokenize(self, **prompt: Any) -> Tokenized:
        """What the server says of a prompt. Raises ConfigError or ModelFault."""
        return self._ask_tokenizer("tokenize", prompt, Tokenized)

    def encode(self, text: str) -> tuple[int, ...]:
        """The tokens of a text that stands inside an answer. Raises as `tokenize`."""
        return self.tokenize(prompt=text, add_special_tokens=False).tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens. Raises as `tokenize`."""
        return self._text_of(tuple(tokens)) if tokens else ""

    def _detokenized(self, tokens: tuple[int, ...]) -> str:
        return self._ask_tokenizer("detokenize", {"tokens": tokens}, Detokenized).prompt

    def _ask_tokenizer(self, path: str, body: dict[str, Any], kind: type[T]) -> T:
        try:
            return self._post(f"../{path}", body, kind)
        except openai.NotFoundError as error:
            raise ConfigError(
                f"The server at {self._url}/ has no /{path}, which answers in stages need: point "
                "model.server.url at vLLM itself, not at a gateway, or choose decoding=syntax."
            ) from error

    def version(self) -> str:
        """The server's vLLM version, "unknown" behind a gateway that passes /v1 only."""
        try:
            return Version.model_validate_json(self._send("GET", "../version")).version
        except openai.APIConnectionError as error:
            raise ModelFault(self._failure(error)) from error
        except (openai.APIStatusError, pydantic.ValidationError):
            return "unknown"

    def _send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """What the server answers. Raises as the client library does."""
        address = self._address(path)
        request = self._http.build_request(method, address, content=body, headers=self._headers)
        response = self._http.send(request)
        if response.is_success:
            return bytes(response.content)
        raise self._openai._make_status_error_from_response(response)

    def _post(
        self, path: str, body: dict[str, Any], kind: type[T], grammar: Grammar | None = None
    ) -> T:
        """One request, and what it brought. Raises NotFoundError as it is, all else as errors of
        ours, Refused among them."""
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._passing),
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_exponential(multiplier=0.25, max=4),
            reraise=True,
        )
        try:
            said = json.dumps({"model": self.name, **body}).encode()
            return kind.model_validate_json(retrying(self._send, "POST", path, said))
        except openai.NotFoundError:
            raise
        except openai.BadRequestError as error:
            what = f"the request with the grammar {grammar.name!r}" if grammar else "the request"
            raise Refused(f"vLLM refused {what}: {_words(error)}") from error
        except openai.AuthenticationError as error:
            raise ConfigError(
                f"The server at {self._url}/ refused the key; set model.server.api_key."
            ) from error
        except openai.OpenAIError as error:
            raise ModelFault(self._failure(error)) from error
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            told = f"{place}: {first['msg']}, not {first['input']!r:.80}" if place else first["msg"]
            raise ModelFault(
                f"{self._url}/ did not answer as vLLM does ({told:.200}). {self._last_words()}"
            ) from error

    def _passing(self, error: BaseException) -> bool:
        """Whether an error may be gone in a moment: a lost connection to a server that lives."""
        if isinstance(error, openai.APITimeoutError) or excess(error):
            return False
        again = isinstance(error, openai.APIConnectionError | openai.RateLimitError)
        alive = self._server is None or self._server.alive()
        return again and alive and not self._http.is_closed

    def _last_words(self) -> str:
        return self._server.last_words() if self._server else f"Check the server at {self._url}."

    def _failure(self, error: openai.OpenAIError) -> str:
        if too_much := excess(error):
            return f"{self._url}/ {too_much}."
        connected = type(error.__cause__).__name__ != "ConnectTimeout"  # httpx, or its heir
        if isinstance(error, openai.APITimeoutError) and connected:
            return (
                f"vLLM did not answer within {self._timeout_s:.0f} s; raise "
                "model.server.request_timeout_s if it only needs longer."
            )
        failure = f"The vLLM server failed a request ({type(error).__name__}: {_words(error)})."
        return f"{failure} {self._last_words()}"


def _words(error: Exception) -> str:
    """What the server said, without the client's wrapping."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    words = str(message or error).strip()
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
