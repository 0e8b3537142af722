"""Exceptions for invalid user input and for faults of the infrastructure.

    PddlegoError
    ├── ConfigError            invalid user input: a key, an option, a file  exit code 2
    │   ├── PromptTooLong      the prompt leaves no room in the model's context
    │   └── CellHeld           another process is playing this cell
    └── InfrastructureError    our own failure; never scored as the model's  exit code 3
        ├── MissingPart        a part is missing: GPU, weights, Java, serving
                               environment
        ├── ModelFault         the model's backend died, refused or ignored the request
        │   └── GrammarIgnored the backend answered outside the grammar it was given
        ├── GrammarFault       a grammar that was made for one answer does not compile
        ├── PlannerFault       the planner's worker was ended or could not be started
        ├── EnvironmentFault   the game crashed, hung or sent an invalid reply
        └── RecordFault        a record could not be written (full disk, permissions)

    UnsolvableGame             a game without a solution: recorded and reported
                               separately

Any other exception in an episode, for example one of an extension's code, is recorded
as a fault of that episode too (`runner.cell`). Mistakes of the model or the planner are
data and are never raised: see `core.nouns.PlanResult` and `episode.reading.answer`.
"""


class PddlegoError(Exception):
    """Base class of all errors that end a command with one clear sentence, not with a
    traceback.

    An error with `ends_run` would affect every episode alike, so it ends the run. Any
    other error ends one cell or one episode; most faults of an episode are retried
    first.
    """

    exit_code = 3
    ends_run = True


class ConfigError(PddlegoError):
    """Invalid user input: the message names the file, key or option, the fault and the
    remedy.
    """

    exit_code = 2


class PromptTooLong(ConfigError):
    """A prompt does not fit into the model's context.

    If it is an episode's first prompt, the context is set too small. If it is a later
    prompt, the model's answers and observations have outgrown the context, and the
    episode ends as `context_exceeded`.
    """


class CellHeld(ConfigError):
    """Another process, here or on another machine, is playing this cell; other cells
    can go on.
    """

    ends_run = False


class InfrastructureError(PddlegoError):
    """The infrastructure failed: the episode is stopped or retried, but never
    scored.
    """

    ends_run = False


class MissingPart(InfrastructureError):
    """Something is not installed; the message names the command that helps."""

    ends_run = True


class ModelFault(InfrastructureError):
    """The model's backend died, refused the request, or answered something
    impossible.
    """


class GrammarIgnored(ModelFault):
    """The backend does not obey grammars, so every later result would be
    meaningless.
    """

    ends_run = True


class GrammarFault(InfrastructureError):
    """A grammar does not compile; `grammar` is its text.

    The same answer would lead to the same grammar again, so the episode is not retried
    in the same run. The other episodes go on.
    """

    def __init__(self, message: str, grammar: str) -> None:
        super().__init__(message)
        self.grammar = grammar


class PlannerFault(InfrastructureError):
    """The planner's worker process could not be started, or was ended from outside."""


class EnvironmentFault(InfrastructureError):
    """A game crashed, hung or sent an invalid reply."""


class RecordFault(InfrastructureError):
    """A record could not be written. Everything that was recorded before is kept."""

    ends_run = True


class UnsolvableGame(Exception):
    """A game of a data set cannot be won.

    The episode ends as `unsolvable_game` and is excluded from the scores of all
    methods.
    """
