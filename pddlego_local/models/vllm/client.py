"""The requests for answers: made through Outlines, whole or in stages, one or many.

Outlines writes the constrained request. Sending it is ours, because Outlines keeps the text only:
no token counts, no finish reason, no thought. An answer in stages begins as a chat completion and
goes on as plain completions, from the very tokens that were drawn before. One that begins with
forced text is a plain completion from the start, behind the tokens of the chat's prompt.
"""

import dataclasses
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import outlines
from outlines.inputs import Chat
from outlines.types import CFG, JsonSchema

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.continuation import begins_forced, continues
from pddlego_local.models.plain_text import PlainText
from pddlego_local.models.seam import Tokenizer, seam
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.models.vllm import answer
from pddlego_local.models.vllm.connection import Connection

# Stated in full: a server would fill gaps from the model's generation_config (Qwen's has top_k 20
# and a repetition penalty), and models would differ in more than their weights.
_NEUTRAL: dict[str, Any] = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
_WITH_TOKENS = {"return_token_ids": True}


class VllmClient:
    """Thread-safe. `thinking` is how the model thinks, None if it does not. `tokenizer` is the
    model's own in this process, None where only the server has it."""

    def __init__(
        self, connection: Connection, thinking: Thinking | None, tokenizer: Tokenizer | None = None
    ) -> None:
        self._connection = connection
        self._thinking = thinking
        self._tokenizer = tokenizer or connection
        self._plain_text = PlainText(self._tokenizer)
        self._outlines: Any = outlines.from_vllm(connection.openai, connection.name)

    def close(self) -> None:
        self._connection.close()

    def version(self) -> str:
        return self._connection.version()

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """See `VllmModel.complete`."""
        start = time.perf_counter()
        if prefix is not None and begins_forced(prefix, sampling):
            opening = self._connection.tokenize(**self._prompt(messages, sampling)).tokens
            prefix = dataclasses.replace(prefix, opening=opening)
        if prefix is not None and continues(prefix):
            return self._continue(grammar, sampling, prefix, start)
        extra = {} if prefix is None else _WITH_TOKENS
        response = self._chat(messages, grammar, sampling, 1, extra)
        completion = answer.whole(
            response.choices[0],
            thinking=sampling.thinking,
            prompt_tokens=response.usage.prompt_tokens,
            completion_tokens=response.usage.completion_tokens,
            latency_s=time.perf_counter() - start,
            forced_tokens=response.forced_tokens,
        )
        if prefix is None:
            return completion
        end_of_thought = self._markers[1] if sampling.thinking else None
        begun = answer.begun(completion, response, end_of_thought)
        return dataclasses.replace(completion, prefix=begun)

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """See `VllmModel.complete_many`."""
        start = time.perf_counter()
        response = self._chat(messages, grammar, sampling, count, _WITH_TOKENS)
        latency_s = time.perf_counter() - start
        if len(response.choices) != count:
            raise ModelFault(f"{len(response.choices)} answers came where {count} were asked for.")
        return tuple(
            answer.whole(
                choice,
                thinking=sampling.thinking,
                prompt_tokens=response.usage.prompt_tokens,
                completion_tokens=len(answer.drawn_tokens(choice)),
                latency_s=latency_s,
            )
            for choice in sorted(response.choices, key=lambda choice: choice.index)
        )

    def _chat(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
        extra: dict[str, Any],
    ) -> answer.ChatAnswers:
        """`count` answers to a prompt; the server draws the i-th from the seed + i."""
        prompt = self._prompt(messages, sampling)
        arguments = prompt["chat_template_kwargs"]
        chosen = {"chat_template_kwargs": arguments} if arguments else {}
        request = self._outlines._build_client_args(
            Chat(prompt["messages"]),
            _output_type(grammar),
            n=count,
            extra_body=_NEUTRAL | chosen | extra,
            **_drawn_as(sampling),
        )

        def room() -> int:
            counted = self._connection.tokenize(**prompt)
            return counted.max_model_len - counted.count

        send = self._connection.openai.chat.completions.with_raw_response.create
        return self._connection.answer(send, request, answer.ChatAnswers, grammar, room)

    def _prompt(self, messages: Messages, sampling: Sampling) -> dict[str, Any]:
        """What the chat template makes a prompt of."""
        arguments = template_arguments(self._thinking, sampling.thinking, self._connection.name)
        chat = [{"role": m.role, "content": m.content} for m in self._plain_text(messages)]
        return {"messages": chat, "chat_template_kwargs": arguments}

    def _continue(
        self, grammar: Grammar | None, sampling: Sampling, prefix: Prefix, start: float
    ) -> Completion:
        begun = seam(prefix, self._tokenizer)
        before = [*prefix.opening, *begun.tokens]
        self._check_gate(before)
        output_type = self._outlines.type_adapter.format_output_type(_output_type(grammar))
        request = {
            "model": self._connection.name,
            "prompt": "",  # the client would take 0.1 s to look through 5,000 tokens one by one
            "extra_body": {"prompt": before} | _NEUTRAL | _WITH_TOKENS | output_type,
            **_drawn_as(sampling),
            "max_tokens": max(1, sampling.max_tokens - begun.forced),
        }

        def room() -> int:
            return self._connection.tokenize(prompt="").max_model_len - len(before)

        send = self._connection.openai.completions.with_raw_response.create
        response = self._connection.answer(send, request, answer.TextAnswers, grammar, room)
        choice = response.choices[0]
        whole_tokens = (*begun.tokens, *answer.without_end(choice))
        return Completion(
            text=choice.text,
            finish_reason=answer.ending(choice),
            prompt_tokens=response.usage.prompt_tokens - begun.forced,
            completion_tokens=response.usage.completion_tokens + begun.forced,
            latency_s=time.perf_counter() - start,
            prefix=Prefix(prefix.continued + choice.text, prefix.opening, whole_tokens),
            forced_tokens=begun.forced + response.forced_tokens,
        )

    def _check_gate(self, before: Sequence[int]) -> None:
        """The server's reasoning parser holds a grammar back until the prompt ends a thought.

        It would do so in silence: the rest of the answer would be drawn without its grammar.
        """
        if self._thinking is None:
            return
        last = next((token for token in reversed(before) if token in self._markers), None)
        if last is None:
            raise ConfigError(
                f"The chat template of {self._connection.name} ends no thought, so that no grammar "
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
        markers = []
        for key in ("start", "end"):
            marker = getattr(self._thinking, key)
            tokens = self._connection.encode(marker)
            if len(tokens) != 1:
                raise ConfigError(
                    f"model.thinking.{key}: {marker!r} is not one token of "
                    f"{self._connection.name}; give the marker as the model's tokenizer spells it."
                )
            markers.append(tokens[0])
        return markers[0], markers[1]


def _drawn_as(sampling: Sampling) -> dict[str, Any]:
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
    }


def _output_type(grammar: Grammar | None) -> CFG | JsonSchema | None:
    if grammar is None:
        return None
    return CFG(grammar.text) if grammar.kind == "lark" else JsonSchema(grammar.text)
