"""A backend that is closed while it is asked: nobody waits for an answer that may never
come.
"""

import socket
import threading
import time

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.models.vllm.http import HttpClient, Lost
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server


def test_closing_ends_what_is_under_way_at_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        model = VllmModel(weights="any", thinking=None, server=Server(url=url))
        ended: list[Exception] = []

        def ask() -> None:
            try:
                model.complete(
                    (Message("user", "Well?"),), None, Sampling(max_tokens=9)
                )
            except ModelFault as fault:
                ended.append(fault)

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        asked = [silent.accept()[0] for _ in threads]
        assert all(connection.recv(9) for connection in asked)
        time.sleep(0.2)  # by now all wait for their answers
        model.close()
        for thread in threads:
            thread.join(60)
        assert len(ended) == len(threads)
        ask()  # later ones fail too
        assert len(ended) == len(threads) + 1
        for connection in asked:
            with connection:
                while connection.recv(9999):  # until it is closed
                    pass


def test_closing_ends_a_request_to_a_server_that_does_not_read_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        http, ended = HttpClient(url, {}, timeout_s=60), threading.Event()

        def ask() -> None:
            with pytest.raises(Lost):
                http.request(
                    "POST", "completions", b" " * (30 << 20)
                )  # no buffer holds so much
            ended.set()

        threading.Thread(target=ask, daemon=True).start()
        with deaf.accept()[0]:
            time.sleep(0.2)  # by now it waits until more can be sent
            assert not ended.is_set()
            http.close()
            assert ended.wait(10)
