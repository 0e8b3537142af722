"""What an answer costs in decode steps: the tokens that are sampled, and one for each request.

    python -m tools.bench.steps TOKENIZERS [--records FILE] [-n 500] [--games 4]

No clock and no weights are needed. TOKENIZERS is a folder that holds a folder, or a .tar.xz, with
`tokenizer.json` for each tokenizer. Answers are those of the rule-based reference, and with
`--records` (lines as in `excluded`) a fixed sample of what open-weight models wrote and a planner
solved. Each is counted free, as it was written, and under "typed" in each layout: under "any" with
its own blanks (only `:requirements` is the rung's), else printed. An answer that "typed" excludes
in a layout is left out there.

The end of each request is a token too. The head of a stage is none: it is in the prompt. "forced"
counts as a decoder that drafts: the tokens that the grammar forces cost nothing, up to 15 a step.
"""

import argparse
import itertools
import json
import random
import re
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from llguidance import LLTokenizer
from llguidance.hf import from_tokenizer
from rich.console import Console
from rich.progress import track
from scipy.stats import bootstrap
from transformers import PreTrainedTokenizerFast

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import REQUIREMENTS, Layout, Printer
from pddlego_local.decoding.question import Scene
from pddlego_local.decoding.session import Stage
from tools.bench.excluded import SCENES, rows
from tools.bench.markdown import table
from tools.bench.played import ENVIRONMENTS, played
from tools.bench.walk import stages_of, tokens_of

MOST_DRAFTED = 15
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
ARMS = tuple(f"{layout}{drafts}" for layout in LAYOUTS for drafts in ("", ", forced"))
_REQUIREMENTS = re.compile(r"\s*\(:requirements[^()]*\)", re.IGNORECASE)
_TITLE = re.compile(r"\(\s*domain\s+[^\s()]+\s*\)", re.IGNORECASE)


@dataclass(frozen=True)
class Text:
    """An answer, the scene that it was written in, and the groups that it belongs to."""

    groups: tuple[str, ...]
    scene: Scene
    files: Mapping[str, str]

    def stages(self, layout: Layout) -> list[tuple[Stage, str]]:
        """Under "typed". Raises ValueError if it is outside."""
        constraint = constraint_for("typed", PDDL, self.scene, layout)
        assert constraint.in_stages
        return stages_of(constraint, self.in_layout(layout))

    def in_layout(self, layout: Layout) -> str:
        """Raises ValueError for what is not PDDL."""
        if layout != "any":
            return Printer(layout, schemas=self.scene.actions, tight=True).answer(self.files)
        domain, problem = (_REQUIREMENTS.sub("", self.files[key]) for key in ("df", "pf"))
        domain = _TITLE.sub(rf"\g<0> {REQUIREMENTS}", domain, count=1)
        return as_written({"df": domain, "pf": problem})


def as_written(files: Mapping[str, str]) -> str:
    return json.dumps(files, ensure_ascii=False)


def reference_texts(games: int) -> Iterator[Text]:
    for environment in ENVIRONMENTS:
        for asked in played(environment, range(games)):
            groups = (f"reference, {environment}", "reference, all")
            yield Text(groups, asked.question.scene, asked.answer)


def recorded_texts(file: Path, count: int) -> Iterator[Text]:
    """Without Llama 3.x, whose texts were damaged."""
    worked = [row for row in rows(file) if row["cause"] == "none" and "Llama-3" not in row["model"]]
    for row in random.Random(0).sample(worked, count):
        kind = "Qwen3-32B" if row["model"].endswith("Qwen3-32B") else "other models"
        groups = (f"recorded, {kind}", "recorded, all")
        yield Text(groups, SCENES[row["environment"]], {"df": row["domain"], "pf": row["problem"]})


def engine_of(file: Path) -> LLTokenizer:
    """A `tokenizer.json` as the decoder takes it."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(file))  # type: ignore[no-untyped-call]
    added = {str(token) for token in tokenizer.added_tokens_decoder.values()}
    ends = ("<|im_end|>", "<|eot_id|>", *sorted(added))
    tokenizer.eos_token = next(end for end in ends if end in added)
    return from_tokenizer(tokenizer)


def engines_in(folder: Path) -> dict[str, LLTokenizer]:
    """By name."""
    return {name: engine_of(file) for name, file in tokenizers_in(folder)}


def tokenizers_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and files. Archives are unpacked for the moment."""
    with tempfile.TemporaryDirectory() as unpacked:
        for archive in folder.glob("*.tar.xz"):
            place = Path(unpacked, archive.name.removesuffix(".tar.xz"))
            with tarfile.open(archive) as tar:
                tar.extract("tokenizer.json", place, filter="data")
        found = [*folder.glob("*/tokenizer.json"), *Path(unpacked).glob("*/tokenizer.json")]
        yield from sorted((file.parent.name, file) for file in found)


def steps_of(text: Text, engines: Mapping[str, LLTokenizer]) -> dict[str, dict[str, int]]:
    """By tokenizer, the steps of each arm that can write the answer."""
    free = as_written(text.files)
    found = {name: {"free": len(own.tokenize_str(free)) + 2} for name, own in engines.items()}
    for layout in LAYOUTS:
        try:
            stages = text.stages(layout)
        except ValueError:
            continue
        for name, engine in engines.items():
            found[name] |= _staged_steps(stages, layout, engine)
    return found


def _staged_steps(
    stages: Iterable[tuple[Stage, str]], layout: Layout, engine: LLTokenizer
) -> dict[str, int]:
    before, plain, drafted = "", 0, 0
    for stage, text in stages:
        head, whole = (engine.tokenize_str(before + part) for part in (stage.head, text))
        plain += len(whole) - len(head) + 2
        for forced, run in itertools.groupby(tokens_of(engine, stage, text), lambda t: t.forced):
            count = len(list(run))
            drafted += count // (MOST_DRAFTED + 1) if forced else count
        drafted += 2
        before += text
    return {layout: plain, f"{layout}, forced": drafted}


def table_of(counted: Mapping[str, list[dict[str, int]]]) -> str:
    """By group: steps over those of the same answer free; medians with their interval at 95 %."""
    within = [f"n in {layout}" for layout in LAYOUTS]
    return table(
        ["answers", "n", "free, steps", *ARMS, *within], map(_row, sorted(counted.items()))
    )


def _row(group: tuple[str, list[dict[str, int]]]) -> Iterator[object]:
    name, found = group
    yield from (name, len(found), f"{np.median([steps['free'] for steps in found]):.0f}")
    yield from (_ratio([s[arm] / s["free"] for s in found if arm in s]) for arm in ARMS)
    yield from (sum(layout in steps for steps in found) for layout in LAYOUTS)


def _ratio(values: list[float]) -> str:
    if len(values) < 3:
        return "–"
    middle = bootstrap((values,), np.median, n_resamples=2000, rng=0, method="percentile")
    low, high = middle.confidence_interval
    return f"{np.median(values):.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tokenizers", type=Path)
    parser.add_argument("--only", default="", help="names of tokenizers, such as smollm2,qwen3")
    parser.add_argument("--records", type=Path, metavar="FILE", help="as for tools.bench.excluded")
    parser.add_argument("-n", type=int, default=500, help="of the recorded answers")
    parser.add_argument("--games", type=int, default=4, help="of the reference, each environment")
    given = parser.parse_args()
    found = engines_in(given.tokenizers)
    engines = {name: found[name] for name in given.only.split(",") if name} or found
    if not engines:
        raise SystemExit(f"error: {given.tokenizers} holds no tokenizer (NAME/tokenizer.json)")
    texts = list(recorded_texts(given.records, given.n)) if given.records else []
    texts += reference_texts(given.games)
    counted = {name: defaultdict[str, list[dict[str, int]]](list) for name in engines}
    for text in track(texts, console=Console(stderr=True)):
        for name, steps in steps_of(text, engines).items():
            for group in text.groups:
                counted[name][group].append(steps)
    for name, groups in counted.items():
        print(f"\n## {name}\n", table_of(groups), sep="\n")


if __name__ == "__main__":
    main()
