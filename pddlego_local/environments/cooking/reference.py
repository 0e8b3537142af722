"""The answers of a perfect model in CookingWorld: PDDL, problem files, sub-goals,
containers.

They come from rules, not from a language model. The rules read the same memory that a
prompt shows. Each plan ends where something new is seen: the player takes and processes
what is within reach, and then opens a likely container or enters the nearest room. Once
everything is known, one plan does all the rest.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.cooking.game import TABLES
from pddlego_local.environments.cooking.text import (
    APPLIANCES,
    COOKS,
    CUTS,
    KNIFE,
    Kitchen,
)
from pddlego_local.environments.tables import domain_text
from pddlego_local.environments.textworld_express.house_map import pddl_name
from pddlego_local.environments.writing import Fact, atoms, problem_file

command = TABLES.command
DOMAIN = domain_text(__package__, "reference.pddl")
PREPARED: Fact = ("prepared",)
EATEN: Fact = ("eaten",)
KNIFE_IS_IN = ("cutlery drawer", "kitchen cupboard")
FOOD_IS_IN = ("fridge",)
VERBS = {state: verb for verb, state in (CUTS | COOKS).items()}


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) whose plan is the next part of the way to the eaten
    meal.

    `goal` is a sub-goal that `subgoals` has returned in this game (KeyError otherwise).
    The plan then leads to this sub-goal alone, and is empty if the sub-goal is already
    reached. `offered` is ignored: it adds nothing to what the texts say.
    """
    kitchen = Kitchen.read(memory)
    aim = _aims(kitchen)[goal] if goal else EATEN
    return DOMAIN, _problem(
        kitchen, "cooking", _facts(kitchen), _next_goal(kitchen, aim)
    )


def problem(memory: Turns) -> str:
    """Returns everything that is known, for the hand-written domain. The goal is only a
    placeholder."""
    kitchen = Kitchen.read(memory)
    visited = [("visited", room) for room in kitchen.house.exits]
    here = ("at", kitchen.house.here)
    return _problem(kitchen, "cooking_world", [*_world(kitchen), *visited], [here])


def subgoals(memory: Turns) -> tuple[str, ...]:
    """Returns what remains to be done, in order, in words. Things that were already
    seen are taken first.
    """
    kitchen = Kitchen.read(memory)
    facts = _facts(kitchen)
    remaining = [
        (words, aim) for words, aim in _aims(kitchen).items() if aim not in facts
    ]
    remaining.sort(
        key=lambda entry: entry[1][0] != "have" or entry[1][1] not in kitchen.items
    )
    return tuple(words for words, _ in remaining)


def contents(memory: Turns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (closed containers in this room that are worth opening, the likeliest
    first; the things within reach in this room).
    """
    kitchen = Kitchen.read(memory)
    here = kitchen.house.here
    discoveries = _discoveries(kitchen, _unknown(kitchen, _work(kitchen)))
    closed = takewhile(
        lambda fact: fact[0] == "opened" and fact[2] == here, discoveries
    )
    in_reach = tuple(name for name, room in kitchen.items.items() if room == here)
    return tuple(fact[1] for fact in closed), in_reach


def _aims(kitchen: Kitchen) -> dict[str, Fact]:
    """Returns everything that the recipe requires, done or not, as words and as a
    fact.
    """
    recipe = kitchen.recipe
    things = (KNIFE, *recipe.ingredients) if recipe.cuts else recipe.ingredients
    aims: dict[str, Fact] = {
        f"find and take the {name}": ("have", name) for name in things
    }
    for state, name in recipe.steps:
        tool = (
            f"with the {KNIFE}"
            if state in CUTS.values()
            else f"in the {_either(state)}"
        )
        aims[f"{VERBS[state]} the {name} {tool}"] = (state, name)
    return aims | {"prepare the meal in the kitchen": PREPARED, "eat the meal": EATEN}


def _either(state: str) -> str:
    return " or ".join(APPLIANCES[state])


def _work(kitchen: Kitchen) -> list[Fact]:
    """Returns what must be done before the meal can be prepared."""
    no_work = [*_facts(kitchen), PREPARED, EATEN]
    return [aim for aim in _aims(kitchen).values() if aim not in no_work]


def _next_goal(kitchen: Kitchen, aim: Fact) -> list[Fact]:
    """Returns the facts to bring about next, or `aim` itself if nothing has to be done
    before it.
    """
    is_meal = aim in (PREPARED, EATEN)
    work = _work(kitchen) if is_meal else [aim]
    if aim in _facts(kitchen) or not work:
        return [aim]
    if not (unknown := _unknown(kitchen, work)):
        return [*work, ("at", "kitchen")] if is_meal else work
    return [
        *_within_reach(kitchen, work),
        *list(_discoveries(kitchen, unknown))[:1],
    ] or work


def _things(work: Sequence[Fact]) -> list[str]:
    """Returns the ingredients that the work is about, and the knife if the work needs
    one.
    """
    cuts = any(aim[0] in CUTS.values() for aim in work)
    return list(dict.fromkeys([*(aim[1] for aim in work), *([KNIFE] if cuts else [])]))


def _unknown(kitchen: Kitchen, work: Sequence[Fact]) -> list[str]:
    """Returns the things and appliances that the work needs and that were not seen
    yet.
    """
    seen = {*kitchen.held, *kitchen.items}
    appliances = {name for name, _ in kitchen.appliances}
    return [name for name in _things(work) if name not in seen] + [
        _either(state)
        for state, _ in work
        if state in APPLIANCES and appliances.isdisjoint(APPLIANCES[state])
    ]


def _within_reach(kitchen: Kitchen, work: Sequence[Fact]) -> list[Fact]:
    """Returns what can be done for the work without leaving this room or opening
    anything.
    """
    here = kitchen.house.here
    lying = [name for name in _things(work) if kitchen.items.get(name) == here]
    at_hand = {*kitchen.held, *lying}
    tools = {name for name, room in kitchen.appliances if room == here}

    def has_tool(state: str) -> bool:
        if state in CUTS.values():
            return KNIFE in at_hand
        return not tools.isdisjoint(APPLIANCES.get(state, ()))

    processing = [
        (state, name) for state, name in work if name in at_hand and has_tool(state)
    ]
    return [*(("have", name) for name in lying), *processing]


def _discoveries(kitchen: Kitchen, unknown: Sequence[str]) -> Iterator[Fact]:
    """Yields where the unknown things may be found, the most promising first: likely
    containers here, the nearest new room, likely containers elsewhere, and then the
    other containers.
    """
    foods = any(name in kitchen.recipe.ingredients for name in unknown)
    likely = [
        *(FOOD_IS_IN if foods else ()),
        *(KNIFE_IS_IN if KNIFE in unknown else ()),
    ]
    closed = sorted(kitchen.closed, key=lambda entry: entry[1] != kitchen.house.here)
    promising = [
        ("opened", *entry) for name in likely for entry in closed if entry[0] == name
    ]
    here = [fact for fact in promising if fact[2] == kitchen.house.here]
    yield from here
    if unknown and (room := kitchen.house.nearest_unvisited()):
        yield "at", room
    yield from (fact for fact in promising if fact not in here)
    if foods or KNIFE in unknown:
        yield from (("opened", *entry) for entry in closed if entry[0] not in likely)


def _problem(
    kitchen: Kitchen, domain: str, facts: Sequence[Fact], goal: Sequence[Fact]
) -> str:
    """Declares all known objects. The recipe's ingredients are objects before they are
    found, and so is a knife that is needed.
    """
    passages = list(kitchen.house.passages())
    things = [*kitchen.recipe.ingredients, *kitchen.held, *kitchen.items]
    kinds = {
        "location": [
            *kitchen.house.exits,
            *(to for _, to, _, _ in passages),
            "kitchen",
        ],
        "direction": [direction for _, _, direction, _ in passages],
        "container": [name for name, _ in (*kitchen.closed, *kitchen.opened)],
        "ingredient": [name for name in things if name not in (KNIFE, "cookbook")],
        "knife": [KNIFE] if kitchen.recipe.cuts or KNIFE in things else [],
        **{name: [name] for name, _ in kitchen.appliances},
    }
    objects = [
        f"{' '.join(map(pddl_name, dict.fromkeys(names)))} - {kind}"
        for kind, names in kinds.items()
        if names
    ]
    wanted = "\n    ".join(["(and", *atoms(goal, pddl_name)]) + ")"
    return problem_file(
        f"{domain}_now", domain, objects, atoms(facts, pddl_name), wanted
    )


def _world(kitchen: Kitchen) -> list[Fact]:
    """Returns where everything is, what is held and what is processed."""
    return [
        ("at", kitchen.house.here),
        *kitchen.house.ways(),
        *(("obj-at", name, room) for name, room in kitchen.appliances),
        *(
            ("obj-at", name, room)
            for name, room in kitchen.items.items()
            if name != "cookbook"
        ),
        *(("have", name) for name in kitchen.held if name != "cookbook"),
        *sorted(kitchen.done),
    ]


def _facts(kitchen: Kitchen) -> list[Fact]:
    """Returns `_world` and the facts that the hand-written domain leaves to the method:
    containers, the kitchen, the meal.
    """
    return [
        *_world(kitchen),
        *(("closed", name, room) for name, room in kitchen.closed),
        *(("opened", name, room) for name, room in kitchen.opened),
        ("is-kitchen", "kitchen"),
        *([PREPARED] if kitchen.prepared else []),
        *([EATEN] if kitchen.eaten else []),
    ]
