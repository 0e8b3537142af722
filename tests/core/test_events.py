"""What a record holds comes back as it was written; whatever else it holds is refused
in a word.
"""

import json
import typing
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import FORMAT, read_as, to_json
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.record import events as module
from pddlego_local.core.record.events import (
    EVENT,
    ActionTaken,
    Chosen,
    EditApplied,
    End,
    Event,
    Note,
    Plan,
    Repair,
    Restart,
    Start,
    State,
    Unsolvable,
    Where,
)
from pddlego_local.methods.pddlego_plus import winning_domains
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.pddlego import Pddlego
from tests.rows import call, row, stage

WHERE = Where(step=3, attempt=2, retry=1, sample=4)
STAGE = stage(
    grammar="0" * 64,
    sampling=Sampling(seed=2**62),
    before="{",
    text="(:types a)",
    latency_s=0.25,
    drop=7,
    head="(:types",
    forced_tokens=3,
)
DRAFT = stage(
    "draft", grammar=None, text="Küche\n", finish_reason="length", asked="Now."
)
EVERY_EVENT: list[Event] = [
    Start(
        game=1, task_type="11 rooms", observation="Küche\n\u2028 \x7f", success=False
    ),
    call(
        step=2,
        of=3,
        messages=(Message("system", "a"), Message("user", "b")),
        stages=(DRAFT, STAGE),
    ),
    EditApplied(where=WHERE, faults=("a", "b")),
    Repair(where=WHERE, domain="(d)", problem="(p)", changes=("c",)),
    Plan(
        where=WHERE,
        goal="eat",
        then=("eat meal",),
        domain="d",
        problem="p",
        outcome="solved",
        plan=("(a b)",),
        message="m",
        told="t",
        wall_time_s=0.5,
        wait_s=0.25,
    ),
    Chosen(where=WHERE),
    ActionTaken(
        planned="(a)", command=None, observation="", feedback="no", success=False
    ),
    Restart(replayed=("a", "b")),
    State(
        added=("(at hall)",),
        removed=("(at attic)",),
        objects={"room": ("hall",)},
        predicates=("at/1",),
    ),
    Note(facts={"reflection": {"plan": "x"}, "plans": 2, "none": None}),
    Unsolvable(message="no solution"),
    End(row=row("game_lost", 7, 2, causes={"solved": 2}, notes={"lesson": "l"})),
]


def event_of(line: str, place: str = "here") -> Event:
    return read_as(EVENT, line, place, "an event")


def test_every_event_comes_back_as_it_was_written() -> None:
    assert {type(event) for event in EVERY_EVENT} == set(typing.get_args(module.Event))
    for event in EVERY_EVENT:
        line = to_json(event)
        assert "\n" not in line
        assert event_of(line) == event
        assert json.loads(line)["event"] == event.event


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"event": "flight", "game": 1}', "'flight'"),
        ('{"game": 1}', "event"),
        ("[1]", "the line|object|dictionary"),
        ('{"event": "start", ', "JSON"),
        ('{"event": "restart"}', "restart.replayed"),
        ('{"event": "restart", "replayed": [], "why": "so"}', "restart.why"),
        ('{"event": "chosen", "where": {"attempt": 1}}', "chosen.where.step"),
    ],
)
def test_what_is_no_event_is_refused_in_one_sentence(line: str, complaint: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"transcript\.jsonl line 4 is not .*({complaint})"
    ) as told:
        event_of(line, "transcript.jsonl line 4")
    assert "\n" not in str(told.value)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cell that was won, its run.json of an older version."""
    out = tmp_path_factory.mktemp("older")
    folder = run_cell(
        compose_cell([f"run.out={out}", "games=1-2", "environment.rooms=5"])
    ).folder
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record.pop("format") == FORMAT
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


REFUSED = (
    f"run.json is of format 1 and this version reads format {FORMAT}: use the version"
    " that"
)


@pytest.mark.parametrize("command", ["run", "report", "show"])
def test_commands_refuse_an_older_record_in_one_sentence(
    older: Path, pddlego: Pddlego, command: str
) -> None:
    runs = older.parents[1]
    commands: dict[str, list[object]] = {
        "run": ["run", f"run.out={runs}", "games=1-3", "environment.rooms=5"],
        "report": ["report", older],
        "show": ["show", older, "1"],
    }
    told = pddlego(*commands[command], code=2).err
    assert REFUSED in " ".join(told.split())


@pytest.mark.parametrize("version", ["0.1.0", "of today"])
def test_a_run_that_an_older_version_began_is_not_begun_a_second_time(
    tmp_path: Path, pddlego: Pddlego, version: str
) -> None:
    """The older version lacked an option, so it gave the cell another name."""
    words = ["run", f"run.out={tmp_path}", "model=reference", "games=1"]
    pddlego(*words)
    (path,) = tmp_path.rglob("run.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["identity"]["decoding"]["feedback"]
    if version == "0.1.0":
        record["starts"][0]["packages"]["pddlego_local"] = version
        record["starts"][0]["commit"] = "0123456789abcdef"
    path.write_text(json.dumps(record), encoding="utf-8")
    labels_and_seed, _, _ = path.parent.name.rpartition("-")
    older = path.parent.rename(path.parent.with_name(f"{labels_and_seed}-00000000"))
    if version == "0.1.0":
        told = " ".join(pddlego(*words, code=2).err.split())
        assert (
            f"{older.name} was begun with pddlego_local 0.1.0 (commit 0123456789ab),"
            " which had other options (decoding.feedback): finish it with that version"
        ) in told
        assert len(list(tmp_path.rglob("run.json"))) == 1
    else:
        pddlego(*words)  # this version has two such cells for a reason
        assert len(list(tmp_path.rglob("run.json"))) == 2


def test_winning_domains_of_an_older_record_are_refused(older: Path) -> None:
    with pytest.raises(ConfigError, match="format 1"):
        winning_domains(older)
