"""The page on pretrained models says what its records say."""

import re
from typing import Any

import pytest

from tests.docs.records import ROOT, Cell, cells, gained_and_lost, told

PAGE = "docs/results/pretrained.md"
MODELS = {"0_5b": "0.5B", "1_5b": "1.5B"}
PLAYED = cells("pretrained/records.tar.xz")
SHOWN = [cell for cell in PLAYED if cell.finished > 100]  # all arms but the one that had just begun


def arm(cell: Cell) -> str:
    rung, repair, reject, layout = (
        cell.asks(f"decoding.{key}") for key in ("rung", "repair", "reject", "layout")
    )
    name = f"{rung} + reject {reject['rung']}" if reject else str(rung)
    name += f" + repair {repair}" if repair != "none" else ""
    return f"{name}, any layout" if (rung, layout) == ("typed", "any") else name


def model(cell: Cell) -> str:
    return MODELS.get(cell.run["labels"]["model"].removeprefix("qwen25_coder_"), "135M")


def tokens(cell: Cell) -> float:
    """Of an answer, in the mean."""
    return cell.total("completion_tokens") / cell.total("calls")


def line(cell: Cell) -> list[str]:
    ended = [row["outcome"] for row in cell.rows]
    calls, tokens = cell.total("calls"), cell.total("completion_tokens")
    won, shares = ended.count("success"), cell.causes()
    return [
        f"{won} of {len(ended)}",
        f"{100 * won / len(ended):.0f} %",
        f"{100 * ended.count('no_plan') / len(ended):.0f} %",
        f"{100 * ended.count('step_limit') / len(ended):.0f} %",
        f"{100 * shares['solved'] / calls:.0f} %",
        f"{tokens / calls:.0f}",
        f"{tokens / won:,.0f}" if won else "–",
    ]


def test_the_table_comes_from_the_records() -> None:
    pattern = r"^\| (0\.5B|1\.5B|135M) \| `([^|]+)` \| (.*) \|$"
    shown = re.findall(pattern, (ROOT / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    played = (*SHOWN, *cells("pretrained/small_records.tar.xz"))
    found = {(model(cell), arm(cell)): line(cell) for cell in played}
    assert {(size, name): rest.split(" | ") for size, name, rest in shown} == found


def test_what_was_declared_before_the_first_game() -> None:
    starts = [start for cell in PLAYED for start in cell.run["starts"]]
    assert {start["commit"][:7] for start in starts} == {"730466e"}
    assert {start["dirty"] for start in starts} == {False}
    assert min(start["began"] for start in starts) > max(start["committed"] for start in starts)


@pytest.mark.parametrize(
    ("size", "one", "other"),
    [
        (size, *arms)
        for size in MODELS.values()
        for arms in (("free", "grounded"), ("free + repair typed", "typed"))
    ],
)
def test_the_pairs_of_the_primary_comparisons(size: str, one: str, other: str) -> None:
    def won(name: str) -> dict[Any, bool]:
        (cell,) = [cell for cell in PLAYED if (model(cell), arm(cell)) == (size, name)]
        return {row["game"]: row["won"] for row in cell.rows}

    first, second = won(one), won(other)
    both = first.keys() & second.keys()
    gained, lost, _ = gained_and_lost(
        {game: first[game] for game in both}, {game: second[game] for game in both}
    )
    sentence = f"`{other}` alone wins {gained} games, `{one}` alone {lost}"
    assert sentence in told(PAGE)


def test_what_is_said_in_short_comes_from_the_table() -> None:
    masked = [cell for cell in SHOWN if cell.asks("decoding.rung") in ("typed", "grounded")]
    free = {model(cell): cell for cell in SHOWN if arm(cell) == "free"}
    plans = [100 * cell.causes()["solved"] / cell.total("calls") for cell in masked]
    fewer = [100 - 100 * tokens(cell) / tokens(free[model(cell)]) for cell in masked]
    of_plans, of_tokens = (f"{min(one):.0f} to {max(one):.0f} %" for one in (plans, fewer))
    assert f"{of_plans} of the answers lead to a plan" in told(PAGE)
    assert f"an answer has {of_tokens} fewer tokens" in told(PAGE)
    maps = {row["map"] for cell in SHOWN for row in cell.rows}
    assert f"the other 132 are on {len(maps)} maps" in told(PAGE)


def test_what_is_said_of_free_lists_comes_from_their_records() -> None:
    played = {cell.asks("decoding.rung"): cell for cell in cells("lists/records.tar.xz")}
    page = told("docs/results/lists.md")
    per = {rung: tokens(cell) for rung, cell in played.items()}
    longer = [100 * per[rung] / per["json"] - 100 for rung in ("typed", "grounded")]
    said = "`typed` are {:.0f} % longer than under `json`, and those under `grounded` {:.0f} %"
    assert said.format(*longer) in page
    lost = [row["outcome"] for row in played["json"].rows].count("no_plan")
    assert f"Under `json`, {lost} of {len(played['json'].rows)} games end without a plan" in page
    over = played["json"].finished - len(played["json"].rows)
    assert f"Of the 100 games, {over} are [trivial]" in page


def test_how_near_the_coin_of_a_won_game_lies() -> None:
    actions = [row["actions"] for cell in SHOWN for row in cell.rows if row["won"]]
    near = sum(count <= 2 for count in actions)
    assert f"{near} of the {len(actions)} won games were won in one or two actions" in told(PAGE)


def test_what_is_won_without_a_model() -> None:
    found = {
        cell.run["labels"]["method"]: f"{cell.total('won')} of {len(cell.rows)}"
        for cell in cells("pretrained/baseline_records.tar.xz")
    }
    assert f"all equally likely | {found['random_policy']} |" in told(PAGE)
    assert f"PDDL-edit by hand-written rules | {found['pddl_edit']} |" in told(PAGE)
    won, of = map(int, found["random_policy"].split(" of "))
    assert f"Random valid commands, which models do not see, win {100 * won / of:.0f} %" in told(
        "README.md"
    )


def test_how_many_episodes_have_no_result() -> None:
    missing = [160 - cell.finished for cell in PLAYED]
    (begun,) = (160 - cell.finished for cell in PLAYED if cell not in SHOWN)
    said = f"{sum(missing)} of the {160 * len(PLAYED):,} episodes have no result, {begun} of"
    assert said in told(PAGE)


def test_the_readme_gives_the_shares_of_the_table() -> None:
    share = {(model(cell), arm(cell)): line(cell)[1] for cell in SHOWN}
    small, large = (
        [share[size, name] for name in ("free", "grounded")] for size in ("0.5B", "1.5B")
    )
    said = "0.5B wins {} freely and {} under `grounded` (p = 0.086), 1.5B {} and {}".format(
        *small, *large
    )
    assert said in told("README.md")
