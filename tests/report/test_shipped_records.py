"""What README.md and the docs show of the records that ship comes from these records."""

import re
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pddlego_local.cli import run
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import transcripts
from pddlego_local.decoding.forms import PROBLEM
from pddlego_local.episode.reading.lenient import lenient
from pddlego_local.report.cells import CellRecord, find_cells
from tests.docs.records import told
from tests.pddlego import Pddlego
from tests.report.test_export import lines_of
from tools.bench.cut_answers import measured
from tools.bench.steps import rows

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_EDITS = (RESULTS / "nano_edit.md").read_text(encoding="utf-8")
UNSEEN = RESULTS / "nano_edit/valid_unseen"
# The sweeps whose transcripts tests read.
TRANSCRIPTS = r"(\./)?(lists(_whole)?|pretrained(_names)?|sample)/"
ON_PAGES = yaml.safe_load(Path(__file__).with_name("verdicts_on_pages.yaml").read_text("utf-8"))
CLAIM = r"[+-]\d+ points \([^)]*\)(?:, p [=<] [\d.]*\d)?"


def needed(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """A filter of what is unpacked: reports need no transcripts, and most are transcripts."""
    left_out = "/transcripts" in member.name and not re.match(TRANSCRIPTS, member.name)
    return None if left_out else tarfile.data_filter(member, path)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all sweeps that ship."""
    folder = tmp_path_factory.mktemp("records")
    for archive in RESULTS.rglob("*records.tar.xz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter=needed)
    return folder


@pytest.fixture(scope="module")
def reports(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of each sweep."""
    out = tmp_path_factory.mktemp("reports")
    for sweep in [*records.iterdir(), UNSEEN]:
        given = ["report", str(sweep), "--out", str(out / sweep.name), "--without-pages"]
        assert run(given) == 0
    return out


def settings_of(row: dict[str, str]) -> dict[str, str]:
    return dict(one.split("=") for one in row["settings"].split())


def test_rescoring_the_sample_finds_no_difference(records: Path, pddlego: Pddlego) -> None:
    told = pddlego("rescore", records / "sample").out
    assert "no difference in 1050 episodes of 21 cells" in told


@pytest.mark.parametrize("name", ["report.md", "papers.md"])  # no last digits of another machine
def test_the_samples_report_is_the_one_that_is_shown(reports: Path, name: str) -> None:
    assert (reports / "sample" / name).read_bytes() == (RESULTS / "sample" / name).read_bytes()


@pytest.mark.parametrize(
    ("page", "of"), [(page, of) for page, many in ON_PAGES.items() for of in many]
)
def test_the_verdicts_are_the_reports(reports: Path, page: str, of: dict[str, str]) -> None:
    """Each with its arms, and what such experiments would show."""
    text = told(page).replace("*", "")
    assert of["said"] in text and of.get("both", "") in text
    report = (reports / of["sweep"] / "report.md").read_text(encoding="utf-8").splitlines()
    claim = re.search(CLAIM, of["said"])
    if "row" in of:
        assert claim and any(of["row"] in line and claim[0] in line for line in report)
    if "verdict" in of:
        (verdict,) = {line for line in report if line.startswith(f"- {of['verdict']}")}
        assert of.get("both", "") in verdict
        if points := re.findall(r"(\d+) points", of["said"]):
            assert f"80 % of them would show is {points[-1]} points" in verdict


@pytest.mark.parametrize("page", ON_PAGES)
def test_each_verdict_on_a_page_is_looked_for(page: str) -> None:
    listed = ["".join(re.findall(CLAIM, of["said"])[:1]) for of in ON_PAGES[page]]
    assert re.findall(CLAIM, told(page).replace("*", "")) == list(filter(None, listed))


@pytest.mark.parametrize("sweep", ["mechanism", "mechanism_edit"])
def test_the_steps_to_a_rung_add_up_to_the_declared_difference(records: Path, sweep: str) -> None:
    found = rows(find_cells([records / sweep]), "grounded")
    whole, *steps = (round(100 * difference) for _, difference, _ in found)
    assert f"primary, `free` → `grounded`: **+{whole} points" in told("docs/results/mechanism.md")
    assert len(steps) == 3 and abs(sum(steps) - whole) <= 1  # each is rounded


def size(cell: CellRecord) -> str:
    return cell.labels["model"].removeprefix("qwen25_coder_").replace("_", ".").upper()


def test_the_tables_of_cut_answers_come_from_the_records(records: Path) -> None:
    page = (RESULTS / "lists.md").read_text(encoding="utf-8")
    expected = r"^\| (.+B) \| (?:`(\w+)` \| )?`(\w+)` \| (?:(tight|free|) ?\| )?(\d.*) \|$"
    found = list[tuple[str, ...]]()
    for cell in find_cells([records / name for name in ("lists", "lists_whole", "pretrained")]):
        asked, edits = cell.run.identity["decoding"], cell.labels["method"] == "pddl_edit"
        lists = "" if cell.folder.parent.name == "pretrained" else asked.get("lists", "")
        _, cut, *more, tokens, won = map(str, measured(cell))
        line = " | ".join([cut, *(more if edits else []), tokens, won])
        environment = "" if edits else cell.labels["environment"]
        if asked["layout"] == "line":
            found.append((size(cell), environment, asked["rung"], lists, line))
    assert sorted(re.findall(expected, page, re.MULTILINE)) == sorted(found)
    assert len(found) == 35 + 6


def test_the_answers_of_a_pretrained_model_are_counted_from_the_records(records: Path) -> None:
    """Whole files and copies among the free answers, and answers with a name of the example."""
    page = " ".join((RESULTS / "pretrained.md").read_text(encoding="utf-8").split())
    counts, named, asking = Counter[str](), Counter[Any](), Counter[Any]()
    for cell in find_cells([records / "pretrained", records / "pretrained_names"]):
        asked, sweep = cell.run.identity["decoding"], cell.folder.parent.name
        layout = "any" if asked["rung"] == "free" else "line"
        if asked.get("reject") or asked["repair"] != "none" or asked["layout"] != layout:
            continue
        arm = (sweep, size(cell), asked["rung"], asked.get("names"))
        for _, events in transcripts(cell.folder):
            shown = ""
            for event in events:
                shown += getattr(event, "observation", "")
                if not isinstance(event, Call):
                    continue
                asking[arm] += 1
                named[arm] += "garage" in event.text and "garage" not in shown
                if arm[1:3] == ("1.5B", "free"):
                    file = lenient(event.text, PROBLEM, prompt=event.messages).taken
                    copied = event.fault == "no_json" and file and file.doubt == "as in the prompt"
                    counts["copies"] += bool(copied)
                    counts["files"] += (
                        bool(file) and not event.fault and '"objects"' not in event.text
                    )
    grounded, typed, free = (
        ("pretrained", "1.5B", rung, None) for rung in ("grounded", "typed", "free")
    )
    answers = f"Of the 1.5B model's {asking[free]:,} free answers, {counts['files']} are whole"
    assert answers in page and f"In {counts['copies']} more the file is a copy" in page
    said = "In {} of its {:,} answers under `grounded`, the 1.5B model names the garage"
    assert said.format(named[grounded], asking[grounded]) in page
    assert f"it does so in {named[typed]} of {asking[typed]:,}." in page
    small, large = (("pretrained_names", one, "grounded") for one in ("0.5B", "1.5B"))
    said = "{} of the 0.5B model's {:,} answers and {} of the 1.5B model's {:,} name the garage"
    of = (counter[*one, None] for one in (small, large) for counter in (named, asking))
    assert said.format(*of) in page
    assert not named[*small, "game"] + named[*large, "game"] and asking[*large, "game"]


def test_the_table_of_fresh_games_comes_from_the_records(reports: Path) -> None:
    """Of each number of rooms, and of all: games, and the shares won freely and under the grammar,
    by one model and by the other, which played the same games."""
    found: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in lines_of(reports / "nano_fresh" / "report.csv"):
        told = settings_of(row)
        arm = (told["model.weights"], row["decoding"], told["environment.rooms"])
        found[arm] = (int(row["success_k"]), int(row["success_n"]))
    rooms = list(dict.fromkeys(size for _, _, size in found))
    page = (RESULTS / "nano.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| (\d+|all) \| (.*) \|$", page, re.MULTILINE)
    assert [size for size, _ in shown] == [*rooms, "all"]
    for size, cells in shown:
        expected = list[str]()
        for model in ("nano", "nano_early"):
            shares = list[str]()
            for rung in ("free", "grounded"):
                counts = [found[model, rung, one] for one in rooms if size in (one, "all")]
                won, of = map(sum, zip(*counts, strict=True))
                shares.append(f"{100 * won / of:.0f} %")
            expected += [*([] if expected else [str(of)]), *shares]
            assert expected[0] == str(of)
        assert cells == " | ".join(expected), size
    _, *shares = expected
    sentence = "`nano` wins {} freely and {} under `grounded`; `nano_early` wins {} and {}."
    assert sentence.format(*shares) in " ".join(README.split())


@pytest.mark.parametrize(
    "environment",
    ["coin", "cooking_easy", "cooking_hard", "alfworld_unseen"],
    ids=lambda name: name.removeprefix("alfworld_"),  # it needs no ALFWorld, and has no marker
)
def test_the_rows_of_edits_come_from_the_records(environment: str, reports: Path) -> None:
    lines = lines_of(reports / "nano_edit" / "report.csv")
    rows = [row for row in lines if row["environment"] == environment]
    shown = re.search(rf"^\| `nano_edit`, `{environment}`.*$", OF_EDITS, re.MULTILINE)
    assert shown and [row["decoding"] for row in rows] == ["free", "json", "typed", "grounded"]
    _, _, games, *cells = shown[0].split("|")
    told = [cell.replace("*", "").strip() for cell in cells]
    for row, cell in zip(rows, filter(None, told), strict=True):
        shares = [100 * float(row[f"success_{name}"]) for name in ("share", "low", "high")]
        assert cell == "{:.1f} % [{:.0f}, {:.0f}]".format(*shares)
        assert int(row["finished"]) - int(row["trivial"]) == int(games)
        assert row["seen_in_training"] == "0"


def test_the_verdict_on_the_real_unseen_rooms_says_what_could_have_been_shown(
    reports: Path,
) -> None:
    text = (reports / "valid_unseen" / "report.md").read_text(encoding="utf-8")
    assert "| +4 points (0 to 10), p = 0.070 | +4 points (-3 to 14), p = 1.00 |" in text
    assert "No difference, however large, would be shown by 80 % of them." in text
    said = "no difference, however large, would be shown by four of five"
    assert said in " ".join(OF_EDITS.split())
