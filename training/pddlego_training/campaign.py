"""A whole training: data, tokenizer, rounds, games, and a model folder with its card.

    OUT/settings.json    the settings of this training; other settings need another
                         folder
        examples/        shards of questions and answers
        tokenizer/       trained on the first round's examples
        round-N/         checkpoints; model/ exists when the round is finished
        progress.jsonl   loss, games won and so on (`progress`)
        runs/            records of the games that the model played
        model/           the result: weights in bf16, tokenizer, card

Only what is missing is made. So the same command continues after any interruption, also
on another machine if the folder is copied there.
"""

import contextlib
import functools
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from transformers.utils.logging import disable_progress_bar

from pddlego_local.core.durable import rename_synced
from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.decoding.rungs import RungName
from pddlego_local.models.card import listed
from pddlego_local.models.loading import load_model, load_tokenizer
from pddlego_local.models.weights import training_maps
from pddlego_local.report.cells import find_cells
from pddlego_local.report.numbers import report_numbers
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cell
from pddlego_training import data, maps
from pddlego_training.answers import Row, rows_of
from pddlego_training.card import card
from pddlego_training.examples import FIRST_SEED
from pddlego_training.initial_weights import new_model
from pddlego_training.progress import Progress
from pddlego_training.settings import Round, TrainSettings, identity
from pddlego_training.tokenizer import learned_tokenizer
from pddlego_training.training import Machine, train_round

STUDENT_SEEDS = 400_000
HELD_OUT_SEEDS = 900_000


@contextlib.contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """Yields a temporary path for a folder, which is renamed to `folder` when it is
    complete.
    """
    unfinished = folder.with_name(f"unfinished-{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    yield unfinished
    rename_synced(unfinished, folder)


def begin(settings: TrainSettings) -> None:
    """Makes the folder of a training, and writes its settings there.

    Raises ConfigError if the folder holds a training with other settings.
    """
    disable_progress_bar()  # type: ignore[no-untyped-call]
    settings.out.mkdir(parents=True, exist_ok=True)
    path = settings.out / "settings.json"
    given = identity(settings)
    if path.is_file():
        recorded = json.loads(path.read_text(encoding="utf-8"))
        differ = [key for key in given if recorded.get(key) != given[key]]
        if differ:
            raise ConfigError(
                f"{settings.out} was begun with another {', '.join(differ)}; give the"
                " same values as before, or another folder with out=FOLDER."
            )
    path.write_text(json.dumps(given, indent=1), encoding="utf-8")


class Campaign:
    """A training in its folder, whether it has begun or not."""

    def __init__(self, settings: TrainSettings, console: Console) -> None:
        self.settings = settings
        self.console = console
        self.out = settings.out
        self.progress = Progress(self.out / "progress.jsonl", console)

    def carry_out(self) -> Path:
        """Does what is not done yet, and returns the model's folder.

        Raises ConfigError if the folder holds a training with other settings, and
        MissingPart if a GPU or a compiler is missing.
        """
        begin(self.settings)
        Machine.of(self.settings)  # raises MissingPart before games are played
        for number, round_ in enumerate(self.settings.rounds):
            if not self.model_after(number).is_dir():
                self._train(number, round_)
            self._play(number)
        return self._finish()

    def model_after(self, number: int) -> Path:
        """Returns the folder of the weights after a round."""
        return self.out / f"round-{number}" / "model"

    def shards_of(self, number: int) -> list[data.Shard]:
        """Returns the shards of games that a round adds."""
        before = self.settings.rounds[:number]
        round_ = self.settings.rounds[number]
        first = FIRST_SEED + sum(earlier.slips for earlier in before)
        own = self._shards(first, round_.slips)
        if round_.student:
            first = STUDENT_SEEDS + sum(earlier.student for earlier in before)
            own += self._shards(first, round_.student, self.model_after(number - 1))
        return own

    def _shards(
        self, first: int, count: int, student: Path | None = None
    ) -> list[data.Shard]:
        of = self.settings
        shard = data.Shard(first, count, of.environment, student, of.method, of.worlds)
        return shard.split()

    @functools.cached_property
    def tokenizer(self) -> Any:
        folder = self.out / "tokenizer"
        if not folder.is_dir():
            shards = self._examples(self.shards_of(0))
            made = learned_tokenizer(
                list(data.read(shards)), self.settings.shape, self.settings.environment
            )
            with whole(folder) as unfinished:
                made.save_pretrained(unfinished)
        return load_tokenizer(folder)

    def _examples(self, wanted: list[data.Shard]) -> list[Path]:
        folder = self.out / "examples"
        every = sum(shard.count for shard in wanted)

        def report(played: int) -> None:
            self.console.print(f"{played} of {every} games played")

        data.make(folder, wanted, self.settings.processes, report)
        return [folder / shard.name for shard in wanted]

    def _rows(
        self, wanted: list[data.Shard], round_: Round, alike: int | None = None
    ) -> list[Row]:
        return rows_of(
            self._examples(wanted),
            self.tokenizer,
            round_.longest_tokens,
            self.settings.repeats,
            alike,
        )

    def _train(self, number: int, round_: Round) -> None:
        shards = []
        for earlier in range(number + 1):
            shards += self.shards_of(earlier)
        rows = self._rows(shards, round_, self.settings.alike)
        held_out_games = self._shards(HELD_OUT_SEEDS, self.settings.held_out)
        held_out = self._rows(held_out_games, round_)
        line = {
            "games": sum(shard.count for shard in shards),
            "questions": len(rows),
            **vars(Machine.of(self.settings)),
        }
        self.progress.report("data", number, line)
        folder = self.out / f"round-{number}"
        model = train_round(
            self._beginning(number),
            self.tokenizer,
            rows,
            held_out,
            self.settings,
            round_,
            folder,
            functools.partial(self.progress.report, "step", number),
        )
        with whole(folder / "model") as unfinished:
            model.to(torch.bfloat16).save_pretrained(unfinished)
            self.tokenizer.save_pretrained(unfinished)
            maps.write(unfinished, self._maps_after(number))

    def _maps_after(self, number: int) -> set[str]:
        """The maps of this round's games, and those of all games that earlier weights
        learned from.
        """
        games = [shard.games for shard in self.shards_of(number)]
        learned = maps.maps_of(itertools.chain(*games))
        if number > 0:
            learned |= training_maps(str(self.model_after(number - 1)))
        return learned

    def _beginning(self, number: int) -> Any:
        if number == 0:
            return new_model(self.settings.shape, self.tokenizer, self.settings.seed)
        return load_model(self.model_after(number - 1), dtype=torch.float32)

    def _play(self, number: int) -> None:
        """Plays the games of a round that are not reported yet: unseen games at
        temperature 0, with records as for any run. The reported number `of` excludes
        games that are solved at reset.
        """
        what = self.settings.play
        if what is None:
            return
        played = [
            (line["games"], line["rung"])
            for line in self.progress.lines("played", number)
        ]
        for overrides, rung in itertools.product(what.settings, what.rungs):
            if (overrides, rung) in played:
                continue
            cell = self._cell(number, overrides, rung, what.games)
            result = run_cell(cell, self.console)
            if result.faults:
                raise ModelFault(f"{result.faults[0]}; the same command tries it again")
            (numbers,) = report_numbers(find_cells([result.folder])).cells
            won = numbers.measures.success
            line = {"games": overrides, "rung": rung, "won": won.k, "of": won.n}
            self.progress.report("played", number, line)

    def _cell(
        self, number: int, overrides: str, rung: RungName, games: int
    ) -> CellConfig:
        cell = [
            f"name=round-{number}",
            f"games=0-{games - 1}",
            f"run.out={self.out / 'runs'}",
            "model=transformers",
            f"model.weights={self.model_after(number)}",
            "model.dtype=float32",
            f"decoding={rung}",
            "decoding.temperature=0",
            "decoding.max_tokens=1024",
        ]
        return compose_cell([*cell, *overrides.split()])

    def _finish(self) -> Path:
        """Writes the last round's weights with their card."""
        folder = self.out / "model"
        if folder.is_dir():
            return folder
        last = self.model_after(len(self.settings.rounds) - 1)
        trained_on = training_maps(str(last))
        with whole(folder) as unfinished:
            shutil.copytree(last, unfinished)
            model = load_model(unfinished)
            model.config.use_cache = True  # training turned it off
            model.config.save_pretrained(unfinished)
            text = card(
                self.settings,
                model.num_parameters(),
                self.progress,
                trained_on,
                listed(unfinished),
            )
            (unfinished / "README.md").write_text(text, encoding="utf-8")
        self.console.print(f"trained: {folder}")
        return folder
