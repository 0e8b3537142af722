"""The bundles behind the table of models."""

from pathlib import Path

import pytest

from pddlego_local.commands.shared.bundle_check import check
from tools.pages.models import BUNDLES

SHIPPED = sorted(BUNDLES.glob("*.tar.xz"))
MOST_BYTES = 3_000_000


def test_there_are_bundles_and_they_are_small() -> None:
    names = {path.name.partition(".")[0] for path in SHIPPED}
    assert {"nano", "nano_edit", "reference", "random_policy"} <= names
    assert all(path.stat().st_size <= MOST_BYTES for path in SHIPPED)


@pytest.mark.long
@pytest.mark.parametrize("bundle", SHIPPED, ids=lambda path: path.name)
def test_fifty_rows_of_each_bundle_are_confirmed(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = check(bundle, most_rows=50)
    assert code == 0, capsys.readouterr().out
