"""Collects the data that make a run reproducible: versions, commit, machine, and the
code of environments and methods from outside the project.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.formats import now
from pddlego_local.core.protocols import Environment, MadeFromFiles, Versioned
from pddlego_local.core.record.run_record import RunRecord, Start
from pddlego_local.decoding.question import Model
from pddlego_local.decoding.session import Constraint
from pddlego_local.environments import family
from pddlego_local.environments.tables import difficulty_groups
from pddlego_local.methods import FROM_ALL_GAMES, Method, prompting
from pddlego_local.models.machine import driver_says
from pddlego_local.runner.config import CellConfig

UTC = "%Y-%m-%dT%H:%M:%S+00:00"  # the format of `now`

_TABLES = (".jinja", ".yaml", ".yml", ".toml", ".pddl")
_HASHED_ELSEWHERE = ("prompts", "conf")
_INSTALLED = ("site-packages", "dist-packages")
_PROJECT = "pddlego_local"

PACKAGES = (
    "pddlego_local",
    "outlines",
    "llguidance",
    "lark",
    "pddl",
    "torch",
    "transformers",
    "up-fast-downward",
    "fast-downward.translate",
    "textworld-express",
    "hydra-core",
)


def run_record(
    config: CellConfig,
    environment: Environment,
    method: Method,
    constraints: Mapping[str, Constraint],
    model: Model,
    rows_before: int | None = None,
) -> RunRecord:
    """Returns the content of run.json for a cell that begins now. `constraints` maps
    the names of the method's forms to their constraints.
    """
    identity = model.identity()
    server = {
        "backend_version": identity.pop("backend_version", None),
        "servers": identity.pop("servers", "").split(),
    }
    groups = difficulty_groups(environment.package)
    own_outcomes = {
        **getattr(environment, "outcomes", {}),
        **getattr(method, "outcomes", {}),
    }
    # What a method learns depends on the games.
    games = list(config.settings.games) if method.learns else None
    return RunRecord(
        cell=config.cell,
        labels=dict(config.labels),
        environment=environment.name,
        task_groups={name: [*kinds] for name, kinds in groups.items()},
        identity=config.identity,
        model=identity,
        grammar_sha256={
            name: constraint.sha256 for name, constraint in constraints.items()
        },
        tables_sha256=family.sha256(environment.package),
        prompt_sha256=prompting.sha256(method.prompts, environment.package),
        used_prompt_sha256=prompting.used_sha256(
            method.prompts, environment.package, getattr(method, "templates", ())
        ),
        code_sha256={
            **code_sha256(type(environment), type(method)),
            **files_sha256(environment),
        }
        or None,
        games=games,
        outcomes=own_outcomes or None,
        starts=[_start(config, environment, method, rows_before, server)],
    )


def _start(
    config: CellConfig,
    environment: Environment,
    method: Method,
    rows_before: int | None,
    server: Mapping[str, Any],
) -> Start:
    here = provenance()
    if isinstance(environment, Versioned):
        packages = {**here["packages"], **environment.versions()}
        here = {**here, "packages": packages}
    learns_from_all = method.learns == FROM_ALL_GAMES
    return Start(
        began=now(),
        command=words_of(sys.argv),
        config=dict(config.tree),
        games_teach_each_other=learns_from_all and config.settings.trials > 1,
        rows_before=rows_before,
        arm=config.arm or None,
        **server,
        **here,
    )


def words_of(command: Sequence[str]) -> list[str]:
    """Splits "pddlego run", which is one word under Hydra, into two words."""
    program, *words = command or [""]
    if program == "pddlego run":
        return ["pddlego", "run", *words]
    return list(command)


@functools.cache
def provenance() -> dict[str, Any]:
    """Returns the versions of Python and packages, the commit of this checkout and
    whether it was changed, and the machine. The first result of a process is kept,
    because the process runs the code of that time.
    """
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "HEAD"),
        "committed": _git("show", "-s", "--format=%cd", f"--date=format-local:{UTC}"),
        "dirty": bool(_git("status", "--porcelain")),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "gpus": driver_says("--query-gpu=name", "--format=csv,noheader"),
        },
    }


def _version(package: str) -> str | None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def _git(*arguments: str) -> str | None:
    """Returns git's output; None outside a checkout or without git."""
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    utc = {**os.environ, "TZ": "UTC"}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.check_output(
            command, stderr=subprocess.DEVNULL, encoding="utf-8", timeout=10, env=utc
        ).strip()
    return None


def files_sha256(environment: Environment) -> dict[str, str]:
    """Returns the hashes of the files from which an environment's games are made."""
    if isinstance(environment, MadeFromFiles):
        return environment.files_sha256
    return {}


@functools.cache
def code_sha256(*classes: type) -> dict[str, str]:
    """Returns the hash of each file of these classes that come from outside the
    project, by its path in the folder that Python imports from.

    Such code may change while a cell is unfinished, and then one record would hold two
    versions of a game. The files are the module of the class, the modules that it
    imports from the same place, and the tables and templates beside it. If the class is
    in a package, all code, tables and templates in its folder count. Prompts and
    configurations are hashed elsewhere, and data sets not at all. The first result of a
    process is kept, because the process runs the code of that time.
    """
    files = dict[str, Path]()
    for kind in classes:
        files |= _files_of(kind)
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in sorted(files.items())
    }


def _files_of(kind: type) -> dict[str, Path]:
    """Returns the files of one class. One of the project, or one that was made in no
    file, has none.
    """
    names = kind.__module__.split(".")
    module = sys.modules.get(kind.__module__)
    source = getattr(module, "__file__", None) or ""
    file = Path(source).absolute()
    if names[0] == _PROJECT or not file.is_file():
        return {}
    package = names if file.stem == "__init__" else names[:-1]
    root = file.parents[len(package)]
    files = _imported(root, file, package)
    beside = _beside(root.joinpath(*package), whole=bool(package))
    files.update(beside)
    return {path.relative_to(root).as_posix(): path for path in files}


def _beside(folder: Path, *, whole: bool) -> Iterator[Path]:
    """Yields the tables and templates in a folder. With `whole`, also its code, and the
    same of the folders below it, without hidden ones and caches.
    """
    for path in folder.iterdir():
        if path.is_dir():
            is_hidden = path.name.startswith((".", "_"))
            if whole and not is_hidden and path.name not in _HASHED_ELSEWHERE:
                yield from _beside(path, whole=True)
        elif path.suffix in _TABLES or (whole and path.suffix == ".py"):
            yield path


def _imported(root: Path, file: Path, package: Sequence[str]) -> set[Path]:
    """Returns the file of a module of this package, and those of all modules below
    `root` that it imports. Of installed packages, only those of the same name are
    followed.
    """
    is_installed = not set(_INSTALLED).isdisjoint(root.parts)
    found = set[Path]()
    waiting = [(file, package)]
    while waiting:
        path, its_package = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for module in _modules_in(path, its_package):
            is_other_package = is_installed and module[:1] != its_package[:1]
            imported = _file_of(root, module)
            if module[0] == _PROJECT or is_other_package or not imported:
                continue
            is_package = imported.stem == "__init__"
            around = module if is_package else module[:-1]
            waiting.append((imported, around))
    return found


def _file_of(root: Path, module: Iterable[str]) -> Path | None:
    plain = root.joinpath(*module)
    paths = (plain / "__init__.py", plain.with_name(f"{plain.name}.py"))
    return next((path for path in paths if path.is_file()), None)


def _modules_in(path: Path, package: Sequence[str]) -> Iterator[list[str]]:
    """Yields the modules that a file may import, as the parts of their names: from
    `from a import b`, a and a.b, since b may be a module or not.
    """
    for node in ast.walk(ast.parse(path.read_bytes())):
        base: list[str] = []
        if isinstance(node, ast.ImportFrom):
            if node.level:  # one dot is the package itself, two that around it
                base += package[: len(package) + 1 - node.level]
            if node.module:
                base += node.module.split(".")
        elif not isinstance(node, ast.Import):
            continue
        for alias in node.names:
            parts = [*base, *alias.name.split(".")]
            for length in range(1, len(parts) + 1):
                yield parts[:length]
