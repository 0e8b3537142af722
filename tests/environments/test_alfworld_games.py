"""ALFWorld games of our own making: drawn by the seed alone, allowed, and not too
large.
"""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.alfworld.games import (
    PLAIN_TYPES,
    TASK_TYPES,
    GeneratedGame,
    make_game,
)
from pddlego_local.environments.alfworld.games.house import SEARCH_LIMIT
from pddlego_local.environments.alfworld.games.layout import (
    LAMP,
    UNSEEN,
    catalogue,
    floor_plan,
    pddl_name,
)
from pddlego_local.environments.alfworld.installation import find_environment, python
from tests.environments.alfworld_files import spoken_names, walkthrough
from tests.processes import ran

SEEDS = range(40)
TOOLS = {"clean": "SinkBasin", "heat": "Microwave", "cool": "Fridge"}

# What the engine calls the receptacles of houses: JSON lists in and out.
NAMES = """
import json, sys
from types import SimpleNamespace
from alfworld.agents.utils.misc import Demangler
told = []
for house in json.load(sys.stdin):
    names = Demangler(game_infos={i: SimpleNamespace(id=i) for i in house})
    told.append([names.demangle_alfred_name(i) for i in house])
print(json.dumps(told))
"""


class House:
    """What a game's problem file says, read without the code that wrote it."""

    def __init__(self, game: GeneratedGame) -> None:
        self.facts = [
            tuple(fact.split())
            for fact in re.findall(r"\(([^()?]+)\)", game.problem.split("init")[1])
        ]
        typed = [*self.pairs("receptacleType"), *self.pairs("objectType")]
        self.kind = {name: kind.removesuffix("Type") for name, kind in typed}
        self.holder = dict(self.pairs("inReceptacle"))
        self.place = dict(self.pairs("receptacleAtLocation"))
        self.openable = {fact[1] for fact in self.facts if fact[0] == "openable"}

    def pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        for fact in self.facts:
            if fact[0] == predicate:
                yield fact[1], fact[2]


Drawn = list[tuple[GeneratedGame, House]]


@pytest.fixture(scope="module", params=TASK_TYPES)
def drawn(request: pytest.FixtureRequest) -> Drawn:
    drawn = [make_game(seed, request.param) for seed in SEEDS]
    return [(game, House(game)) for game in drawn]


def test_games_depend_on_the_seed_alone() -> None:
    """Python hashes strings differently in every process, and with it the order of sets
    changes.
    """
    script = (
        "from pddlego_local.environments.alfworld.games import *; import hashlib\ngames"
        " = [make_game(seed, task) for task in TASK_TYPES for seed in range(5)]\ntext ="
        " ''.join(g.domain + g.grammar + g.problem + g.floor_plan for g in"
        " games)\nprint(hashlib.sha256(text.encode()).hexdigest())"
    )
    outputs = {
        ran(
            "-c", script, env={**os.environ, "PYTHONHASHSEED": str(number)}, check=True
        ).stdout
        for number in (1, 2)
    }
    assert len(outputs) == 1
    assert make_game(0, PLAIN_TYPES[0]) != make_game(1, PLAIN_TYPES[0])


def test_drawing_a_game_does_not_import_the_package() -> None:
    """Its import would make a folder in the user's home and set ALFWORLD_DATA."""
    script = (
        "import os, sys; from pddlego_local.environments.alfworld.games import *\n"
        "make_game(0, TASK_TYPES[0])\n"
        "print('alfworld' in sys.modules, 'ALFWORLD_DATA' in os.environ)"
    )
    environment = {
        name: value for name, value in os.environ.items() if name != "ALFWORLD_DATA"
    }
    assert ran("-c", script, env=environment, check=True).stdout.split() == [
        "False",
        "False",
    ]


def test_names_are_those_that_the_engine_gives() -> None:
    """On all floor plans, whose lists hold oddities: "Bathtub|…|SinkBasin" is a
    bathtubbasin.
    """
    plans = [floor_plan(number) for number in catalogue().seen + UNSEEN]
    ours = [
        spoken_names(receptacle.id for receptacle in plan.receptacles) for plan in plans
    ]
    houses = [[pddl_name(identifier).lower() for identifier in names] for names in ours]
    told = subprocess.run(
        [python(find_environment()), "-c", NAMES],
        input=json.dumps(houses), capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    theirs = json.loads(told.stdout.splitlines()[-1])
    assert theirs == [list(names.values()) for names in ours]
    for plan, names in zip(plans, ours, strict=True):
        for receptacle in plan.receptacles:
            assert names[receptacle.id].split()[0] == receptacle.kind.lower()


def test_games_differ(drawn: Drawn) -> None:
    assert len({game.problem for game, _ in drawn}) == len(SEEDS)
    assert len({game.floor_plan for game, _ in drawn}) > 10
    assert len({game.task.kind for game, _ in drawn}) >= 4


def test_the_task_is_still_to_be_done(drawn: Drawn) -> None:
    for game, house in drawn:
        objects = [o for o in house.holder if house.kind[o] == game.task.kind]
        assert len(objects) >= (2 if "two" in game.task_type else 1)
        for thing in objects:
            assert house.kind[house.holder[thing]] != game.task.target
        present = set(house.kind.values())
        assert (game.task.target or LAMP) in present
        for verb, tool in TOOLS.items():
            assert verb not in game.task_type or tool in present
        assert ("slice" not in game.task_type) or present & {"Knife", "ButterKnife"}


def test_objects_lie_where_the_package_allows(
    drawn: Drawn,
) -> None:
    """The problem's own canContain facts also say that PutObject can put them back."""
    for _, house in drawn:
        allowed = {(r[:-4], o[:-4]) for r, o in house.pairs("canContain")}
        for thing, holder in house.holder.items():
            pair = house.kind[holder], house.kind[thing]
            assert pair in allowed or pair[1] == "DeskLamp"
        amounts = Counter(house.kind[thing] for thing in house.holder)
        assert max(amounts.values()) <= 3
        names = [name for name, _ in house.pairs("inReceptacle")]
        assert len(set(names)) == len(names)


def test_a_systematic_search_fits_the_budget(
    drawn: Drawn,
) -> None:
    """One command shows an open receptacle, two a closed one, and then the walkthrough
    follows.
    """
    for game, house in drawn:
        search = len(house.place) + len(house.openable)
        assert search <= SEARCH_LIMIT
        assert search + len(walkthrough(game)) <= 50
        assert len(set(house.place.values())) == len(house.place)
    assert any(house.openable for _, house in drawn)


def test_splits_keep_to_their_floor_plans() -> None:
    unseen = {
        make_game(seed, PLAIN_TYPES[0], "valid_unseen").floor_plan for seed in SEEDS
    }
    seen = {make_game(seed, PLAIN_TYPES[0], "valid_seen").floor_plan for seed in SEEDS}
    assert not seen & unseen
    assert unseen <= {f"FloorPlan{number}" for number in UNSEEN}


def test_bad_input_is_named() -> None:
    with pytest.raises(ConfigError, match="'juggle'"):
        make_game(0, "juggle")
    with pytest.raises(ConfigError, match="'holdout'"):
        make_game(0, PLAIN_TYPES[0], "holdout")
    with pytest.raises(ConfigError, match="-1"):
        make_game(-1, PLAIN_TYPES[0])
