"""The requests for answers: made through Outlines, whole or in stages, one or many.

Outlines writes the constraint of a request. Sending it is ours, because Outlines keeps the text
only: no token counts, no finish reason, no thought. An answer in stages begins as a chat completion
and goes on as plain completions, from the very tokens that were drawn before. One that begins with
forced text is a plain completion from the start, behind the tokens of the chat's prompt.
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
from pddlego_local.models.vllm.answer import Answers, ChatChoice, TextChoice, required
from pddlego_local.models.vllm.connection import Connection

# Stated in full: a server would fill gaps from the model's generation_config (Qwen's has top_k 20
# and a repetition penalty), and models would differ in more than their weights.
_NEUTRAL: dict[str, Any] = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
_WITH_TOKENS = {"return_token_ids": True}


class VllmClient:
    """Thread-safe. `thinking` is how the model thinks, None if it does not. `tokenizer` is the
    model's own in this process, None where only the server has it."""

    def __init__(
        self,
        connection: Connection,
        thinking: Thinking | None,
        tokenizer: Tokenizer | None = None,
        *,
        as_response_format: bool = False,
    ) -> None:
        """`as_response_format`: JSON schemas are sent as OpenAI's servers take them, and no other
        grammar can be."""
        self.connection = connection
        self._as_response_format = as_response_format
        self._thinking = thinking
        self._tokenizer = tokenizer or connection
        self._plain_text = plain_text(self._tokenizer)

    def complete(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, prefix: Prefix | None
    ) -> Completion:
        """See `VllmModel.complete`."""
        start = time.perf_counter()
        watched = prefix is not None and prefix.watch and not sampling.thinking
        if prefix and (prefix.forced_prefix or watched) and not continues(prefix, sampling):
            opening = self.connection.tokenize(**self._prompt(messages, sampling)).tokens
            prefix = dataclasses.replace(prefix, opening=opening)
        if prefix and prefix.opening:
            return self._continue(grammar, sampling, prefix, start)
        response = self._chat(
            messages, grammar, sampling, 1, {} if prefix is None else _WITH_TOKENS
        )
        latency_s = time.perf_counter() - start
        completion = _completion(response, response.choices[0], grammar, sampling, latency_s)
        if prefix is None:
            return completion
        return dataclasses.replace(completion, prefix=self._begun(completion, response, sampling))

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """See `VllmModel.complete_many`."""
        start = time.perf_counter()
        response = self._chat(messages, grammar, sampling, count, _WITH_TOKENS)
        latency_s = time.perf_counter() - start
        return tuple(
            _completion(response, choice, grammar, sampling, latency_s)
            for choice in sorted(response.choices, key=lambda choice: choice.index)
        )

    def _chat(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
        extra: dict[str, Any],
    ) -> Answers[ChatChoice]:
        """`count` answers to a prompt; the server draws the i-th from the seed + i."""
        prompt = self._prompt(messages, sampling)
        chosen = {key: value for key, value in prompt.items() if value}
        body = chosen | {"n": count} | self._drawn_as(sampling, grammar) | extra

        def room() -> int:
            counted = self.connection.tokenize(**prompt)
            return counted.max_model_len - counted.count

        kind = Answers[ChatChoice]
        response = self.connection.answer("chat/completions", body, kind, grammar, room)
        if len(response.choices) != count:
            raise ModelFault(f"{len(response.choices)} answers came where {count} were asked for.")
        return response

    def _prompt(self, messages: Messages, sampling: Sampling) -> dict[str, Any]:
        """What the chat template makes a prompt of."""
        arguments = template_arguments(self._thinking, sampling.thinking, self.connection.name)
        return {"messages": self._plain_text(messages), "chat_template_kwargs": arguments}

    def _begun(
        self, completion: Completion, response: Answers[ChatChoice], sampling: Sampling
    ) -> Prefix:
        """What the first part of an answer is continued from: the answer begins behind the first
        token that ends a thought."""
        tokens = response.choices[0].spelled
        end_of_thought = self._markers[1] if sampling.thinking else None
        begin = tokens.index(end_of_thought) + 1 if end_of_thought in tokens else 0
        if completion.finish_reason == "unfinished_thought":
            begin = len(tokens)
        opening = required("prompt_token_ids", response.prompt_token_ids) + tokens[:begin]
        return Prefix(completion.text, opening, tokens[begin:])

    def _continue(
        self, grammar: Grammar | None, sampling: Sampling, prefix: Prefix, start: float
    ) -> Completion:
        tokens, forced = splice(prefix, self._tokenizer)
        before = [*prefix.opening, *tokens]
        self._check_gate(before)
        body = {"prompt": before, **_WITH_TOKENS, **self._drawn_as(sampling, grammar)}
        body["max_tokens"] = max(1, sampling.max_tokens - forced)

        def room() -> int:
            return self.connection.tokenize(prompt="").max_model_len - len(before)

        response = self.connection.answer(
            "completions", body, Answers[TextChoice], grammar, room, prefix.watch
        )
        choice = response.choices[0]
        whole = Prefix(prefix.continued + choice.text, prefix.opening, tokens + choice.spelled)
        return Completion(
            text=choice.text,
            finish_reason=choice.finish_reason,
            prompt_tokens=response.usage.prompt_tokens - forced,
            completion_tokens=response.usage.completion_tokens + forced,
            latency_s=time.perf_counter() - start,
            prefix=whole,
            forced_tokens=forced + response.forced_tokens,
        )

    def _drawn_as(self, sampling: Sampling, grammar: Grammar | None) -> dict[str, Any]:
        return {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            **_NEUTRAL,
            **self._constraint(grammar),
        }

    def _constraint(self, grammar: Grammar | None) -> dict[str, Any]:
        if grammar is None or not self._as_response_format:
            kind = CFG if grammar and grammar.kind == "lark" else JsonSchema
            return VLLMTypeAdapter().format_output_type(grammar and kind(grammar.text))
        if grammar.kind == "lark":
            raise ConfigError(
                f"The server of {self.connection.name} takes JSON schemas and no other grammar; "
                "choose decoding=free or decoding=json, or vLLM as the server."
            )
        # Outlines' own adapter would forbid all keys but named ones, and edits have others.
        named = {"name": "answer", "strict": True, "schema": json.loads(grammar.text)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _check_gate(self, before: Sequence[int]) -> None:
        """The server's reasoning parser holds a grammar back until the prompt ends a thought.

        It would do so in silence: the rest of the answer would be drawn without its grammar.
        """
        if self._thinking is None:
            return
        last = next((token for token in reversed(before) if token in self._markers), None)
        if last is None:
            raise ConfigError(
                f"The chat template of {self.connection.name} ends no thought, so that no grammar "
                "would apply to the later stages of an answer; set model.thinking=null (and start "
                "a server of your own without --reasoning-parser)."
            )
        if last != self._markers[1]:
            raise ModelFault(
                f"An answer in stages holds {self._thinking.start}: no grammar would apply to the "
                "rest of it."
            )

    @cached_property
    def _markers(self) -> tuple[int, int]:
        """The tokens that begin and end a thought; ConfigError if one is not one token."""
        assert self._thinking is not None
        return self._marker("start", self._thinking.start), self._marker("end", self._thinking.end)

    def _marker(self, key: str, marker: str) -> int:
        tokens = self.connection.encode(marker)
        if len(tokens) != 1:
            raise ConfigError(
                f"model.thinking.{key}: {marker!r} is not one token of {self.connection.name}; "
                "give the marker as the model's tokenizer spells it."
            )
        return tokens[0]


def _completion(
    response: Answers[ChatChoice],
    choice: ChatChoice,
    grammar: Grammar | None,
    sampling: Sampling,
    latency_s: float,
) -> Completion:
    """A choice of a chat completion: a whole answer, or the first part of one in stages."""
    text = choice.text(thinking=sampling.thinking, constrained=grammar is not None)
    unfinished = choice.is_thought or (sampling.thinking and not text)
    alone = len(response.choices) == 1
    return Completion(
        text=text,
        finish_reason="unfinished_thought" if unfinished else choice.finish_reason,
        prompt_tokens=response.usage.prompt_tokens,
        completion_tokens=response.usage.completion_tokens if alone else len(choice.drawn),
        latency_s=latency_s,
        thought=choice.message.thought,
        forced_tokens=response.forced_tokens,
    )
