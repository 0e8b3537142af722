"""The page on the mechanism says what its records say."""

import re
from typing import Any

from tests.docs.records import ROOT, Cell, cells, told

PAGE = "docs/results/mechanism.md"
PLAYED = cells("mechanism/records.tar.xz")
NOT_ASKED: dict[str, Any] = {
    "rollback": True,
    "reason": "none",
}  # what an arm has that does not say it


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


def test_the_table_comes_from_the_records() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(\w+)` \| [^|]+ \| (.*) \|$", text, re.MULTILINE)
    assert len(shown) == 15
    assert {name: rest.split(" | ") for name, rest in shown} == {
        arm(cell): line(cell) for cell in PLAYED
    }


def test_the_model_is_asked_again_with_the_static_checks_messages() -> None:
    (again,) = (cell for cell in PLAYED if arm(cell) == "again")
    assert again.asks("decoding.feedback") == "explained"
    assert "asked again up to five times with the static check's messages" in told(PAGE)
    control = told("docs/understand/control_arms.md")
    assert "asking again with the static check's messages (not the planner's)" in control


def test_every_game_was_played_after_the_declaration_and_counts_once() -> None:
    starts = [start for cell in PLAYED for start in cell.run["starts"]]
    assert {start["dirty"] for start in starts} == {False}
    assert min(start["began"] for start in starts) > max(start["committed"] for start in starts)
    assert {cell.finished for cell in PLAYED} == {130}
    games = [[row["game"] for row in cell.rows] for cell in PLAYED]
    assert all(sorted(one) == sorted(games[0]) for one in games)
    assert f"{len(games[0])} count" in told(PAGE)


def test_the_sampled_tokens_of_a_won_game_come_from_the_records() -> None:
    sampled = {
        arm(cell): (cell.total("completion_tokens") - cell.total("forced_tokens"))
        / cell.total("won")
        for cell in PLAYED
    }
    said = "({:,.0f} and {:,.0f}, where `typed` and `grounded` take {:,.0f} and {:,.0f})"
    names = ("reject_typed", "reject_grounded", "typed", "grounded")
    assert said.format(*(sampled[name] for name in names)) in told(PAGE)
    times = {round(sampled[f"reject_{rung}"] / sampled[rung]) for rung in ("typed", "grounded")}
    assert times == {3} and "takes about three times as many sampled tokens" in told(PAGE)
