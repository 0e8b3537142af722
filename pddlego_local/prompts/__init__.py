"""Prompts are data: `<method>.jinja` says what is told, `<environment>.yaml` holds an environment's
words. Both are hashed into the record.
"""

import hashlib
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import yaml

_FOLDER = resources.files(__name__)
_JINJA = jinja2.Environment(
    loader=jinja2.FunctionLoader(lambda name: (_FOLDER / name).read_text()),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)


def render(method: str, environment: str, **facts: object) -> str:
    """The text of one message; `facts` are what the template names."""
    return _JINJA.get_template(f"{method}.jinja").render(environment=_words(environment), **facts)


def sha256(method: str, environment: str) -> str:
    """One hash for all that the prompts of this method in this environment are made from."""
    texts = [(_FOLDER / name).read_text() for name in (f"{method}.jinja", f"{environment}.yaml")]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@cache
def _words(environment: str) -> dict[str, Any]:
    words: dict[str, Any] = yaml.safe_load((_FOLDER / f"{environment}.yaml").read_text())
    return words
