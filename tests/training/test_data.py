"""The files of examples: whole or absent, made once, and the same however they were made."""

from pathlib import Path

import pytest

from pddlego_local.core.errors import RecordFault
from pddlego_local.training import data
from pddlego_local.training.examples import FIRST_SEED


def ignore(count: int) -> None: ...


def test_shards_are_the_same_however_many_processes_make_them(tmp_path: Path) -> None:
    """One of two is lost in between, and half of another is left behind."""
    wanted = [data.Shard(FIRST_SEED, 3), data.Shard(FIRST_SEED + 3, 3)]
    one, two = tmp_path / "one", tmp_path / "two"
    data.make(one, wanted, 1, ignore)
    two.mkdir()
    (two / f".unfinished-{wanted[0].name}").write_bytes(b"half")
    data.make(two, wanted[1:], 2, ignore)
    stamp = (two / wanted[1].name).stat().st_mtime_ns
    data.make(two, wanted, 2, ignore)
    assert (two / wanted[1].name).stat().st_mtime_ns == stamp
    for shard in wanted:
        assert (one / shard.name).read_bytes() == (two / shard.name).read_bytes()
    games = {e.game for e in data.read([one / shard.name for shard in wanted])}
    assert games <= set(range(FIRST_SEED, FIRST_SEED + 6)) and len(games) >= 3


def test_a_shard_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordFault, match=r"cannot write .*slips-100000.* make room"):
        data.write(tmp_path / "absent" / "slips-100000.jsonl.gz", [])
    assert not list(tmp_path.iterdir())
