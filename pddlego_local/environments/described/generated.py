"""Generates worlds by seed: a seed gives one task, whatever the words of its texts.

A world is two files. `worlds/NAME.yaml` has its gold domain and its words.
`worlds/NAME.py` has a function `draw(chance, count, thing)` that returns a `Drawing`
with `count` of its main things, which are called `thing`. Mystery Blocksworld has the
drawings of Blocksworld under meaningless names (after Valmeekam et al., "PlanBench",
§4).
"""

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from random import Random
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator

from pddlego_local.core.nearest import did_you_mean
from pddlego_local.core.seeds import derive_seed
from pddlego_local.environments.described.drawing import Drawing
from pddlego_local.environments.described.wording import heads_of, rules_in_words
from pddlego_local.environments.described.world import HEADS, World, heads_in, in_order
from pddlego_local.environments.writing import Fact, problem_file

_WORLDS = f"{__package__}.worlds"


@cache
def families() -> tuple[str, ...]:
    """Returns the names of all worlds, sorted."""
    files = resources.files(_WORLDS).iterdir()
    return tuple(
        sorted(
            file.name.removesuffix(".yaml")
            for file in files
            if file.name.endswith(".yaml")
        )
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


def generate(family: str, degree: Degree, sizes: tuple[int, int], seed: int) -> World:
    """Returns the world of this seed. `sizes` are the minimum and the maximum number of
    its main things, such as blocks.
    """
    words = words_of(family)
    chance = Random(derive_seed("described", family, *sizes, seed))
    count = chance.randint(*sizes)
    module = importlib.import_module(f"{_WORLDS}.{family}")
    drawing: Drawing = module.draw(chance, count, words["thing"])
    about, heads = words["domain_text"][degree].strip(), words["heads"].strip()
    domain_text = f"{about}\n\n{HEADS}\n{heads}"
    phrases = words["told"][degree]
    things = [thing for of_type in drawing.things.values() for thing in of_type]
    problem_text = words["problem_text"][degree].strip()
    return World(
        name=f"{family} {seed}",
        domain_text=domain_text,
        problem_text=problem_text.format(
            things=", ".join(things),
            start=_in_words(drawing.start, phrases),
            goal=_in_words(drawing.goal, phrases),
        ),
        heads=heads_in(domain_text, family),
        domain=in_order(words["domain"]),
        problem=in_order(_problem(family, drawing, words["written"])),
    )


def _in_words(facts: Sequence[Fact], phrases: Mapping[str, str]) -> str:
    """Returns the facts in words. A fact whose phrase is empty is left out."""
    told = [phrases[name].format(*things) for name, *things in facts]
    return "; ".join(filter(None, told))


def _problem(family: str, drawing: Drawing, forms: Mapping[str, str]) -> str:
    """Returns the problem file. `forms` has the PDDL of facts that are not written as
    the drawing has them.
    """
    objects = [
        f"{' '.join(map(_pddl_name, things))} - {kind}"
        for kind, things in drawing.things.items()
    ]
    goal = f"(and {' '.join(_in_pddl(drawing.goal, forms))})"
    return problem_file("task", family, objects, _in_pddl(drawing.start, forms), goal)


def _in_pddl(facts: Sequence[Fact], forms: Mapping[str, str]) -> list[str]:
    written = []
    for name, *things in facts:
        names = [_pddl_name(thing) for thing in things]
        plain = f"({' '.join([name, *names])})"
        written.append(forms[name].format(*names) if name in forms else plain)
    return written


def _pddl_name(thing: str) -> str:
    """Returns the PDDL name of a thing: "block 3" is block3."""
    return thing.replace(" ", "")


@cache
def words_of(family: str) -> dict[str, Any]:
    """Returns the content of `worlds/<family>.yaml`. What is missing there is made from
    the world's domain: the action heads, and the heavily templated text, which begins
    with `about`.
    """
    frames = _yaml(__package__, "frames.yaml")
    own = _yaml(_WORLDS, f"{family}.yaml")
    words: dict[str, Any] = {"problem_text": frames, "written": {}} | own
    told, texts = words["told"], words["domain_text"]
    told["moderately"] = told["heavily"] | told["moderately"]
    words.setdefault("heads", heads_of(words["domain"]))
    if "heavily" not in texts:
        rules = rules_in_words(words["domain"], told["heavily"])
        texts["heavily"] = f"{words['about'].strip()}\n\n{rules}"
    return words


def _yaml(package: str, name: str) -> Any:
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return yaml.safe_load(text)
