"""What the client of a server has to do of HTTP: TLS, connections that are used
again.
"""

import json
import shutil
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
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
    ports = list[int]()
    with serving(Echo) as port:
        http = client(f"http://127.0.0.1:{port}/v1")
        for path in ("/v1/a", "/last", "/v1/b", "/v1/c"):
            status, answer = http.request("POST", path, "ä".encode())
            asked, body, headers, own_port = json.loads(answer)
            assert (status, asked, body) == (200, path, "ä")
            assert headers["authorization"] == "Bearer k"
            ports.append(own_port)
            time.sleep(0.1)  # by now the server has closed what it closes
        http.close()
        with pytest.raises(Lost, match="closed"):
            http.request("POST", "/v1/a")
    assert ports[0] == ports[1]
    assert ports[1] != ports[2]
    assert ports[2] == ports[3]


def test_tls_is_checked_and_a_reader_behind_it_is_woken(tls: ssl.SSLContext) -> None:
    with serving(Echo, tls) as port:
        http = client(f"https://localhost:{port}/v1")
        _, answer = http.request("POST", "/a", b"x")
        assert json.loads(answer)[:2] == ["/a", "x"]
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(http.request, "POST", "/silent") for _ in range(4)]
            time.sleep(0.5)  # by now all wait for their answers
            http.close()
            for request in asked:
                assert isinstance(request.exception(20), Lost)
        other = client(f"https://127.0.0.1:{port}")
        with closing(other), pytest.raises(Lost, match="certificate"):
            other.request("POST", "/a")
