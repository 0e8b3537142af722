"""Weights by name or folder, and where they come from: a hub of our own on the
loopback.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core import resources
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.gguf import OF_WHEEL, folder_of
from pddlego_local.models.weights import locate
from tests.models.quiet_server import QuietHandler, serving
from tests.processes import ran

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOT_NEEDED = ("original/consolidated.00.pth", "model.gguf", "consolidated.safetensors")
UNREACHABLE = "http://127.0.0.1:9"
DOWNLOAD = """
from pddlego_local.models.weights import identity_of, locate
folder = locate("maker/tiny", download=True)
print(identity_of("maker/tiny", None, folder)["commit"], folder)
"""


class Hub(QuietHandler):
    """Speaks as much of the hub's protocol as a download needs."""

    files: dict[str, bytes]

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/api/models/maker/tiny/revision/main":
            about = {"id": "maker/tiny", "sha": COMMIT, "siblings": []}
            content = json.dumps(about).encode()
        elif path == f"/api/models/maker/tiny/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": "0"}
                for name, data in self.files.items()
            ]
            content = json.dumps(tree).encode()
        else:
            name = path.partition(f"/maker/tiny/resolve/{COMMIT}/")[2]
            if name not in self.files:
                self.send_error(404)
                return
            content = self.files[name]
        self.answer(content, X_Repo_Commit=COMMIT, ETag=f'"{hash(content):x}"')

    do_HEAD = do_GET


@pytest.fixture
def hub(random_llama: Path) -> Iterator[str]:
    Hub.files = {path.name: path.read_bytes() for path in random_llama.iterdir()}
    Hub.files |= dict.fromkeys(NOT_NEEDED, b"once more")
    with serving(Hub) as port:
        yield f"http://127.0.0.1:{port}"


def environment(cache: Path, endpoint: str) -> dict[str, str]:
    variables = {
        key: value for key, value in os.environ.items() if "proxy" not in key.lower()
    }
    return variables | {
        "HF_ENDPOINT": endpoint,
        "HF_HUB_CACHE": str(cache),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }


def test_a_download_leaves_out_what_nobody_loads(hub: str, tmp_path: Path) -> None:
    done = ran("-c", DOWNLOAD, env=environment(tmp_path, hub))
    assert done.returncode == 0, done.stderr
    commit, folder = done.stdout.split()
    assert commit == COMMIT
    names = {path.name for path in Path(folder).iterdir()}
    assert names == Hub.files.keys() - set(NOT_NEEDED)


def test_a_hub_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    done = ran("-c", DOWNLOAD, env=environment(tmp_path, UNREACHABLE))
    assert "MissingPart: Could not download maker/tiny" in done.stderr


def test_make_fetch_downloads_the_same_files(
    hub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = fetch_command("maker/tiny")
    done = subprocess.run(
        command, env=environment(tmp_path, hub), capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    names = {path.name for path in locate("maker/tiny").iterdir()}
    assert names == Hub.files.keys() - set(NOT_NEEDED)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("qwen3_8b", "Qwen/Qwen3-8B"),
        ("smollm2", "HuggingFaceTB/SmolLM2-135M-Instruct"),
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
    ],
)
def test_make_fetch_takes_names_of_configurations_too(model: str, name: str) -> None:
    command = fetch_command(model)
    assert command[1:3] == ["download", name]
    assert (command[-2:] == ["make", "build/smollm2"]) == (model == "smollm2")


def fetch_command(model: str) -> list[str]:
    """Returns the command that `make fetch` would run."""
    flags = ["--dry-run", "--no-print-directory", "--old-file=.venv/installed"]
    alone = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        ["make", *flags, "fetch", f"MODEL={model}"],
        cwd=ROOT,
        env=alone,  # not that of a `make` that runs the tests
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    _, *words = shlex.split(done.stdout)
    return [str(Path(sys.executable).with_name("hf")), *words]


def test_weights_that_come_with_the_package_have_a_name(
    random_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: random_llama.parent)
    assert locate("random") == random_llama
    with pytest.raises(MissingPart, match="make fetch MODEL=small"):
        locate("small")
    with pytest.raises(MissingPart, match="make nano"):
        locate("nano")


def test_without_a_hub_smollm2_is_the_file_of_its_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (name,) = OF_WHEEL
    with pytest.raises(MissingPart, match=f"make fetch MODEL={name}"):
        locate(name)
    folder = folder_of(OF_WHEEL[name])
    folder.mkdir(parents=True)
    assert locate(name) == folder
    with pytest.raises(MissingPart):
        locate(name, revision="other")
