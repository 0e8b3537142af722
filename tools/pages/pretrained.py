"""docs/results/pretrained.md: two pretrained models in CoinCollector."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from pddlego_local.core.record.events import Call
from pddlego_local.decoding.forms import PROBLEM
from pddlego_local.episode.reading.lenient import lenient
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.figures.charts import draw_outcomes, series_of
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored, transcripts

PLAYED = "pretrained/records.tar.xz", "pretrained"
NAMES = "pretrained/names_records.tar.xz", "pretrained_names"
WITHOUT_MODEL = "pretrained/baseline_records.tar.xz", "pretrained_baselines"
EXAMPLES = "pretrained_examples/records.tar.xz", "pretrained_examples"
ARMS = (
    "free",
    "free + repair typed",
    "free + reject typed",
    "json",
    "typed",
    "typed, any layout",
    "grounded",
)
COLUMNS: dict[str, tables.Column] = {
    "games won": tables.games_won,
    "share": tables.share_won,
    "no plan": tables.ended_as("no_plan"),
    "step limit": tables.ended_as("step_limit"),
    "answers with a plan": tables.answers_with_a_plan,
    "tokens per answer": tables.tokens_per_answer,
    "prompt tokens per game": tables.prompt_tokens_per_game,
    "tokens per game won": tables.tokens_per_win,
}
POOLED = (
    ("free", "free + repair typed"),
    ("free", "grounded"),
    ("free + repair typed", "typed"),
)


def model(cell: CellRecord) -> str:
    """Returns the size of a Qwen2.5-Coder: "0.5B" or "1.5B"."""
    return cell.labels["model"].removeprefix("qwen25_coder_").replace("_", ".").upper()


def arms(records: Records) -> str:
    cells = records.sweep(*PLAYED)
    in_order = sorted(
        cells, key=lambda cell: (model(cell), ARMS.index(tables.arm_name(cell)))
    )
    return tables.table(
        {
            "model": model(cell),
            "arm": f"`{tables.arm_name(cell)}`",
            **{title: column(cell) for title, column in COLUMNS.items()},
            "answers with all four tries rejected": tables.all_tries_rejected(cell),
        }
        for cell in in_order
    )


def names_of(cell: CellRecord) -> str:
    return str(cell.run.identity["decoding"].get("names") or "prompt")


def arms_of_names(records: Records) -> str:
    cells = sorted(
        records.sweep(*NAMES),
        key=lambda cell: (model(cell), names_of(cell) != "prompt"),
    )
    return tables.table(
        {
            "model": model(cell),
            "`grounded` with the names of": f"the {names_of(cell)}",
            **{title: column(cell) for title, column in COLUMNS.items()},
        }
        for cell in cells
    )


def verdicts(records: Records, sweep: tuple[str, str]) -> str:
    lines = tables.verdict_lines(records.compared(*sweep), where=["model"])
    return lines.replace("qwen25_coder_0_5b", "0.5B").replace(
        "qwen25_coder_1_5b", "1.5B"
    )


def pooled(records: Records) -> str:
    """Games that one arm alone wins, over the declared experiments: nothing here was
    declared.
    """
    played = [*records.sweep(*PLAYED), *records.sweep(*EXAMPLES)]
    rows = []
    for base, other in POOLED:
        counts = {size: _alone(played, size, base, other) for size in ("0.5B", "1.5B")}
        gained, lost = map(sum, zip(*counts.values(), strict=True))
        rows.append(
            {
                "from": f"`{base}`",
                "to": f"`{other}`",
                **{size: f"{more} : {fewer}" for size, (more, fewer) in counts.items()},
                "both": f"{gained} : {lost}",
            }
        )
    return tables.table(rows)


def _alone(
    played: list[CellRecord], size: str, base: str, other: str
) -> tuple[int, int]:
    """Returns how many games only `other` wins, and how many only `base`."""
    won = {name: _won(played, size, name) for name in (base, other)}
    both = won[base].keys() & won[other].keys()
    gained = sum(won[other][game] and not won[base][game] for game in both)
    return gained, sum(won[base][game] and not won[other][game] for game in both)


def _won(played: list[CellRecord], size: str, name: str) -> Mapping[object, bool]:
    won: dict[object, bool] = {}
    for cell in played:
        if model(cell) == size and tables.arm_name(cell) == name:
            games = cell.labels["environment"], str(cell.run.identity["environment"])
            won |= {(*games, row.game): row.won for row in scored(cell)}
    return won


def without_a_model(records: Records) -> str:
    words = {
        "random_policy": (
            "`method=random_policy`: any valid command, all equally likely"
        ),
        "pddl_edit": "`model=reference`: PDDL-edit by hand-written rules",
    }
    won = {
        cell.labels["method"]: tables.games_won(cell)
        for cell in records.sweep(*WITHOUT_MODEL)
    }
    return tables.table(
        {"who plays": said, "games won": won[method]} for method, said in words.items()
    )


def near_wins(records: Records) -> str:
    """For example "198 of 231": won games that took one or two actions."""
    actions = [
        row.actions
        for cell in records.sweep(*PLAYED)
        for row in scored(cell)
        if row.won
    ]
    return f"{sum(count <= 2 for count in actions)} of {len(actions)}"


def missing(records: Records) -> str:
    return str(sum(cell.missing for cell in records.sweep(*PLAYED)))


def names_the_garage(records: Records) -> str:
    """A table of the answers that name the example's garage before any observation
    does.
    """
    rows = []
    for sweep in (PLAYED, NAMES):
        for cell in sorted(records.sweep(*sweep), key=model):
            if sweep == PLAYED and tables.arm_name(cell) not in ("typed", "grounded"):
                continue
            named, asked = _naming("garage", cell)
            rows.append(
                {
                    "experiment": sweep[1],
                    "model": model(cell),
                    "arm": f"`{tables.arm_name(cell)}`, names of the {names_of(cell)}",
                    "answers that name the garage": f"{named} of {asked:,}",
                }
            )
    return tables.table(rows)


def _naming(word: str, cell: CellRecord) -> tuple[int, int]:
    named = asked = 0
    for events in transcripts(cell):
        shown = ""
        for event in events:
            shown += getattr(event, "observation", "")
            if isinstance(event, Call):
                asked += 1
                named += word in event.text and word not in shown
    return named, asked


def whole_files(records: Records) -> str:
    """Counts whole files, and copies of the prompt's file, among the 1.5B model's free
    answers.
    """
    (free,) = (
        cell
        for cell in records.sweep(*PLAYED)
        if model(cell) == "1.5B" and tables.arm_name(cell) == "free"
    )
    found = Counter[str]()
    for events in transcripts(free):
        for call in (event for event in events if isinstance(event, Call)):
            file = lenient(call.text, PROBLEM, prompt=call.messages).taken
            found["answers"] += 1
            found["files"] += (
                bool(file) and not call.fault and '"objects"' not in call.text
            )
            copied = file is not None and file.doubt == "as in the prompt"
            found["copies"] += call.fault == "no_json" and copied
    return (
        f"Of the 1.5B model's {found['answers']:,} free answers, {found['files']} are"
        f" whole problem files in place of edits, and in {found['copies']} more the"
        " file is a copy of the one in the prompt."
    )


def draw(records: Records) -> bytes:
    """Draws how the games of each arm ended."""
    draw_outcomes(series_of(records.sweep(*PLAYED)), records.folder)
    return (records.folder / "outcomes.png").read_bytes()


PAGES = (
    Page(
        "docs/results/pretrained.md",
        {
            "arms": arms,
            "verdicts": partial(verdicts, sweep=PLAYED),
            "pooled": pooled,
            "without a model": without_a_model,
            "near wins": near_wins,
            "episodes without a result": missing,
            "garage": names_the_garage,
            "whole files": whole_files,
            "arms of names": arms_of_names,
            "verdicts of names": partial(verdicts, sweep=NAMES),
        },
    ),
)
