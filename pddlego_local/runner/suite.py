"""The frozen suite of `pddlego eval`: its parts and sizes, the cells of an entry in it,
and the hash that says that nothing in it has changed.

conf/suite/1.yaml lists what is played, and conf/suite/frozen.yaml has the hash of each
part and of the whole. A hash covers what changes results, except for the model: all
options, games, prompts, grammars, tables and world files, the planner's limits, how an
outcome counts, and the versions of planner and games. It does not cover code.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Annotated, Any

import pydantic
from pydantic import BeforeValidator, ConfigDict

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.run_record import in_ranges, parse_games
from pddlego_local.core.resources import folder
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.environments import family
from pddlego_local.methods import Method, prompting
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.overrides import as_override
from pddlego_local.runner.provenance import files_sha256

NUMBER = 1
PACKAGES = ("textworld-express", "up-fast-downward")
"""The packages that make games or plan, and whose other versions may do so in another
way.
"""
REFERENCE, RANDOM = "reference", "random_policy"
BY_RULES = (REFERENCE, RANDOM)
"""The entries that no model plays: the ceiling and the floor."""

_STRICT = ConfigDict(extra="forbid")


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Part:
    """An environment, a method and games. `about` says in words what is played, and
    `published` has the games of published.yaml that are these games.
    """

    about: str
    environment: list[str]
    method: list[str]
    arms: list[str]
    games: Annotated[tuple[int, ...], BeforeValidator(parse_games)]
    published: str = ""


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Size:
    """The parts of a size, each with the number of its games, and those arms of the
    parts that are played. `tested` says whether the suite's comparisons are tested.
    """

    tested: bool
    arms: list[str]
    parts: dict[str, int]


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Suite:
    """The content of conf/suite/NUMBER.yaml. `compare` are pairs of arms, `arms` maps
    the name of an arm to its overrides, and `thinking` are those of an entry that
    thinks.
    """

    number: int
    scoring: int
    thinking: list[str]
    compare: list[dict[str, str]]
    arms: dict[str, list[str]]
    sizes: dict[str, Size]
    parts: dict[str, Part]

    def size(self, name: str) -> Size:
        """Raises ConfigError if there is no such size."""
        if name not in self.sizes:
            raise ConfigError(
                f"--size {name}: the sizes of suite {self.number} are"
                f" {', '.join(self.sizes)}."
            )
        return self.sizes[name]

    def arms_of(self, part: str, size: Size) -> list[str]:
        return [arm for arm in self.parts[part].arms if arm in size.arms]


@cache
def suite() -> Suite:
    path = folder("conf") / "suite" / f"{NUMBER}.yaml"
    return Suite(**yaml_faults.read(path))


# ---- The cells of an entry


def words_of(
    part: Part, arm: str, games: Sequence[int], *, thinking: bool = False
) -> list[str]:
    """Returns the overrides of a cell, without those of the model. The arm of the
    floor is its method.
    """
    words = ["seed=0", "trials=1", f'games="{in_ranges(games)}"', *part.environment]
    if arm == RANDOM:
        return [*words, f"method={RANDOM}", "decoding=free"]
    words += [*part.method, *suite().arms[arm]]
    return [*words, *suite().thinking] if thinking else words


def compare_word(size: Size) -> str:
    """Returns the override with the comparisons that a report of the run tests."""
    tested = suite().compare if size.tested else []
    declared = [{"factor": "arm", **pair} for pair in tested]
    return as_override("compare", declared)


# ---- The hash


def part_sha256(name: str) -> str:
    """Returns the hash of all cells of a part, with every arm and all games."""
    part = suite().parts[name]
    cells = {arm: _facts(part, arm) for arm in part.arms}
    return _sha256({"cells": cells, "published": part.published})


def _facts(part: Part, arm: str) -> dict[str, Any]:
    """Returns everything that changes the results of a cell, except for the model."""
    config = compose_cell([*words_of(part, arm, part.games), "model=reference"])
    tree = dict(config.tree)
    if "data" in tree["environment"]:  # each user has his own folder, or none
        tree["environment"] = {**tree["environment"], "data": None}
    config = replace(config, tree=tree)
    identity = {**config.identity, "model": None}
    environment = config.build("environment")
    method: Method = config.build("method")
    templates = getattr(method, "templates", ())
    try:
        package = environment.package
        return {
            "identity": identity,
            "games": in_ranges(config.settings.games),
            "planner_limits": config.tree["planner"].get("limits"),
            "prompts": prompting.used_sha256(method.prompts, package, templates),
            "tables": family.sha256(package),
            "files": files_sha256(environment),
            "grammars": dict(_grammars(config, environment, method)),
        }
    finally:
        environment.close()


def _grammars(
    config: CellConfig, environment: Any, method: Method
) -> Iterator[tuple[str, str | None]]:
    context = GrammarContext(actions=environment.actions, domain=environment.domain)
    decoding = config.build("decoding")
    for form in method.forms:
        yield form.name, constraint_for(decoding, form, context).sha256


def suite_sha256(parts: Mapping[str, str]) -> str:
    """Returns the hash of the whole suite; `parts` has those of its parts."""
    known = suite()
    return _sha256(
        {
            "number": known.number,
            "scoring": known.scoring,
            "thinking": known.thinking,
            "compare": known.compare,
            "sizes": {name: asdict(size) for name, size in known.sizes.items()},
            "parts": dict(parts),
            "outcomes": {name: asdict(outcome) for name, outcome in OUTCOMES.items()},
            "causes": {name: asdict(cause) for name, cause in CAUSES.items()},
            "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        }
    )


def _sha256(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Frozen:
    """The hashes of a suite in conf/suite/frozen.yaml."""

    sha256: str
    parts: dict[str, str]


def frozen() -> Frozen:
    """Returns the hashes under which the suite's number was frozen. Raises ConfigError
    if there are none.
    """
    shipped = yaml_faults.read(folder("conf") / "suite" / "frozen.yaml")
    if NUMBER not in shipped:
        raise ConfigError(f"conf/suite/frozen.yaml has no suite {NUMBER}.")
    return Frozen(**shipped[NUMBER])


def check_frozen(size: Size) -> str:
    """Returns the hash of the suite. Raises ConfigError if the suite, or one of the
    parts of this size, is not the frozen one.
    """
    known = frozen()
    changed = [part for part in size.parts if part_sha256(part) != known.parts[part]]
    if not changed and suite_sha256(known.parts) == known.sha256:
        return known.sha256
    where = f"its parts {', '.join(changed)}" if changed else "its sizes, or scoring"
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    raise ConfigError(
        f"this is not suite {NUMBER} as it was frozen: {where} changed, or one of"
        f" {', '.join(versions)}. Use an unchanged version of this program; a suite of"
        " your own needs a number of its own (conf/suite)."
    )
