"""The page on pretrained models says what its records say."""

import re

import pytest

from tests.docs.records import ROOT, Cell, cells, gained_and_lost, told

PAGE = "docs/results/pretrained.md"
MODELS = {"0_5b": "0.5B", "1_5b": "1.5B"}
PLAYED = cells("pretrained/records.tar.xz")
NAMES = cells("pretrained/names_records.tar.xz")


def arm(cell: Cell) -> str:
    rung, repair, reject, layout = (
        cell.asks(f"decoding.{key}") for key in ("rung", "repair", "reject", "layout")
    )
    name = f"{rung} + reject {reject['rung']}" if reject else str(rung)
    name += f" + repair {repair}" if repair != "none" else ""
    if cell.sweep == "pretrained_names":
        return f"{name}, names of the {cell.asks('decoding.names') or 'prompt'}"
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
    played = (*PLAYED, *NAMES, *cells("pretrained/small_records.tar.xz"))
    found = {(model(cell), arm(cell)): line(cell) for cell in played}
    assert {(size, name): rest.split(" | ") for size, name, rest in shown} == found


def test_what_was_declared_before_the_first_game() -> None:
    every = [(cell.sweep, cell.run["starts"]) for cell in (*PLAYED, *NAMES)]
    sittings = {(sweep, *(start["commit"][:7] for start in starts)) for sweep, starts in every}
    first, names = ("pretrained", "730466e"), ("pretrained_names", "3f0cc31")
    assert sittings == {first, (*first, "3f0cc31"), names}
    starts = [start for _, some in every for start in some]
    assert all(start["began"] > start["committed"] and not start["dirty"] for start in starts)


@pytest.mark.parametrize("size", MODELS.values())
@pytest.mark.parametrize("arms", [("free", "grounded"), ("free + repair typed", "typed")])
def test_the_pairs_of_the_primary_comparisons(size: str, arms: tuple[str, str]) -> None:
    played = {arm(cell): cell.rows for cell in PLAYED if model(cell) == size}
    one, other = ({row["game"]: row["won"] for row in played[name]} for name in arms)
    gained, lost, _ = gained_and_lost(one, other)
    assert f"`{arms[1]}` alone wins {gained} games, `{arms[0]}` alone {lost}" in told(PAGE)


def test_what_is_said_in_short_comes_from_the_table() -> None:
    masked = [cell for cell in PLAYED if cell.asks("decoding.rung") in ("typed", "grounded")]
    free = {model(cell): cell for cell in PLAYED if arm(cell) == "free"}
    plans = [100 * cell.causes()["solved"] / cell.total("calls") for cell in masked]
    fewer = [100 - 100 * tokens(cell) / tokens(free[model(cell)]) for cell in masked]
    of_plans, of_tokens = (f"{min(one):.0f} to {max(one):.0f} %" for one in (plans, fewer))
    assert f"{of_plans} of the answers lead to a plan" in told(PAGE)
    assert f"an answer has {of_tokens} fewer tokens" in told(PAGE)
    for played, games in ((PLAYED, 132), (NAMES, 91)):
        maps = {row["map"] for cell in played for row in cell.rows}
        assert f"the other {games} are on {len(maps)} maps" in told(PAGE)


def test_what_is_said_of_free_and_tight_lists_comes_from_their_records() -> None:
    page, played = told("docs/results/lists.md"), dict[str, Cell]()
    for cell in cells("lists/records.tar.xz"):
        of = cell.sweep, model(cell), cell.run["labels"]["environment"], cell.asks("decoding.rung")
        played[" ".join((*of, cell.asks("decoding.lists") or ""))] = cell

    def share(name: str, digits: int = 0) -> str:
        cell = played[f"lists {name}"]
        return f"{100 * cell.causes()['truncated'] / cell.total('calls'):.{digits}f} %"

    def cut(size: str, where: str) -> str:
        of = [played[f"lists_whole {size} {where} {rung} tight"] for rung in ("typed", "grounded")]
        return f"{sum(c.causes()['truncated'] for c in of)} of {sum(c.total('calls') for c in of)}"

    typed, grounded = (share(f"1.5B coin {rung} tight") for rung in ("typed", "grounded"))
    said = (
        f"{typed} (`typed`) and {grounded} (`grounded`) of the larger model's answers are cut, and"
    )
    typed, grounded = (share(f"0.5B coin {rung} tight") for rung in ("typed", "grounded"))
    assert f"{said} {typed} and {grounded} of the smaller model's." in page
    said = (
        f"{share('0.5B coin typed free', 1)} of the smaller model's answers under `typed` are cut"
    )
    assert f"Under free lists, {said}, and otherwise none" in page
    large, small = (share(f"{size} coin json ", 1) for size in ("1.5B", "0.5B"))
    assert f"{large} of the larger model's answers are cut, and {small} of the smaller" in page
    per = {name: tokens(cell) for name, cell in played.items()}
    longer = 100 * per["lists 0.5B coin typed free"] / per["lists 0.5B coin json "] - 100
    assert f"answers under `typed` are {longer:.0f} % longer than under `json`" in page
    said = f"48 answers in Coin is cut, and {cut('1.5B', 'alfworld')} in ALFWorld; of the smaller"
    said += (
        f" model's, {cut('0.5B', 'coin')} in Coin, {cut('0.5B', 'cooking_easy')} in easy Cooking"
    )
    assert f"{said}, and {cut('0.5B', 'alfworld')} in ALFWorld." in page
    times = [per[n.replace("free", "tight")] / per[n] for n in per if "whole" in n and "free" in n]
    said = f"in each of the ten pairs, {min(times):.1f} to {max(times):.1f} times as many"
    assert len(times) == 10 and said in page


def test_how_near_the_coin_of_a_won_game_lies() -> None:
    actions = [row["actions"] for cell in PLAYED for row in cell.rows if row["won"]]
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
    assert f"In all, {sum(missing)} episodes have no result" in told(PAGE)
    assert f"of the {160 * len(PLAYED):,} episodes" in told(PAGE)


def test_what_the_setting_was_chosen_by() -> None:
    best = max(cells("pretrained/setting_records.tar.xz"), key=lambda cell: cell.total("won"))
    assert f"| `{arm(best)}` | {best.total('won')} of {len(best.rows)} |" in told(PAGE)


def test_the_readme_gives_the_shares_of_the_table() -> None:
    share = {(model(cell), arm(cell)): line(cell)[1] for cell in PLAYED}
    rates = [share[size, name] for size in MODELS.values() for name in ("free", "grounded")]
    said = "0.5B wins {} freely and {} under `grounded` (p = 0.086), 1.5B {} and {}".format(*rates)
    assert said in told("README.md")
