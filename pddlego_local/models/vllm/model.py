"""Any open-weight model behind a vLLM server, through Outlines.

The server is one of our own for the run, or any that run at `server.url`. vLLM batches what many
threads ask; an answer depends on the request's own seed, not on its company.
"""

import contextlib
import functools
import itertools
import threading
import time
from collections.abc import Callable
from typing import ClassVar, Literal

from pydantic import ConfigDict, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import MissingPart, ModelFault, PddlegoError
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.chat_template import dated_file
from pddlego_local.models.gguf import is_gguf
from pddlego_local.models.memory import About
from pddlego_local.models.request import check_grammar
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.thinking import Thinking, template_arguments
from pddlego_local.models.vllm.client import VllmClient
from pddlego_local.models.vllm.connection import Connection, Refused
from pddlego_local.models.vllm.server import VllmServer, serving_build
from pddlego_local.models.vllm.settings import Server
from pddlego_local.models.vllm.tokenizer import check_tokenizer
from pddlego_local.models.weights import identity_of, locate, training_maps

_LATELY_S = 3600.0


@dataclass(kw_only=True, config=ConfigDict(extra="forbid"))
class VllmModel:
    """A model behind vLLM. The server starts with the first request, or with `start`.

    `context_tokens` bounds prompt and answer together (None: the model's own, managed servers
    only). `thinking` needs the server's reasoning parser: a managed server is given it.
    `refuses_grammars` says why only the rung "free" can be had, "" where all can.
    """

    weights: str
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    context_tokens: PositiveInt | None = None
    thinking: Thinking | None = None
    refuses_grammars: str = ""
    server: Server = Server()
    about: About | None = None

    decodes: ClassVar[Literal[True]] = True

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(self.server.max_concurrent_requests)
        self._managed: VllmServer | None = None
        self._client: VllmClient | None = None
        self._probe: Callable[[], None] | None = None
        self._closed = False
        self._died_at_s: list[float] = []
        self._gave_up = ""

    @property
    def thought_markers(self) -> tuple[str, str] | None:
        return self.thinking.markers if self.thinking else None

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError if the model cannot be served here. Starts nothing."""
        template_arguments(self.thinking, thinking, self.weights)
        self._check_parts()

    def _check_parts(self) -> None:
        """Address, GPUs, serving environment and weights."""
        if self.server.url is not None:
            self.server.check_url()
            self.server.options()
            return
        device = self.server.device
        if device == "cuda":
            self.server.check_gpus()
        build, _ = serving_build(self.server.env)
        if device not in ("auto", build):
            raise MissingPart(
                f"device={device}, but {self.server.env} holds vLLM's {build} build; make the "
                f"other with `make clean serving DEVICE={device}` or set model.server.device=auto."
            )
        if device == "auto" and build == "cuda":
            self.server.check_gpus()
        self.server.options()
        if not self.server.download:
            locate(self.weights, self.revision)

    def identity(self) -> dict[str, str]:
        """What a record says of this model. Raises as `preflight`, ModelFault for a dead server."""
        if self.server.url is None:
            folder = locate(self.weights, self.revision, self.server.download)
            what = identity_of(self.weights, self.revision, folder)
            build, version = serving_build(self.server.env)
            what |= {"batch_invariant": "false"} if build == "cuda" else {}
            what |= dict.fromkeys(self.server.options(), "true")
        else:
            what = {"weights": self.weights, "served_as": self.server.name or self.weights}
            what |= identity_of(self.weights, None, None)
            version = self.start().connection.version()
            what["servers"] = self.server.url
        return {"backend": "vllm", "backend_version": version, **what}

    def trained_on(self) -> frozenset[str]:
        """As `core.protocols.Trained`, from the list beside the weights."""
        return training_maps(self.weights)

    def start(self) -> VllmClient:
        """Starts the server now, if it is one of our own. Thread-safe, idempotent.

        Raises MissingPart, ConfigError or ModelFault.
        """
        with self._lock:
            if self._closed:
                raise ModelFault(f"{self.weights} has been closed.")
            if self._gave_up:
                raise ModelFault(self._gave_up)
            if self._managed is not None and not self._managed.alive():
                self._restart_or_give_up(self._managed)
            if self._client is None:
                self._check_parts()
                self._client = self._connect()
            client, probe = self._client, self._probe
        if probe:  # without the lock: `close` must be able to end it
            probe()
            self._probe = None
        return client

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """Asks for one answer, or for the next stage of one (which no longer thinks).

        The same messages, grammar and sampling ask for the same answer. A token limit (or the end
        of the context) ends it with "length". Raises GrammarFault for a grammar that does not
        compile, ConfigError for a prompt that leaves no room in the context, for thinking that the
        model cannot do and for a server that cannot answer in stages; ModelFault when the server
        fails.
        """
        # A stage's grammar serves one request: whether it compiles is asked where that failed.
        client = self._ready(grammar if prefix is None else None)
        try:
            with self._slots:
                return client.complete(messages, grammar, sampling, prefix)
        except (ModelFault, Refused):
            if grammar is not None:
                check_grammar(grammar)
            raise

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """`count` answers in one request, drawn from the seeds that follow the sampling's.

        Each has its own completion tokens, the prompt's tokens and the latency of the request.
        Raises as `complete`.
        """
        client = self._ready(grammar)
        with self._slots:
            return client.complete_many(messages, grammar, sampling, count)

    def _ready(self, grammar: Grammar | None) -> VllmClient:
        if grammar is not None:
            check_grammar(grammar)
        return self.start()

    def close(self) -> None:
        """Ends a managed server and waits until its processes are gone; for good."""
        with self._lock:
            self._closed = True
            self._end_server()

    @property
    def restarts(self) -> int:
        """How often its server was found dead."""
        return len(self._died_at_s)

    def _restart_or_give_up(self, dead: VllmServer) -> None:
        """The server died under an earlier request: this one starts another, some times an hour."""
        now = time.monotonic()
        self._died_at_s.append(now)
        lately = sum(now - died < _LATELY_S for died in self._died_at_s)
        if lately > self.server.max_restarts:
            times = f"{lately} times within an hour" if lately > 1 else "once"
            self._gave_up = f"The vLLM server of {self.weights} died {times}. {dead.last_words()}"
            raise ModelFault(self._gave_up)
        self._end_server()

    def _end_server(self) -> None:
        if self._client is not None:
            self._client.connection.close()
        if self._managed is not None:
            self._managed.close()
        self._client = self._managed = None

    def _connect(self) -> VllmClient:
        """To a server of our own, which is started, or to that at `url`."""
        server = self.server
        url, key, name = server.url, server.api_key, server.name or self.weights
        if url is None:
            self._managed = own = VllmServer(
                self.launch_arguments(),
                start_timeout_s=server.start_timeout_s,
                variables=server.variables,
                logs=server.logs,
            )
            url, key, name = own.url, own.api_key, self.weights
        ours = self._managed is not None
        connection = Connection(
            url, key, name, timeout_s=server.request_timeout_s, server=self._managed
        )
        tokenizer = self._tokenizer()
        self._probe = functools.partial(check_tokenizer, connection, tokenizer, ours=ours)
        return VllmClient(
            connection,
            self.thinking,
            tokenizer if ours else None,
            as_response_format=server.accepts == "json_schemas",
        )

    def launch_arguments(self) -> list[str]:
        """Those of serving/launch.py for a server of our own. Raises MissingPart for weights that
        are not here and may not be fetched."""
        server, model, for_vllm = self.server, self.weights, list(self.server.extra_arguments)
        if server.download:
            for_vllm[:0] = ["--revision", self.revision] if self.revision else []
        else:
            folder = locate(model, self.revision)
            model = str(folder.absolute())
            if template := dated_file(folder):
                for_vllm[:0] = ["--chat-template", str(template)]
        options: dict[str, object] = {
            "name": self.weights,
            "env": server.env,
            "device": server.device,
            "dtype": self.dtype,
            "tensor-parallel-size": server.tensor_parallel_size,
            "gpu-memory-utilization": server.gpu_memory_utilization,
            "kv-cache-gib": server.kv_cache_gib,
            "context-tokens": self.context_tokens,
            "reasoning-parser": self.thinking and self.thinking.parser,
        }
        given = [(f"--{name}", str(value)) for name, value in options.items() if value]
        on = [*["download"] * server.download, *server.options()]
        flags = [f"--{name.replace('_', '-')}" for name in on]
        return [model, *itertools.chain(*given), *flags, "--", *for_vllm]

    def _tokenizer(self) -> LocalTokenizer | None:
        """The model's own, None where its weights are not on this machine."""
        if self.server.url is not None and is_gguf(self.weights):
            return None  # a folder would have to be made of the file
        with contextlib.suppress(PddlegoError):
            return LocalTokenizer.of(self.weights, locate(self.weights, self.revision))
        return None
