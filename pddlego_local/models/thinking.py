"""How a reasoning model separates its thought from its answer."""

from collections.abc import Callable
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError

Render = Callable[[list[dict[str, str]], dict[str, Any]], str]
IsToken = Callable[[str], bool]

_SWITCHES = ("enable_thinking", "thinking")
_THOUGHT = "Perhaps it rains."
_ASKED = [{"role": "user", "content": "?"}]
# A template that knows thoughts leaves out those of earlier answers.
_ANSWERED = [
    *_ASKED,
    {"role": "assistant", "content": f"<think>{_THOUGHT}</think>Yes."},
    *_ASKED,
]


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


def read_thinking(render: Render, is_token: IsToken, weights: str) -> Thinking | None:
    """Returns how a model thinks, as its chat template shows; None if it never does.

    `render(messages, arguments)` returns the prompt that the template makes of messages
    and of its own arguments, and `is_token(marker)` says whether a text is one token.
    Raises ConfigError if the template knows thoughts and does not show whether an
    answer begins with one: a grammar would then apply within an open thought.
    """
    usual = Thinking()
    markers_known = is_token(usual.start) and is_token(usual.end)
    switch = _switch(render)
    if switch and markers_known:
        return Thinking(switch=switch)
    asked = render(_ASKED, {})
    if asked.rstrip().endswith(usual.start) and markers_known:
        # The qwen3 parser of vLLM would end an open thought at a call of a tool.
        return Thinking(switch=None, parser="deepseek_r1")
    if switch or _THOUGHT not in render(_ANSWERED, {}):
        raise ConfigError(
            f"model.thinking=auto: the chat template of {weights} knows thoughts, but"
            " does not show how they begin and end. Write model.thinking=null if the"
            " model never thinks, 'model.thinking={switch: null}' if it always does,"
            " or its {start, end, switch, parser}."
        )
    return None


def _switch(render: Render) -> str | None:
    """Returns the argument that changes the template's prompt, if there is one."""
    for name in _SWITCHES:
        if render(_ASKED, {name: True}) != render(_ASKED, {name: False}):
            return name
    return None
