"""The servers of one model, and which of them an answer is asked of.

An answer in stages stays with the server that began it, whose cache holds its beginning. One that
is gone is left out for a while, and what it was asked is asked of another. That is no matter of
results: any server can go on with an answer, since a request holds all that was drawn before.
"""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.vllm.client import VllmClient
from pddlego_local.models.vllm.connection import ServerGone

AWAY_S = 60.0

log = logging.getLogger(__name__)
T = TypeVar("T")


class Servers:
    """One server or several, by address. Thread-safe."""

    def __init__(
        self, clients: Mapping[str, VllmClient], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clients = dict(clients)
        self._busy = dict.fromkeys(clients, 0)
        self._away_until = dict.fromkeys(clients, float("-inf"))
        self._clock = clock
        self._lock = threading.Lock()

    @property
    def first(self) -> VllmClient:
        """The client of the server that was named first."""
        return next(iter(self._clients.values()))

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def present(self) -> list[str]:
        """The addresses of those that are not left out; of all, if all are."""
        now = self._clock()
        here = [url for url, until in self._away_until.items() if until <= now]
        return here or list(self._clients)

    def version(self) -> str:
        """The vLLM version of all, "unknown" if none tells it. One that is gone is left out.

        Raises ConfigError where they differ, ServerGone if none answers.
        """
        told, gone = dict[str, str](), list[ServerGone]()
        for url, client in self._clients.items():
            try:
                told[url] = client.version()
            except ServerGone as error:
                gone.append(error)
                self._leave_out(url, error)
        if not told:
            raise gone[0]
        versions = set(told.values()) - {"unknown"}
        if len(versions) > 1:
            words = ", ".join(f"{url}: {version}" for url, version in told.items())
            raise ConfigError(
                f"model.server.url: the servers are of different versions ({words}), which may "
                "give different answers; run one version, or name servers of one version only."
            )
        return versions.pop() if versions else "unknown"

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None,
    ) -> Completion:
        """See `VllmModel.complete`."""
        begun_at = prefix.server if prefix else ""
        completion, url = self._ask(
            lambda client: client.complete(messages, grammar, sampling, prefix), begun_at
        )
        if completion.prefix is None:
            return completion
        here = dataclasses.replace(completion.prefix, server=url)
        return dataclasses.replace(completion, prefix=here)

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """See `VllmModel.complete_many`."""
        completions, _ = self._ask(
            lambda client: client.complete_many(messages, grammar, sampling, count)
        )
        return completions

    def _ask(self, ask: Callable[[VllmClient], T], preferred: str = "") -> tuple[T, str]:
        """The answer, and who gave it. Each server is asked once, those left out last."""
        tried: set[str] = set()
        while True:
            url = self._take(preferred, tried)
            try:
                return ask(self._clients[url]), url
            except ServerGone as error:
                tried.add(url)
                if len(tried) == len(self._clients):
                    raise
                self._leave_out(url, error)
            finally:
                with self._lock:
                    self._busy[url] -= 1

    def _take(self, preferred: str, tried: set[str]) -> str:
        """The preferred server, else the least busy."""
        now = self._clock()
        with self._lock:
            url = min(
                (url for url in self._clients if url not in tried),
                key=lambda url: (self._away_until[url] > now, url != preferred, self._busy[url]),
            )
            self._busy[url] += 1
        return url

    def _leave_out(self, url: str, error: ServerGone) -> None:
        with self._lock:
            known = self._away_until[url] > self._clock()
            self._away_until[url] = self._clock() + AWAY_S
        if not known and len(self._clients) > 1:
            log.warning("%s is left out for %.0f s: %s", url, AWAY_S, error)
