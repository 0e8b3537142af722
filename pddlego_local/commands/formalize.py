"""`pddlego formalize`: a model turns a description in words into PDDL, and the planner
plans. `--explain` puts the PDDL back into words by rules.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pddlego_local.api.formalize import UNKNOWN_TEXT, Formalized, formalizer
from pddlego_local.api.known_texts import models_that_know
from pddlego_local.api.options import model_options
from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import visible
from pddlego_local.environments.described.world import names_in, text_of

_FILES = ("domain.pddl", "problem.pddl", "plan.txt", "explanation.txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "text",
        type=path,
        help="a text file, or a folder of pNN_domain.txt and pNN_problem.txt",
    )
    add("overrides", nargs="*", help="Hydra overrides, such as decoding.temperature=0")
    add(
        "--model",
        help="a name from `pddlego doctor`, or a model folder (must be given)",
    )
    add("--rung", default="typed", help="a rung of the decoding ladder (default typed)")
    add("--domain", type=path, metavar="FILE", help="an existing domain file")
    add("--explain", action="store_true", help="put the PDDL back into words")
    add(
        "--out",
        type=path,
        metavar="FOLDER",
        help="write domain, problem and plan to FOLDER",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Prints the files and the plan of each text. Returns 1 if a plan is missing or
    empty.
    """
    domain = text_of(arguments.domain) if arguments.domain else ""
    texts = dict(_texts(arguments.text))
    _check_arguments(arguments, list(texts.values()), domain)
    folders = _folders(arguments.out, list(texts))
    options = {**model_options(arguments.model), "decoding": arguments.rung}
    all_solved = True
    with formalizer(options, arguments.overrides, domain) as formalize:
        for name, text in texts.items():
            made = formalize(text)
            words = made.explanation if arguments.explain else ""
            if len(texts) > 1:
                print(f"; ---- {name}")
            _print(made, words)
            if folders and made.outcome != UNKNOWN_TEXT:
                _write(folders[name], made, words)
            if not made.plan:
                all_solved = False
    return 0 if all_solved else 1


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of a file, or of each world of a folder."""
    if not path.is_dir():
        yield path.stem, text_of(path)
        return
    for name in names_in(path):
        domain = text_of(path / f"{name}_domain.txt").strip()
        problem = text_of(path / f"{name}_problem.txt").strip()
        yield name, f"{domain}\n\n{problem}"


def _check_arguments(
    arguments: argparse.Namespace, texts: Sequence[str], domain: str
) -> None:
    if not arguments.model:
        known = models_that_know(texts, domain)
        raise ConfigError(
            "name a model with --model: any model that `pddlego doctor` lists."
            f" {known or 'No model included here knows all of the given text.'}"
        )
    for override in arguments.overrides:
        if override.startswith(("model=", "decoding=")):
            raise ConfigError(
                f"{override}: name the model with --model, and the rung with --rung"
            )


def _folders(out: Path | None, names: Sequence[str]) -> dict[str, Path]:
    """Returns the folder for the files of each text; none without --out. Raises
    ConfigError if it holds such files.
    """
    if out is None:
        return {}
    folders = (
        {name: out / name for name in names} if len(names) > 1 else {names[0]: out}
    )
    for folder in folders.values():
        for file in _FILES:
            if (folder / file).exists():
                raise ConfigError(
                    f"{folder / file} already exists: name another folder with --out"
                )
    return folders


def _print(made: Formalized, words: str) -> None:
    for text in (made.domain, made.problem, _as_comments(words)):
        if text:
            print(visible(text), end="\n\n")
    for line in _plan_lines(made):
        print(visible(line))


def _plan_lines(made: Formalized) -> list[str]:
    """Returns the plan and the message below it, or in its place, as comments."""
    message = made.message if made.plan else f"{made.outcome}: {made.message}"
    return [*made.plan, *_as_comments(message).splitlines()]


def _as_comments(text: str) -> str:
    return "\n".join(f"; {line}" for line in text.splitlines())


def _write(folder: Path, made: Formalized, words: str) -> None:
    with as_error(ConfigError, f"--out {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    plan = "".join(f"{line}\n" for line in _plan_lines(made))
    texts = [made.domain, made.problem, plan]
    if words:
        texts.append(f"{words}\n")
    for name, text in zip(_FILES, texts, strict=False):  # perhaps no explanation
        (folder / name).write_text(text, encoding="utf-8")
