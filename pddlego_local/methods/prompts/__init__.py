"""Prompts are data: `<method>/<part>.jinja` says what is told. The words of an environment, and the
examples that some methods show for it, lie in the environment's folder (`environments.family`).
Methods that ask alike share a folder; a method from elsewhere names its own as a package does,
"hopeful.prompts", wherever PYTHONPATH finds it. All is hashed into the record. What a text shows of
the game is kept beside it (`shown`).
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import jinja2
from jinja2 import meta, nodes

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments import family
from pddlego_local.episode.shown import FILTERS, Shown

_FOLDER = resources.files(__name__)
_JINJA = jinja2.Environment(
    loader=jinja2.FunctionLoader(lambda name: _text(name)),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
_JINJA.filters |= FILTERS


def render(template: str, environment: str, **facts: object) -> Shown:
    """One message of the template "pddlego_plus/prompt". `environment` is its package. `facts` are
    what the template names; it also finds `environment`, its words, and `examples`."""
    names = words(template.partition("/")[0])
    shown = Shown()
    try:
        shown.text = _JINJA.get_template(f"{template}.jinja").render(
            environment=family.words(environment, names[0]),
            examples=family.words(environment, names[1]) if names[1:] else {},
            shown_here=shown,
            **facts,
        )
    except jinja2.UndefinedError as error:
        raise ConfigError(
            f"the prompt {template}.jinja: {error.message}; it may name environment, examples, "
            f"{', '.join(facts)}"
        ) from error
    return shown


def missing(folder: str, environment: str) -> Iterator[str]:
    """A sentence for each file, and each key of a file, that the prompts of this folder need and
    the environment lacks. Raises ConfigError for a file that is not YAML, or a template that is
    none."""
    needed = words(folder) if folder else ()
    for root, name in zip(("environment", "examples"), needed, strict=False):
        if faults := family.missing(environment, name):
            yield from faults
            continue
        entries = family.words(environment, name)
        told = set[str]()
        for path in sorted(set(_keys(folder, root))):
            value: object = entries
            for depth, key in enumerate(path, start=1):
                if not isinstance(value, Mapping) or key not in value:
                    told.add(".".join(path[:depth]))
                    break
                value = value[key]
        for key in sorted(told):
            yield (
                f"{family.place(environment, name)} has no `{key}`, "
                f"which the prompts in {folder}/ tell"
            )


def _keys(folder: str, root: str) -> Iterator[tuple[str, ...]]:
    """What the templates take from `root`: ("demonstration", "action")."""
    for template in _parsed(folder):
        for node in template.find_all(nodes.Getattr):
            path: list[str] = []
            at: nodes.Node = node
            while isinstance(at, nodes.Getattr):
                path.insert(0, at.attr)
                at = at.node
            if isinstance(at, nodes.Name) and at.name == root:
                yield tuple(path)


@cache
def words(folder: str) -> tuple[str, ...]:
    """The files that the prompts of this folder need of an environment."""
    named = [meta.find_undeclared_variables(template) for template in _parsed(folder)]
    needed = {"environment"}.union(*named)
    examples = f"prompts/{folder.partition('.')[0]}.yaml"
    return ("prompts/environment.yaml",) + (examples,) * ("examples" in needed)


def sha256(folder: str, environment: str) -> str:
    """One hash for all that the prompts of this folder in this environment are made from. "" if
    there is no folder: a method that asks no model."""
    if not folder:
        return ""
    texts = [*_templates(folder), *(family.text(environment, name) for name in words(folder))]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _templates(folder: str) -> list[str]:
    return [file.read_text() for file in _files(folder)]


def _files(folder: str) -> list[Traversable]:
    files = [file for file in _folder(folder).iterdir() if file.name.endswith(".jinja")]
    return sorted(files, key=lambda file: file.name)


def _parsed(folder: str) -> Iterator[nodes.Template]:
    """Raises ConfigError naming the file and the line of a template that cannot be read."""
    for file in _files(folder):
        try:
            yield _JINJA.parse(file.read_text())
        except jinja2.TemplateSyntaxError as error:
            raise ConfigError(f"{file} line {error.lineno}: {error.message}") from error


def _text(template: str) -> str:
    folder, _, name = template.rpartition("/")
    return (_folder(folder) / name).read_text()


def _folder(name: str) -> Traversable:
    """One of ours, or a package of templates elsewhere. Raises ConfigError if there is neither."""
    ours = _FOLDER / name
    if "." not in name or ours.is_dir():
        return ours
    try:
        return resources.files(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"method: there is no folder of prompts {name!r}; the folder that holds it must be on "
            "PYTHONPATH"
        ) from error
