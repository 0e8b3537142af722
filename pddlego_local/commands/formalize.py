"""`pddlego formalize`: a model turns a description in words into PDDL, and the planner
plans. `--explain` puts the PDDL back into words by rules.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.api.formalize import UNKNOWN_TEXT, Formalized, formalizer
from pddlego_local.api.options import model_options
from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import visible
from pddlego_local.environments.described.world import names_in, text_of


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
        required=True,
        help=(
            "a name from `pddlego doctor`, or a model folder; nano_worlds for the texts"
            " that docs/use/formalize.md describes"
        ),
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
    for override in arguments.overrides:
        if override.startswith(("model=", "decoding=")):
            raise ConfigError(
                f"{override}: name the model with --model, and the rung with --rung"
            )
    out: Path | None = arguments.out
    if out and out.is_dir() and any(out.iterdir()):
        raise ConfigError(f"{out} already holds files: name another folder with --out")
    options = {**model_options(arguments.model), "decoding": arguments.rung}
    all_solved = True
    with formalizer(options, arguments.overrides, domain) as formalize:
        for name, text in texts.items():
            made = formalize(text)
            words = made.explanation if arguments.explain else ""
            if len(texts) > 1:
                print(f"; ---- {name}")
            _print(made, words)
            if out and made.outcome != UNKNOWN_TEXT:
                _write(out / name if len(texts) > 1 else out, made, words)
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


def _print(made: Formalized, words: str) -> None:
    for text in (made.domain, made.problem, _as_comments(words)):
        if text:
            print(visible(text), end="\n\n")
    for line in _plan_lines(made):
        print(visible(line))


def _plan_lines(made: Formalized) -> list[str]:
    """Returns the lines of the plan, and then the message as comments. Without a plan,
    the message begins with the outcome.
    """
    message = made.message if made.plan else f"{made.outcome}: {made.message}"
    return [*made.plan, *_as_comments(message).splitlines()]


def _as_comments(text: str) -> str:
    return "\n".join(f"; {line}" for line in text.splitlines())


def _write(folder: Path, made: Formalized, words: str) -> None:
    plan = "".join(f"{line}\n" for line in _plan_lines(made))
    texts = {
        "domain.pddl": made.domain,
        "problem.pddl": made.problem,
        "plan.txt": plan,
    }
    if words:
        texts["explanation.txt"] = f"{words}\n"
    with as_error(ConfigError, f"--out {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
