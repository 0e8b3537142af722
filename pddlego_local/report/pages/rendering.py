"""Templates to HTML. What models, games and files say is data: it is escaped, shown without control
characters, and cut where it is endless; the page's own policy forbids any other script or source.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from pddlego_local.core.visible import visible

_FOLDER = resources.files(__name__.rpartition(".")[0]) / "templates"

MOST_CHARACTERS = 20_000  # of one text on a page; the transcript holds all


def readable(value: object) -> object:
    """What a template prints, as it can be shown; markup of our own stays as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    left = len(value) - MOST_CHARACTERS
    more = f"… ({left} characters more: see the transcript)" if left > 0 else ""
    return visible(value[:MOST_CHARACTERS]) + more


def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_JINJA = jinja2.Environment(
    loader=jinja2.FunctionLoader(_own),
    undefined=jinja2.StrictUndefined,
    autoescape=True,
    finalize=readable,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, *, styles: Sequence[str], script: str = "", **facts: Any) -> str:
    """A whole page. `styles` and `script` are files beside the templates, the only ones that the
    page can use."""
    style = "".join(map(_own, styles))
    program = _own(script) if script else ""
    allowed = f"script-src '{_hash(program)}'; " if script else ""
    policy = f"default-src 'none'; {allowed}style-src '{_hash(style)}'; img-src 'self' file:"
    return _JINJA.get_template(template).render(
        style=Markup(style), script=Markup(program), policy=policy, **facts
    )


def _hash(text: str) -> str:
    """How a policy names an element whose content is exactly this."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
