"""An environment is one file or a folder, a method a module with its prompts, and each
has a YAML: those from outside the project are played by its command.

`examples/lamp` is copied, so that nothing of it lies where the project would find its
own. `hunt` is a copy of coin's folder there.
"""

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events, read_rows
from tests.processes import ran
from tests.tables import table

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "lamp"
MISTAKES = table(__file__, "lamp_mistakes")
METHODS = ("pddlego_plus", "pddl_gen", "pddl_edit", "plangen", "action_gen")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    copy = Path(shutil.copytree(FOLDER, tmp_path / "elsewhere"))
    shutil.copytree(ROOT / "pddlego_local" / "environments" / "coin", copy / "hunt")
    conf = (ROOT / "conf" / "environment" / "coin.yaml").read_text(encoding="utf-8")
    hunt = conf.replace("pddlego_local.environments.coin", "hunt")
    (copy / "conf" / "environment" / "hunt.yaml").write_text(hunt, encoding="utf-8")
    return copy


def run(elsewhere: Path, *words: str, environment: str = "lamp") -> tuple[int, str]:
    """The exit code, and what was printed on standard error."""
    if not any("environment=" in word for word in words):
        words = (f"environment={environment}", *words)
    conf, out = f"--config-dir={elsewhere}/conf", f"run.out={elsewhere}/runs"
    path = os.pathsep.join([str(elsewhere), str(ROOT)])
    done = ran(
        *("-m", "pddlego_local", "run", "games=0-5", out, conf, *words),
        env={**os.environ, "PYTHONPATH": path},
    )
    return done.returncode, done.stderr


def test_one_file_and_one_yaml_are_won_by_every_method(
    elsewhere: Path,
) -> None:
    assert {path.name for path in elsewhere.rglob("*lamp*")} == {"lamp.py", "lamp.yaml"}
    code, said = run(elsewhere, "-m", f"method={','.join(METHODS)}")
    assert code == 0, said
    cells = list(elsewhere.rglob("episodes.jsonl"))
    assert {cell.parent.name.split("-")[1] for cell in cells} == set(METHODS)
    for cell in cells:
        rows = read_rows(cell)
        assert [row.won for row in rows] == [True] * 6
        assert {row.map for row in rows} == {""}  # it tells none
        assert sum(row.refused + row.solver_errors for row in rows) == 0
    told = "".join(
        path.read_text(encoding="utf-8") for path in elsewhere.rglob("*.jsonl")
    )
    assert "the first of these that can be reached: light the lamp; be in" in told
    assert r"For example: {\"action\": \"go to room 2\"}" in told


def test_a_method_brings_its_own_prompts_to_our_environments_and_to_its_own(
    elsewhere: Path,
) -> None:
    code, said = run(
        elsewhere, "-m", "method=hopeful", "environment=lamp,coin", "+note=1"
    )
    assert code == 2 and "note" in said
    code, said = run(elsewhere, "-m", "method=hopeful", "environment=lamp,coin")
    assert code == 0, said
    cells = [path.parent for path in elsewhere.rglob("run.json")]
    assert {cell.name.split("-")[0] for cell in cells} == {"lamp", "coin"}
    hashes = set()
    for cell in cells:
        assert all(row.success for row in read_rows(cell / "episodes.jsonl"))
        record = json.loads((cell / "run.json").read_text(encoding="utf-8"))
        hashes.add(record["prompt_sha256"])
        first, *_ = calls(cell / "transcripts/1-0.jsonl")
        assert "A domain file and a problem file, please" in first.messages[0].content
    assert len(hashes) == 2
    shutil.rmtree(elsewhere / "hopeful" / "prompts")
    code, said = run(elsewhere, "method=hopeful", "seed=1")
    assert code == 2 and "'hopeful.prompts'" in said and "Traceback" not in said


def test_a_folder_is_played_as_it_is_where_it_comes_with_the_project(
    elsewhere: Path,
) -> None:
    for environment in ("hunt", "coin"):
        code, said = run(elsewhere, f"environment={environment}")
        assert code == 0, said
    asked = [
        [call.messages for call in calls(path)] for path in elsewhere.rglob("1-0.jsonl")
    ]
    assert len(asked) == 2 and asked[0] == asked[1] != []


def calls(transcript: Path) -> list[Call]:
    return [event for event in read_events(transcript) if isinstance(event, Call)]


@pytest.mark.parametrize(
    ("missing", "method"),
    [
        ("game.py", "pddlego_plus"),
        ("tables.yaml", "pddlego_plus"),
        ("domain.pddl", "plangen"),
        ("reference.py", "action_gen"),
        ("prompts/environment.yaml", "pddl_edit"),
        ("prompts/deps.yaml", "deps"),
        ("", "random_policy"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_played(
    elsewhere: Path, missing: str, method: str
) -> None:
    file = elsewhere / "hunt" / missing
    if file.is_file():
        file.unlink()
    else:
        shutil.rmtree(file)
    code, said = run(elsewhere, f"method={method}", environment="hunt")
    named = f"{file} is missing" if missing else "'hunt'"
    assert code == 2 and named in said
    assert said.startswith("error:") and said.count("\n") == 1


def test_a_class_of_neither_kind_is_refused(elsewhere: Path) -> None:
    code, said = run(elsewhere, "environment._target_=random.Random")
    assert code == 2 and "PACKAGE.game.CLASS" in said and "BaseEnvironment" in said


Edit = tuple[str, str, str]
"""In a file, this text becomes that one."""

GAME, CONF, METHOD = "lamp.py", "conf/environment/lamp.yaml", "hopeful/method.py"
OF_OUTCOMES = (
    "from pddlego_local.core.outcomes import Outcome\nfrom pddlego_local.core.nouns"
    " import"
)
OUTCOME_OF_METHOD = (
    "from pddlego_local.decoding.forms import",
    "from pddlego_local.core.outcomes import Outcome\nfrom pddlego_local.decoding.forms"
    " import",
)
AT_ONCE = ("for step in episode.steps():", "for step in ():")


def edit(elsewhere: Path, *edits: Edit) -> None:
    for file, old, new in edits:
        text = (elsewhere / file).read_text(encoding="utf-8")
        assert old in text
        (elsewhere / file).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_all_that_is_missing_is_told_at_once(
    elsewhere: Path, mistake: dict[str, Any]
) -> None:
    edit(elsewhere, *mistake["edits"])
    code, said = run(
        elsewhere,
        "-m",
        f"method={mistake['method']}",
        environment=mistake["environment"],
    )
    assert code == 2 and "Traceback" not in said
    assert [sentence for sentence in mistake["told"] if sentence not in said] == []
    assert not list(elsewhere.rglob("episodes.jsonl"))


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (
            [(CONF, "budget: {unit: actions, limit: 20}\n", "")],
            "environment.budget: must be given",
        ),
        (
            [
                (CONF, "start: 1", "start: 1\nprices: {1: 5}"),
                (
                    GAME,
                    "start: int = 1",
                    "start: int = 1\n    prices: dict[int, int] | None = None",
                ),
            ],
            "environment.prices.1=1: ",
        ),
        (
            [
                (CONF, "start: 1", "start: 1\nodds: .nan"),
                (GAME, "start: int = 1", "start: int = 1\n    odds: float = 1.0"),
            ],
            "environment.odds=nan: input should be a finite number",
        ),
    ],
)
def test_a_record_that_could_not_be_read_back_is_refused_before_the_first_episode(
    elsewhere: Path, edits: list[Edit], told: str
) -> None:
    edit(elsewhere, *edits)
    for sweep in ((), ("-m", "environment=coin,lamp")):
        code, said = run(elsewhere, "model=reference", *sweep)
        assert code == 2 and told in said and said.strip().count("\n") == 0
        assert not (elsewhere / "runs").exists()


def test_environments_and_methods_bring_outcomes_that_reports_know_without_their_code(
    elsewhere: Path,
) -> None:
    falls = (
        "if self._here == 2:\n            return Observation('You fell.',"
        " outcome='fell')"
    )
    edit(
        elsewhere,
        (GAME, "        if command == ", f"        {falls}\n        if command == "),
        (GAME, "from pddlego_local.core.nouns import", OF_OUTCOMES),
        (
            GAME,
            "    start: int",
            '    outcomes = {"fell": Outcome("One fell.")}\n    start: int',
        ),
        (METHOD, 'return "step_limit"', 'return "gave_up"'),
        (METHOD, *AT_ONCE),
        (METHOD, *OUTCOME_OF_METHOD),
        (
            METHOD,
            "    learns",
            '    outcomes = {"gave_up": Outcome("It gave up.")}\n    learns',
        ),
    )
    code, said = run(elsewhere, "-m", "method=hopeful,pddlego_plus")
    assert code == 0, said
    for command in ("rescore", "show", "report"):
        without_code = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = ran("-m", "pddlego_local", command, elsewhere / "runs", env=without_code)
        assert done.returncode == 0, done.stderr
        if command == "rescore":
            assert done.stdout == "no difference in 12 episodes of 2 cells\n"
    (hopeful,) = elsewhere.rglob("lamp-hopeful-*/run.json")
    declared = json.loads(hopeful.read_text(encoding="utf-8"))["outcomes"]
    assert declared.keys() == {"fell", "gave_up"}
    assert declared["gave_up"]["means"] == "It gave up."
    rows = map(read_rows, elsewhere.rglob("episodes.jsonl"))
    outcomes = {row.outcome for row in itertools.chain(*rows)}
    assert outcomes == {"fell", "gave_up", "success"}


def test_an_outcome_that_means_something_else_already_is_refused(
    elsewhere: Path,
) -> None:
    edit(
        elsewhere,
        (METHOD, *OUTCOME_OF_METHOD),
        (
            METHOD,
            "    learns",
            '    outcomes = {"game_lost": Outcome("Other.")}\n    learns',
        ),
    )
    code, said = run(elsewhere, "method=hopeful")
    assert code == 2 and "'game_lost' is declared as 'Other.'" in said


@pytest.mark.parametrize(
    "decoding", ["decoding=grounded", "decoding=grounded,typed", "decoding=typed"]
)
@pytest.mark.parametrize("named", [True, False])
def test_an_environment_without_names_is_warned_of_where_only_names_are_allowed(
    elsewhere: Path, decoding: str, named: bool
) -> None:
    if not named:
        edit(elsewhere, (CONF, "names: room \\d+\n", ""))
    code, said = run(elsewhere, "-m", decoding, "model=reference", "seed=0,1")
    assert code == 0, said
    warned = "grounded" in decoding and not named
    assert said.count("environment=lamp declares no `names`") == warned
