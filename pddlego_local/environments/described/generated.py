"""Generates worlds by seed: a seed gives one task, whatever the words of its texts.

A world is two files. `worlds/NAME.yaml` has its gold domain and its words.
`worlds/NAME.py` has a function `draw(chance, count, words)` that returns a `Drawing`.
Mystery Blocksworld has the drawings of Blocksworld under meaningless names (after
Valmeekam et al., "PlanBench", §4).
"""

import importlib
import random
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.seeds import derive_seed
from pddlego_local.environments.described.drawing import Drawing, in_ranges
from pddlego_local.environments.described.wording import heads_of, rules_in_words
from pddlego_local.environments.described.world import HEADS, World, heads_in, in_order
from pddlego_local.environments.writing import Fact, problem_file

_WORLDS = f"{__package__}.worlds"


@cache
def families() -> tuple[str, ...]:
    """Returns the names of all worlds, sorted."""
    files = resources.files(_WORLDS).iterdir()
    return tuple(
        sorted(file.name[:-5] for file in files if file.name.endswith(".yaml"))
    )


def _known(name: str) -> str:
    if name not in families():
        end = did_you_mean(name, families())
        raise ValueError(
            f"there is no world {name!r}{end} The worlds are {', '.join(families())}"
        )
    return name


Family = Annotated[str, AfterValidator(_known)]
Degree = Literal["moderately", "heavily", "naturally"]
LEARNED: Sequence[Degree] = ("moderately", "heavily")
"""Trainings use these degrees. No training has the words of the others."""
Constraint = Literal["none", "one"]
Listing = Literal["each", "ranges"]


def generate(
    family: str,
    degree: Degree,
    sizes: tuple[int, int],
    seed: int,
    constraint: Constraint = "none",
    listing: Listing = "each",
) -> World:
    """Returns the world of this seed. `sizes` are the minimum and the maximum number of
    its main things, such as blocks. With a constraint, one more sentence ends the
    problem text, and the gold files have its condition. With the listing "ranges", the
    seed determines only the number of main things, and each sentence of the problem
    text stands for many facts. Raises ConfigError for a constraint or ranges in a world
    that has none.
    """
    words = words_of(family)
    chance = random.Random(derive_seed("described", family, *sizes, seed))
    count, short = chance.randint(*sizes), dict[str, str]()
    if listing == "each":
        drawing: Drawing = importlib.import_module(f"{_WORLDS}.{family}").draw(
            chance, count, words
        )
    elif "ranges" in words:
        drawing, short = in_ranges(words["ranges"], count)
    else:
        raise ConfigError(
            f"the world {family} has no ranges: choose environment.listing=each"
        )
    sentence, domain, removed, added = "", words["domain"], list[Fact](), list[Fact]()
    if constraint == "one":
        chance = random.Random(
            derive_seed("described constraint", family, *sizes, seed)
        )
        sentence, domain, removed, added = _constrained(family, drawing, chance)

    def in_words(facts: Sequence[Fact]) -> str:
        phrases = [
            words["told"][degree][name].format(*things) for name, *things in facts
        ]
        return "; ".join(phrase for phrase in phrases if phrase)

    def written(facts: Sequence[Fact]) -> list[str]:
        forms = words["written"]
        return [
            forms.get(name, f"({name}{' {}' * len(things)})").format(
                *map(in_pddl, things)
            )
            for name, *things in facts
        ]

    text = (
        f"{words['domain_text'][degree].strip()}\n\n{HEADS}\n{words['heads'].strip()}"
    )
    objects = [
        f"{' '.join(map(in_pddl, own))} - {kind}"
        for kind, own in drawing.things.items()
    ]
    start = written([fact for fact in drawing.start if fact not in removed])
    goal = f"(and {' '.join(written([*drawing.goal, *added]))})"
    told = short or {
        "things": ", ".join(
            thing for things in drawing.things.values() for thing in things
        ),
        "start": in_words(drawing.start),
        "goal": in_words(drawing.goal),
    }
    return World(
        f"{family} {seed}",
        text,
        words["problem_text"][degree].strip().format(**told) + sentence,
        heads_in(text, family),
        in_order(domain),
        in_order(problem_file("task", family, objects, start, goal)),
    )


def _constrained(
    family: str, drawing: Drawing, chance: random.Random
) -> tuple[str, str, list[Fact], list[Fact]]:
    """Returns the sentence, the domain, the initial facts to remove, and the facts to
    add to the goal.

    An entry under `constraints` is about an initial fact that begins with the entry's
    `fact`. If the entry has `goal`, the goal gains this fact under that name; otherwise
    the fact is removed. Each key of the entry's `domain` is replaced in the gold domain
    by its value.
    """
    words = words_of(family)
    if "constraints" not in words:
        raise ConfigError(
            f"the world {family} has no constraint: set environment.constraint=none"
        )
    entry, domain = chance.choice(words["constraints"]), words["domain"]
    fact = chance.choice(
        [f for f in drawing.start if " ".join(f).startswith(entry["fact"])]
    )
    for before, after in entry.get("domain", {}).items():
        domain = domain.replace(before, after)
    gained = [(entry["goal"], *fact[1:])] if "goal" in entry else []
    return (
        f"\n{entry['told'].format(*fact[1:])}",
        domain,
        [] if gained else [fact],
        gained,
    )


def in_pddl(thing: str) -> str:
    """Returns the PDDL name of a thing: "block 3" is block3."""
    return thing.replace(" ", "")


@cache
def words_of(family: str) -> dict[str, Any]:
    """Returns the content of `worlds/<family>.yaml`. What is missing there is made from
    the world's domain: the action heads, and the heavily templated text, which begins
    with `about`.
    """
    text = resources.files(_WORLDS).joinpath(f"{family}.yaml").read_text("utf-8")
    frames = yaml.safe_load(
        resources.files(__package__).joinpath("frames.yaml").read_text("utf-8")
    )
    words: dict[str, Any] = {
        "problem_text": frames,
        "written": {},
        **yaml.safe_load(text),
    }
    told, texts = words["told"], words["domain_text"]
    told["moderately"] = told["heavily"] | told["moderately"]
    words.setdefault("heads", heads_of(words["domain"]))
    if "heavily" not in texts:
        rules = rules_in_words(words["domain"], told["heavily"])
        texts["heavily"] = f"{words['about'].strip()}\n\n{rules}"
    return words
