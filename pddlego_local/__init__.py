"""Language models that write PDDL in partially observed text worlds, offline and under
grammars.

The names in `__all__` are the public interface; `help(pddlego_local.run)` explains one
of them. The rest of the package is private.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddlego_local.api.library import (
        Canary,
        Check,
        Formalized,
        Game,
        PlanResult,
        Sample,
        canary,
        check,
        evaluate,
        formalize,
        load,
        plan,
        question,
        run,
        sample,
    )

__all__ = [
    "Canary",
    "Check",
    "Formalized",
    "Game",
    "PlanResult",
    "Sample",
    "canary",
    "check",
    "evaluate",
    "formalize",
    "load",
    "plan",
    "question",
    "run",
    "sample",
]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Loads the library on first use, so that importing the package stays fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pddlego_local.api import library

    return getattr(library, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
