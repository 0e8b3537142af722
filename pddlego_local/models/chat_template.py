"""Chat templates, which are third-party programs, so each one is tried before it is
used.

A template that states today's date gets a fixed date, so that prompts do not change
from day to day.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.models.cache import made_once
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.thinking import Thinking, read_thinking

DATE = "26 Jul 2024"
"""The date that Llama 3.1's template states if none is given."""

_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")
_CLOCK = "strftime_now"  # the function that transformers and vLLM give templates
_STOPPED = "{%- macro " + _CLOCK + "(format) -%}" + DATE + "{%- endmacro -%}"


def dated(template: str) -> str:
    """Returns the template with its date fixed to `DATE`; unchanged if it asks for no
    date.
    """
    return _STOPPED + template if _CLOCK in template else template


def check_template(
    folder: Path, template: str, special_tokens: Mapping[str, Any]
) -> None:
    """Renders one question with the template. Raises ConfigError if this fails."""
    asked = [{"role": "user", "content": "?"}]
    rendered(folder, template, asked, special_tokens)


def rendered(
    folder: Path,
    template: str,
    messages: list[dict[str, str]],
    arguments: Mapping[str, Any],
) -> str:
    """Returns the prompt that a model's template makes of the messages. Raises
    ConfigError if this fails.
    """
    from transformers.utils.chat_template_utils import render_jinja_template

    with rendering(str(folder)):
        conversations: Any = [messages]
        prompts: Any = render_jinja_template(
            conversations,
            chat_template=template,
            add_generation_prompt=True,
            **arguments,
        )
        return str(prompts[0][0])


def thinking_of(folder: Path, weights: str) -> Thinking | None:
    """Returns how the model in this folder thinks (`read_thinking`).

    The result is None if there is no chat template. Raises ConfigError if the template
    or the tokenizer cannot be read, or if the template does not show it.
    """
    template = dated(_template_of(folder))
    tokenizer = LocalTokenizer.of(weights, folder)
    if not template:
        return None
    special_tokens = dict.fromkeys(_SPECIAL, "")

    def render(messages: list[dict[str, str]], arguments: dict[str, Any]) -> str:
        return rendered(folder, template, messages, special_tokens | arguments)

    def is_token(marker: str) -> bool:
        return tokenizer is not None and len(tokenizer.encode(marker)) == 1

    return read_thinking(render, is_token, weights)


def check_template_of(folder: Path) -> None:
    """Checks the template in a model's folder, if there is one, as `check_template`
    does.
    """
    if template := _template_of(folder):
        check_template(folder, template, dict.fromkeys(_SPECIAL, ""))


@contextlib.contextmanager
def rendering(name: str) -> Iterator[None]:
    """Turns every exception that a template raises within the block into a
    ConfigError.
    """
    try:
        yield
    except Exception as error:  # a template can raise any exception
        raise ConfigError(
            f"model.weights: the chat template of {name} fails ({error!s:.300}); choose"
            " another model, or a folder with another template."
        ) from error


def dated_file(folder: Path) -> Path | None:
    """Returns a file with the template of a model's folder and a fixed date.

    The result is None if the template asks for no date.
    """
    own = _template_of(folder)
    template = dated(own)
    if template == own:
        return None
    name = f"template-{hashlib.sha256(template.encode()).hexdigest()[:16]}"
    file = "chat_template.jinja"
    return (
        made_once(
            name, lambda made: (made / file).write_text(template, encoding="utf-8")
        )
        / file
    )


def _template_of(folder: Path) -> str:
    """Returns the folder's template; "" if it has none or several."""
    own, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    with rendering(str(folder)):
        if own.is_file():
            return own.read_text(encoding="utf-8")
        template = object_of(config).get("chat_template") if config.is_file() else None
    return template if isinstance(template, str) else ""
