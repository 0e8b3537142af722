"""How a reasoning model separates its thought from its answer."""

from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Thinking:
    """The markers around a thought, and how thinking is turned on and off.

    `switch` is the chat template's variable that turns thinking off ("enable_thinking"
    for Qwen3); None means that the model always thinks. `parser` is vLLM's name for the
    reasoning parser, which excludes the thought from the grammar.
    """

    start: str = "<think>"
    end: str = "</think>"
    switch: str | None = "enable_thinking"
    parser: str = "qwen3"

    @property
    def markers(self) -> tuple[str, str]:
        return self.start, self.end


def template_arguments(
    thinking: Thinking | None, on: bool, weights: str
) -> dict[str, bool]:
    """Returns the arguments for the chat template that turn thinking on or off.

    Raises ConfigError if the model does not support the requested mode.
    """
    if thinking is None:
        if on:
            raise ConfigError(
                f"decoding.reason=think, but {weights} is not configured as a reasoning"
                " model; set decoding.reason=none or give model.thinking its markers."
            )
        return {}
    if thinking.switch is None:
        if not on:
            raise ConfigError(
                f"{weights} always thinks, which decoding.reason=none and"
                " decoding.reason=draft rule out; set decoding.reason=think."
            )
        return {}
    return {thinking.switch: on}


def detected(tokenizer: Any) -> Thinking | None:
    """Returns the markers and switch found in the tokenizer and its chat template, if
    any.
    """
    thinking = Thinking()
    if not {thinking.start, thinking.end} <= tokenizer.get_vocab().keys():
        return None
    template = tokenizer.chat_template or ""
    if thinking.switch and thinking.switch in template:
        return thinking
    opened = template and tokenizer.apply_chat_template(
        [{"role": "user", "content": "?"}], tokenize=False, add_generation_prompt=True
    ).rstrip().endswith(thinking.start)
    return Thinking(switch=None) if opened else None
