"""The requests to a vLLM server and what their failures mean; knows nothing of who runs it.

Outlines writes the constrained request. Sending it is ours, because Outlines keeps the text only:
no token counts, no finish reason, no thought.
"""

import time
from collections.abc import Callable
from typing import Any

import openai
import outlines
import tenacity
from outlines.inputs import Chat
from outlines.types import CFG, JsonSchema

from pddlego_local.core import Completion, Grammar, Prompt, Sampling
from pddlego_local.errors import ConfigError, ModelFault, PromptTooLong

# Stated in full: a server would fill gaps from the model's generation_config (Qwen's has top_k 20
# and a repetition penalty), and models would differ in more than their weights.
_NEUTRAL: dict[str, Any] = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}


class VllmClient:
    """Thread-safe. `alive` tells whether the server may still answer, `last_words` its end."""

    def __init__(
        self,
        url: str,
        api_key: str,
        name: str,
        *,
        timeout_s: float,
        proxies: bool,
        alive: Callable[[], bool],
        last_words: Callable[[], str],
    ) -> None:
        self._client = openai.OpenAI(
            base_url=url,
            api_key=api_key,
            max_retries=0,  # ours are in _post
            timeout=timeout_s,
            http_client=openai.DefaultHttpxClient(trust_env=proxies),
        )
        self._outlines: Any = outlines.from_vllm(self._client, name)
        self._name = name
        self._timeout_s = timeout_s
        self._alive = alive
        self._last_words = last_words

    def close(self) -> None:
        self._client.close()

    def complete(
        self,
        prompt: Prompt,
        grammar: Grammar | None,
        sampling: Sampling,
        arguments: dict[str, bool],
    ) -> Completion:
        """See `VllmModel.complete`; `arguments` are the chat template's."""
        start = time.perf_counter()
        response = self._ask(prompt, grammar, sampling, arguments)
        return _completion(response, sampling.thinking, time.perf_counter() - start)

    def version(self) -> str:
        """The server's vLLM version, "unknown" behind a gateway that passes /v1 only."""
        try:
            answer = self._client.get(
                str(self._client.base_url.join("../version")), cast_to=dict[str, Any]
            )
        except openai.APIConnectionError as error:
            raise ModelFault(self._obituary(error)) from error
        except openai.APIStatusError:
            return "unknown"
        return str(answer.get("version", "unknown"))

    def _ask(
        self,
        prompt: Prompt,
        grammar: Grammar | None,
        sampling: Sampling,
        arguments: dict[str, bool],
    ) -> Any:
        messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
        request = self._outlines._build_client_args(
            Chat(messages),
            _output_type(grammar),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            extra_body=_NEUTRAL | ({"chat_template_kwargs": arguments} if arguments else {}),
        )
        try:
            return self._post(request)
        except openai.BadRequestError as error:
            room = self._room(messages, arguments)
            if room is None or room >= sampling.max_tokens:
                raise _refusal(error, grammar) from error
        if room < 1:
            raise PromptTooLong(
                f"The prompt leaves no room in the context of {self._name}; raise "
                "model.context_tokens or shorten the prompt."
            )
        try:  # as many tokens as the context holds: the answer will end with "length"
            return self._post(request | {"max_tokens": room})
        except openai.BadRequestError as error:
            raise _refusal(error, grammar) from error

    def _post(self, request: dict[str, Any]) -> Any:
        """One chat completion. Raises BadRequestError as it is, all else as errors of ours."""
        try:
            for attempt in tenacity.Retrying(
                retry=tenacity.retry_if_exception(self._passing),
                stop=tenacity.stop_after_attempt(4),
                wait=tenacity.wait_exponential(multiplier=0.25, max=4),
                reraise=True,
            ):
                with attempt:
                    return self._client.chat.completions.create(**request)
        except openai.BadRequestError:
            raise
        except openai.AuthenticationError as error:
            raise ConfigError(
                f"The server at {self._client.base_url} refused the key; set model.server.api_key."
            ) from error
        except openai.NotFoundError as error:
            raise ConfigError(
                f"The server at {self._client.base_url} does not serve {request['model']!r}; set "
                f"model.server.name to a name that it serves. It said: {_words(error)}"
            ) from error
        except openai.APITimeoutError as error:
            raise ModelFault(
                f"vLLM did not answer within {self._timeout_s:.0f} s; raise "
                "model.server.request_timeout_s if it only needs longer."
            ) from error
        except openai.OpenAIError as error:
            raise ModelFault(self._obituary(error)) from error
        raise AssertionError("unreachable: tenacity reraises")

    def _passing(self, error: BaseException) -> bool:
        """Whether an error may be gone in a moment: a lost connection to a server that lives."""
        if isinstance(error, openai.APITimeoutError):
            return False
        again = isinstance(error, openai.APIConnectionError | openai.RateLimitError)
        return again and self._alive()

    def _obituary(self, error: openai.OpenAIError) -> str:
        said = f"The vLLM server failed a request ({type(error).__name__}: {_words(error)})."
        return f"{said} {self._last_words()}"

    def _room(self, messages: list[dict[str, str]], arguments: dict[str, bool]) -> int | None:
        """Tokens that the context has left after the prompt, by the server's own count."""
        body = {"model": self._name, "messages": messages}
        try:
            counted = self._client.post(
                str(self._client.base_url.join("../tokenize")),
                body=body | {"chat_template_kwargs": arguments},
                cast_to=dict[str, Any],
            )
        except openai.OpenAIError:
            return None
        return int(counted["max_model_len"]) - int(counted["count"])


def _output_type(grammar: Grammar | None) -> CFG | JsonSchema | None:
    if grammar is None:
        return None
    return CFG(grammar.text) if grammar.kind == "lark" else JsonSchema(grammar.text)


def _completion(response: Any, thinking: bool, latency_s: float) -> Completion:
    choice = response.choices[0]
    thought = getattr(choice.message, "reasoning", None) or ""
    text = choice.message.content or ""
    unfinished = thinking and not text
    if thought and not text and not thinking:
        raise ConfigError(
            "The server took the answer for a thought, and no grammar applied to it: it runs with "
            "a reasoning parser that model.thinking does not tell of; set model.thinking, or start "
            "the server without --reasoning-parser."
        )
    if choice.finish_reason not in ("stop", "length"):
        raise ModelFault(f"vLLM ended an answer with the unknown reason {choice.finish_reason!r}.")
    return Completion(
        text=text,
        finish_reason="unfinished_thought" if unfinished else choice.finish_reason,
        prompt_tokens=response.usage.prompt_tokens,
        completion_tokens=response.usage.completion_tokens,
        latency_s=latency_s,
        thought=thought,
    )


def _refusal(error: openai.BadRequestError, grammar: Grammar | None) -> ConfigError:
    what = f"the request with the grammar {grammar.name!r}" if grammar else "the request"
    return ConfigError(f"vLLM refused {what}: {_words(error)}")


def _words(error: Exception) -> str:
    """What the server said, without the client's wrapping."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error).strip()
