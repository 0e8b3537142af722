"""Finds and hashes the files of an environment or a method from outside the project.

Its code may change while a cell is unfinished, and then one record would hold two
versions of a game. The files are the module of its class, the modules that this one
imports from the same place, and the tables and templates beside it. If the class is in
a package, all code, tables and templates in its folder count. Prompts and
configurations are hashed elsewhere, and data sets not at all.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

TABLES = (".jinja", ".yaml", ".yml", ".toml", ".pddl")
HASHED_ELSEWHERE = ("prompts", "conf")
INSTALLED = ("site-packages", "dist-packages")
PROJECT = "pddlego_local"


@functools.cache
def code_sha256(*classes: type) -> dict[str, str]:
    """Returns the hash of each file of these classes that come from outside the
    project, by its path in the folder that Python imports from. The first result of a
    process is kept, because the process runs the code of that time.
    """
    files = {name: path for one in classes for name, path in _files(one)}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in sorted(files.items())
    }


def _files(kind: type) -> Iterator[tuple[str, Path]]:
    """Yields the files of one class. One of the project, or one that was made in no
    file, has none.
    """
    names = kind.__module__.split(".")
    file = Path(
        getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    ).absolute()
    if names[0] == PROJECT or not file.is_file():
        return
    is_package = file.stem == "__init__"
    root = file.parents[len(names) - 1 + is_package]
    package = names if is_package else names[:-1]
    found = {
        *_imported(root, file, package),
        *_beside(root.joinpath(*package), whole=bool(package)),
    }
    for path in found:
        yield path.relative_to(root).as_posix(), path


def _beside(folder: Path, *, whole: bool) -> Iterator[Path]:
    """Yields the tables and templates in a folder. With `whole`, also its code, and the
    same of the folders below it, without hidden ones and caches.
    """
    for path in folder.iterdir():
        if path.is_dir():
            if whole and path.name[0] not in "._" and path.name not in HASHED_ELSEWHERE:
                yield from _beside(path, whole=True)
        elif path.suffix in TABLES or (whole and path.suffix == ".py"):
            yield path


def _imported(root: Path, file: Path, package: Sequence[str]) -> set[Path]:
    """Returns the file of a module of this package, and those of all modules below
    `root` that it imports. Of installed packages, only those of the same name are
    followed.
    """
    found, waiting = set[Path](), [(file, package)]
    installed = not set(INSTALLED).isdisjoint(root.parts)
    while waiting:
        path, package = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for module in _modules_in(path, package):
            foreign = module[0] == PROJECT or (
                installed and module[:1] != list(package[:1])
            )
            if not foreign and (imported := _file_of(root, module)):
                is_package = imported.stem == "__init__"
                waiting.append((imported, module if is_package else module[:-1]))
    return found


def _file_of(root: Path, module: Sequence[str]) -> Path | None:
    plain = root.joinpath(*module)
    paths = (plain / "__init__.py", plain.with_name(f"{plain.name}.py"))
    return next((path for path in paths if path.is_file()), None)


def _modules_in(path: Path, package: Sequence[str]) -> Iterator[list[str]]:
    """Yields the modules that a file may import, as the parts of their names: from
    `from a import b`, a and a.b, since b may be a module or not.
    """
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            outer = package[: len(package) + 1 - node.level] if node.level else ()
            base = [*outer, *(node.module.split(".") if node.module else ())]
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for parts in names:
            yield from (parts[:length] for length in range(1, len(parts) + 1))
