"""Renders prompts from templates: the wording is in the files `<method>/<part>.jinja`.

The words of an environment, and the examples that some methods show for it, are in the
environment's folder (`environments.family`). Methods with the same prompts share a
folder in `methods/prompts`. A method from elsewhere names its folder as a package on
PYTHONPATH, such as "hopeful.prompts". All of these files are hashed into the record.
What a text shows of the game is kept beside it (`shown`).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import jinja2
from jinja2 import meta, nodes

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import jinja
from pddlego_local.environments import family
from pddlego_local.episode.shown import FILTERS, Shown

_FOLDER = resources.files("pddlego_local.methods") / "prompts"
_JINJA = jinja(loader=jinja2.FunctionLoader(lambda name: _text(name)))
_JINJA.filters |= FILTERS


def render(template: str, environment: str, **facts: object) -> Shown:
    """Renders one message from a template such as "pddlego_plus/prompt".

    `environment` is the environment's package. `facts` are the template's variables;
    the template can also use `environment` (the environment's words) and `examples`.
    Raises ConfigError if the template names anything else.
    """
    files = files_of(template.partition("/")[0])
    shown = Shown()
    try:
        shown.text = _JINJA.get_template(f"{template}.jinja").render(
            {root: family.words(environment, file) for root, file in files.items()},
            shown_here=shown,
            **facts,
        )
    except jinja2.UndefinedError as error:
        raise ConfigError(
            f"the prompt {template}.jinja: {error.message}; it may name environment,"
            f" examples, {', '.join(facts)}"
        ) from error
    return shown


def missing(folder: str, environment: str) -> Iterator[str]:
    """Yields a sentence for each file, and each key of a file, that the prompts of this
    folder need and the environment lacks. Raises ConfigError for a file that is not
    YAML, or for a template that cannot be parsed.
    """
    for root, file in files_of(folder).items():
        if faults := family.missing(environment, file):
            yield from faults
            continue
        entries = family.words(environment, file)
        absent: set[str] = set()
        for template in _parsed(folder):
            for attribute in template.find_all(nodes.Getattr):
                first, *path = _path(attribute)
                if first == root:
                    absent.add(_absent(entries, path))
        for key in sorted(absent - {""}):
            place = family.place(environment, file)
            yield f"{place} has no `{key}`, which the prompts in {folder}/ use"


def _path(node: nodes.Node) -> tuple[str, ...]:
    """Returns the parts of a dotted name in a template: `environment.demonstration` has
    2.
    """
    if isinstance(node, nodes.Getattr):
        return (*_path(node.node), node.attr)
    return (node.name if isinstance(node, nodes.Name) else "",)


def _absent(entries: object, path: Sequence[str]) -> str:
    """Returns a path up to the first key that the entries lack, "" if they have it
    all.
    """
    for depth, key in enumerate(path, start=1):
        if not isinstance(entries, Mapping) or key not in entries:
            return ".".join(path[:depth])
        entries = entries[key]
    return ""


@cache
def files_of(folder: str) -> Mapping[str, str]:
    """Returns the files that the prompts of this folder need from an environment, by
    their names in templates. There are none if the folder is "", which means that the
    method asks no model.
    """
    if not folder:
        return {}
    files = {"environment": "prompts/environment.yaml"}
    for template in _parsed(folder):
        if "examples" in meta.find_undeclared_variables(template):
            files["examples"] = f"prompts/{folder.partition('.')[0]}.yaml"
    return files


def sha256(folder: str, environment: str) -> str:
    """Returns one hash of everything that the prompts of this folder in this
    environment are made from, or "" if there is no folder.
    """
    if not folder:
        return ""
    texts = [file.read_text(encoding="utf-8") for file in _templates(folder)]
    texts += [family.text(environment, file) for file in files_of(folder).values()]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def used_sha256(folder: str, environment: str, templates: Sequence[str] = ()) -> str:
    """Returns one hash of these templates, of those that they include, and of the
    environment's words that they name; "" if there is no folder.

    So it stays the same if another variant of a prompt in the same folder changes.
    Without `templates`, it covers all templates of the folder.
    """
    if not folder:
        return ""
    used = _with_included(folder, templates)
    words = {
        root: _named_words(root, family.words(environment, file), used.values())
        for root, file in files_of(folder).items()
    }
    parts = json.dumps([used, words], sort_keys=True, default=str)
    return hashlib.sha256(parts.encode()).hexdigest()


def _with_included(folder: str, templates: Sequence[str]) -> dict[str, str]:
    """Returns the texts of these templates and of all that they include, by name. They
    are all of the folder if there are no templates, or if it is not known which ones
    are used.
    """
    every = {
        f"{folder}/{file.name}": file.read_text(encoding="utf-8")
        for file in _templates(folder)
    }
    waiting = [f"{folder}/{name}.jinja" for name in templates]
    used: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name not in every:
            return every
        if name not in used:
            used[name] = every[name]
            parsed = _JINJA.parse(used[name])
            for included in meta.find_referenced_templates(parsed):
                waiting.append(included or "")  # None: only rendering tells which
    return used or every


def _named_words(
    root: str, entries: Mapping[str, object], texts: Iterable[str]
) -> Mapping[str, object]:
    """Returns the entries whose keys the templates name, as in `environment.task`; all
    of them if a template uses `environment` in another way.
    """
    keys: list[str] = []
    uses = 0
    for text in texts:
        parsed = _JINJA.parse(text)
        for attribute in parsed.find_all(nodes.Getattr):
            path = _path(attribute)
            if len(path) == 2 and path[0] == root:
                keys.append(path[1])
        uses += sum(name.name == root for name in parsed.find_all(nodes.Name))
    return entries if uses > len(keys) else {key: entries.get(key) for key in keys}


def _templates(folder: str) -> list[Traversable]:
    files = [file for file in _folder(folder).iterdir() if file.name.endswith(".jinja")]
    return sorted(files, key=lambda file: file.name)


def _parsed(folder: str) -> Iterator[nodes.Template]:
    """Raises ConfigError with the file and the line of a template that cannot be
    parsed.
    """
    for file in _templates(folder):
        try:
            yield _JINJA.parse(file.read_text(encoding="utf-8"))
        except jinja2.TemplateSyntaxError as error:
            raise ConfigError(f"{file} line {error.lineno}: {error.message}") from error


def _text(template: str) -> str:
    folder, _, name = template.rpartition("/")
    return (_folder(folder) / name).read_text(encoding="utf-8")


def _folder(name: str) -> Traversable:
    """Returns a folder in `methods/prompts`, or a package of templates. Raises
    ConfigError if there is neither.
    """
    ours = _FOLDER / name
    if "." not in name or ours.is_dir():
        return ours
    try:
        return resources.files(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"method: there is no folder of prompts {name!r}; the folder that holds it"
            " must be on PYTHONPATH"
        ) from error
