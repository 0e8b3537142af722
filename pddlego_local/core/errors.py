"""What can go wrong that is not a model's or a planner's fault.

    PddlegoError
    ├── ConfigError            the user's input: a key, an option, a file          exit code 2
    │   ├── PromptTooLong      a prompt that leaves no room in the model's context
    │   └── CellHeld           another process is playing this cell
    └── InfrastructureError    what we broke; never scored as the model's failure  exit code 3
        ├── MissingPart        not installed or not there: GPU, weights, Java, serving environment
        ├── ModelFault         the model's backend died, refused or ignored the request
        │   └── GrammarIgnored the backend answered outside the grammar it was given
        ├── GrammarFault       a grammar that was made for one answer does not compile
        ├── PlannerFault       the planner's worker died or could not be started
        ├── EnvironmentFault   the game crashed, hung or answered nonsense
        └── RecordFault        a record could not be written (full disk, permissions)

    UnsolvableGame             a game without a solution: recorded and reported apart

What the model or the planner got wrong is data and never raised: see `core.nouns.PlanResult` and
`episode.reading.answer`.
"""


class PddlegoError(Exception):
    """Base of all errors that end a command with one clear sentence instead of a traceback.

    One that `ends_run` would hit every episode alike. Others end one cell, or one episode, which is
    tried again first.
    """

    exit_code = 3
    ends_run = True


class ConfigError(PddlegoError):
    """Names the file, key or option, what was wrong with it, and what to do."""

    exit_code = 2


class PromptTooLong(ConfigError):
    """An episode's first prompt: the context is set too small. A later one: what the model wrote
    and saw has outgrown the context, and the episode ends as `context_exceeded`."""


class CellHeld(ConfigError):
    """Another process is playing this cell, here or on another machine; the others can go on."""

    ends_run = False


class InfrastructureError(PddlegoError):
    """Something of ours failed: the episode is stopped or retried, never scored."""

    ends_run = False


class MissingPart(InfrastructureError):
    """Something is not installed; the message names the command that helps."""

    ends_run = True


class ModelFault(InfrastructureError):
    """The model's backend died, refused the request, or answered something impossible."""


class GrammarIgnored(ModelFault):
    """The backend does not obey grammars: every later result would be nonsense."""

    ends_run = True


class GrammarFault(InfrastructureError):
    """A grammar, whose text is `grammar`, does not compile. The same answer would meet it again, so
    the episode is not tried again in the same run; the other episodes go on."""

    def __init__(self, message: str, grammar: str) -> None:
        super().__init__(message)
        self.grammar = grammar


class PlannerFault(InfrastructureError):
    """The planner's worker process died or could not be started."""


class EnvironmentFault(InfrastructureError):
    """A game crashed, hung or answered something that is not a game's answer."""


class RecordFault(InfrastructureError):
    """A record could not be written; nothing recorded before is lost."""

    ends_run = True


class UnsolvableGame(Exception):
    """A game of a data set that nobody can win. The episode ends as `unsolvable_game`, and counts
    for no method and against none."""
