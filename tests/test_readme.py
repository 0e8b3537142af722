"""Every command of the README and of docs/ is run here, in small; one that no case covers fails.

`pddlego` runs in this process, `make` in one of its own.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pddlego_local.cli import run

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)

DOMAIN = (
    "(define (domain d) (:predicates (a) (b)) (:action go :precondition (a) :effect (b)))",
    "(define (problem p) (:domain d) (:init (a)) (:goal (b)))",
)


def commands() -> list[str]:
    """The lines of their fenced blocks that begin with make or pddlego, without comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`(make [^`]+)`", TEXT)
    lines = [line for block in blocks for line in block.splitlines()] + inline
    return list(
        dict.fromkeys(
            re.split(r"\s{2,}", line)[0] for line in lines if line.startswith(("make ", "pddlego "))
        )
    )


# Command → (what is run for it, exit code, what it says). None: run elsewhere, as said.
GPU = shutil.which("nvidia-smi") is not None
CASES: dict[str, tuple[str, int, str] | None] = {
    "make demo": ("pddlego demo --games 1 --samples 1 --out {tmp}", 0, "What the grammar does"),
    "make demo MODEL=reference": (
        "pddlego demo --model reference --games 1 --samples 0 --out {tmp}", 0, "rule-based",
    ),
    "make test": None,  # this is it
    "make test-all": None,  # likewise
    "make sweep": None if GPU else ("make sweep", 2, "GPU"),
    "make sweep EXPERIMENT=workstation_thinking": None if GPU else (
        "pddlego run -m experiment=workstation_thinking seed=0 decoding=free"
        " run.out={tmp}", 3, "GPU",
    ),
    "make sweep EXPERIMENT=workstation_systems": None if GPU else (  # to compose all takes a minute
        "pddlego run -m experiment=workstation_systems environment=coin model=qwen3_8b"
        " decoding=free run.out={tmp}", 3, "GPU",
    ),
    "make sweep EXPERIMENT=workstation_trials": None
    if GPU
    else ("make sweep EXPERIMENT=workstation_trials", 2, "GPU"),
    "make sweep EXPERIMENT=systems": None,  # tests/test_systems.py
    "make sweep EXPERIMENT=ceiling": None,  # half an hour; a part: tests/methods/test_ceiling.py
    "make sweep EXPERIMENT=paper_pddlego_plus": None,  # tests/report/test_papers.py
    "pddlego run -m experiment=paper_pddlego_plus --dry-run": (
        "pddlego run -m experiment=paper_pddlego_plus environment.rooms=3 --dry-run run.out={tmp}",
        0, "cells: 6",
    ),
    "pddlego run method=deps environment=alfworld games=0-9,17 model=reference": (
        "pddlego run method=deps environment=alfworld games=0-0,3 model=reference run.out={tmp}",
        0, "2/2",
    ),
    "pddlego games alfworld --out games -n 6 --seed 0": (
        "pddlego games alfworld --out {tmp} -n 1 --seed 0", 0, "1 games written",
    ),
    "make sweep EXPERIMENT=smoke": ("make sweep EXPERIMENT=smoke RUNS={tmp}", 0, "random"),
    "make sweep LAUNCHER=submitit_slurm": None,  # sends jobs: tests/runner/test_launchers.py
    "make serving DEVICE=cuda": None,
    "pddlego run -m experiment=workstation hydra/launcher=submitit_slurm"
    " hydra.launcher.partition=gpu": None if shutil.which("srun") else (
        "pddlego run -m experiment=first_evening hydra/launcher=submitit_slurm"
        " hydra.launcher.partition=gpu run.out={tmp}", 3, "hydra/launcher:",
    ),
    "pddlego run -m experiment=workstation hydra/launcher=ray": None,  # likewise
    "make sweep EXPERIMENT=sample": None,  # its records: report/test_shipped_records.py
    "make sweep EXPERIMENT=sample_random": None,  # likewise
    "pddlego report runs/sample --out runs/sample --without-pages": None,  # likewise
    "pddlego rescore runs/sample": None,  # likewise
    "pddlego report runs/nano --out runs/nano --without-pages": None,  # test_shipped_records.py
    "pddlego report runs/sample --open": None,  # as runs/default
    "make sweep EXPERIMENT=replicate_qwen3_32b": None,  # tests/report/test_papers.py
    "make chaos KILLS=100 SEED=0": None,  # half an hour; a few kills: tests/test_chaos.py
    "make fuzz EXAMPLES=10000": None,  # ten minutes; a few hundred: tests/fuzz
    "make fetch MODEL=smollm2": None,  # tests/serving/test_smollm2.py
    "pddlego run model=vllm model.weights=/my/model.gguf": (
        "pddlego run model=vllm model.weights=/my/model.gguf run.out={tmp}", 2, "there is no file",
    ),
    "make report": ("make report RUNS={tmp}", 2, "no run.json"),
    "make alfworld": ("make alfworld", 0, ""),  # `make test-all` has installed it
    "make bench": None,  # measures time: tools/bench
    "pddlego train nano": None,  # takes hours; a tiny one: tests/train
    "make serve MODEL=/my/model": ("make serve MODEL=/my/model", 2, "/my/model"),
    "make demo MODEL=Qwen/Qwen2.5-0.5B-Instruct": (
        "make demo MODEL=Qwen/Qwen2.5-0.5B-Instruct", 2, "Qwen/Qwen2.5-0.5B-Instruct",
    ),
    "pddlego run model=qwen3_8b decoding=syntax environment.rooms=7 games=0-59": None if GPU else (
        "pddlego run model=qwen3_8b decoding=syntax environment.rooms=7 games=0-59 run.out={tmp}",
        3, "NVIDIA GPU",
    ),
    "pddlego run model=qwen3_8b 'model.server.extra_arguments=[--data-parallel-size,4]'": None
    if GPU
    else (
        "pddlego run model=qwen3_8b model.server.extra_arguments=[--data-parallel-size,4]"
        " run.out={tmp}", 3, "NVIDIA GPU",
    ),
    "pddlego run environment=described method=formalizer model=reference games=0-9": (
        "pddlego run environment=described method=formalizer model=reference games=0-1"
        " run.out={tmp}", 0, "2/2",
    ),
    "pddlego run environment=described environment.world=logistics method=formalizer_two_step"
    " model=qwen3_8b": None if GPU else (
        "pddlego run environment=described environment.world=logistics model=qwen3_8b"
        " method=formalizer_two_step run.out={tmp}", 3, "NVIDIA GPU",
    ),
    "pddlego run -m experiment=quarrel --dry-run": (
        "pddlego run -m experiment=quarrel model=qwen3_8b environment.world=mystery --dry-run"
        " run.out={tmp}", 0, "cells: 14",
    ),
    "pddlego run -m experiment=quarrel_without_thinking model=reference games=0-9": (
        "pddlego run -m experiment=quarrel_without_thinking model=reference games=0-1"
        " environment.world=mystery arm=published_constrained,typed run.out={tmp}", 0, "2/2",
    ),
    "pddlego run -m experiment=nano_described run.concurrency=32": (
        "pddlego run -m experiment=nano_described model=nano_described arm=typed"
        " environment.world=blocksworld games=0-0 run.out={tmp}", 0, "1/1",
    ),
    "pddlego run -m experiment=nano_described_larger run.concurrency=32": (
        "pddlego run -m experiment=nano_described_larger model=nano_described arm=free"
        " environment.world=blocksworld games=0-0 run.out={tmp}", 0, "1/1",
    ),
    "pddlego report runs/nano_described --out runs/nano_described --without-pages": None,
    "pddlego report runs/nano_described_larger --open": None,  # both: test_shipped_records.py
    "pddlego run -m experiment=nano_edit environment=alfworld_unseen": (
        "pddlego run -m experiment=nano_edit environment=alfworld_unseen model=nano_edit"
        " decoding=typed games=0-0 run.concurrency=1 run.out={tmp}", 0, "1/1",
    ),
    "pddlego run -m experiment=nano_edit environment=coin,cooking_easy,cooking_hard games=0-149": (
        "pddlego run -m experiment=nano_edit environment=coin,cooking_easy,cooking_hard"
        " model=nano_edit decoding=typed games=1-1 run.concurrency=1 run.out={tmp}", 0, "3/3",
    ),
    "pddlego run -m experiment=nano_edit name=nano_edit_real environment=alfworld_real"
    " environment.split=valid_seen games=0-139": (
        "pddlego run -m experiment=nano_edit environment=alfworld_real"
        " environment.split=valid_seen games=0-139 environment.data={tmp} run.out={tmp}",
        2, "environment.split",
    ),
    "pddlego report runs/nano_edit --out runs/nano_edit --without-pages": None,
    "pddlego report runs/nano_edit_real --with-seen": None,  # both: test_shipped_records.py
    "pddlego formalize docs/puzzle.txt --model nano_described": (
        "pddlego formalize docs/puzzle.txt --model nano_described", 0, "(stack block",
    ),
    "pddlego formalize mine.txt --model qwen3_8b --out made": None if GPU else (
        "pddlego formalize README.md --model qwen3_8b --out {tmp}/made", 3, "NVIDIA GPU",
    ),
    "pddlego run -m model=qwen3_8b,llama31_8b decoding=free,syntax,grounded seed=0,1,2": None
    if GPU
    else (
        "pddlego run -m model=qwen3_8b,llama31_8b decoding=free run.out={tmp}", 3, "NVIDIA GPU",
    ),
    "pddlego run model=vllm model.weights=/my/model model.server.url=http://127.0.0.1:8000/v1": (
        "pddlego run model=vllm model.weights=/my/model model.server.url=http://127.0.0.1:9/v1"
        " run.out={tmp}", 3, "127.0.0.1:9",
    ),
    "pddlego run model=nano method.variant=compact decoding=grounded environment.rooms=5": (
        "pddlego run model=nano method.variant=compact decoding=grounded environment.rooms=3"
        " games=3 run.out={tmp}", 0, "next: pddlego report",
    ),
    "pddlego run -m model=nano,nano_early method.variant=compact decoding=free,grounded"
    " --dry-run": (
        "pddlego run -m model=nano,nano_early method.variant=compact decoding=free,grounded"
        " --dry-run run.out={tmp}", 0, "cells: 4",
    ),
    "pddlego run --help": ("pddlego run --help", 0, "--dry-run"),
    "pddlego show runs/default": ("pddlego show {played}/default", 0, "7-0"),
    "pddlego export runs/default --episodes --out episodes.csv": (
        "pddlego export {played}/default --episodes --out {tmp}/e.csv", 0, "1 episodes written",
    ),
    "pddlego sample model=nano --prompt": ("pddlego sample model=nano --prompt", 0, "user:"),
    "pddlego status runs/default": ("pddlego status {played}/default", 0, "1 of 1 done"),
    "pddlego report runs/default --out runs/default": (
        "pddlego report {played}/default --out {played}/default", 0, "report.md",
    ),
    "pddlego report runs/default --open": (
        "pddlego report {played}/default --open", 0, "index.html",
    ),
    "pddlego rescore runs/default": ("pddlego rescore {played}/default", 0, "no difference"),
    "pddlego export runs/default --out calls.csv": (
        "pddlego export {played}/default --out {tmp}/calls.csv", 0, "calls written",
    ),
    "pddlego show runs/default/<cell> 7": ("pddlego show {cell} 7", 0, "success"),
    "pddlego check domain.pddl problem.pddl": (
        "pddlego check {tmp}/domain.pddl {tmp}/problem.pddl", 0, "no fault",
    ),
    "pddlego plan domain.pddl problem.pddl": (
        "pddlego plan {tmp}/domain.pddl {tmp}/problem.pddl", 0, "(go)",
    ),
    "pddlego sample model=random decoding=grounded -n 5": (
        "pddlego sample model=random decoding=grounded decoding.max_tokens=300 -n 1", 0,
        '"rung": "grounded"',
    ),
    "pddlego doctor": ("pddlego doctor", 0, "planner: solved"),
    "pddlego doctor qwen3_8b --concurrency 32 --gpu-memory 24": (
        "pddlego doctor qwen3_8b --concurrency 32 --gpu-memory 24", 1, "model.context_tokens=18000",
    ),
    "make sweep DRY=1": ("make sweep DRY=1 EXPERIMENT=smoke RUNS={tmp}", 0, "needs no weights"),
    "make fetch MODEL=qwen3_8b": ("make fetch MODEL=reference", 2, "nothing to fetch"),
    "make serving": ("make serving", 0, ""),  # `make test-all` has installed it
    "make gpu-check": None,  # tests/test_gpu_check.py
    "make nano_edit": None,  # hours; tests/training/test_training.py trains in minutes
    "make nano_edit_early": None,  # likewise
    "make fetch MODEL=qwen25_7b": ("make fetch MODEL=reference", 2, "nothing to fetch"),
    "pddlego doctor qwen25_7b --concurrency 16 --gpu-memory 24 --context 10000": (
        "pddlego doctor qwen25_7b --concurrency 16 --gpu-memory 24 --context 10000",
        1, "for 6 such answers at once",  # 1: the weights are not here
    ),
    "make sweep EXPERIMENT=first_evening DRY=1": (
        "pddlego run -m experiment=first_evening run.out={tmp} --dry-run", 0, "cells: 3",
    ),
    "make sweep EXPERIMENT=first_evening": None,  # as the next, without its limit
    "pddlego run -m experiment=first_evening run.max_hours=2": (
        "pddlego run -m experiment=first_evening model=reference games=0-1 run.max_hours=2"
        " run.out={tmp}", 0, "6/6",
    ),
    "pddlego status runs/first_evening": None,  # as runs/default
    "pddlego report runs/first_evening --out runs/first_evening": None,  # likewise
    "pddlego report runs/first_evening --open": None,  # likewise
    "pddlego show runs/first_evening/<cell> 0": None,  # likewise
    "pddlego run -m experiment=first_evening model=qwen3_8b_awq,qwen3_14b_awq"
    " name=larger_in_4_bits": (
        "pddlego run -m experiment=first_evening model=qwen3_8b_awq,qwen3_14b_awq"
        " name=larger_in_4_bits run.out={tmp} --dry-run", 0, "cells: 6",
    ),
}  # fmt: skip


def in_process(words: list[str]) -> int:
    """The exit code of a command; help ends the interpreter."""
    try:
        return run(words)
    except SystemExit as end:
        return int(end.code or 0)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played")
    assert run(["run", "games=7", "environment.rooms=5", f"run.out={out}"]) == 0
    return out


def test_each_command_of_the_pages_has_a_case_and_each_case_a_command() -> None:
    assert set(commands()) == CASES.keys()


@pytest.mark.parametrize("command", [command for command, case in CASES.items() if case])
def test_the_pages_commands_do_what_they_say(
    tmp_path: Path,
    played: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", "/nowhere")
    monkeypatch.setattr("webbrowser.open", lambda page: True)
    for name, value in {"COLUMNS": "200", "MAKEFLAGS": "", "HF_HUB_CACHE": "/nowhere"}.items():
        monkeypatch.setenv(name, value)
    for name, text in zip(("domain", "problem"), DOMAIN, strict=True):
        (tmp_path / f"{name}.pddl").write_text(text)
    case = CASES[command]
    assert case
    line, code, said = case
    (cell,) = (path.parent for path in played.rglob("run.json"))
    words = line.format(tmp=tmp_path, played=played, cell=cell).split()
    ended = in_process(words[1:]) if words[0] == "pddlego" else subprocess.run(words).returncode
    told = "".join(capfd.readouterr())
    assert ended == code, told
    assert said in told
    assert "Traceback" not in told


def test_the_readmes_first_screen_is_what_it_is_two_commands_and_a_picture() -> None:
    first = (ROOT / "README.md").read_text().partition("\n## ")[0]
    screen = first.splitlines()
    assert len(screen) <= 40
    assert re.findall(r"^make .*", first, re.MULTILINE) == ["make demo", "make test"]
    assert len(re.findall(r"^!\[", first, re.MULTILINE)) == 1
    assert len([line for line in screen if line.startswith("| ")]) == 1 + 3
    assert len((ROOT / "README.md").read_text().split()) < 700


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_what_is_said_to_lie_somewhere_lies_there() -> None:
    rows = re.findall(r"^\| .* \| (.*) \|$", (ROOT / "docs/code.md").read_text(), re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([^`]*[/.](?:py|yaml|)?)`", row)]
    assert len(paths) > 40
    for path in paths:
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        assert [*(ROOT / "pddlego_local").glob(pattern), *ROOT.glob(pattern)], path
