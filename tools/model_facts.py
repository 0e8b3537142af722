"""Prints the facts in each published model's YAML, with the sources that its comments
give.

python -m tools.model_facts > docs/maintain/model_facts.md
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.commands.shared.model_list import settings_of
from pddlego_local.core.resources import folder
from tools.bench.markdown import table

PUBLISHED = [
    path
    for path in sorted((folder("conf") / "model").glob("*.yaml"))
    if "/" in str(settings_of(path).get("weights"))
]
COUNTS = {"two": 2, "four": 4}
NOT_VERIFIED = re.compile(r"(?:^|; )(?:([\w ]+): )?not verified")
HEAD = """# Sources of the model configurations

For each configured model, this table says where the facts in `conf/model/<config>.yaml` come from.
It is made from the comments in these files (`python -m tools.model_facts`). "The card" and the
named files are those of the model's page on the hub. `pddlego doctor` uses the facts to estimate
which models fit a GPU. `thinking` is the only fact here that changes a run.

## How memory is estimated

The estimate is rough; `make gpu-check` prints what vLLM reports on your card.

- Weights: parameters times bytes, or the sizes of the files.
- The cache of an answer: keys and values of its tokens in each layer. In a layer with a window,
  these are the tokens of the window.
- Everything else (activations, graphs, CUDA itself): 2.5 GB. We have not measured it. On machines
  of others vLLM reported 0.4 GiB (6 GB card), 1.6 without graphs (L40S, vllm#15815), 2.3 (RTX
  3090), and 2.1 of activations and graphs alone (RTX PRO 6000).

## Facts
"""  # noqa: E501


@dataclass(frozen=True)
class Fact:
    """One fact about a model. `source` is "" if the YAML names none."""

    name: str
    source: str
    verified: bool


def facts(path: Path) -> Iterator[Fact]:
    """Yields the entry `thinking` as one fact, then the facts below `about:`. A source
    is a comment behind its fact or above it, or a comment for several facts ("this and
    the next two").
    """
    before, _, about = path.read_text(encoding="utf-8").partition("about:")
    for said in re.findall(r"^thinking: +# (.*)", before, re.MULTILINE):
        source = NOT_VERIFIED.sub("", said).replace("; ", ", ")
        yield Fact("thinking", source, verified=not NOT_VERIFIED.search(said))
    above, left, spoken = "", 0, ""
    for line in about.splitlines()[1:]:
        text, _, comment = map(str.strip, line.partition("#"))
        if not text:
            above = comment
            continue
        name = text.split(":")[0]
        if more := re.search(r":? this and the next (\w+)$", comment):
            spoken, left = comment[: more.start()], COUNTS[more[1]] + 1
        said = spoken if left else comment or above
        above, left = "", max(0, left - 1)
        doubts = {whose or name for whose in NOT_VERIFIED.findall(said)}
        source = re.split("; |: ", NOT_VERIFIED.sub("", said))[0]
        yield Fact(name, source, verified=not doubts & {name, "the card"})


def other_doubts(path: Path) -> Iterator[str]:
    """Yields what the head of a YAML file calls not verified."""
    head, _, _ = path.read_text(encoding="utf-8").partition("defaults:")
    words = re.sub(r" \(.*?\)", "", " ".join(re.findall(r"# (.*)", head)))
    if found := re.search(r"not verified: (.*)", words, re.IGNORECASE):
        yield from found[1].split("; ")


def row(path: Path) -> Iterable[str]:
    known = [*facts(path)]
    by_source: dict[str, list[str]] = {}
    for fact in known:
        by_source.setdefault(fact.source, []).append(fact.name)
    sources = [
        f"{source} ({', '.join(names)})"
        for source, names in by_source.items()
        if source
    ]
    doubts = [fact.name for fact in known if not fact.verified] + [*other_doubts(path)]
    return f"`{path.stem}`", "; ".join(sources), "; ".join(doubts) or "–"


def page() -> str:
    count = [fact.verified for path in PUBLISHED for fact in facts(path)]
    summary = (
        f"{len(PUBLISHED)} configurations have {len(count)} facts of their own;"
        f" {count.count(False)} of these are not verified.\nA configuration that builds"
        " on another one (for example in 4 bits) lists only what differs."
    )
    rows = table(("config", "sources", "not verified"), map(row, PUBLISHED))
    return f"{HEAD}\n{summary}\n\n{rows}\n"


if __name__ == "__main__":
    print(page(), end="")
