"""Collects the data that make a run reproducible: versions, commit, machine."""

import contextlib
import functools
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.formats import now
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.run_record import RunRecord, Start
from pddlego_local.decoding.question import Model
from pddlego_local.decoding.session import Constraint
from pddlego_local.environments import family
from pddlego_local.environments.alfworld import installation as alfworld
from pddlego_local.environments.tables import difficulty_groups
from pddlego_local.methods import FROM_ALL_GAMES, Method, prompting
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.extension_code import code_sha256

UTC = "%Y-%m-%dT%H:%M:%S+00:00"  # the format of `now`

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
    groups = difficulty_groups(environment.package)
    own_outcomes = {
        **getattr(environment, "outcomes", {}),
        **getattr(method, "outcomes", {}),
    }
    start = Start(
        began=now(),
        command=words_of(sys.argv),
        config=dict(config.tree),
        games_teach_each_other=method.learns == FROM_ALL_GAMES
        and config.settings.trials > 1,
        backend_version=identity.pop("backend_version", None),
        servers=identity.pop("servers", "").split(),
        rows_before=rows_before,
        **provenance(),
    )
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
        code_sha256=code_sha256(type(environment), type(method)) or None,
        games=list(config.settings.games)
        if method.learns
        else None,  # learning depends on them
        outcomes=own_outcomes or None,
        starts=[start],
    )


def words_of(command: Sequence[str]) -> list[str]:
    """Splits "pddlego run", which is one word under Hydra, into two words."""
    return [
        *(command[0].split() if command[:1] == ["pddlego run"] else command[:1]),
        *command[1:],
    ]


@functools.cache
def provenance() -> dict[str, Any]:
    """Returns the versions of Python and packages, the commit of this checkout and
    whether it was changed, and the machine. The first result of a process is kept,
    because the process runs the code of that time.
    """
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES} | alfworld.versions(),
        "commit": _git("rev-parse", "HEAD"),
        "committed": _git("show", "-s", "--format=%cd", f"--date=format-local:{UTC}"),
        "dirty": bool(_git("status", "--porcelain")),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
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
