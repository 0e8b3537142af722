"""Renders templates to HTML. Texts of models, games and files are data: they are
escaped, shown without control characters, and cut if they are too long. The content
security policy of a page forbids any other script or source.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from pddlego_local.core.resources import jinja
from pddlego_local.core.visible import visible
from pddlego_local.report.text import amount

_FOLDER = resources.files(__name__.rpartition(".")[0]) / "templates"

MOST_CHARACTERS = 20_000  # of one text on a page; the transcript has the whole text


def readable(value: object) -> object:
    """Makes a value that a template prints safe to show; our markup is unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    shown = visible(value[:MOST_CHARACTERS])
    left = len(value) - MOST_CHARACTERS
    if left > 0:
        shown += f"… ({left} more characters: see the transcript)"
    return shown


def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_JINJA = jinja(loader=jinja2.FunctionLoader(_own), autoescape=True, finalize=readable)
_JINJA.globals["amount"] = amount


def page(
    template: str, *, styles: Sequence[str], script: str = "", **facts: Any
) -> str:
    """Renders a whole page. `styles` and `script` are files beside the templates. The
    page can use no others.
    """
    style = "".join(map(_own, styles))
    program = _own(script) if script else ""
    allowed = f"script-src '{_hash(program)}'; " if script else ""
    if script == "episode.js":
        allowed += "frame-src 'self' file:; "  # the same game by another arm, beside it
    policy = (
        f"default-src 'none'; {allowed}style-src '{_hash(style)}'; img-src 'self' file:"
    )
    return _JINJA.get_template(template).render(
        style=Markup(style), script=Markup(program), policy=policy, **facts
    )


def _hash(text: str) -> str:
    """The name of an element with exactly this content in a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
