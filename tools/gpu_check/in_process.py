"""The steps without the large server: weights, a published model, transformers,
training.
"""

import json
import shutil
import subprocess
import sys
import time

from pddlego_training.progress import Progress
from rich.console import Console

from pddlego_local.core.errors import MissingPart
from pddlego_local.core.nouns import Sampling
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.drawing import draw
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.models.weights import locate
from pddlego_local.runner.config import compose_cell
from tools.bench.decode import PROMPT, QUESTION, RUNGS, SCENE
from tools.bench.large_vocabulary import make_large_vocabulary_llama
from tools.gpu_check.episodes import play_cell
from tools.gpu_check.findings import Findings, NotHere, Wrong
from tools.gpu_check.scale import Setting
from tools.gpu_check.tiles import CANNOT

PRETRAINED = (  # what the arms of experiment=pretrained share
    "method=pddl_edit",
    "method.max_retries=2",
    "decoding.temperature=0.7",
    "decoding.top_p=0.8",
    "decoding.max_tokens=800",
)


def weights(setting: Setting, findings: Findings) -> None:
    """Makes random weights in the shape of a Llama."""
    began = time.monotonic()
    shutil.rmtree(setting.weights, ignore_errors=True)
    scale = setting.scale
    make_large_vocabulary_llama(
        setting.weights, shape=scale.shape, dtype=scale.dtype, device=setting.device
    )
    size = sum(path.stat().st_size for path in setting.weights.iterdir())
    row = {
        "shape": (
            f"{scale.shape['num_hidden_layers']} layers of {scale.shape['hidden_size']}"
        ),
        "dtype": scale.dtype,
        "GB": round(size / 10**9, 2),
        "seconds": round(time.monotonic() - began, 1),
    }
    findings.tell("random weights", row)


def transformers(setting: Setting, findings: Findings) -> None:
    """Measures each rung in process, one answer at a time, against free answers of
    equal length.
    """
    scale = setting.scale
    model = TransformersModel(
        weights=str(setting.weights),
        dtype=scale.dtype,
        context_tokens=scale.context_tokens,
        engine=Engine(device=setting.device),
    )
    model.complete(PROMPT, None, Sampling(max_tokens=8))  # the first request is slow
    for rung in RUNGS:
        constraint = constraint_for(Decoding(rung=rung, layout="any"), situation=SCENE)
        draw(model, QUESTION, constraint, Sampling(max_tokens=8), {})
        began = time.monotonic()
        sampling = Sampling(max_tokens=scale.in_process_tokens, seed=1)
        said = draw(model, QUESTION, constraint, sampling, {})[0].completion
        rate = said.completion_tokens / (time.monotonic() - began)
        alone = Sampling(max_tokens=said.completion_tokens, seed=1)
        free = model.complete(PROMPT, None, alone)
        free_rate = free.completion_tokens / free.latency_s
        row = {
            "rung": rung,
            "tokens": said.completion_tokens,
            "forced tokens": said.forced_tokens,
            "tokens per s": round(rate, 1),
            "free": round(free_rate, 1),
            "relative to free": round(rate / free_rate, 2),
        }
        findings.tell("decoding in process (transformers)", row)


def smollm2(setting: Setting, findings: Findings) -> None:
    """Plays with a published model, if its weights are on this machine."""
    overrides = [
        f"model={_here('smollm2')}",
        f"model.dtype={setting.scale.dtype}",
        "games=1",
    ]
    tokens = 800 if setting.device == "cuda" else 100  # short on a CPU
    overrides += [
        "environment.rooms=5",
        f"decoding.max_tokens={tokens}",
        "method.max_attempts=1",
    ]
    for rung in ("free", "grounded"):
        _play(
            setting, findings, "SmolLM2-135M-Instruct", [*overrides, f"decoding={rung}"]
        )


def pretrained(setting: Setting, findings: Findings) -> None:
    """Plays a game of experiment=pretrained with one of its models whose weights are
    here.
    """
    model = _here("qwen25_coder_1_5b", "qwen25_coder_0_5b")
    overrides = [f"model={model}", "environment.rooms=5", "environment.budget.limit=20"]
    for rung in ("free", "typed", "grounded"):
        _play(
            setting,
            findings,
            model,
            [*overrides, *PRETRAINED, f"decoding={rung}", "games=7200"],
        )


def _here(*models: str) -> str:
    """Returns the first of these models whose weights are here. Raises NotHere if there
    is none.
    """
    for model in models:
        try:
            locate(compose_cell([f"model={model}"]).tree["model"]["weights"])
        except MissingPart as absent:
            missing = str(absent)
        else:
            return model
    raise NotHere(missing)


def training(setting: Setting, findings: Findings) -> None:
    """Trains a small model briefly, including its games; reports the speed of the
    second half.
    """
    out = setting.out / "training"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "pddlego_training", "nano", f"out={out}"]
    command += [f"device={setting.device}", *setting.scale.training]
    if code := subprocess.run(command).returncode:
        raise Wrong(f"training ended with exit code {code}; training.log says why")
    lines = Progress(out / "progress.jsonl", Console(quiet=True)).lines("step")
    steps = [line for line in lines if "loss" in line]
    half = steps[len(steps) // 2 :]
    tokens = half[-1]["tokens"] - steps[len(steps) // 2 - 1]["tokens"]
    row = {
        "steps": half[-1]["step"],
        "tokens per s": round(tokens / sum(line["seconds"] for line in half)),
        "loss, first": round(steps[0]["loss"], 2),
        "loss, last": round(steps[-1]["loss"], 2),
    }
    findings.tell("training a model of nano's shape", row)


def tiles(setting: Setting, findings: Findings) -> None:
    """Measures tiles for the products of a batch-invariant server, and writes a table
    for model.server.matmul_tiles.
    """
    command = [sys.executable, "-m", "tools.gpu_check.tiles", "--seconds", "240"]
    command += ["--out", str(setting.out / "tiles.json"), "--device", setting.device]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode == CANNOT:
        raise NotHere(lines[-1]["said"])
    if done.returncode:
        raise Wrong(f"the sweep ended with exit code {done.returncode}")
    for line in lines:
        title = "the table" if line["what"] == "table" else "products, speed of torch 1"
        findings.tell(title, {key: line[key] for key in line if key != "what"})


def _play(
    setting: Setting, findings: Findings, model: str, overrides: list[str]
) -> None:
    where = [f"model.server.device={setting.device}", f"model.server.env={setting.env}"]
    if setting.device == "cpu":
        where.append("++model.server.variables.OMP_NUM_THREADS='1'")
    findings.tell("episodes of Coin", play_cell(setting, model, [*overrides, *where]))
