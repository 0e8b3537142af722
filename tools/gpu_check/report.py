"""Writes the report of a check: one Markdown file, made from the files of the steps."""

import importlib.metadata
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from pddlego_local.core.errors import MissingPart
from pddlego_local.core.formats import now
from pddlego_local.models import machine
from pddlego_local.models.vllm.server import serving_build
from pddlego_local.runner.provenance import provenance
from tools.bench.markdown import table
from tools.gpu_check.findings import Findings
from tools.gpu_check.running import Ended, Step, ending_of
from tools.gpu_check.scale import Setting


def report(steps: Sequence[Step], setting: Setting) -> str:
    """Returns the report of all steps that have ended, in this run or before."""
    endings = [
        (step, end) for step in steps if (end := ending_of(step.name, setting.out))
    ]
    overview = table(
        ["step", "what it checks", "outcome", "seconds", "message", "commit"],
        ([step.name, step.why, *_in_cells(end)] for step, end in endings),
    )
    parts = [
        f"# GPU check: {_device(setting)}",
        machine_and_versions(setting),
        overview,
    ]
    for step, _ in endings:
        tables = Findings(setting.out / f"{step.name}.jsonl").tables()
        parts += [f"## {step.name}"] * bool(tables)
        parts += [f"{title}:\n\n{_rows(rows)}" for title, rows in tables.items()]
    return "\n\n".join(parts) + "\n"


def machine_and_versions(setting: Setting) -> str:
    """Returns device, driver, versions and commit as a table."""
    known = provenance()
    packages = {
        name: _version(name) for name in ("torch", "transformers", "llguidance")
    }
    return table(
        ["item", "value"],
        [
            ["date", now()],
            ["device", _device(setting)],
            ["driver", _told("driver_version") or "–"],
            [
                "processor",
                f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB",
            ],
            ["vLLM", _vllm(setting.env)],
            [
                "in process",
                ", ".join(f"{name} {version}" for name, version in packages.items()),
            ],
            ["Python", known["python"]],
            [
                "commit",
                f"{known['commit']}{', with changes' if known['dirty'] else ''}",
            ],
        ],
    )


def _in_cells(end: Ended) -> list[str]:
    return [
        end.outcome,
        f"{end.seconds:.0f}",
        end.said.replace("|", "/"),
        end.commit[:7],
    ]


def _device(setting: Setting) -> str:
    if setting.device == "cpu":
        return "no GPU: a small rehearsal on the CPU"
    return f"{_told('name')}, {_told('memory.total')}"


def _told(query: str) -> str:
    lines = machine.driver_says(f"--query-gpu={query}", "--format=csv,noheader")
    return ", ".join(dict.fromkeys(lines)) + (
        f" ({len(lines)} of them)" if len(lines) > 1 else ""
    )


def _vllm(env: Path) -> str:
    try:
        build, version = serving_build(env)
    except MissingPart:
        return f"none in {env}"
    return f"{version}, {build} build"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "–"


def _rows(rows: Sequence[Mapping[str, object]]) -> str:
    return table(list(rows[0]), (row.values() for row in rows))
