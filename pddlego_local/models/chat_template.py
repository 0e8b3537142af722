"""Chat templates, which are programs of strangers: they are tried before they are used, and where
they tell the model today's date it is the same date every day, so that a prompt is the same
tomorrow.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.models.cache import made_once

DATE = "26 Jul 2024"
"""What Llama 3.1's template says where it is given no date."""

_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")
_CLOCK = "strftime_now"  # what transformers and vLLM give templates
_STOPPED = "{%- macro " + _CLOCK + "(format) -%}" + DATE + "{%- endmacro -%}"


def dated(template: str) -> str:
    """The template with its clock stopped at `DATE`; the same one where it asks for no date."""
    return _STOPPED + template if _CLOCK in template else template


def check_template(folder: Path, template: str, special_tokens: Mapping[str, Any]) -> None:
    """Asks a question by it. Raises ConfigError if it fails."""
    from transformers.utils.chat_template_utils import render_jinja_template

    asked: Any = [[{"role": "user", "content": "?"}]]
    with rendering(str(folder)):
        render_jinja_template(
            asked, chat_template=template, add_generation_prompt=True, **special_tokens
        )


def check_template_of(folder: Path) -> None:
    """As `check_template`, of the template in a model's folder."""
    if template := _template_of(folder):
        check_template(folder, template, dict.fromkeys(_SPECIAL, ""))


@contextlib.contextmanager
def rendering(name: str) -> Iterator[None]:
    """What a template raises within the block is a ConfigError."""
    try:
        yield
    except Exception as error:  # whatever Python raises
        raise ConfigError(
            f"model.weights: the chat template of {name} makes no prompt ({error!s:.300}); choose "
            "another model, or a folder with another template."
        ) from error


def dated_file(folder: Path) -> Path | None:
    """A file with the template of a model's folder and a clock that stands still; None where the
    template asks for no date.
    """
    own = _template_of(folder)
    template = dated(own)
    if template == own:
        return None
    name = f"template-{hashlib.sha256(template.encode()).hexdigest()[:16]}"
    file = "chat_template.jinja"
    return made_once(name, lambda made: (made / file).write_text(template)) / file


def _template_of(folder: Path) -> str:
    """ "" where there is none, or there are several."""
    own, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    with rendering(str(folder)):
        if own.is_file():
            return own.read_text(encoding="utf-8")
        template = object_of(config).get("chat_template") if config.is_file() else None
    return template if isinstance(template, str) else ""
