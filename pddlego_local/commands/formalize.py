"""`pddlego formalize`: a description in words becomes PDDL and a plan, by a model.

With action heads both files are asked for at once. Without them nothing says which actions there
are: the domain is asked for first, under no more than the grammar of PDDL, then the problem for it.
"""

import argparse
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego_local.commands.shared.options import model_options, overrides_of
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message
from pddlego_local.core.record.events import Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.core.visible import visible
from pddlego_local.decoding.forms import DOMAIN, PDDL, PROBLEM, Form, T_co
from pddlego_local.decoding.question import GrammarContext, Model, Question
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.generated import words_of
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.environments.described.world import HEADS, heads_in, names_in, text_of
from pddlego_local.episode.model_caller import ModelCaller
from pddlego_local.episode.planning import plan
from pddlego_local.methods import prompting
from pddlego_local.models.card import known_texts
from pddlego_local.models.weights import folder_named
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import CellConfig, compose_cell

UNKNOWN_TEXT = "unknown_text"
UNCHECKED = "The plan holds in the PDDL that was written; nobody has checked it against your text."
_PACKAGE = "pddlego_local.environments.described"


@dataclass(frozen=True)
class Formalized:
    """The result of formalizing a text. `outcome` is the planner's (`PlanResult`), or the reason
    why the answer held no files (`core.outcomes.CAUSES`), or unknown_text if the model was not
    asked. Without a plan, `message` says what is missing; with one, what nobody has checked."""

    domain: str
    problem: str
    plan: tuple[str, ...]
    outcome: str
    message: str


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


class TextFormalizer:
    """Asks one model, within one configuration; `domain` is a file that is given, "" for none.

    A model whose card says which texts it knows is asked for no others. Raises ConfigError for a
    rung that needs more than the text tells.
    """

    def __init__(
        self, config: CellConfig, model: Model, planner: FastDownward, domain: str = ""
    ) -> None:
        self._model, self._planner, self._domain = model, planner, domain
        weights = str(config.tree["model"].get("weights") or "")
        self._known = known_texts(folder_named(weights)) if weights else None
        self._decoding: Decoding = replace(config.build("decoding"), feedback="explained")
        self._seed = derive_seed(config.settings.seed, "formalize")
        if self._decoding.reject:
            raise ConfigError("decoding.reject is for games; choose decoding.reject=null")
        if "grounded" in (self._decoding.rung, self._decoding.repair):
            raise ConfigError(
                "the rung grounded needs a list of names, which a text is not; choose typed"
            )

    def __call__(self, text: str) -> Formalized:
        """Raises ConfigError for an empty text, and ModelFault or PlannerFault."""
        if self._known is not None:
            text, why = recognize(text, self._known)
            if why or self._domain:
                return self._refused(why)
        if not text.strip():
            raise ConfigError("the text to formalize is empty")
        about, mark, rest = text.partition(HEADS)
        lines, _, problem_text = rest.strip().partition("\n\n")
        heads = heads_in(f"{mark}\n{lines}", "the text") if mark else ()
        domain_text = f"{about.strip()}\n\n{mark}\n{lines}" if mark else ""
        told = {"domain_text": domain_text, "problem_text": problem_text if mark else text.strip()}
        if self._domain:
            return self._problem(self._domain, **told)
        if heads:
            both, fault = self._ask(
                PDDL, "files", GrammarContext(actions=heads), self._decoding, **told
            )
            return self._plan(both.df, both.pf, **told) if both else _without_files(PDDL, fault)
        syntax = replace(self._decoding, rung="syntax", goal="any", lists="tight", rollback=True)
        first = syntax if RUNGS[self._decoding.rung].needs_context else self._decoding
        value, fault = self._ask(DOMAIN, "domain", GrammarContext(), first, domain_text=text)
        return self._problem(value.df, **told) if value else _without_files(DOMAIN, fault)

    def _refused(self, why: str) -> Formalized:
        each = [
            f"{world} with {least} to {most} {words_of(world)['thing']}s"
            for world, (least, most) in (self._known or {}).items()
        ]
        exact = f"{', '.join(each)}, in the exact words of environment=described"
        why = why or "comes with a domain file, and the model knows none but those that it writes"
        message = (
            f"The model does not know this text and was not asked. The text {why}.\n"
            f"The model knows {exact if each else 'no texts of whole worlds'} "
            "(docs/use/formalize.md)."
        )
        return Formalized("", "", (), UNKNOWN_TEXT, message)

    def _problem(self, domain: str, **told: str) -> Formalized:
        context = GrammarContext(domain=domain)
        value, fault = self._ask(PROBLEM, "problem", context, self._decoding, domain=domain, **told)
        return self._plan(domain, value.pf, **told) if value else _without_files(PROBLEM, fault)

    def _ask(
        self,
        form: Form[T_co],
        template: str,
        context: GrammarContext,
        decoding: Decoding,
        **told: str,
    ) -> tuple[T_co | None, str]:
        facts = {"wording": "brief", "previous": None, **told}
        shown = prompting.render(f"formalizer/{template}", _PACKAGE, **facts)
        question = Question(form, (Message("user", shown.text),), context)
        caller = ModelCaller(self._model, decoding, lambda _: None, (self._seed,))
        (answer,) = caller.answers(question, 1, Where(step=1))
        return answer.value, answer.fault

    def _plan(self, domain: str, problem: str, **told: str) -> Formalized:
        parts = self._planner, self._decoding, lambda _: None
        given = bool(self._domain)
        made = plan(*parts, domain, problem, Where(step=1), given=given)
        message = UNCHECKED if made.plan else made.message
        shown = "\n".join((self._domain, *told.values()))
        if unseen := _not_shown(made.domain, made.problem, shown):
            message += f"\nThe text does not show these names of the PDDL: {', '.join(unseen)}."
        return Formalized(made.domain, made.problem, made.plan, made.cause, message)


@contextlib.contextmanager
def formalizer(
    options: Mapping[str, object], overrides: Sequence[str] = (), domain: str = ""
) -> Iterator[TextFormalizer]:
    """With model and planner open. Raises ConfigError, also for a model by rules, MissingPart."""
    described = "environment=described"  # which brings its planner
    config = compose_cell([described, *overrides_of(options), *overrides])
    model: Model = config.build("model")
    if not model.decodes:
        raise ConfigError("what formalizes a text is a language model, such as model=qwen3_8b")
    model.preflight(thinking=config.build("decoding").thinking)
    with contextlib.closing(model), config.build("planner") as planner:
        yield TextFormalizer(config, model, planner, domain)


def _not_shown(domain: str, problem: str, text: str) -> list[str]:
    """The objects and constants that the text does not name; "leftbank" is the left bank there."""
    entries = [*read_domain(read(domain)).constants]
    entries += read_problem(read(problem)).objects
    return [
        name for name in dict.fromkeys(entry.word.text for entry in entries) if not _in(text, name)
    ]


def _in(text: str, name: str) -> bool:
    letters = r"[\W_]*".join(re.findall(r"[^\W_]", name))
    return re.search(rf"(?<![^\W_]){letters}(?![^\W_])", text, re.IGNORECASE) is not None


def _without_files(form: Form[T_co], fault: str) -> Formalized:
    return Formalized("", "", (), fault, form.message(fault))  # type: ignore[arg-type]
