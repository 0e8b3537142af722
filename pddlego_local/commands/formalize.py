"""`pddlego formalize`: a model turns a description in words into PDDL, and the planner
plans.

If the text has action heads, the model writes both files in one answer. Without heads,
the actions are unknown: the model first writes the domain, constrained by the grammar
of PDDL at most, and then the problem for that domain. `--explain` puts the PDDL back
into words by rules.
"""

import argparse
import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego_local.commands.shared.options import (
    as_error,
    model_options,
    overrides_of,
    path,
)
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message
from pddlego_local.core.record.events import Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.core.visible import visible
from pddlego_local.decoding.forms import DOMAIN, PDDL, PROBLEM, Form, T_co
from pddlego_local.decoding.question import GrammarContext, Model, Question
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.game import is_named
from pddlego_local.environments.described.generated import Family, words_of
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.environments.described.wording import task_in_words
from pddlego_local.environments.described.world import (
    HEADS,
    heads_in,
    names_in,
    objects_in,
    text_of,
)
from pddlego_local.episode.model_caller import ModelCaller
from pddlego_local.episode.planning import plan
from pddlego_local.methods import prompting
from pddlego_local.models.card import known_texts
from pddlego_local.models.weights import folder_named, in_the_box
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import CellConfig, compose_cell

UNKNOWN_TEXT = "unknown_text"
UNCHECKED = (
    "The plan holds in the PDDL that was written; nobody has checked it against your"
    " text."
)
_PACKAGE = "pddlego_local.environments.described"
_FILES = ("domain.pddl", "problem.pddl", "plan.txt", "explanation.txt")


@dataclass(frozen=True)
class Formalized:
    """The result of formalizing a text.

    `outcome` is the planner's (`PlanResult`), or the reason why no files could be read
    from the answer (`core.outcomes.CAUSES`), or unknown_text if the model was not
    asked. Without a plan, `message` says what is missing. With a plan, it says what has
    not been checked.
    """

    domain: str
    problem: str
    plan: tuple[str, ...]
    outcome: str
    message: str

    @property
    def explanation(self) -> str:
        """The PDDL in words, made by rules without a model; "" without PDDL."""
        return task_in_words(self.domain, self.problem, {}) if self.domain else ""


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
    texts = list(_texts(arguments.text))
    if not arguments.model:
        raise ConfigError(_models([text for _, text in texts], domain))
    if twice := [
        one for one in arguments.overrides if one.startswith(("model=", "decoding="))
    ]:
        raise ConfigError(
            f"{twice[0]}: name the model with --model, and the rung with --rung"
        )
    out: Path | None = arguments.out
    folders = (
        [out / name if len(texts) > 1 else out for name, _ in texts] if out else []
    )
    if taken := next(
        (f / n for f in folders for n in _FILES if (f / n).exists()), None
    ):
        raise ConfigError(f"{taken} already exists: name another folder with --out")
    options = {**model_options(arguments.model), "decoding": arguments.rung}
    solved = True
    with formalizer(options, arguments.overrides, domain) as formalize:
        for (name, text), folder in itertools.zip_longest(texts, folders):
            made = formalize(text)
            solved = solved and bool(made.plan)
            words = made.explanation if arguments.explain else ""
            _print(name if len(texts) > 1 else "", made, words)
            if folder and made.outcome != UNKNOWN_TEXT:
                _write(folder, made, words)
    return 0 if solved else 1


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_dir():
        yield path.stem, text_of(path)
        return
    for name in names_in(path):
        parts = [
            text_of(path / f"{name}_{part}.txt").strip()
            for part in ("domain", "problem")
        ]
        yield name, "\n\n".join(parts)


def _models(texts: Sequence[str], domain: str) -> str:
    """Returns the message on the models that may be named, and on those that know all
    texts.
    """
    each = [f"{name} knows {_worlds(known)}" for name, known in _shipped().items()]
    return (
        "name a model with --model. Of the models included here,"
        f" {'; '.join(each) or 'none'}."
        f" {_knowing(texts, domain) or 'None of them knows all of the given text.'} Any"
        " model that `pddlego doctor` lists may be named, too."
    )


def _shipped() -> dict[str, Mapping[Family, tuple[int, int]]]:
    """Returns the worlds of each model of this package whose card lists worlds."""
    known = {name: known_texts(folder_named(name)) for name in in_the_box()}
    return {name: worlds for name, worlds in known.items() if worlds}


def _knowing(texts: Sequence[str], domain: str) -> str:
    """Returns a sentence on the models of this package that know all texts, "" if none
    does. None knows a domain file.
    """
    known = {} if domain else _shipped()
    found = [
        name for name in known if all(recognize(text, known[name])[0] for text in texts)
    ]
    return (
        f"Models included here that know the text: {', '.join(found)}." if found else ""
    )


def _worlds(known: Mapping[Family, tuple[int, int]]) -> str:
    each = [
        f"{world} with {least} to {most} {words_of(world)['thing']}s"
        for world, (least, most) in known.items()
    ]
    exact = f"{', '.join(each)}, in the exact words of environment=described"
    return f"{exact if each else 'no texts of whole worlds'} (docs/use/formalize.md)"


def _print(name: str, made: Formalized, words: str) -> None:
    if name:
        print(f"; ---- {name}")
    for text in filter(None, (made.domain, made.problem, _as_comments(words))):
        print(visible(text), end="\n\n")
    for action in made.plan:
        print(visible(action))
    for line in _remarks(made):
        print(visible(line))


def _remarks(made: Formalized) -> list[str]:
    """Returns the message as PDDL comments, to stand below or in place of the plan."""
    message = made.message if made.plan else f"{made.outcome}: {made.message}"
    return _as_comments(message).splitlines()


def _as_comments(text: str) -> str:
    return "\n".join(f"; {line}" for line in text.splitlines())


def _write(folder: Path, made: Formalized, words: str) -> None:
    with as_error(ConfigError, f"--out {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    plan_text = "".join(f"{line}\n" for line in (*made.plan, *_remarks(made)))
    explained = [f"{words}\n"] if words else []
    for name, text in zip(
        _FILES, (made.domain, made.problem, plan_text, *explained), strict=False
    ):
        (folder / name).write_text(text, encoding="utf-8")


class TextFormalizer:
    """Formalizes texts with one model and one configuration.

    `domain` is the text of an existing domain file, "" for none. If the model's card
    says which texts the model knows, other texts are refused. Raises ConfigError for
    the rung grounded, which needs a list of names, and for decoding.reject and
    decoding.best_of.
    """

    def __init__(
        self, config: CellConfig, model: Model, planner: FastDownward, domain: str = ""
    ) -> None:
        self._model, self._planner, self._domain = model, planner, domain
        weights = str(config.tree["model"].get("weights") or "")
        self._known = known_texts(folder_named(weights)) if weights else None
        self._decoding: Decoding = replace(
            config.build("decoding"), feedback="explained"
        )
        self._seed = derive_seed(config.settings.seed, "formalize")
        if self._decoding.reject or self._decoding.best_of > 1:
            raise ConfigError("decoding.reject and decoding.best_of are for games")
        if "grounded" in (self._decoding.rung, self._decoding.repair):
            raise ConfigError(
                "grounded needs a list of names, and a text has none; choose typed"
            )

    def __call__(self, text: str) -> Formalized:
        """Formalizes a text. Raises ModelFault or PlannerFault, and ConfigError for an
        empty text (a model with known texts refuses that one as unknown).
        """
        if self._known is not None:
            given, (text, why) = text, recognize(text, self._known)
            if why or self._domain:
                return self._refused(why, _knowing([given], self._domain))
        if not text.strip():
            raise ConfigError("the text to formalize is empty")
        about, mark, rest = text.partition(HEADS)
        lines, _, problem_text = rest.strip().partition("\n\n")
        heads = heads_in(f"{mark}\n{lines}", "the text") if mark else ()
        domain_text = f"{about.strip()}\n\n{mark}\n{lines}" if mark else ""
        texts = {
            "domain_text": domain_text,
            "problem_text": problem_text if mark else text.strip(),
        }
        if self._domain:
            return self._problem(self._domain, **texts)
        if heads:
            both, fault = self._ask(
                PDDL, GrammarContext(actions=heads), self._decoding, **texts
            )
            return (
                self._plan(both.df, both.pf, **texts)
                if both
                else _without_files(PDDL, fault)
            )
        syntax = replace(self._decoding, rung="syntax", goal="any")
        first = syntax if RUNGS[self._decoding.rung].needs_context else self._decoding
        value, fault = self._ask(DOMAIN, GrammarContext(), first, domain_text=text)
        return (
            self._problem(value.df, **texts) if value else _without_files(DOMAIN, fault)
        )

    def _refused(self, why: str, others: str) -> Formalized:
        why = (
            why or "comes with a domain file, but the model knows only its own domains"
        )
        message = (
            f"The model does not know this text and was not asked. The text {why}.\n"
            f"The model knows {_worlds(self._known or {})}."
        )
        return Formalized("", "", (), UNKNOWN_TEXT, f"{message}\n{others}".rstrip())

    def _problem(self, domain: str, **texts: str) -> Formalized:
        context = GrammarContext(domain=domain)
        file, fault = self._ask(
            PROBLEM, context, self._decoding, domain=domain, **texts
        )
        return (
            self._plan(domain, file.pf, **texts)
            if file
            else _without_files(PROBLEM, fault)
        )

    def _ask(
        self,
        form: Form[T_co],
        context: GrammarContext,
        decoding: Decoding,
        **texts: str,
    ) -> tuple[T_co | None, str]:
        template = "files" if form.name == "pddl" else form.name
        facts = {"wording": "brief", "previous": None, **texts}
        shown = prompting.render(f"formalizer/{template}", _PACKAGE, **facts)
        question = Question(form, (Message("user", shown.text),), context)
        caller = ModelCaller(self._model, decoding, lambda _: None, (self._seed,))
        (answer,) = caller.answers(question, 1, Where(step=1))
        return answer.value, answer.fault

    def _plan(self, domain: str, problem: str, **texts: str) -> Formalized:
        parts = self._planner, self._decoding, lambda _: None
        given = bool(self._domain)
        made = plan(*parts, domain, problem, Where(step=1), given=given)
        message = UNCHECKED if made.plan else made.message
        shown = "\n".join((self._domain, *texts.values()))
        names = dict.fromkeys(objects_in(made.problem, made.domain))
        if unseen := [name for name in names if not is_named(name, shown)]:
            message += (
                "\nThe text does not show these names of the PDDL:"
                f" {', '.join(unseen)}."
            )
        return Formalized(made.domain, made.problem, made.plan, made.cause, message)


@contextlib.contextmanager
def formalizer(
    options: Mapping[str, object], overrides: Sequence[str] = (), domain: str = ""
) -> Iterator[TextFormalizer]:
    """Opens the model and the planner. Raises MissingPart, or ConfigError (also for a
    model that is a set of rules).
    """
    for given in (overrides := [*overrides_of(options), *overrides]):
        if not re.match(r"[+~]*((model|decoding|planner)\b|seed=)", given):
            raise ConfigError(
                f"{given} has no effect here: set model, decoding, planner or seed"
            )
    config = compose_cell(["environment=described", *overrides])  # sets the planner
    model: Model = config.build("model")
    if not model.decodes:
        raise ConfigError("formalize needs a language model, such as model=qwen3_8b")
    model.preflight(thinking=config.build("decoding").thinking)
    with contextlib.closing(model), config.build("planner") as planner:
        yield TextFormalizer(config, model, planner, domain)


def _without_files(form: Form[T_co], fault: str) -> Formalized:
    return Formalized("", "", (), fault, form.message(fault))  # type: ignore[arg-type]
