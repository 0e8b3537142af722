"""Who played an evaluation: what a card says first of the model, and its details."""

from collections.abc import Iterator

from pddlego_local.core.record.run_record import Start
from pddlego_local.report.card.numbers import Evaluated
from pddlego_local.report.text import amount
from pddlego_local.runner.suite import BY_RULES

TRAINING_MAPS = "training_maps_sha256"
DETAILS = {
    "fingerprint": (
        "fingerprint of the weights (SHA-256 over the names, the sizes, and the first"
        " and last MiB of their files, 16 digits)"
    ),
    "gguf_sha256": "SHA-256 of the GGUF file",
    "commit": "commit of the weights on the hub",
    TRAINING_MAPS: "SHA-256 of the list of training maps",
    # in records of earlier versions alone
    "forced_tokens": "tokens that the grammar fixes are inserted, not sampled",
}
"""Keys of a record that few readers of a card need, with their meaning."""


def player_of(evaluated: Evaluated) -> Iterator[tuple[str, str]]:
    """Yields who played, and where."""
    entry = evaluated.entry
    yield "name", entry.name
    if entry.name in BY_RULES:
        yield "plays", "by rules; it is no language model"
    yield "thinks before it answers", "yes" if entry.thinking else "no"
    if not evaluated.cells:
        return
    if entry.name not in BY_RULES:
        yield "trained for such games", _training(evaluated)
    run = evaluated.cells[0].run
    for key, value in run.model.items():
        if key not in DETAILS:
            yield key.replace("_", " "), str(value)
    if entry.quantization:
        yield "quantization", entry.quantization
    if dtype := entry.model.get("dtype"):
        yield "dtype", str(dtype)
    if entry.canary:
        yield "the server obeys", "; ".join(entry.canary)
    machine = _start(evaluated).machine or {}
    if "gpus" in machine:  # earlier records do not say
        yield "GPUs", ", ".join(machine["gpus"]) or "none"
    yield "cores", str(machine.get("cores", "unknown"))


def _training(evaluated: Evaluated) -> str:
    """Says whether the model was trained with this project, and how many of the maps it
    had seen then.
    """
    if TRAINING_MAPS not in evaluated.cells[0].run.model:
        return "unknown; its weights come with no list of training maps"
    rows = [row for cell in evaluated.cells for row in cell.rows if row.map]
    maps = {row.map for row in rows}
    seen = {row.map for row in rows if row.map_seen}
    return (
        "yes, by this project's training: its weights come with a list of the maps of"
        f" its training games. On this list: {len(seen)} of the"
        f" {amount(len(maps), 'map')} played here"
        f"{', whose games are not scored' if seen else ''}."
    )


def details_of(evaluated: Evaluated) -> Iterator[tuple[str, str]]:
    """Yields hashes and versions."""
    if not evaluated.cells:
        return
    run = evaluated.cells[0].run
    for key, words in DETAILS.items():
        if value := run.model.get(key):
            yield words, str(value)
    start = _start(evaluated)
    if start.backend_version:
        yield "version of the backend", start.backend_version
    packages = start.packages or {}
    versions = [f"{name} {version}" for name, version in packages.items() if version]
    yield "packages", ", ".join(versions)


def _start(evaluated: Evaluated) -> Start:
    return evaluated.cells[0].run.starts[-1]
