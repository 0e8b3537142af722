"""Tests start the server and play games over loopback."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from openenv.cli._validation import validate_running_environment
from pddlego_openenv import PddlegoEnv, Text

from tests.rewards import Row, check, groups


def started(**variables: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "pddlego_openenv.server", "--port", str(port)]
    process = subprocess.Popen(words, env={**os.environ, **variables})
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


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from started()


@pytest.fixture(scope="module")
def with_key() -> Iterator[str]:
    yield from started(PDDLEGO_OPENENV_KEY="right")


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
            assert began.observation.text
            assert not began.done
            check(row, step)
        assert client.state().step_count == len(table[-1].texts)


def test_openenvs_own_check_of_a_server_passes(server: str) -> None:
    report = validate_running_environment(server)
    assert report["passed"], report


def test_the_manifest_names_the_app() -> None:
    manifest = yaml.safe_load(
        (Path(__file__).with_name("openenv.yaml")).read_text(encoding="utf-8")
    )
    assert manifest["app"] == "pddlego_openenv.server:app"
    assert manifest["runtime"] == "fastapi"


def test_a_client_chooses_no_files_of_the_server(server: str) -> None:
    with (
        PddlegoEnv(base_url=server).sync() as client,
        pytest.raises(Exception, match="may choose"),
    ):
        client.reset(seed=0, environment="described", environment__folder="/etc")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_another_address_is_refused_without_a_key(host: str) -> None:
    words = [sys.executable, "-m", "pddlego_openenv.server", "--host", host]
    done = subprocess.run(words, capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    assert "PDDLEGO_OPENENV_KEY" in done.stderr


@pytest.mark.parametrize("user", ["", "user:wrong@", "right@", "right:@"])
def test_a_client_without_the_key_is_refused(with_key: str, user: str) -> None:
    address = with_key.replace("://", f"://{user}")
    with (
        pytest.raises(Exception, match=r"403|connect"),
        PddlegoEnv(base_url=address).sync() as env,
    ):
        env.reset(seed=0)


def test_a_client_with_the_key_plays(with_key: str) -> None:
    with PddlegoEnv(
        base_url=with_key.replace("://", "://user:right@")
    ).sync() as client:
        assert client.reset(seed=0, environment="coin").observation.text


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("", 401),
        ("Bearer wrong", 401),
        ("Basic ?", 401),
        ("right", 401),
        ("Bearer right", 200),
    ],
)
def test_a_request_needs_the_key(with_key: str, header: str, status: int) -> None:
    request = urllib.request.Request(
        f"{with_key}/schema", headers={"Authorization": header}
    )
    try:
        with urllib.request.urlopen(request) as answer:
            got = answer.status
    except urllib.error.HTTPError as error:
        got = error.code
    assert got == status
