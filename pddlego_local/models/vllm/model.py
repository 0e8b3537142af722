"""Any open-weight model behind a vLLM server, through Outlines.

The server is started for the run (a managed server), or it already runs at
`server.url`. vLLM batches the requests of many threads; each answer is drawn with the
seed of its own request.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from typing import ClassVar, Literal

from pydantic import ConfigDict, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import MissingPart, ModelFault, PddlegoError
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.secrets import hidden_in_text
from pddlego_local.models.about import About
from pddlego_local.models.attention import has_linear_attention
from pddlego_local.models.chat_template import dated_file, thinking_of
from pddlego_local.models.gguf import is_gguf
from pddlego_local.models.request import check_grammar
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.thinking import Thinking, read_thinking, template_arguments
from pddlego_local.models.vllm.client import VllmClient
from pddlego_local.models.vllm.connection import Connection, Refused
from pddlego_local.models.vllm.server import VllmServer, serving_build
from pddlego_local.models.vllm.settings import Server, is_patched
from pddlego_local.models.vllm.tokenizer import check_tokenizer
from pddlego_local.models.weights import identity_of, locate, training_maps

_RESTART_WINDOW_S = 3600.0


@dataclass(kw_only=True, config=ConfigDict(extra="forbid"))
class VllmModel:
    """A model behind vLLM. The server starts with the first request, or with `start`.

    `context_tokens` limits prompt and answer together; None means the model's own
    limit. Only a managed server uses it. `thinking` requires the server's reasoning
    parser, which a managed server is started with; "auto" reads from the chat template
    how the model thinks. `refuses_grammars` says why only the rung "free" is available;
    "" means that all rungs are.
    """

    weights: str
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    context_tokens: PositiveInt | None = None
    thinking: Thinking | Literal["auto"] | None = "auto"
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
        self._deaths_s: list[float] = []
        self._gave_up = ""
        self._thinks = self.thinking  # "auto" until the template has been read

    @property
    def thought_markers(self) -> tuple[str, str] | None:
        """The markers around a thought; None if the model does not think, and with
        `thinking` "auto" until its template has been read.
        """
        return self._thinks.markers if isinstance(self._thinks, Thinking) else None

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError if the model cannot be served here. Starts
        nothing.
        """
        self._check_parts()
        server = self.server
        if self._thinks == "auto" and server.url is None and not server.download:
            self._thinks = self._thinking_of_files()
        if self._thinks != "auto":
            template_arguments(self._thinks, thinking, self.weights)

    def _thinking_of_files(self) -> Thinking | None:
        folder = locate(self.weights, self.revision, self.server.download)
        return thinking_of(folder, self.weights)

    def _is_batch_invariant(self) -> bool:
        """Returns `Server.is_batch_invariant` for this model, whose layers are looked
        up.
        """
        linear = False
        if self.server.url is None:
            with contextlib.suppress(PddlegoError):
                folder = locate(self.weights, self.revision)
                linear = has_linear_attention(folder)
        return self.server.is_batch_invariant(linear_attention=linear)

    def _check_parts(self) -> None:
        """Checks address, GPUs, serving environment and weights."""
        server = self.server
        if server.url is not None:
            server.check_url()
            self._is_batch_invariant()
            return
        if server.device == "cuda":
            server.check_gpus()
        build, _ = serving_build(server.env)
        if server.device not in ("auto", build):
            raise MissingPart(
                f"device={server.device}, but {server.env} holds vLLM's {build} build;"
                f" replace it with `make clean serving DEVICE={server.device}` or set"
                " model.server.device=auto."
            )
        if build == "cuda":
            server.check_gpus()
        self._is_batch_invariant()
        if not server.download:
            locate(self.weights, self.revision)

    def identity(self) -> dict[str, str]:
        """Returns what a record says about this model.

        Raises MissingPart or ConfigError if the model cannot be served here, and
        ModelFault if the server does not respond.
        """
        server = self.server
        if server.url is None:
            folder = locate(self.weights, self.revision, server.download)
            what = identity_of(self.weights, self.revision, folder)
            what |= server.tiles_identity()
            build, version = serving_build(server.env)
            invariant = self._is_batch_invariant()
            if build == "cuda":
                what["batch_invariant"] = "true" if invariant else "false"
            if not is_patched(version):
                what["patches"] = "none"
        else:
            what = {"weights": self.weights}
            what["served_as"] = server.name or self.weights
            what |= identity_of(self.weights, None, None)
            version = self.start().connection.version()
            what["servers"] = hidden_in_text(server.url)
        return {"backend": "vllm", "backend_version": version, **what}

    def trained_on(self) -> frozenset[str]:
        """Returns the training maps from the list beside the weights
        (`core.protocols.Trained`).
        """
        return training_maps(self.weights)

    def start(self) -> VllmClient:
        """Starts the server now if it is a managed one. Thread-safe and idempotent.

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
        if probe:  # not under the lock, so that `close` can end it
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
        """Requests one answer, or the next stage of one; later stages contain no
        thought.

        The same messages, grammar and sampling request the same answer. If the answer
        reaches the token limit or the end of the context, its finish reason is
        "length". Raises GrammarFault for a grammar that does not compile, ConfigError
        for a prompt that leaves no room in the context, for thinking that the model
        does not support and for a server that cannot answer in stages, and ModelFault
        if the server fails.
        """
        # A stage's grammar is used once, so it is checked only after its request
        # failed.
        if grammar is not None and prefix is None:
            check_grammar(grammar)
        client = self.start()
        try:
            with self._slots:
                return client.complete(messages, grammar, sampling, prefix)
        except (ModelFault, Refused):
            if grammar is not None:
                check_grammar(grammar)
            raise

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        """Requests `count` answers at once; answer i is drawn from the sampling's seed
        plus i.

        Each answer has its own number of completion tokens; the number of prompt tokens
        and the latency are those of the request. Raises the same errors as `complete`.
        """
        if grammar is not None:
            check_grammar(grammar)
        client = self.start()
        with self._slots:
            return client.complete_many(messages, grammar, sampling, count)

    def close(self) -> None:
        """Ends a managed server permanently and waits until its processes are gone."""
        with self._lock:
            self._closed = True
            self._end_server()

    @property
    def restarts(self) -> int:
        """How often the server was found dead."""
        return len(self._deaths_s)

    def _restart_or_give_up(self, dead: VllmServer) -> None:
        """Prepares a restart of a dead server; raises ModelFault after too many within
        an hour.
        """
        now = time.monotonic()
        self._deaths_s.append(now)
        recent = sum(now - died < _RESTART_WINDOW_S for died in self._deaths_s)
        if recent > self.server.max_restarts:
            times = f"{recent} times within an hour" if recent > 1 else "once"
            self._gave_up = (
                f"The vLLM server of {self.weights} died {times}. {dead.last_words()}"
            )
            raise ModelFault(self._gave_up)
        self._end_server()

    def _end_server(self) -> None:
        if self._client is not None:
            self._client.connection.close()
        if self._managed is not None:
            self._managed.close()
        self._client = self._managed = None

    def _connect(self) -> VllmClient:
        """Starts a managed server if there is no `url`, and returns a client of the
        server.
        """
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
        ours = server.url is None
        connection = Connection(
            url, key, name, timeout_s=server.request_timeout_s, server=self._managed
        )
        if self._thinks == "auto":
            self._thinks = read_thinking(
                connection.prompt, connection.is_token, connection.name
            )
        tokenizer = self._tokenizer()
        self._probe = functools.partial(
            check_tokenizer, connection, tokenizer, ours=ours
        )
        return VllmClient(
            connection,
            self._thinks,
            tokenizer if ours else None,
            as_response_format=server.accepts == "json_schemas",
        )

    def launch_arguments(self) -> list[str]:
        """Returns the arguments of serving/launch.py for a managed server.

        Raises MissingPart if the weights are not on this machine and may not be
        downloaded.
        """
        server, model = self.server, self.weights
        if self._thinks == "auto":
            self._thinks = self._thinking_of_files()
        for_vllm: list[str] = []
        if not server.download:
            folder = locate(model, self.revision)
            model = str(folder.absolute())
            if template := dated_file(folder):
                for_vllm += ["--chat-template", str(template)]
        elif self.revision:
            for_vllm += ["--revision", self.revision]
        options: dict[str, object] = {
            "name": self.weights,
            "env": server.env,
            "matmul-tiles": server.matmul_tiles,
            "device": server.device,
            "dtype": self.dtype,
            "tensor-parallel-size": server.tensor_parallel_size,
            "gpu-memory-utilization": server.gpu_memory_utilization,
            "kv-cache-gib": server.kv_cache_gib,
            "context-tokens": self.context_tokens,
            "reasoning-parser": self._thinks and self._thinks.parser,
        }
        arguments = [model]
        for name, value in options.items():
            if value:
                arguments += [f"--{name}", str(value)]
        if server.download:
            arguments.append("--download")
        if self._is_batch_invariant():
            arguments.append("--batch-invariant")
        return [*arguments, "--", *for_vllm, *server.extra_arguments]

    def _tokenizer(self) -> LocalTokenizer | None:
        """Returns the model's own tokenizer; None if the weights are not on this
        machine.
        """
        if self.server.url is not None and is_gguf(self.weights):
            return None  # the file would first have to be unpacked to a model folder
        with contextlib.suppress(PddlegoError):
            return LocalTokenizer.of(self.weights, locate(self.weights, self.revision))
        return None
