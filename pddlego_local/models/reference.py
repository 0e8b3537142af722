"""The rule-based reference formalizer: not a language model.

Writes the PDDL that a perfect formalizer would write from the same memory. It gives every
environment its ceiling and the whole line a test without weights. The rules of an environment are
in `environments/<name>_reference.py`.
"""

import importlib
import json
import time

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core import Completion, Grammar, Prompt, Sampling
from pddlego_local.errors import ConfigError


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class ReferenceFormalizer:
    """Deterministic; ignores grammar and sampling; uses no tokens."""

    decodes = False

    def preflight(self, *, thinking: bool = False) -> None:
        """Needs nothing."""

    def identity(self) -> dict[str, str]:
        return {"backend": "reference", "note": "rule-based, not a language model"}

    def complete(self, prompt: Prompt, grammar: Grammar | None, sampling: Sampling) -> Completion:
        began = time.perf_counter()
        module = f"pddlego_local.environments.{prompt.environment}_reference"
        try:
            rules = importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"model=reference has no rules for the environment {prompt.environment!r}: "
                f"there is no module {module}"
            ) from error
        domain, problem = rules.formalize(prompt.memory)
        text = json.dumps({"df": domain, "pf": problem})
        return Completion(text, "stop", 0, 0, time.perf_counter() - began)

    def close(self) -> None:
        """Holds nothing."""
