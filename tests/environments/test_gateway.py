"""Strangers at the gateway of the games' Java process: every user of the machine can
reach its port.
"""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.textworld_express import game as express
from tests.processes import ran

RUNTIME = b"c\nz:java.lang.Runtime\ngetRuntime\ne\n"
# Commands of py4j's protocol. The first is the beginning of running a program.
COMMANDS = {
    "call": RUNTIME,
    "construct": b"i\njava.io.File\ns/tmp\ne\n",
    "field": b"f\ng\nt\nin\ne\n",
    "reflection": b"r\nu\njava.lang.Runtime\nrj\ne\n",
    "class help": b"h\nc\njava.lang.Runtime\nsexec\nbtrue\ne\n",
    "directory": b"d\nv\nt\ne\n",
    "array": b"a\ng\no1\ni0\ne\n",
    "stream": b"S\nz:java.lang.Runtime\ngetRuntime\ne\n",
    "exception": b"p\nt\ne\n",
    "memory": b"m\nd\no1\ne\n",
    "view": b"j\nc\nview\ne\n",
    "shutdown": b"s\ne\n",
    "no key": b"A\ne\n",
    "empty key": b"A\n\ne\n",
    "wrong key": b"A\nguessed\ne\n",
    "wrong key, then a call": b"A\nguessed\ne\n" + RUNTIME,
    "half a key": b"A\nHALF\ne\n" + RUNTIME,
    "nothing": b"\n\n\n",
    "another protocol": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.fixture
def coin() -> Iterator[Coin]:
    game = Coin(rooms=3)
    game.reset(1)
    yield game
    assert game.reset(2) == Coin(rooms=3).reset(
        2
    )  # whatever the stranger did, it still plays


def key_and_port() -> tuple[str, int]:
    parameters = express._java().gateway_parameters
    return str(parameters.auth_token), parameters.port


def listening(process: psutil.Process) -> list[tuple[str, int]]:
    """The addresses at which a process accepts connections."""
    return [
        (connection.laddr.ip, connection.laddr.port)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]


def java_at(port: int) -> psutil.Process:
    """The Java process that listens at this port. The test process may have others: a
    Java that an earlier test shut down listens no more, and takes a moment to end.
    """
    children = psutil.Process().children()
    javas = [child for child in children if child.name() == "java"]
    ports = {java: [number for _, number in listening(java)] for java in javas}
    listeners = [java for java in javas if port in ports[java]]
    assert len(listeners) == 1, javas
    return listeners[0]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_stranger_is_refused_and_disconnected(coin: Coin, command: bytes) -> None:
    key, port = key_and_port()
    half = key[: len(key) // 2].encode()
    answer = b""
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.settimeout(30)
        with contextlib.suppress(OSError):  # it is disconnected while it still writes
            stranger.sendall(command.replace(b"HALF", half))
            stranger.shutdown(socket.SHUT_WR)
            while more := stranger.recv(4096):
                answer += more
    assert b"!y" not in answer, "y: success"
    assert key.encode() not in answer


@pytest.mark.parametrize("key", [None, "guessed"])
def test_a_client_of_the_same_library_runs_no_program(
    coin: Coin, key: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "made"
    code = f"""
from py4j.java_gateway import GatewayParameters, JavaGateway
parameters = GatewayParameters(port={key_and_port()[1]}, auth_token={key!r})
java = JavaGateway(gateway_parameters=parameters).jvm.java
java.lang.Runtime.getRuntime().exec("touch {file}").waitFor()
"""
    done = ran("-W", "ignore", "-c", code)
    assert done.returncode == 1 and "py4j.protocol.Py4J" in done.stderr, done.stderr
    assert not file.exists()


def test_only_loopback_is_listened_at_and_nobody_sees_the_key(coin: Coin) -> None:
    key, port = key_and_port()
    assert len(key) > 20
    process = java_at(port)
    assert listening(process) == [("::ffff:127.0.0.1", port)]
    assert key not in " ".join(process.cmdline())
    assert key not in str(process.environ()) and key not in str(os.environ)
    assert express._java()._callback_server is None, "Java never calls back"
