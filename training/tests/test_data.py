"""The files of examples: whole or absent, made once, and the same however they were
made.
"""

from pathlib import Path

from pddlego_training import data
from pddlego_training.answers import rows_of
from pddlego_training.examples import FIRST_SEED, Example

from pddlego_local.models.loading import load_tokenizer
from pddlego_local.models.weights import locate


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


def test_questions_whose_answers_differ_in_names_alone_can_be_kept_few(
    tmp_path: Path,
) -> None:
    """Of each game for itself."""
    searching = [
        (f"cabinet {n} is closed", f"(closed cabinet{n})") for n in range(1, 7)
    ]
    found = ("cabinet 7 is open", "(opened cabinet7)")
    games = [[*searching, found], searching]
    examples = [
        Example(*one, game) for game, asked in enumerate(games) for one in asked
    ]
    path = tmp_path / "slips-0.jsonl.gz"
    data.write(
        path,
        [Example(f"Game {e.game}: {e.prompt}", e.answer, e.game) for e in examples],
    )
    tokenizer = load_tokenizer(locate("nano"))
    assert len(rows_of([path], tokenizer, 1000)) == 13
    rows = rows_of([path], tokenizer, 1000, alike=2)
    texts = [tokenizer.decode(row["input_ids"]) for row in rows]
    assert len(texts) == 5 and sum("opened" in text for text in texts) == 1
    assert sum("Game 1" in text for text in texts) == 2
