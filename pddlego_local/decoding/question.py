"""A question: what is asked for, what a language model sees of it, and the scene as data.

Who answers it is one of two kinds. A language model sees `messages` and nothing else; rule-based
and test models read the form and the scene instead of prose. The scene also tells the upper rungs
of the ladder what the prompt shows, so that a grammar knows no more and no less.
"""

from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol

from pddlego_local.core.nouns import Action, Completion, Messages, Names, Sampling, Turn
from pddlego_local.core.protocols import LanguageModel
from pddlego_local.core.record.events import DrawnStage
from pddlego_local.decoding.forms import Fields, Form, T_co
from pddlego_local.decoding.rungs import GoalArm, Lists


@dataclass(frozen=True)
class GrammarContext:
    """The situation that a question is asked in: what its messages say, as data.

    `actions` are the environment's action schemas, `names` those that the messages show, `commands`
    the commands that they offer. `domain` is the domain file that a problem or an edit is for,
    `problem` the file that an edit changes; "" where the model writes them itself. `own_goal` is
    False where the method sets the goal and the model's counts for nothing; `goal` says which goals
    are left out (`Decoding`). `subgoal` is what a controller is to reach, in words. `environment`
    is a package, `memory` the episode so far: for models that read no prose. `lists` says what may
    be said twice, `rollback` whether what is wrong is taken back (`Decoding`).
    """

    actions: tuple[Action, ...] = ()
    names: Names = field(default_factory=Names)
    commands: tuple[str, ...] = ()
    domain: str = ""
    problem: str = ""
    own_goal: bool = True
    goal: GoalArm = "any"
    subgoal: str = ""
    environment: str = ""
    memory: tuple[Turn, ...] = ()
    lists: Lists = "tight"
    rollback: bool = True


@dataclass(frozen=True)
class Question(Generic[T_co]):
    """What is asked of a model: an answer of this form, in these words, in this scene."""

    form: Form[T_co]
    messages: Messages
    context: GrammarContext


@dataclass(frozen=True)
class Drawn:
    """A whole answer, and the stages that it was drawn in, if any."""

    completion: Completion
    stages: tuple[DrawnStage, ...] = ()


class WholeAnswerModel(Protocol):
    """What answers by rules or from a list: no language model, and no grammar applies to it.
    Thread-safe where many episodes share it."""

    @property
    def decodes(self) -> Literal[False]: ...

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError at once, before anything is loaded."""
        return

    def identity(self) -> dict[str, str]:
        """What a record says of it."""

    def answer(
        self, question: Question[Fields], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        """The answer number `sample` of the `of` that are asked for at once.

        Raises ConfigError for a question that it has no rules for, ModelFault for one that it has
        no answer to.
        """

    def close(self) -> None:
        return


Model = LanguageModel | WholeAnswerModel
