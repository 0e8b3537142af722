"""The server whose GPU is on paper writes what its scripts say, at whatever pace."""

import contextlib
from pathlib import Path

from tools.bench.paper_gpu import GPUS, MODELS, Bench, step_of, timed


def test_faster_cards_and_smaller_models_take_shorter_steps() -> None:
    assert set(step_of("none", "–").values()) == {0}
    for model in MODELS:
        steps = [step_of(gpu, model) for gpu in GPUS]
        assert [step["token_s"] for step in steps] == sorted(
            (step["token_s"] for step in steps), reverse=True
        )
    for gpu in GPUS:
        small, large = (step_of(gpu, model) for model in MODELS)
        assert all(0 < small[part] < large[part] for part in small)


def test_each_arm_writes_its_scripts(tmp_path: Path) -> None:
    bench = Bench(tmp_path, True, ())
    with contextlib.closing(bench.model):
        for gpu in ("none", "H100"):
            bench.pace(gpu, "8B")
            arms = ((bench.free, 1), (bench.typed, 6), (bench.in_one_request, 1))
            for work, requests in arms:
                bench.requests = 0
                assert all(timed(work, 4, 4))
                assert bench.requests == 4 * requests
