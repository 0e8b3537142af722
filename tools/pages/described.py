"""docs/results/described.md: formalizers in worlds that a text describes wholly."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial

from pddlego_local.core.record.events import Plan
from pddlego_local.environments.described.game import Described
from pddlego_local.models.card import known_texts
from pddlego_local.planner import FastDownward
from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import ROOT, Records, scored, transcripts

DOMAINS = "generalize/records.tar.xz", "generalize"
LARGER = "nano_worlds/records.tar.xz", "nano_worlds"
SENTENCE = "nano_worlds/records.tar.xz", "nano_worlds_constraint"
SEARCH = "nano_worlds/records.tar.xz", "search"
EXAMPLES = "pretrained_examples/records.tar.xz", "pretrained_examples"
EXAMPLES_SEARCH = "pretrained_examples/search_records.tar.xz", "examples_search"
ARMS = ("free", "free + repair typed", "typed", "grounded")
WORDINGS = {"of the training": "moderately", "new": "naturally"}
CHOSEN_SIZES = ("[6, 6]", "[7, 7]", "[8, 8]")
SETS = {"larger": LARGER, "one more sentence": SENTENCE}


def asked(cell: CellRecord, option: str) -> str:
    """Returns an option of what was played, such as "environment.world"."""
    return cell.options.get(option, "")


def world(cell: CellRecord) -> str:
    return asked(cell, "environment.world")


def of_arm(cells: Iterable[CellRecord], name: str) -> list[CellRecord]:
    return tables.by_arm(cells).get(name, [])


def by_domains_and_words(records: Records) -> str:
    """How far answers come in domains and in words that the training had or lacked."""
    trained = known_texts(ROOT / "weights/nano_worlds") or {}
    cells, rows = records.sweep(*DOMAINS), []
    for domains, known in {"of the training": True, "new": False}.items():
        of_domains = [cell for cell in cells if (world(cell) in trained) == known]
        for in_words, wording in WORDINGS.items():
            of_words = [cell for cell in of_domains if words(cell) == wording]
            for arm in ARMS:
                place = {"domains": domains, "words": in_words, "arm": f"`{arm}`"}
                rows.append(place | tables.stages_reached(of_arm(of_words, arm)))
    return tables.table(rows)


def words(cell: CellRecord) -> str:
    return asked(cell, "environment.text")


def by_set(records: Records) -> str:
    """How far answers come in the two sets of worlds that the model solves partly."""
    return tables.table(
        {"worlds": name, "arm": f"`{arm}`"}
        | _renamed(tables.stages_reached(of_arm(records.sweep(*sweep), arm)))
        for name, sweep in SETS.items()
        for arm in ARMS
    )


def _renamed(stages: Mapping[str, str]) -> dict[str, str]:
    """The column "worlds" is taken by the set's name here."""
    return {
        ("number of worlds" if name == "worlds" else name): n
        for name, n in stages.items()
    }


def verdicts(records: Records, sweep: tuple[str, str]) -> str:
    names = {"repair none": "free", "repair typed": "free + repair typed"}
    return tables.verdict_lines(records.compared(*sweep), names)


def without_the_sentence(records: Records) -> str:
    """Files that would be right if the added sentence were not in the text."""
    right = Counter[str]()
    games = Counter[str]()
    for cell in records.sweep(*SENTENCE):
        environment = Described(world=world(cell), sizes=(3, 8))
        arm = tables.arm_name(cell)
        for row, events in zip(scored(cell), transcripts(cell), strict=True):
            plans = [event for event in events if isinstance(event, Plan)]
            environment.reset(row.game)
            same = (
                bool(plans)
                and environment.equivalence(plans[-1].problem) == "equivalent"
            )
            right[arm] += same
            games[arm] += 1
    return tables.table(
        {
            "arm": f"`{arm}`",
            "right but for the sentence": f"{right[arm]} of {games[arm]}",
        }
        for arm in ARMS
    )


def examples(records: Records) -> str:
    cells = records.sweep(*EXAMPLES)
    rows = []
    for name in dict.fromkeys(map(world, cells)):
        for arm in ARMS:
            (cell,) = (one for one in of_arm(cells, arm) if world(one) == name)
            of_cell = {"world": f"`{name}`", "arm": f"`{arm}`"}
            stages = tables.stages_reached([cell])
            rows.append(
                of_cell | stages | {"tokens per answer": tables.tokens_per_answer(cell)}
            )
    return tables.table(rows)


def search_of_examples(records: Records) -> str:
    """The settings that were tried before the comparison, in the order of the
    records.
    """
    return tables.table(
        {
            "world": f"`{world(cell)}`",
            "main things": asked(cell, "environment.sizes"),
            "solved examples": asked(cell, "method.shots"),
            "temperature": asked(cell, "decoding.temperature"),
            "valid plans": tables.games_won(cell),
        }
        for cell in records.sweep(*EXAMPLES_SEARCH)
    )


def search_of_worlds(records: Records) -> str:
    """Valid plans, freely and under `typed`, in the worlds of the search that were
    chosen.
    """
    rows = []
    for name in ("childsnack", "grid"):
        chosen = [
            cell
            for cell in records.sweep(*SEARCH)
            if world(cell) == name and asked(cell, "environment.sizes") in CHOSEN_SIZES
        ]
        row = {"world": f"`{name}`"}
        for arm in ("free", "typed"):
            row[f"`{arm}`"] = tables.games_won(*of_arm(chosen, arm))
        rows.append(row)
    return tables.table(rows)


def wins_of_grounded_alone(records: Records) -> str:
    """Says how many files are right among the worlds that `grounded` alone solves."""
    cells = records.sweep(*EXAMPLES)
    won = {
        arm: {
            (world(cell), row.game): row.notes.get("equivalence") == "equivalent"
            for cell in of_arm(cells, arm)
            for row in scored(cell)
            if row.won
        }
        for arm in ("free", "grounded")
    }
    alone = won["grounded"].keys() - won["free"].keys()
    right = sum(won["grounded"][game] for game in alone)
    return (
        f"Of the {len(alone)} worlds that `grounded` alone solves, {right} have a right"
        " file."
    )


def valid_and_wrong(records: Records) -> str:
    """For example "17 of 109": valid plans of free answers whose file is not right."""
    cells = of_arm(records.sweep(*LARGER), "free")
    valid = [row for cell in cells for row in scored(cell) if row.success]
    wrong = [row for row in valid if row.notes.get("equivalence") != "equivalent"]
    return f"{len(wrong)} of {len(valid)}"


def copies(records: Records) -> str:
    """For example "14 of 1,280": valid plans if an example of the prompt is taken as
    the answer.
    """
    valid = tried = 0
    with FastDownward() as planner:
        planned = cache(planner.plan)  # many examples are equal
        for name in ("gripper", "ferry"):
            game = Described(world=name, sizes=(1, 2), text="heavily")
            for seed in range(7500, 7580):
                game.reset(seed)
                for _, file in game.solved(8):
                    valid += _wins(game, seed, planned(game.domain, file).plan)
                    tried += 1
    return f"{valid} of {tried:,}"


def _wins(game: Described, seed: int, plan: Sequence[str]) -> bool:
    game.reset(seed)
    refused = [game.step(action.strip("()")).feedback for action in plan]
    return game.won() and not any(refused)


PAGES = (
    Page(
        "docs/results/described.md",
        {
            "domains and words": by_domains_and_words,
            "sets": by_set,
            "verdicts of larger worlds": partial(verdicts, sweep=LARGER),
            "verdicts of one more sentence": partial(verdicts, sweep=SENTENCE),
            "without the sentence": without_the_sentence,
            "verdicts of domains": partial(verdicts, sweep=DOMAINS),
            "examples": examples,
            "verdicts of examples": partial(verdicts, sweep=EXAMPLES),
            "grounded alone": wins_of_grounded_alone,
            "search of examples": search_of_examples,
            "search of larger worlds": search_of_worlds,
            "copies": copies,
            "valid and wrong": valid_and_wrong,
        },
    ),
)
