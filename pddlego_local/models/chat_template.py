"""Chat templates that tell the model today's date tell the same date every day, so that a prompt is
the same tomorrow.
"""

import hashlib
import json
from pathlib import Path

from pddlego_local.models.cache import made_once

DATE = "26 Jul 2024"
"""What Llama 3.1's template says where it is given no date."""

_CLOCK = "strftime_now"  # what transformers and vLLM give templates
_STOPPED = "{%- macro " + _CLOCK + "(format) -%}" + DATE + "{%- endmacro -%}"


def dated(template: str) -> str:
    """The template with its clock stopped at `DATE`; the same one where it asks for no date."""
    return _STOPPED + template if _CLOCK in template else template


def dated_file(folder: Path) -> Path | None:
    """A file with the template of a model's folder and a clock that stands still; None where the
    template asks for no date.
    """
    own = _template_of(folder)
    template = dated(own)
    if template == own:
        return None
    name = f"template-{hashlib.sha256(template.encode()).hexdigest()[:16]}"
    made = made_once(
        name, lambda unfinished: (unfinished / "chat_template.jinja").write_text(template)
    )
    return made / "chat_template.jinja"


def _template_of(folder: Path) -> str:
    """ "" where there is none, or there are several."""
    own, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    if own.is_file():
        return own.read_text(encoding="utf-8")
    found = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    template = found.get("chat_template")
    return template if isinstance(template, str) else ""
