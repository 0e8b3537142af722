"""README's table of results comes from the records that ship."""

import csv
import re
from pathlib import Path

from tests.report.shipped import report_shipped

ROOT = Path(__file__).parents[2]
MODELS = ("nano", "nano_early")


def counted(report: Path) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Games won and games that count, by weights, decoding and rooms."""
    with (report / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        settings = dict(one.split("=") for one in row["settings"].split())
        arm = (settings["model.weights"], row["decoding"], settings["environment.rooms"])
        found[arm] = (int(row["success_k"]), int(row["success_n"]))
    return found


def row(report: dict[tuple[str, str, str], tuple[int, int]], model: str, sizes: list[str]) -> str:
    """Games, and the shares won freely and under the grammar, as README shows them."""
    shares = []
    for rung in ("free", "grounded"):
        won, of = map(sum, zip(*(report[model, rung, size] for size in sizes), strict=True))
        shares.append(f"{100 * won / of:.0f} %")
    return " | ".join([str(of), *shares])


def test_the_readmes_table_comes_from_the_records(tmp_path: Path) -> None:
    out = report_shipped("nano/records.tar.xz", tmp_path, "nano") / "nano"
    report = counted(out)
    rooms = list(dict.fromkeys(size for _, _, size in report))
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(r"^\| (\d+|all) \| (.*) \|$", readme, re.MULTILINE)
    assert [size for size, _ in shown] == [*rooms, "all"]
    for size, cells in shown:
        sizes = rooms if size == "all" else [size]
        assert cells == " | ".join(row(report, model, sizes) for model in MODELS), size
    verdicts = (out / "report.md").read_text().partition("# Results")[0]
    for claim in re.findall(r"\*\*(\+\d+ points \([\d, to.-]+\), p [=<] [\d.]+)\*\*", readme):
        assert claim in verdicts, claim
