"""The language that answers generated elsewhere were to keep to: a JSON schema, or a
Lark grammar.
"""

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

from pddlego_local.commands.shared.pairs import text_of
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import (
    decoder_fault,
    decoder_prefix,
    validate,
)
from pddlego_local.report.statistics.rates import Rate

_SHOWN = 40  # characters of an answer around the place where it leaves the language

WhyOutside = Callable[[str], str]
"""Returns where a text leaves a language, "" if it is in it."""


@dataclass
class Conformance:
    """Counts, for each group of answers, how many are in the language of `file`."""

    file: Path
    why_outside: WhyOutside
    counts: dict[Hashable, list[bool]] = field(default_factory=dict)

    def count(self, group: Hashable, conforms: bool) -> None:
        self.counts.setdefault(group, []).append(conforms)

    def lines(self) -> list[str]:
        """Returns a sentence for each group, with a Wilson interval of 95 %."""
        sentences = []
        for group, conforming in self.counts.items():
            rate = Rate(sum(conforming), len(conforming))
            share = 100 * rate.k / rate.n
            low, high = (100 * end for end in rate.interval)
            name = "" if group is None else f"{group}: "
            sentences.append(
                f"{name}{rate.k} of {rate.n} answers are in the language of"
                f" {self.file}: {share:.2f} % ({low:.2f} to {high:.2f})"
            )
        return sentences


def of_schema(file: Path) -> Conformance:
    """Judges by a JSON schema. Raises ConfigError if the file holds none."""
    import jsonschema  # type: ignore[import-untyped]  # slow to import
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        schema = json.loads(text_of(file))
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
    except (ValueError, RecursionError, jsonschema.SchemaError) as error:
        raise ConfigError(
            f"--schema: {file} is no JSON schema: {error!s:.200}"
        ) from None
    validator = kind(schema, registry=Registry())  # which fetches nothing

    def why_outside(text: str) -> str:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"it is no JSON: {error!s:.200}"
        try:
            worst = jsonschema.exceptions.best_match(validator.iter_errors(value))
        except Unresolvable as error:
            return f"the schema refers to something that is not in it: {error}"
        return "" if worst is None else f"{worst.json_path}: {worst.message:.200}"

    return Conformance(file, why_outside)


def of_grammar(file: Path) -> Conformance:
    """Judges by a Lark grammar, as the decoder reads it. Raises ConfigError if the file
    holds none.
    """
    grammar = Grammar(str(file), "lark", text_of(file))
    if decoder_fault(grammar):
        validate(grammar)

    def why_outside(text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        length, is_whole = decoder_prefix(grammar, data)
        if length == len(data):
            return "" if is_whole else "it ends before its end"
        before = data[:length].decode(errors="replace")[-_SHOWN:]
        after = data[length:].decode(errors="replace")[:_SHOWN]
        return f"after {before!r} comes {after!r}"

    return Conformance(file, why_outside)
