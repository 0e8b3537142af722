"""A GPU on paper: "typed" against free answers behind a server that waits as a GPU would compute.

    python -m tools.bench.paper_gpu [--gpus none,4090,A100,H100] [--models 8B,32B]
                                    [--at-once 1,16,64,128] [--repeat N] [--no-forced-tokens]
                                    [--one-request] [vLLM's options]

Everything but the GPU's own work is real: API server, scheduler, masks, client (`paper_worker`).
The vocabulary has 150,000 tokens; answers are the reference's in games of Coin, the same on both
sides: in the layout "line" under "typed", in "lines" freely. CPU is that of an answer, by process.
With --one-request "typed" is a prototype's, without stages (`one_request`).
"none" waits for nothing: what the surroundings cost by themselves. Server, engine and client share
the cores that there are, which on two cores is pessimistic. A step reads the weights, and the cache
of its requests, at `REACHED` of the data sheet's bandwidth; launching kernels, batch invariance and
sampling cost nothing.
"""

import argparse
import contextlib
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pddlego_local.core.nouns import Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.session import Constraint
from pddlego_local.episode.drawing import draw
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tools.bench.large_vocabulary import make_large_vocabulary_llama
from tools.bench.markdown import head, line
from tools.bench.one_request import as_one
from tools.bench.played import Asked, played
from tools.gpu_check.server_processes import seconds_by_process

MOST_TOKENS = 2_000
_IN_PROCESS = "vllm.v1.executor.uniproc_executor.UniProcExecutor"  # as on one GPU
_BLOCK_TOKENS = "16"  # of the prefix cache, as on CUDA; the CPU build has 128
_LEAST_ANSWERS = 4
_WAVES = 2
COLUMNS = (
    *("GPU", "model", "at once", "typed over free", "typed answers/s", "free answers/s"),
    *("requests", "API server ms, typed", "free", "engine ms, typed", "free"),
    *("client ms, typed", "free"),
)


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Of the data sheet: memory in GB/s, dense bfloat16 in TFLOPS (float32 sums)."""

    bandwidth: float
    arithmetic: float


GPUS = {
    "4090": Gpu(1008, 165),  # NVIDIA Ada GPU architecture, V2.1, appendix A
    "A100": Gpu(2039, 312),  # NVIDIA A100 data sheet, 80 GB SXM
    "H100": Gpu(3350, 989),  # NVIDIA H100 data sheet, SXM
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """Billions of parameters, gigabytes of weights, bytes of a token in the cache."""

    parameters: float
    gigabytes: float
    token_bytes: int


MODELS = {
    "8B": Shape(8.2, 16.4, 2 * 36 * 8 * 128 * 2),  # Qwen3-8B: its card and config.json
    "32B": Shape(32.8, 65.5, 2 * 64 * 8 * 128 * 2),  # Qwen3-32B
}
AWQ_GIGABYTES = {"32B": 19.3}  # of Qwen3-32B-AWQ, where the weights do not fit
FITS = {"4090": 24, "A100": 80, "H100": 80}
REACHED = 0.8
"""Of the data sheet's figures."""


def step_of(gpu: str, model: str) -> dict[str, float]:
    """The seconds of a step, as `paper_worker.Step`."""
    if gpu == "none":
        return {"weights_s": 0.0, "token_s": 0.0, "cached_token_s": 0.0}
    card, shape = GPUS[gpu], MODELS[model]
    gigabytes = shape.gigabytes if shape.gigabytes < FITS[gpu] else AWQ_GIGABYTES[model]
    bytes_a_second = card.bandwidth * 1e9 * REACHED
    return {
        "weights_s": gigabytes * 1e9 / bytes_a_second,
        "token_s": 2 * shape.parameters * 1e9 / (card.arithmetic * 1e12 * REACHED),
        "cached_token_s": shape.token_bytes / bytes_a_second,
    }


class Bench:
    """A server on paper in `folder`, and the answers that it is asked for."""

    def __init__(
        self, folder: Path, forced_tokens: bool, extra: tuple[str, ...], one_request: bool = False
    ) -> None:
        self.folder, self.requests = folder, 0
        self.asked = list(played("coin", range(100, 104), layout="line"))
        weights = make_large_vocabulary_llama(folder / "weights")
        server = Server(
            device="cpu",
            kv_cache_gib=2,
            forced_tokens=forced_tokens,
            variables={"OMP_NUM_THREADS": "1", "PAPER_GPU": str(folder)},
            extra_arguments=(
                *("--worker-extension-cls", "tools.bench.paper_worker.PaperGpu"),
                *("--distributed-executor-backend", _IN_PROCESS),
                *("--block-size", _BLOCK_TOKENS),
                *extra,
            ),
        )
        self.model = VllmModel(
            weights=str(weights), dtype="float32", context_tokens=8192, server=server
        )
        self.client = self.model.start()
        post = self.client.connection._post

        def counted(*given: Any) -> Any:
            self.requests += 1
            return post(*given)

        self.client.connection._post = counted  # type: ignore[assignment, method-assign]
        self.written = [self._texts(one) for one in self.asked]
        pairs = zip(self.asked, self.written, strict=True)
        (folder / "scripts.json").write_text(json.dumps([self._script(*pair) for pair in pairs]))
        self.whole = [as_one(*self._staged(place)) for place in range(len(self.asked))]
        self.typed = self.in_one_request if one_request else self.in_stages

    def _texts(self, one: Asked) -> dict[str, str]:
        free = Printer("lines").answer(one.answer)
        typed = Printer("line", schemas=one.question.scene.actions, tight=True).answer(one.answer)
        return {"free": free, "typed": typed}

    def _script(self, one: Asked, texts: dict[str, str]) -> dict[str, Any]:
        tokenizer = self.client._tokenizer
        end = tokenizer.encode("<|im_end|>")
        opening = self.client.connection.tokenize(
            **self.client._prompt(one.question.messages, Sampling())
        )
        scripts = {kind: [*tokenizer.encode(text), *end] for kind, text in texts.items()}
        return {"opening": opening.tokens, **scripts}

    def free(self, number: int) -> bool:
        return self._drawn(number, "free")

    def in_stages(self, number: int) -> bool:
        return self._drawn(number, "typed")

    def _drawn(self, number: int, kind: str) -> bool:
        """Whether the answer is the script's."""
        place = number % len(self.asked)
        one = self.asked[place].question
        constraint = constraint_for(kind, PDDL, one.scene, "line")
        drawn = draw(self.model, one, constraint, _sampling(number), {})[0]
        return drawn.completion.text == self.written[place][kind]

    def in_one_request(self, number: int) -> bool:
        place = number % len(self.asked)
        messages, grammar = self.asked[place].question.messages, self.whole[place]
        completion = self.client.complete(messages, grammar, _sampling(number), None)
        return completion.text == self.written[place]["typed"]

    def _staged(self, place: int) -> tuple[Constraint, str]:
        constraint = constraint_for("typed", PDDL, self.asked[place].question.scene, "line")
        assert constraint.in_stages
        return constraint, self.written[place]["typed"]

    def warm_up(self) -> None:
        """The first answers of either kind, and the first prompts, are slow."""
        self.pace("none", "")
        for work in (self.free, self.typed):
            timed(work, 2 * len(self.asked), len(self.asked))

    def row(self, at_once: int) -> list[str]:
        number = max(_LEAST_ANSWERS, _WAVES * at_once)
        said: dict[str, list[float]] = {}
        for kind, work in (("free", self.free), ("typed", self.typed)):
            self.requests = 0
            before, began = self._seconds(), time.perf_counter()
            same = timed(work, number, at_once)
            seconds = time.perf_counter() - began
            spent = [after - then for after, then in zip(self._seconds(), before, strict=True)]
            if not all(same):
                print(f"{kind}: {same.count(False)} of {number} left the script", file=sys.stderr)
            said[kind] = [number / seconds, self.requests / number]
            said[kind] += [1000 * one / number for one in spent]
        (typed_s, requests, *typed_ms), (free_s, _, *free_ms) = said["typed"], said["free"]
        pairs = [f"{one:.1f}" for pair in zip(typed_ms, free_ms, strict=True) for one in pair]
        rates = [f"{one:.2f}" for one in (typed_s / free_s, typed_s, free_s)]
        return [*rates, f"{requests:.1f}", *pairs]

    def _seconds(self) -> list[float]:
        assert self.model._managed is not None
        found = seconds_by_process(self.model._managed.process_group() or 0)
        return [found[name] for name in ("API server", "engine", "client")]

    def pace(self, gpu: str, model: str) -> None:
        changed = self.folder / "step.json.new"
        changed.write_text(json.dumps(step_of(gpu, model)))
        changed.rename(self.folder / "step.json")


def _sampling(number: int) -> Sampling:
    return Sampling(temperature=0.4, max_tokens=MOST_TOKENS, seed=number)


def timed(work: Callable[[int], bool], number: int, at_once: int) -> list[bool]:
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(work, range(number)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpus", default="none,4090,A100,H100")
    parser.add_argument("--models", default="8B,32B")
    parser.add_argument("--at-once", default="1,16,64,128")
    parser.add_argument("--forced-tokens", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--one-request", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    given, extra = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), given.forced_tokens, tuple(extra), given.one_request)
        with contextlib.closing(bench.model):
            bench.warm_up()
            print(*head(COLUMNS), sep="\n", flush=True)
            for gpu in given.gpus.split(",") * given.repeat:
                for model in given.models.split(",") if gpu != "none" else ["–"]:
                    bench.pace(gpu, model)
                    for at_once in map(int, given.at_once.split(",")):
                        print(line([gpu, model, at_once, *bench.row(at_once)]), flush=True)


if __name__ == "__main__":
    main()
