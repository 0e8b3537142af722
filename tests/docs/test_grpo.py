"""The page on reinforcement says what its records say."""

import json
import tarfile
from statistics import fmean

from tests.docs.records import RESULTS, ROOT, Cell, cells, gained_and_lost, told

PAGE = "docs/results/grpo.md"
ARCHIVE = "grpo/records.tar.xz"
TRAININGS = [f"{rung}_{seed}" for rung in ("free", "grounded") for seed in range(3)]
PLAYED = {
    (cell.sweep, cell.asks("model.weights"), cell.asks("decoding.rung")): cell
    for cell in cells(ARCHIVE)
}


def rows(first: str) -> list[list[str]]:
    """The cells of the page's table rows that begin with this text."""
    lines = (ROOT / PAGE).read_text(encoding="utf-8").splitlines()
    return [line[2:-2].split(" | ") for line in lines if line.startswith(f"| {first}")]


def won(cell: Cell) -> dict[int, bool]:
    return {row["game"]: row["won"] for row in cell.rows}


def progress(training: str) -> list[dict[str, float]]:
    with tarfile.open(RESULTS / ARCHIVE) as packed:
        file = packed.extractfile(f"grpo/trainings/{training}/progress.jsonl")
        assert file
        return [json.loads(line) for line in file]


def training_row(training: str) -> list[str]:
    lines = progress(training)
    first, last = lines[:10], lines[20:]
    assert len(lines) == 30
    shown = [f"`{training}`"]
    for name in ("reward", "planned", "won"):
        means = [fmean(line[name] for line in some) for some in (first, last)]
        shown.append(" → ".join(f"{mean:.2f}" for mean in means))
    shown.append(f"{fmean(line['differ'] for line in lines):.0%}".replace("%", " %"))
    return [*shown, f"{sum(line['seconds'] for line in lines) / 60:.0f}"]


def game_row(weights: str) -> list[str]:
    free, grounded = (PLAYED["grpo", weights, rung] for rung in ("free", "grounded"))
    gained, lost, _ = gained_and_lost(won(free), won(grounded))
    shares = [
        f"{100 * one.causes()['translate_error'] / one.total('calls'):.0f} %"
        for one in (free, grounded)
    ]
    name = weights.removesuffix("-update-30")
    return [
        f"`{name}`",
        str(free.total("won")),
        str(grounded.total("won")),
        str(gained),
        str(lost),
        *shares,
    ]


def curve_row(rung: str, training: str) -> list[str]:
    each = ["nano_early", *(f"{training}-update-{updates}" for updates in (10, 20, 30))]
    numbers = [str(PLAYED["grpo_curve", weights, rung].total("won")) for weights in each]
    return [f"`{rung}`", f"`{training}`", *numbers]


def test_the_table_of_the_trainings_comes_from_their_progress() -> None:
    assert [row for row in rows("`") if "→" in row[1]] == [*map(training_row, TRAININGS)]


def test_the_table_of_the_games_comes_from_the_records() -> None:
    weights = ["nano_early", *(f"{training}-update-30" for training in TRAININGS)]
    shown = [row for row in rows("`") if len(row) == 7]
    assert shown == [*map(game_row, weights)]
    assert {
        len(PLAYED["grpo", one, rung].rows) for one in weights for rung in ("free", "grounded")
    } == {300}


def test_the_curve_comes_from_the_records() -> None:
    shown = [row for row in rows("`") if len(row) == 6 and "→" not in row[1]]
    assert shown == [curve_row(rung, one) for rung in ("free", "grounded") for one in TRAININGS]
    more = [int(row[-1]) - int(row[2]) for row in shown[3:6]]
    assert (min(more), max(more)) == (1, 4) and "win one to four games more freely" in told(PAGE)
    assert {len(cell.rows) for (sweep, *_), cell in PLAYED.items() if sweep == "grpo_curve"} == {
        100
    }


def test_what_is_said_in_short_comes_from_the_games() -> None:
    def of(rung: str, played: str) -> str:
        won = [PLAYED["grpo", f"{rung}_{seed}-update-30", played].total("won") for seed in range(3)]
        return f"{min(won)} to {max(won)}"

    before = {
        rung: PLAYED["grpo", "nano_early", rung].total("won") for rung in ("free", "grounded")
    }
    page = told(PAGE)
    said = f"They win {of('free', 'free')} of 300 games freely and {of('free', 'grounded')} under"
    assert said in page
    said = f"they win {of('grounded', 'free')} freely, where the model before training wins"
    assert f"{said} {before['free']};" in page
    said = f"they win {of('grounded', 'grounded')}, where the model before training wins"
    assert f"{said} {before['grounded']};" in page
    maps = {
        row["map"] for (sweep, *_), cell in PLAYED.items() if sweep == "grpo" for row in cell.rows
    }
    assert f"The 300 games are on {len(maps)} maps" in page
    trivial = PLAYED["grpo", "nano_early", "free"].finished - 300
    assert f"{trivial} more of the seeds are [trivial]" in page


def test_all_was_declared_before_the_first_game() -> None:
    starts = [start for cell in PLAYED.values() for start in cell.run["starts"]]
    assert {start["commit"][:7] for start in starts} == {"49d94b8"}
    assert all(start["began"] > start["committed"] and not start["dirty"] for start in starts)
    assert "49d94b8" in told(PAGE)
