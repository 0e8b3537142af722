"""How often a staged answer is spelled in other tokens than its whole text would be.

    python -m tools.bench.seams TOKENIZERS --records FILE [--layout lines] [-n 900] [--games 4]

Answers and tokenizers are those of `steps`, under "typed". Tokens are drawn as `steps` counts them;
at each head of a stage they are joined to the forced text, once as they are and once healed
(`models.seam`). A token is the usual one where the tokenizer, given the whole text, cuts it at the
same two places.
"""

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llguidance import LLTokenizer
from rich.console import Console
from rich.progress import track
from tokenizers import Tokenizer

from pddlego_local.core.nouns import Prefix
from pddlego_local.decoding.session import Stage
from pddlego_local.models.seam import LocalTokenizer, seam
from tools.bench.markdown import table
from tools.bench.steps import Text, engine_of, recorded_texts, reference_texts, tokenizers_in
from tools.bench.walk import tokens_of

Tokens = tuple[int, ...]


@dataclass
class Count:
    """Over all answers; `seams` are the places where forced text follows drawn tokens."""

    answers: int = 0
    seams: int = 0
    tokens: int = 0
    as_they_are: int = 0
    healed: int = 0

    def row(self) -> list[object]:
        shares = [f"{n} ({n / self.tokens:.2%})" for n in (self.as_they_are, self.healed)]
        return [self.answers, self.seams, self.tokens, *shares]


@dataclass(frozen=True)
class Spelling:
    """One tokenizer, for the decoder and for text."""

    engine: LLTokenizer
    local: LocalTokenizer

    def add(self, stages: Sequence[tuple[Stage, str]], count: Count) -> None:
        joined, healed, text = Tokens(), Tokens(), ""
        for stage, added in stages:
            drawn = tuple(token.number for token in tokens_of(self.engine, stage, added))
            joined = (*joined, *self.local.encode(stage.head), *drawn)
            before = seam(Prefix(text, (0,), healed, head=stage.head), self.local)
            healed = (*before.tokens, *drawn)
            text += added
        usual = self._cuts(self.local.encode(text))
        count.answers += 1
        count.seams += sum(bool(stage.head) for stage, _ in stages[1:])
        count.tokens += len(usual)
        count.as_they_are += len(self._cuts(joined) - usual)
        count.healed += len(self._cuts(healed) - usual)

    def _cuts(self, tokens: Tokens) -> set[tuple[int, int]]:
        """Where each token begins and ends, in bytes."""
        lengths = (len(self.engine.decode_bytes([token])) for token in tokens)
        return set(itertools.pairwise(itertools.accumulate(lengths, initial=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tokenizers", type=Path)
    parser.add_argument("--records", type=Path, metavar="FILE", help="as for tools.bench.excluded")
    parser.add_argument("-n", type=int, default=900, help="of the recorded answers")
    parser.add_argument("--games", type=int, default=4, help="of the reference, each environment")
    parser.add_argument("--layout", choices=["line", "lines"], default="line")
    given = parser.parse_args()
    spellings = {
        name: Spelling(engine_of(file), LocalTokenizer(name, Tokenizer.from_file(str(file))))
        for name, file in tokenizers_in(given.tokenizers)
    }
    counts = {name: Count() for name in spellings}
    texts: list[Text] = list(recorded_texts(given.records, given.n)) if given.records else []
    texts += reference_texts(given.games)
    for text in track(texts, console=Console(stderr=True)):
        try:
            stages = text.stages(given.layout)
        except ValueError:
            continue
        for name, spelling in spellings.items():
            spelling.add(stages, counts[name])
    headers = ["tokenizer", "answers", "seams", "tokens", "other, as they are", "other, healed"]
    print(table(headers, [[name, *count.row()] for name, count in counts.items()]))


if __name__ == "__main__":
    main()
