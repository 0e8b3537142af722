"""Why an evaluation does not play a part of its suite by an arm.

These are the sentences that an eval.json can hold. Whoever checks a record of others
asks what they are in his own place, and which of them the program can have written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.api.canary import BEHIND_A_THOUGHT, LARK
from pddlego_local.api.cell_warnings import asked, never_seen
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.report.bundle import PRIVATE
from pddlego_local.runner.config import CellConfig

Verdict = Literal["known", "possible", "invented"]
"""A reason follows from the card of a model that is here, or the program can have
written it elsewhere, or it cannot.
"""

_NOT_TRAINED = "the model was not trained for "
_NO_DATA = r"environment\.(data|split)\b.+"
_NO_GRAMMARS = r"decoding=\S+ cannot be used with model=.+ Choose decoding=free\."
_COMPLETE = ("described", "explored")
"""The kinds of environments that need nothing but this program."""


def not_trained(config: CellConfig) -> str:
    """Returns what of a cell the model's card excludes, as a reason; "" if nothing."""
    if not (unseen := never_seen(config)):
        return ""
    known = [word for word in unseen if not word.endswith("=None")]
    return f"{_NOT_TRAINED}{', '.join(known or unseen)}"


def not_obeyed(config: CellConfig, obeyed: Sequence[str]) -> str:
    """Returns what a cell needs of a running server that obeys less; "" if nothing."""
    thinks = config.tree["decoding"]["reason"] == "think"
    needed = f"{LARK}{BEHIND_A_THOUGHT if thinks else ''}"
    if not _is_constrained(config) or needed in obeyed:
        return ""
    return f"the server does not obey {needed} (`pddlego canary` asks it)"


def not_installed(config: CellConfig) -> str:
    label = config.labels["environment"]
    return f"{label} is not installed here (see `pddlego doctor`)"


def _is_constrained(config: CellConfig) -> bool:
    return RUNGS[config.tree["decoding"]["rung"]].constrained


@dataclass(frozen=True)
class Unplayed:
    """A cell that an evaluation of others did not play. `card_is_here` says whether
    this is the card of its model, `obeyed` is what its server obeyed, and `played` are
    the cells that it played.

    What a model or a machine lacks for one cell, it lacks for all cells that need it.
    So no reason can hold that would also hold for a cell that was played.
    """

    config: CellConfig
    card_is_here: bool
    obeyed: Sequence[str]
    played: Sequence[CellConfig]

    def judge(self, why: str) -> Verdict:
        """Judges the reason that the record gives."""
        excluded = not_trained(self.config) if self.card_is_here else ""
        if excluded:
            return "known" if _is_same(why, excluded) else "invented"
        return "possible" if self._can_have(why) else "invented"

    def _can_have(self, why: str) -> bool:
        if why.startswith(_NOT_TRAINED):
            settings = why.removeprefix(_NOT_TRAINED)
            return not self.card_is_here and self._only_it_asks(settings)
        if any(_is_same(why, sentence) for sentence in self._sentences()):
            return True
        if re.fullmatch(_NO_DATA, why):
            return self._lacks_data()
        return bool(re.fullmatch(_NO_GRAMMARS, why)) and self._lacks_grammars()

    def _only_it_asks(self, settings: str) -> bool:
        """Returns whether the cell has these settings ("NAME=VALUE, …"), and no cell
        that was played has one of them.
        """
        for setting in re.split(r", (?=[\w.]+=)", settings):
            name, _, value = setting.partition("=")
            ours = asked(self.config, name)
            if not (value and _is_same(value, ours)):
                return False
            if any(asked(cell, name) == ours for cell in self.played):
                return False
        return True

    def _sentences(self) -> Iterator[str]:
        if self._lacks_grammars():
            yield not_obeyed(self.config, self.obeyed)
        kind = self.config.kind("environment")
        if kind not in _COMPLETE and kind not in _kinds(self.played):
            yield not_installed(self.config)

    def _lacks_grammars(self) -> bool:
        return (
            _is_constrained(self.config)
            and not any(map(_is_constrained, self.played))
            and str(self.config.tree["model"].get("_target_")).endswith(".VllmModel")
        )

    def _lacks_data(self) -> bool:
        environment = self.config.tree["environment"]
        here = [cell.tree["environment"] for cell in self.played]
        return environment.get("data") is not None and environment not in here


def _kinds(cells: Iterable[CellConfig]) -> set[str]:
    return {cell.kind("environment") for cell in cells}


def _is_same(recorded: str, ours: str) -> bool:
    """Compares a sentence with one of a bundle, in which names may be hidden."""
    words = map(re.escape, recorded.split(PRIVATE))
    return bool(ours) and re.fullmatch(".+".join(words), ours) is not None
