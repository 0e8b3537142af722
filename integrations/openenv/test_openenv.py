"""Tests start the server and play games over loopback."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from openenv.cli._validation import validate_running_environment
from pddlego_openenv import PddlegoEnv, Text

from tests.rewards import Row, check, groups


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "pddlego_openenv.server", "--port", str(port)]
    process = subprocess.Popen(words)
    url = f"http://127.0.0.1:{port}"
    while process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/health")
            break
        except OSError:
            time.sleep(0.5)
    yield url
    process.terminate()
    process.wait()


@pytest.mark.parametrize(("options", "table"), list(groups()))
def test_a_client_receives_the_rewards_of_the_table(
    server: str, options: dict[str, Any], table: list[Row]
) -> None:
    with PddlegoEnv(base_url=server).sync() as client:

        def step(text: str) -> tuple[float, bool]:
            result = client.step(Text(text=text))
            return float(result.reward or 0), result.done

        for row in table:
            began = client.reset(seed=row.game, **options)
            assert began.observation.text and not began.done
            check(row, step)
        assert client.state().step_count == len(table[-1].texts)


def test_openenvs_own_check_of_a_server_passes(server: str) -> None:
    report = validate_running_environment(server)
    assert report["passed"], report


def test_the_manifest_names_the_app() -> None:
    manifest = yaml.safe_load(
        (Path(__file__).with_name("openenv.yaml")).read_text(encoding="utf-8")
    )
    assert manifest["app"] == "pddlego_openenv.server:app" and manifest["runtime"] == "fastapi"


def test_a_client_chooses_no_files_of_the_server(server: str) -> None:
    with PddlegoEnv(base_url=server).sync() as client, pytest.raises(Exception, match="may choose"):
        client.reset(seed=0, environment="described", environment__folder="/etc")
