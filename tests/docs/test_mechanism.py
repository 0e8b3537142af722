"""The page on the mechanism says what its records say."""

import re
from typing import Any

import pytest

from tests.docs.records import ROOT, Cell, cells, told

PAGE = "docs/results/mechanism.md"
PLAYED = {
    "Whole files in CoinCollector": cells("mechanism/records.tar.xz"),
    "Edits in ALFWorld": cells("mechanism/edit_records.tar.xz"),
}
AT_EQUAL_COST = {
    "Whole files in CoinCollector": "mechanism_cost",
    "Edits in ALFWorld": "mechanism_edit_cost",
}
SAMPLED = {
    "Whole files in CoinCollector": "`reject_typed` samples {reject_typed} tokens per game won and"
    " `reject_grounded` {reject_grounded}, where `typed` samples {typed} and `grounded` {grounded}",
    "Edits in ALFWorld": "`repair_grounded` samples {repair_grounded} tokens per game won, where"
    " `grounded` samples {grounded} tokens per game won. For `reject_grounded` they are"
    " {reject_grounded}, and for `free` {free}.",
}
# What an arm has that does not say it.
NOT_ASKED: dict[str, Any] = {"rollback": True, "reason": "none"}


def arm(cell: Cell) -> str:
    """The name of the file in conf/arm/mechanism."""
    asked: dict[str, Any] = NOT_ASKED | cell.run["identity"]["decoding"]
    retries = cell.asks("method.max_retries")
    if asked["rung"] == "free":
        kind = "reject" if asked.get("reject") else "repair"
        rung = (asked.get("reject") or {"rung": asked["repair"]})["rung"]
        return "again" if retries else "free" if rung == "none" else f"{kind}_{rung}"
    if asked["reason"] == "draft":
        return f"draft_{asked['rung']}"
    if not asked["rollback"]:
        return f"kept_{asked['rung']}"
    if asked["lists"] == "tight":
        return f"tight_{asked['rung']}"
    return f"{asked['rung']}_any" if asked["layout"] == "any" else str(asked["rung"])


def line(cell: Cell) -> list[str]:
    won, played, calls = cell.total("won"), len(cell.rows), cell.total("calls")
    return [
        f"{won} of {played}",
        f"{100 * won / played:.0f} %",
        f"{100 * cell.causes()['solved'] / calls:.0f} %",
        f"{cell.mean('calls'):.1f}",
        f"{cell.total('completion_tokens') / calls:.0f}",
    ]


def section(title: str) -> str:
    text = (ROOT / PAGE).read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    return text.partition("\n## ")[0]


@pytest.mark.parametrize("title", PLAYED)
def test_the_table_comes_from_the_records(title: str) -> None:
    row = re.compile(r"^\| `(\w+)` \|(?: [^|]+ \|)? (\d+ of \d+ \| \d+ %.*) \|$", re.MULTILINE)
    shown = row.findall(section(title))
    assert len(shown) == 15
    assert {name: rest.split(" | ") for name, rest in shown} == {
        arm(cell): line(cell) for cell in PLAYED[title]
    }


def test_the_model_is_asked_again_with_the_static_checks_messages() -> None:
    for played in PLAYED.values():
        (again,) = (cell for cell in played if arm(cell) == "again")
        assert again.asks("decoding.feedback") == "explained"
    assert "asked again up to five times with the static check's messages" in told(PAGE)
    control = told("docs/understand/control_arms.md")
    assert "asking again with the static check's messages (not the planner's)" in control


@pytest.mark.parametrize("title", PLAYED)
def test_every_game_was_played_after_the_declaration_and_counts_once(title: str) -> None:
    starts = [start for cell in PLAYED[title] for start in cell.run["starts"]]
    assert {start["dirty"] for start in starts} == {False}
    assert min(start["began"] for start in starts) > max(start["committed"] for start in starts)
    games = [[row["game"] for row in cell.rows] for cell in PLAYED[title]]
    assert all(sorted(one) == sorted(games[0]) for one in games)
    (finished,) = {cell.finished for cell in PLAYED[title]}
    assert f"{finished} games" in section(title)
    assert finished == len(games[0]) or f"{len(games[0])} are scored" in " ".join(
        section(title).split()
    )


def sampled(cell: Cell) -> str:
    """How many tokens were sampled for each game won."""
    tokens = cell.total("completion_tokens") - cell.total("forced_tokens")
    return f"{tokens / cell.total('won'):,.0f}" if cell.total("won") else ""


def test_the_sampled_tokens_of_a_won_game_come_from_the_records() -> None:
    for title, said in SAMPLED.items():
        prices = {arm(cell): sampled(cell) for cell in PLAYED[title]}
        assert said.format(**prices) in " ".join(section(title).split())
        assert "{grounded} against {repair_grounded}".format(**prices) in told(PAGE)


@pytest.mark.parametrize("title", PLAYED)
def test_the_table_at_equal_cost_comes_from_the_records(title: str) -> None:
    more = [
        cell
        for cell in cells("mechanism/cost_records.tar.xz")
        if cell.sweep == AT_EQUAL_COST[title]
    ]
    played = {at_cost(cell): cell for cell in (*PLAYED[title], *more)}
    row = re.compile(r"^\| (`\w+`[^|]*) \| ([\d,]+) \| (\d+ of \d+) \|$", re.MULTILINE)
    shown = row.findall(section(title))
    assert {at_cost(cell) for cell in more} <= {name for name, *_ in shown}
    for name, tokens, won in shown:
        cell = played[name]
        sampled = cell.mean("completion_tokens") - cell.mean("forced_tokens")
        assert (tokens, won) == (f"{sampled:,.0f}", f"{cell.total('won')} of {len(cell.rows)}")


def at_cost(cell: Cell) -> str:
    best_of, name = cell.asks("decoding.best_of") or 1, f"`{arm(cell)}`"
    if name == "`again`" and cell.asks("decoding.feedback") == "planner":
        return f"{name}, with the planner's messages"
    return f"{name}, best of {best_of}" if best_of > 1 else name
