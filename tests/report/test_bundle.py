"""A bundle holds the records and nothing private, and only files that a run writes."""

import io
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.report.bundle import pack, unpacked
from pddlego_local.report.cells import find_cells

PRIVATE = (
    "jo_the_user",
    "gpu7-of-jo",
    "sesame-0123456789",
    "correct-horse",
    "10.1.2.3",
)


def texts(bundle: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(bundle) as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content
            found[member.name] = content.read().decode()
    return found


def test_a_bundle_holds_the_records(played: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "x.tar.xz"
    pack(played, bundle)
    names = [Path(name).name for name in texts(bundle)]
    assert names.count("run.json") == 2 and "1-0.jsonl" in names
    with unpacked(bundle) as folder:
        cells = find_cells([folder])
        assert not cells.problems
        rows = sorted(row.episode for cell in cells for row in cell.rows)
    assert rows == [(1, 0), (1, 0), (2, 0), (3, 0)]


def test_the_same_records_give_the_same_bytes(played: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(played, tmp_path / "copy" / played.name))
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    bundles = [tmp_path / "a.tar.xz", tmp_path / "b.tar.xz"]
    pack(played, bundles[0])
    pack(copy, bundles[1])
    first, second = (bundle.read_bytes() for bundle in bundles)
    assert first == second


def test_nothing_private_is_packed(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, machine, key, password, address = PRIVATE
    home = f"/home/{user}"
    monkeypatch.setattr("getpass.getuser", lambda: user)
    monkeypatch.setattr("socket.gethostname", lambda: machine)
    monkeypatch.setattr(Path, "home", lambda: Path(home))
    copy = Path(shutil.copytree(played, tmp_path / "played"))
    (cell,) = copy.glob("*reference*")
    path = cell / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    (start,) = run["starts"]
    start["command"] = [f"{home}/bin/pddlego", "run", f"model.server.api_key={key}"]
    start["servers"] = [f"http://{user}:{password}@{machine}:8000/v1"]
    config = start["config"]
    config["run"]["out"] = f"{home}/runs"
    config["looked_at"] = f"{user} looked at {home}/runs on {machine}."
    config["model"]["server"] = {"url": f"http://{address}/v1", "api_key": key}
    config["model"]["engine"] = {"cache": f"{home}/cache"}
    config["environment"]["data"] = f"{home}/data/alfworld"
    run["identity"]["environment"]["data"] = f"{home}/data/alfworld"
    run["model"]["served_as"] = f"C:\\Users\\{user}\\models\\small"
    config["environment"]["password"] = password
    path.write_text(json.dumps(run), encoding="utf-8")
    (transcript,) = cell.glob("transcripts/1-0.jsonl")
    said = transcript.read_text(encoding="utf-8")
    said = said.replace("Fast Downward", f"{home}/bin/downward", 1)
    assert home in said
    transcript.write_text(said, encoding="utf-8")
    (cell / "faults.jsonl").write_text(f'{{"message": "{home}"}}\n', encoding="utf-8")
    logs = copy / "server_logs"
    logs.mkdir()
    (logs / "1.log").write_text(key, encoding="utf-8")
    bundle = tmp_path / "x.tar.xz"
    pack(copy, bundle)
    for name, text in texts(bundle).items():
        for word in PRIVATE:
            assert word not in text, (name, word)


def bundle_of(file: Path, **members: str) -> Path:
    with tarfile.open(file, "w:xz") as archive:
        for name, kind in members.items():
            member = tarfile.TarInfo(name)
            if kind == "link":
                member.type = tarfile.SYMTYPE
                member.linkname = "/etc/passwd"
                archive.addfile(member)
            else:
                member.size = len(kind)
                archive.addfile(member, io.BytesIO(kind.encode()))
    return file


@pytest.mark.parametrize(
    "members",
    [
        {"../run.json": "{}"},
        {"/tmp/run.json": "{}"},
        {"a/../../run.json": "{}"},
        {"a/b/run.json": "link"},
        {"a/b/code.py": "print()"},
        {"a/b/conf/environment/mine.yaml": "_target_: os.system"},
    ],
)
def test_what_no_run_writes_is_not_unpacked(
    members: dict[str, str], tmp_path: Path
) -> None:
    bundle = bundle_of(tmp_path / "x.tar.xz", **members)
    with pytest.raises(ConfigError, match="which no run writes"), unpacked(bundle):
        pass


@pytest.mark.parametrize("content", [b"", b"hello", b"\xfd7zXZ\x00torn"])
def test_another_file_is_no_bundle(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.tar.xz"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="is not a bundle"), unpacked(file):
        pass


def test_a_bundle_may_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pddlego_local.report.bundle.MOST_BYTES", 100)
    bundle = bundle_of(tmp_path / "x.tar.xz", **{"a/b/run.json": " " * 101})
    with pytest.raises(ConfigError, match="larger than 100 bytes"), unpacked(bundle):
        pass
