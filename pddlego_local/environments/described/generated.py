"""Generates worlds by seed: a seed gives one task, whatever the words of its texts.

A world is two files. `worlds/NAME.yaml` has its words and its gold domain, which is in
`explored/worlds/NAME/domain.pddl` if the world is also one that is partly seen.
`worlds/NAME.py` has a function `draw(chance, count, thing)` that returns a `Drawing`
with `count` of its main things, which are called `thing`. Mystery Blocksworld has the
drawings of Blocksworld under meaningless names (after Valmeekam et al., "PlanBench",
§4).
"""

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import chain
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
_PARTLY_SEEN = "pddlego_local.environments.explored.worlds"


@cache
def families() -> tuple[str, ...]:
    """Returns the names of all worlds, sorted."""
    names = []
    for file in resources.files(_WORLDS).iterdir():
        name, _, ending = file.name.rpartition(".")
        if ending == "yaml":
            names.append(name)
    return tuple(sorted(names))


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
    drawing = drawn(family, count, chance)
    about = words["domain_text"][degree].strip()
    heads = words["heads"].strip()
    domain_text = f"{about}\n\n{HEADS}\n{heads}"
    phrases = words["told"][degree]
    form: str = words["problem_text"][degree].strip()
    problem_text = form.format(
        things=", ".join(chain(*drawing.things.values())),
        start=_in_words(drawing.start, phrases),
        goal=_in_words(drawing.goal, phrases),
    )
    problem = problem_of(family, drawing)
    return World(
        name=f"{family} {seed}",
        domain_text=domain_text,
        problem_text=problem_text,
        heads=heads_in(domain_text, family),
        domain=in_order(words["domain"]),
        problem=in_order(problem),
    )


def drawn(family: str, count: int, chance: Random) -> Drawing:
    """Draws a task with so many main things."""
    module = importlib.import_module(f"{_WORLDS}.{family}")
    drawing: Drawing = module.draw(chance, count, words_of(family)["thing"])
    return drawing


def _in_words(facts: Sequence[Fact], phrases: Mapping[str, str]) -> str:
    """Returns the facts in words. A fact whose phrase is empty is left out."""
    told = [phrases[name].format(*things) for name, *things in facts]
    return "; ".join(filter(None, told))


def problem_of(family: str, drawing: Drawing) -> str:
    """Returns the problem file. `written` in the words has the PDDL of facts that are
    not written as the drawing has them.
    """
    forms = words_of(family)["written"]
    objects = []
    for kind, things in drawing.things.items():
        names = " ".join(map(_pddl_name, things))
        objects.append(f"{names} - {kind}")
    start = _in_pddl(drawing.start, forms)
    goal = " ".join(_in_pddl(drawing.goal, forms))
    return problem_file("task", family, objects, start, f"(and {goal})")


def _in_pddl(facts: Sequence[Fact], forms: Mapping[str, str]) -> list[str]:
    written = []
    for name, *things in facts:
        names = list(map(_pddl_name, things))
        if name in forms:
            written.append(forms[name].format(*names))
        else:
            fact = " ".join([name, *names])
            written.append(f"({fact})")
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
    words: dict[str, Any] = {
        "problem_text": _yaml(__package__, "frames.yaml"),
        "written": {},
        **_yaml(_WORLDS, f"{family}.yaml"),
    }
    if "domain" not in words:
        words["domain"] = _text(f"{_PARTLY_SEEN}.{family}", "domain.pddl")
    domain = words["domain"]
    told = words["told"]
    told["moderately"] = told["heavily"] | told["moderately"]
    words.setdefault("heads", heads_of(domain))
    texts = words["domain_text"]
    if "heavily" not in texts:
        about = words["about"].strip()
        rules = rules_in_words(domain, told["heavily"])
        texts["heavily"] = f"{about}\n\n{rules}"
    return words


def _yaml(package: str, name: str) -> Any:
    return yaml.safe_load(_text(package, name))


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
