"""A question to a model: the form of the answer, the messages, and the situation as
data.

Two kinds of models answer questions. A language model sees only `messages`. Rule-based
and test models read the form and the `GrammarContext` instead of the messages. The
upper rungs of the ladder also read the context, so that a grammar knows exactly what
the prompt shows.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, Protocol

from pddlego_local.core.nouns import Action, Completion, Messages, Names, Sampling, Turn
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.decoding.forms import Fields, Form, T_co


@dataclass(frozen=True)
class GrammarContext:
    """The situation of a question: what its messages say, as data.

    `actions` are the environment's action schemas, `names` the names that the messages
    show, and `commands` the commands that the messages offer. `domain` is the domain
    file to which the requested problem or edit belongs, and `problem` is the file that
    an edit changes; each is "" if the model writes it itself. `own_goal` is False if
    the method sets the goal and ignores the model's goal. `subgoal` is the goal of a
    controller, in words. `environment` (a package) and `memory` (the episode so far)
    are for models that do not read the messages.
    """

    actions: tuple[Action, ...] = ()
    names: Names = field(default_factory=Names)
    commands: tuple[str, ...] = ()
    domain: str = ""
    problem: str = ""
    own_goal: bool = True
    subgoal: str = ""
    environment: str = ""
    memory: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Question(Generic[T_co]):
    """A request to a model: the form of the answer, the messages, and the situation."""

    form: Form[T_co]
    messages: Messages
    context: GrammarContext


AnyQuestion = Question[Fields]


@dataclass(frozen=True)
class Drawn:
    """A complete answer, and the stages in which it was drawn, if there are any."""

    completion: Completion
    stages: tuple[DrawnStage, ...] = ()


class WholeAnswerModel(Protocol):
    """A model that answers by rules or from a list. It is no language model, and no
    grammar applies to it. It must be thread-safe if several episodes share it.
    """

    decodes: ClassVar[Literal[False]] = False

    def preflight(self, *, thinking: bool = False) -> None:
        """Checks that the model can be used, before anything is loaded. Raises
        MissingPart or ConfigError if it cannot.
        """
        return

    def identity(self) -> dict[str, str]:
        """Returns the description of the model for a record."""

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        """Returns an answer to the question.

        Raises ConfigError if the model has no rules for the question, and ModelFault if
        it has no answer to it.
        """

    def close(self) -> None:
        return


Model = LanguageModel | WholeAnswerModel
