"""What the client of a server has to do of HTTP: TLS, connections that are used
again.
"""

import json
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from pddlego_local.models.vllm.http import HttpClient, Lost
from tests.models.quiet_server import QuietHandler, serving


class Echo(QuietHandler):
    """Says what it was asked; silent at /silent."""

    def do_POST(self) -> None:
        body = self.asked()
        if self.path == "/silent":
            time.sleep(60)
        headers = {name.lower(): value for name, value in self.headers.items()}
        said = [self.path, body.decode(), headers, self.client_address[1]]
        self.answer(json.dumps(said).encode())
        self.close_connection = self.path == "/last"  # which no header tells


def client(url: str) -> HttpClient:
    return HttpClient(url, {"Authorization": "Bearer k"}, timeout_s=30)


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's, whose certificate this process trusts."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate")
    key, certificate = str(tmp_path / "key"), str(tmp_path / "certificate")
    words = f"""openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost
        -addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}"""
    subprocess.run(words.split(), check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, key)
    return made


def test_a_connection_is_used_again_unless_the_server_has_closed_it() -> None:
    with serving(Echo) as port:
        http, ports = client(f"http://127.0.0.1:{port}/v1"), list[int]()
        for path in ("/v1/a", "/last", "/v1/b", "/v1/c"):
            status, said = http.request("POST", path, "ä".encode())
            told = json.loads(said)
            assert (status, told[:2]) == (200, [path, "ä"])
            assert told[2]["authorization"] == "Bearer k"
            ports.append(told[3])
            time.sleep(0.1)  # by now the server has closed what it closes
        assert ports[0] == ports[1] != ports[2] == ports[3]
        http.close()
        with pytest.raises(Lost, match="closed"):
            http.request("POST", "/v1/a")


def test_tls_is_checked_and_a_reader_behind_it_is_woken(tls: ssl.SSLContext) -> None:
    with serving(Echo, tls) as port:
        http = client(f"https://localhost:{port}/v1")
        assert json.loads(http.request("POST", "/a", b"x")[1])[:2] == ["/a", "x"]
        ended: list[Lost] = []

        def ask() -> None:
            with pytest.raises(Lost) as lost:
                http.request("POST", "/silent")
            ended.append(lost.value)

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)  # by now all wait for their answers
        http.close()
        for thread in threads:
            thread.join(20)
        assert len(ended) == 4
        with (
            closing(client(f"https://127.0.0.1:{port}")) as other,
            pytest.raises(Lost, match="certificate"),
        ):
            other.request("POST", "/a")
