"""The requests for answers, which are drawn in one piece or in stages, one or several
at once.

Outlines writes the constraint of a request. This module sends the request itself,
because Outlines keeps only the text: no token counts, no finish reason, no thought. An
answer in stages begins as a chat completion and continues as plain completions, from
exactly the tokens that were drawn before. An answer that begins with forced text is a
plain completion from the start, after the tokens of the chat's prompt.
"""

import dataclasses
import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from outlines.models.vllm import VLLMTypeAdapter
from outlines.types import CFG, JsonSchema

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.request import continues, plain_text
from pddlego_local.models.splice import Tokenizer, splice
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.models.vllm.answer import (
    Answers,
    ChatChoice,
    TextChoice,
    Watch,
    required,
)
from pddlego_local.models.vllm.connection import Connection, reason_of_failure
from pddlego_local.models.vllm.plausible import check_spelling

# All settings are stated. Otherwise a server would use the model's generation_config
# (Qwen's has top_k 20 and a repetition penalty), and models would differ in more than
# their weights.
_NEUTRAL: dict[str, Any] = {
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
_WITH_TOKENS = {"return_token_ids": True}


class VllmClient:
    """Requests answers from a server; thread-safe.

    `thinking` describes how the model thinks; None means that it does not. `tokenizer`
    is the model's own tokenizer in this process; None means that only the server has
    it.
    """

    def __init__(
        self,
        connection: Connection,
        thinking: Thinking | None,
        tokenizer: Tokenizer | None = None,
        *,
        as_response_format: bool = False,
    ) -> None:
        """Sets up the client.

        With `as_response_format`, JSON schemas are sent in OpenAI's `response_format`,
        and all other grammars are refused.
        """
        self.connection = connection
        self._as_response_format = as_response_format
        self._thinking = thinking
        self._tokenizer = tokenizer or connection
        self._plain_text = plain_text(self._tokenizer)

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None,
    ) -> Completion:
        """Requests one answer; see `VllmModel.complete`."""
        start = time.perf_counter()
        if prefix is None:
            response = self._chat_or_lost(messages, grammar, sampling)
            if response is None:
                return _lost(start)
            return _completion(response, response.choices[0], grammar, sampling, start)
        if not continues(prefix, sampling):
            watched = prefix.watch and not sampling.thinking
            if not (prefix.forced_prefix or watched):
                return self._first_stage(messages, grammar, sampling, start)
            prompt = self._prompt(messages, sampling)
            opening = self.connection.tokenize(**prompt).tokens
            prefix = dataclasses.replace(prefix, opening=opening)
        return self._next_stage(grammar, sampling, prefix, start)

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        """Requests `count` answers at once; see `VllmModel.complete_many`."""
        start = time.perf_counter()
        response = self._chat_or_lost(messages, grammar, sampling, count, _WITH_TOKENS)
        if response is None:
            return (_lost(start),) * count
        choices = sorted(response.choices, key=lambda choice: choice.index)
        return tuple(
            _completion(response, choice, grammar, sampling, start)
            for choice in choices
        )

    def _chat(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
        extra: dict[str, Any],
    ) -> Answers[ChatChoice]:
        """Requests `count` answers; the server draws answer i from the seed plus i."""
        prompt = self._prompt(messages, sampling)
        body = {**prompt, "n": count, **self._sampling_fields(sampling, grammar)}
        if not prompt["chat_template_kwargs"]:
            del body["chat_template_kwargs"]  # other servers may not know it

        def room() -> int:
            counted = self.connection.tokenize(**prompt)
            return counted.max_model_len - counted.count

        return self.connection.answer(
            "chat/completions", body | extra, Answers[ChatChoice], room
        )

    def _chat_or_lost(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int = 1,
        extra: dict[str, Any] | None = None,
    ) -> Answers[ChatChoice] | None:
        """Requests answers as `_chat` does; None if the server cannot give them.

        A reasoning model may end its thought in a way that its grammar forbids. vLLM's
        parser "qwen3" takes a call of a tool for such an end, and vLLM then fails the
        request. The same seed draws the same thought again, so no later try can help.
        So an answer is lost if a healthy server fails its request twice in one way.
        """
        asked = (messages, grammar, sampling, count, extra or {})
        try:
            return self._chat(*asked)
        except ModelFault as first:
            reason = reason_of_failure(first)
            if grammar is None or not sampling.thinking or not reason:
                raise
        try:
            return self._chat(*asked)
        except ModelFault as second:
            is_same = reason_of_failure(second) == reason
            if not is_same or not self.connection.is_healthy():
                raise
        return None

    def _prompt(self, messages: Messages, sampling: Sampling) -> dict[str, Any]:
        """Returns the arguments from which the chat template renders the prompt."""
        arguments = template_arguments(
            self._thinking, sampling.thinking, self.connection.name
        )
        return {
            "messages": self._plain_text(messages),
            "chat_template_kwargs": arguments,
        }

    def _first_stage(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        start: float,
    ) -> Completion:
        """Requests the first stage as a chat completion, whose tokens the later stages
        need.
        """
        response = self._chat_or_lost(messages, grammar, sampling, 1, _WITH_TOKENS)
        if response is None:
            return _lost(start)
        (choice,) = response.choices
        completion = _completion(response, choice, grammar, sampling, start)
        tokens = choice.spelled
        begin = 0
        if completion.finish_reason == "unfinished_thought":
            begin = len(tokens)
        elif sampling.thinking and self._markers[1] in tokens:
            # The answer follows the first end of thought.
            begin = tokens.index(self._markers[1]) + 1
        if choice.finish_reason == "stop":
            # Nothing continues a text that its limit cut.
            self._check_spelling(tokens[begin:], completion.text)
        asked = required("prompt_token_ids", response.prompt_token_ids)
        opening = asked + tokens[:begin]
        prefix = Prefix(completion.text, opening, tokens[begin:])
        return dataclasses.replace(completion, prefix=prefix)

    def _next_stage(
        self, grammar: Grammar | None, sampling: Sampling, prefix: Prefix, start: float
    ) -> Completion:
        """Requests a plain completion of the tokens of `prefix`."""
        tokens, forced = splice(prefix, self._tokenizer)
        before = [*prefix.opening, *tokens]
        self._check_gate(before)
        fields = self._sampling_fields(sampling, grammar)
        fields["max_tokens"] = max(1, sampling.max_tokens - forced)
        body = {"prompt": before, **_WITH_TOKENS, **fields}

        def room() -> int:
            return self.connection.tokenize(prompt="").max_model_len - len(before)

        watch = Watch(prefix.watch) if prefix.watch else None
        response = self.connection.answer(
            "completions", body, Answers[TextChoice], room, watch
        )
        (choice,) = response.choices
        stopped = watch is not None and watch.stopped
        if stopped or choice.finish_reason == "stop":
            self._check_spelling(choice.spelled, choice.text)
        return Completion(
            text=choice.text,
            finish_reason="circle" if stopped else choice.finish_reason,
            prompt_tokens=response.usage.prompt_tokens - forced,
            completion_tokens=response.usage.completion_tokens + forced,
            latency_s=time.perf_counter() - start,
            prefix=Prefix(
                prefix.continued + choice.text, prefix.opening, tokens + choice.spelled
            ),
            forced_tokens=forced,
        )

    def _sampling_fields(
        self, sampling: Sampling, grammar: Grammar | None
    ) -> dict[str, Any]:
        return {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            **_NEUTRAL,
            **self._constraint(grammar),
        }

    def _constraint(self, grammar: Grammar | None) -> dict[str, Any]:
        if grammar is None:
            return {}
        if not self._as_response_format:
            kind = CFG if grammar.kind == "lark" else JsonSchema
            return VLLMTypeAdapter().format_output_type(kind(grammar.text))
        if grammar.kind == "lark":
            raise ConfigError(
                f"The server of {self.connection.name} accepts no grammars except JSON"
                " schemas; choose decoding=free or decoding=json, or use vLLM as the"
                " server."
            )
        # Outlines' own adapter would forbid unnamed keys, which edits need.
        named = {"name": "answer", "strict": True, "schema": json.loads(grammar.text)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _check_spelling(self, tokens: Sequence[int], text: str) -> None:
        try:
            spelled = self._tokenizer.decode(tokens)
        except ConfigError:
            return  # a gateway has no /detokenize: the error comes where it is needed
        check_spelling(spelled, text)

    def _check_gate(self, before: Sequence[int]) -> None:
        """Raises an error if the server's reasoning parser would suspend the grammar.

        The parser silently waits for the end of a thought in the prompt; without one,
        the rest of the answer would be drawn without its grammar.
        """
        if self._thinking is None:
            return
        markers = [token for token in before if token in self._markers]
        if not markers:
            raise ConfigError(
                f"The chat template of {self.connection.name} does not end a thought,"
                " so no grammar would apply to the later stages of an answer; set"
                " model.thinking=null (and start your own server without"
                " --reasoning-parser)."
            )
        if markers[-1] != self._markers[1]:
            raise ModelFault(
                f"An answer in stages holds {self._thinking.start}: no grammar would"
                " apply to the rest of the answer."
            )

    @cached_property
    def _markers(self) -> tuple[int, int]:
        """The tokens that begin and end a thought. Raises ConfigError if a marker is no
        token.
        """
        assert self._thinking is not None
        start = self._marker("start", self._thinking.start)
        return start, self._marker("end", self._thinking.end)

    def _marker(self, key: str, marker: str) -> int:
        tokens = self.connection.encode(marker)
        if len(tokens) != 1:
            raise ConfigError(
                f"model.thinking.{key}: {marker!r} is not one token of"
                f" {self.connection.name}; give the marker as the model's tokenizer"
                " spells it."
            )
        return tokens[0]


def _lost(start: float) -> Completion:
    """Returns the completion of a request that the server could not answer."""
    return Completion(
        text="",
        finish_reason="server_failed",
        prompt_tokens=0,
        completion_tokens=0,
        latency_s=time.perf_counter() - start,
    )


def _completion(
    response: Answers[ChatChoice],
    choice: ChatChoice,
    grammar: Grammar | None,
    sampling: Sampling,
    start: float,
) -> Completion:
    """Converts a choice of a chat completion: a whole answer, or the first stage of
    one. `start` is the moment of the request.
    """
    text = choice.text(thinking=sampling.thinking, constrained=grammar is not None)
    unfinished = choice.is_thought or (sampling.thinking and not text)
    tokens = response.usage.completion_tokens
    if len(response.choices) > 1:
        tokens = len(choice.drawn)
    return Completion(
        text=text,
        finish_reason="unfinished_thought" if unfinished else choice.finish_reason,
        prompt_tokens=response.usage.prompt_tokens,
        completion_tokens=tokens,
        latency_s=time.perf_counter() - start,
        thought=choice.message.thought,
    )
