"""What a page says with a number comes from the tests' own tables."""

from tests.episode.test_free_answers import ROWS
from tools.pages.records import ROOT


def test_as_many_ways_to_answer_are_told_as_the_tables_have() -> None:
    answers = [
        row.get("strict", "nothing") for row in ROWS if row.get("read") is not None
    ]
    kinds = [answers.count(kind) for kind in ("same", "other", "nothing")]
    said = (
        f"hold {len(answers)} answers. The strict reader reads {kinds[0]} of them as"
        f" they are meant, {kinds[1]} as something else, and {kinds[2]} not at all. The"
        f" tables also hold {len(ROWS) - len(answers)} texts without an answer."
    )
    page = (ROOT / "docs/understand/free_answers.md").read_text(encoding="utf-8")
    assert said in " ".join(page.split())
