"""How models word a small answer: what is read of it, and that nothing is where it is
ambiguous (a table).
"""

from typing import Any

import pytest

from pddlego_local.core.nouns import Completion
from pddlego_local.episode.reading.answer import read_free
from tests.episode.test_free_answers import BY_NAME
from tests.tables import table

_TABLE = table(__file__, "free_wordings")
_KINDS = [(form, kind) for form, kinds in _TABLE.items() for kind in kinds]


def read(answer: str, form: str) -> Any:
    """What is read: all of a move, else the one entry that matters."""
    value = read_free(Completion(answer, "stop", 0, 0, 0.0), BY_NAME[form]).value
    entries = value.model_dump() if value else {}
    entries.pop("reason", None)
    return entries if form == "move" and entries else next(iter(entries.values()), None)


@pytest.mark.parametrize(("form", "kind"), _KINDS, ids=lambda name: name)
def test_what_is_read_of_each_wording(form: str, kind: str) -> None:
    rows = _TABLE[form][kind]
    found = {answer: read(answer, form) for answer, _ in rows}
    assert found == dict(rows)
