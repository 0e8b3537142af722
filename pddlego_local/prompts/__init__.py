"""Prompts are data: `<method>/<part>.jinja` says what is told, `environments/<environment>.yaml`
holds an environment's words, and `<method>/<environment>.yaml`, where there is one, the method's
examples for it. Methods that ask alike share a folder. All is hashed into the record.
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


def render(template: str, environment: str, **facts: object) -> str:
    """The text of one message of the template "pddlego_plus/prompt".

    `facts` are what the template names; it also finds `environment` and `examples`.
    """
    method = template.partition("/")[0]
    return _JINJA.get_template(f"{template}.jinja").render(
        environment=_words(f"environments/{environment}.yaml"),
        examples=_words(f"{method}/{environment}.yaml"),
        **facts,
    )


def sha256(folder: str, environment: str) -> str:
    """One hash for all that the prompts of this folder in this environment are made from.

    "" if there is no folder: a method that asks no model.
    """
    if not folder:
        return ""
    templates = [f"{folder}/{file.name}" for file in (_FOLDER / folder).iterdir()]
    names = [name for name in sorted(templates) if name.endswith(".jinja")]
    names += [f"environments/{environment}.yaml", f"{folder}/{environment}.yaml"]
    texts = [(_FOLDER / name).read_text() for name in names if (_FOLDER / name).is_file()]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@cache
def _words(name: str) -> dict[str, Any]:
    file = _FOLDER / name
    words: dict[str, Any] = yaml.safe_load(file.read_text()) if file.is_file() else {}
    return words
