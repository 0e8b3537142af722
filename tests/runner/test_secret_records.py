"""A key and a password are in no file that a run writes, and in nothing that it
prints.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.formats import FORMAT
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.record.run_record import RUN, RunRecord, Start, read_run
from pddlego_local.runner.config import compose_cell
from tests.models.quiet_server import QuietHandler, serving
from tests.pddlego import Pddlego

KEY, PASSWORD, TOKEN = "sesame-0123456789-abcdef", "correct-horse", "tok3n-of-a-hub"
OTHER_KEY = "another-0123456789-abcdef"


class Echoing(QuietHandler):
    """A server that repeats the key in an answer that nobody can read, or refuses
    it.
    """

    status = 200

    def do_GET(self) -> None:
        self.answer(b'{"version": "1"}')

    def do_POST(self) -> None:
        self.asked()
        key = self.headers["Authorization"]
        if self.status != 200:
            fault = {"error": {"message": f"{key} is wrong"}}
            self.answer(json.dumps(fault).encode(), self.status)
            return
        message = {"role": "assistant", "content": f"I was given {key}."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        said: dict[str, Any] = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "x",
        }
        self.answer(json.dumps({**said, "choices": [choice], "usage": usage}).encode())


def words(port: int, out: Path, key: str = KEY) -> list[str]:
    return [
        *(
            "run",
            f"run.out={out}",
            "model=openai_server",
            "model.weights=x",
            "model.thinking=null",
            "decoding=free",
        ),
        *("games=7", "environment.budget.limit=1", "method=plangen", "run.retries=0"),
        f"model.server.url=http://user:{PASSWORD}@127.0.0.1:{port}/v1",
        f"model.server.api_key={key}",
        f"+model.server.variables.HF_TOKEN={TOKEN}",
    ]


def all_text(folder: Path) -> str:
    return "\n".join(
        path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    )


def is_clean(text: str) -> bool:
    return not any(secret in text for secret in (KEY, OTHER_KEY, PASSWORD, TOKEN))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("status", "code"), [(200, 0), (500, 3), (401, 2)])
def test_no_file_and_no_message_has_a_secret(
    tmp_path: Path,
    pddlego: Pddlego,
    status: int,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Echoing, "status", status)
    with serving(Echoing) as port:
        for key in (
            KEY,
            OTHER_KEY,
            "none",
        ):  # another key, and none, go on in the same folder
            said = pddlego(*words(port, tmp_path, key), code=code)
            assert is_clean(said.out + said.err)
        (record,) = tmp_path.rglob("run.json")
        assert len(json.loads(record.read_text("utf-8"))["starts"]) == (
            1 if code == 0 else 3
        )
        assert is_clean(all_text(tmp_path)) and "<secret>" in all_text(tmp_path)
        pddlego("report", str(tmp_path), "--out", str(tmp_path / "report"), code=(0, 1))
        assert is_clean(all_text(tmp_path))


@pytest.mark.parametrize("more", [["--dry-run"], ["--cfg", "job"], ["--cfg", "all"]])
def test_what_is_shown_of_a_configuration(
    tmp_path: Path, pddlego: Pddlego, more: list[str]
) -> None:
    said = pddlego(*words(9, tmp_path), *more)
    assert is_clean(said.out + said.err) and "<secret>" in said.out


def test_messages_about_wrong_values(tmp_path: Path, pddlego: Pddlego) -> None:
    for wrong in (
        f"model.server.api_key={KEY},{OTHER_KEY}",
        f"model.server.api_key=[{KEY}]",
        f"model.server.url=ftp://user:{PASSWORD}@host",
        f"model.server.request_timeout_s=http://user:{PASSWORD}@host",
    ):
        assert is_clean(pddlego(*words(9, tmp_path, "none"), wrong, code=2).err)


def test_a_record_of_before_is_cleaned_when_it_is_continued(tmp_path: Path) -> None:
    config = compose_cell(words(9, tmp_path)[1:])
    start = Start(config=dict(config.tree), command=words(9, tmp_path))
    record = RunRecord(
        cell=config.cell,
        labels=dict(config.labels),
        identity=config.identity,
        task_groups={},
        starts=[start],
    )
    config.folder.mkdir(parents=True)
    content = json.dumps({"format": FORMAT, **RUN.dump_python(record)})
    assert not is_clean(content)
    (config.folder / "run.json").write_text(content, "utf-8")
    run = read_run(config.folder)
    assert is_clean(repr(run)) and "<secret>" in repr(run)
    with Cell(config.folder) as cell:
        cell.describe(run)
    assert is_clean(all_text(tmp_path))


def test_the_key_is_no_part_of_a_cells_name(tmp_path: Path) -> None:
    own = ["+environment.api_key", "+method.password", "+model.token"]
    names = {
        compose_cell([f"run.out={tmp_path}", *(f"{key}={value}" for key in own)]).cell
        for value in ("abcd", "efgh", "null")
    }
    assert names == {compose_cell([f"run.out={tmp_path}"]).cell}


def test_a_launcher_gets_no_secret(tmp_path: Path, pddlego: Pddlego) -> None:
    """It would pickle the words of its jobs."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    words_of_sweep = (*words(9, tmp_path), "-m", "hydra/launcher=submitit_local")
    said = pddlego(*words_of_sweep, code=2)
    assert "name that: model.server.api_key='${oc.env:NAME}'" in said.err and is_clean(
        said.err
    )
    assert not list(tmp_path.rglob("*.pkl"))
