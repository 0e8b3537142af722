"""`pddlego formalize`: a description in words becomes PDDL and a plan."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.commands.shared.formalizing import UNKNOWN_TEXT, Formalized, formalizer
from pddlego_local.commands.shared.options import model_options
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import visible
from pddlego_local.environments.described.world import names_in, text_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("text", type=Path, help="a text file, or a folder of pNN_domain.txt and pNN_problem.txt")
    add("overrides", nargs="*", help="Hydra overrides, such as decoding.temperature=0")
    add("--model", required=True, help="one of `pddlego doctor`, or a model folder")
    add("--rung", default="typed", help="of the decoding ladder (default typed)")
    add("--domain", type=Path, metavar="FILE", help="the domain file, where you have one")
    add("--out", type=Path, metavar="FOLDER", help="write domain, problem and plan there")


def carry_out(arguments: argparse.Namespace) -> int:
    """Prints the files and the plan of each text; 1 if one of them has no plan, or an empty one."""
    options = {**model_options(arguments.model), "decoding": arguments.rung}
    domain = text_of(arguments.domain) if arguments.domain else ""
    texts = list(_texts(arguments.text))
    solved = True
    with formalizer(options, arguments.overrides, domain) as formalize:
        for name, text in texts:
            made = formalize(text)
            solved = solved and bool(made.plan)
            _print(name if len(texts) > 1 else "", made)
            if arguments.out and made.outcome != UNKNOWN_TEXT:
                _write(arguments.out / name if len(texts) > 1 else arguments.out, made)
    return 0 if solved else 1


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_dir():
        yield path.stem, text_of(path)
        return
    for name in names_in(path):
        parts = [text_of(path / f"{name}_{part}.txt").strip() for part in ("domain", "problem")]
        yield name, "\n\n".join(parts)


def _print(name: str, made: Formalized) -> None:
    if name:
        print(f"; ---- {name}")
    for text in filter(None, (made.domain, made.problem)):
        print(visible(text), end="\n\n")
    for action in made.plan:
        print(visible(action))
    for line in _remarks(made):
        print(visible(line))


def _remarks(made: Formalized) -> list[str]:
    """The message below the plan, or instead of a plan, as PDDL comments."""
    message = made.message if made.plan else f"{made.outcome}: {made.message}"
    return [f"; {line}" for line in message.splitlines()]


def _write(folder: Path, made: Formalized) -> None:
    """Raises ConfigError for a folder in which there is something of the kind."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"domain.pddl": made.domain, "problem.pddl": made.problem}
    lines = [*made.plan, *_remarks(made)]
    for name, text in {**files, "plan.txt": "".join(f"{line}\n" for line in lines)}.items():
        if (folder / name).exists():
            raise ConfigError(f"{folder / name} is there already: name another folder with --out")
        (folder / name).write_text(text, encoding="utf-8")
