"""A model turns a description in words into PDDL, and the planner plans.

If the text has action heads, the model writes both files in one answer. Without heads,
the actions are unknown: the model first writes the domain, constrained by the grammar
of PDDL at most, and then the problem for that domain.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pddlego_local.api.options import overrides_of
from pddlego_local.api.sample import model_of
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action, Message
from pddlego_local.core.record.events import Where
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import DOMAIN, PDDL, PROBLEM, Form, T_co
from pddlego_local.decoding.question import GrammarContext, Model, Question
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.game import is_named
from pddlego_local.environments.described.generated import words_of
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.environments.described.wording import task_in_words
from pddlego_local.environments.described.world import HEADS, heads_in, objects_in
from pddlego_local.episode.model_caller import ModelCaller
from pddlego_local.episode.planning import plan
from pddlego_local.methods import prompting
from pddlego_local.models.card import known_texts
from pddlego_local.models.weights import folder_named
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import CellConfig, compose_cell

UNKNOWN_TEXT = "unknown_text"
UNCHECKED = (
    "The plan holds in the PDDL that was written; nobody has checked it against your"
    " text."
)
_PACKAGE = "pddlego_local.environments.described"


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
        decoding: Decoding = config.build("decoding")
        if decoding.reject or decoding.best_of > 1:
            raise ConfigError("decoding.reject and decoding.best_of are for games")
        if "grounded" in (decoding.rung, decoding.repair):
            raise ConfigError(
                "grounded needs a list of names, and a text has none; choose typed"
            )
        weights = config.tree["model"].get("weights")
        self._known = known_texts(folder_named(str(weights))) if weights else None
        self._decoding = replace(decoding, feedback="explained")
        self._model = model
        self._planner = planner
        self._domain = domain
        self._seed = derive_seed(config.settings.seed, "formalize")

    def __call__(self, text: str) -> Formalized:
        """Formalizes a text. Raises ModelFault or PlannerFault, and ConfigError for an
        empty text (a model with known texts refuses that one as unknown).
        """
        if self._known is not None:
            as_learned, unknown = recognize(text, self._known)
            if self._domain and not unknown:
                unknown = "comes with a domain file, which the model was not trained on"
            if unknown:
                message = (
                    f"The model does not know this text and was not asked. The text"
                    f" {unknown}.\nThe model knows {_in_words(self._known)}"
                    " (docs/use/formalize.md)."
                )
                return Formalized("", "", (), UNKNOWN_TEXT, message)
            text = as_learned
        if not text.strip():
            raise ConfigError("the text to formalize is empty")
        try:
            return self._formalized(text)
        except _Unread as error:
            return Formalized("", "", (), error.fault, str(error))

    def _formalized(self, text: str) -> Formalized:
        texts, heads = _parts_of(text)
        domain = self._domain
        if heads and not domain:
            context = GrammarContext(actions=heads)
            both = self._ask(PDDL, context, self._decoding, texts)
            return self._plan(both.df, both.pf, texts)
        if not domain:
            whole = {"domain_text": text}
            first = self._ask(DOMAIN, GrammarContext(), self._without_context, whole)
            domain = first.df
        context = GrammarContext(domain=domain)
        shown = {"domain": domain, **texts}
        second = self._ask(PROBLEM, context, self._decoding, shown)
        return self._plan(domain, second.pf, texts)

    @property
    def _without_context(self) -> Decoding:
        """The settings for a domain whose actions are unknown."""
        if not RUNGS[self._decoding.rung].needs_context:
            return self._decoding
        return replace(self._decoding, rung="syntax", goal="any")

    def _ask(
        self,
        form: Form[T_co],
        context: GrammarContext,
        decoding: Decoding,
        texts: Mapping[str, str],
    ) -> T_co:
        """Returns the model's answer. Raises _Unread."""
        template = "files" if form.name == "pddl" else form.name
        facts = {"wording": "brief", "previous": None, **texts}
        prompt = prompting.render(f"formalizer/{template}", _PACKAGE, **facts)
        question = Question(form, (Message("user", prompt.text),), context)
        caller = ModelCaller(self._model, decoding, lambda _: None, (self._seed,))
        (answer,) = caller.answers(question, 1, Where(step=1))
        if answer.value is None:
            raise _Unread(form.message(answer.fault), answer.fault)
        return answer.value

    def _plan(self, domain: str, problem: str, texts: Mapping[str, str]) -> Formalized:
        made = plan(
            self._planner,
            self._decoding,
            lambda _: None,
            domain,
            problem,
            Where(step=1),
            given=bool(self._domain),
        )
        message = UNCHECKED if made.plan else made.message
        shown = "\n".join((self._domain, *texts.values()))
        names = dict.fromkeys(objects_in(made.problem, made.domain))
        if unseen := [name for name in names if not is_named(name, shown)]:
            message += (
                "\nThe text does not show these names of the PDDL:"
                f" {', '.join(unseen)}."
            )
        return Formalized(made.domain, made.problem, made.plan, made.cause, message)


class _Unread(Exception):
    """No files could be read from an answer; `fault` is the reason in a word."""

    def __init__(self, message: str, fault: str) -> None:
        super().__init__(message)
        self.fault = fault


def _parts_of(text: str) -> tuple[dict[str, str], tuple[Action, ...]]:
    """Splits a text behind its action heads; returns the parts as prompts show them,
    and the heads. Without heads, nobody knows where the description of the domain ends.
    Raises ConfigError for wrong action heads.
    """
    about, mark, rest = text.partition(HEADS)
    if not mark:
        return {"domain_text": "", "problem_text": text.strip()}, ()
    lines, _, problem = rest.strip().partition("\n\n")
    domain = f"{about.strip()}\n\n{HEADS}\n{lines}"
    heads = heads_in(domain, "the text")
    return {"domain_text": domain, "problem_text": problem}, heads


def _in_words(known: Mapping[str, tuple[int, int]]) -> str:
    worlds = []
    for world, (least, most) in known.items():
        thing = words_of(world)["thing"]
        worlds.append(f"{world} with {least} to {most} {thing}s")
    if not worlds:
        return "no texts of whole worlds"
    return f"{', '.join(worlds)}, in the exact words of environment=described"


@contextlib.contextmanager
def formalizer(
    options: Mapping[str, object], overrides: Sequence[str] = (), domain: str = ""
) -> Iterator[TextFormalizer]:
    """Opens the model and the planner. Raises MissingPart, or ConfigError (also for a
    model that is a set of rules).
    """
    words = [*overrides_of(options), *overrides]
    for word in words:
        if not re.match(r"[+~]*((model|decoding|planner)\b|seed=)", word):
            raise ConfigError(
                f"{word} has no effect here: set model, decoding, planner or seed"
            )
    config = compose_cell(["environment=described", *words])  # sets the planner
    with model_of(config) as model, config.build("planner") as planner:
        if not model.decodes:
            raise ConfigError(
                "formalize needs a language model, such as model=qwen3_8b"
            )
        yield TextFormalizer(config, model, planner, domain)
