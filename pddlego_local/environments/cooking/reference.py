"""The answers of a perfect model in CookingWorld: PDDL, problem files, sub-goals,
containers.

They come from rules, not from a language model. The rules read the same memory that a
prompt shows. Each plan ends where something new is seen: the player takes and processes
what is within reach, and then opens a likely container or enters the nearest room. Once
everything is known, one plan does all the rest.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.cooking.game import TABLES
from pddlego_local.environments.cooking.text import (
    APPLIANCES,
    CUT,
    KNIFE,
    STATES,
    Kitchen,
)
from pddlego_local.environments.tables import domain_text
from pddlego_local.environments.textworld_express.house_map import pddl_name
from pddlego_local.environments.writing import (
    Fact,
    atoms,
    of_each,
    of_pairs,
    problem_file,
)

command = TABLES.command
DOMAIN = domain_text(__package__, "reference.pddl")
PREPARED: Fact = ("prepared",)
EATEN: Fact = ("eaten",)
COOKBOOK = "cookbook"
KNIFE_IS_IN = ("cutlery drawer", "kitchen cupboard")
FOOD_IS_IN = ("fridge",)
VERBS = {state: verb for verb, state in STATES.items()}


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
    wanted = _next_goal(kitchen, aim)
    return DOMAIN, _problem(kitchen, "cooking", _facts(kitchen), wanted)


def problem(memory: Turns) -> str:
    """Returns everything that is known, for the hand-written domain. The goal is only a
    placeholder."""
    kitchen = Kitchen.read(memory)
    facts = [*_world(kitchen), *of_each("visited", kitchen.house.exits)]
    here = ("at", kitchen.house.here)
    return _problem(kitchen, "cooking_world", facts, [here])


def subgoals(memory: Turns) -> tuple[str, ...]:
    """Returns what remains to be done, in order, in words. Things that were already
    seen are taken first.
    """
    kitchen = Kitchen.read(memory)
    facts = _facts(kitchen)
    in_sight: list[str] = []
    others: list[str] = []
    for words, aim in _aims(kitchen).items():
        is_seen = aim[0] == "have" and aim[1] in kitchen.items
        if aim not in facts:
            (in_sight if is_seen else others).append(words)
    return (*in_sight, *others)


def contents(memory: Turns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (closed containers in this room that are worth opening, the likeliest
    first; the things within reach in this room).
    """
    kitchen = Kitchen.read(memory)
    here = kitchen.house.here
    closed = []
    for fact in _discoveries(kitchen, _unknown(kitchen, _work(kitchen))):
        if fact[0] != "opened" or fact[2] != here:
            break
        closed.append(fact[1])
    in_reach = tuple(name for name, room in kitchen.items.items() if room == here)
    return tuple(closed), in_reach


def _aims(kitchen: Kitchen) -> dict[str, Fact]:
    """Returns everything that the recipe requires, done or not, as words and as a
    fact.
    """
    recipe = kitchen.recipe
    aims: dict[str, Fact] = {}
    if recipe.cuts:
        aims[f"find and take the {KNIFE}"] = ("have", KNIFE)
    for name in recipe.ingredients:
        aims[f"find and take the {name}"] = ("have", name)
    for state, name in recipe.steps:
        tool = f"with the {KNIFE}" if state in CUT else f"in the {_appliance(state)}"
        aims[f"{VERBS[state]} the {name} {tool}"] = (state, name)
    return aims | {"prepare the meal in the kitchen": PREPARED, "eat the meal": EATEN}


def _appliance(state: str) -> str:
    """Returns "toaster or barbeque" for "grilled"."""
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
    unknown = _unknown(kitchen, work)
    if unknown:
        first_place = islice(_discoveries(kitchen, unknown), 1)
        return [*_within_reach(kitchen, work), *first_place] or work
    return [*work, ("at", "kitchen")] if is_meal else work


def _things(work: Sequence[Fact]) -> list[str]:
    """Returns the ingredients that the work is about, and the knife if the work needs
    one.
    """
    things = dict.fromkeys(aim[1] for aim in work)
    if any(aim[0] in CUT for aim in work):
        things[KNIFE] = None
    return list(things)


def _unknown(kitchen: Kitchen, work: Sequence[Fact]) -> list[str]:
    """Returns the things and appliances that the work needs and that were not seen
    yet.
    """
    seen = {*kitchen.held, *kitchen.items, *(name for name, _ in kitchen.appliances)}
    unknown = [name for name in _things(work) if name not in seen]
    for state, _ in work:
        if state in APPLIANCES and seen.isdisjoint(APPLIANCES[state]):
            unknown.append(_appliance(state))
    return unknown


def _within_reach(kitchen: Kitchen, work: Sequence[Fact]) -> list[Fact]:
    """Returns what can be done for the work without leaving this room or opening
    anything.
    """
    here = kitchen.house.here
    lying = [name for name in _things(work) if kitchen.items.get(name) == here]
    at_hand = {*kitchen.held, *lying}
    tools = {name for name, room in kitchen.appliances if room == here}
    if KNIFE in at_hand:
        tools.add(KNIFE)
    facts: list[Fact] = [("have", name) for name in lying]
    for state, name in work:
        suitable = (KNIFE,) if state in CUT else APPLIANCES.get(state, ())
        if name in at_hand and not tools.isdisjoint(suitable):
            facts.append((state, name))
    return facts


def _discoveries(kitchen: Kitchen, unknown: Sequence[str]) -> Iterator[Fact]:
    """Yields where the unknown things may be found, the most promising first: likely
    containers here, the nearest new room, likely containers elsewhere, and then the
    other containers.
    """
    likely: list[str] = []
    if any(name in kitchen.recipe.ingredients for name in unknown):
        likely += FOOD_IS_IN
    if KNIFE in unknown:
        likely += KNIFE_IS_IN
    here = kitchen.house.here
    closed = sorted(kitchen.closed, key=lambda place: place[1] != here)
    promising = [
        ("opened", *place) for name in likely for place in closed if place[0] == name
    ]
    yield from (fact for fact in promising if fact[2] == here)
    if unknown and (room := kitchen.house.nearest_unvisited()):
        yield "at", room
    yield from (fact for fact in promising if fact[2] != here)
    if likely:
        yield from (("opened", *place) for place in closed if place[0] not in likely)


def _problem(
    kitchen: Kitchen, domain: str, facts: Sequence[Fact], goal: Sequence[Fact]
) -> str:
    """Declares all known objects. The recipe's ingredients are objects before they are
    found, and so is a knife that is needed.
    """
    house = kitchen.house
    passages = list(house.passages())
    things = [*kitchen.recipe.ingredients, *kitchen.held, *kitchen.items]
    has_knife = kitchen.recipe.cuts or KNIFE in things
    kinds = {
        "location": [*house.exits, *(way.to for way in passages), "kitchen"],
        "direction": [way.direction for way in passages],
        "container": [name for name, _ in (*kitchen.closed, *kitchen.opened)],
        "ingredient": [name for name in things if name not in (KNIFE, COOKBOOK)],
        "knife": [KNIFE] if has_knife else [],
    }
    kinds |= {name: [name] for name, _ in kitchen.appliances}
    objects = []
    for kind, names in kinds.items():
        if names:
            spelled = dict.fromkeys(map(pddl_name, names))
            objects.append(f"{' '.join(spelled)} - {kind}")
    wanted = "\n    ".join(["(and", *atoms(goal, pddl_name)]) + ")"
    return problem_file(
        f"{domain}_now", domain, objects, atoms(facts, pddl_name), wanted
    )


def _world(kitchen: Kitchen) -> list[Fact]:
    """Returns where everything is, what is held and what is processed."""
    in_sight = {**kitchen.items}
    in_sight.pop(COOKBOOK, None)
    return [
        ("at", kitchen.house.here),
        *kitchen.house.ways(),
        *of_pairs("obj-at", kitchen.appliances),
        *of_pairs("obj-at", in_sight.items()),
        *of_each("have", [name for name in kitchen.held if name != COOKBOOK]),
        *sorted(kitchen.done),
    ]


def _facts(kitchen: Kitchen) -> list[Fact]:
    """Returns `_world` and the facts that the hand-written domain leaves to the method:
    containers, the kitchen, the meal.
    """
    facts = [
        *_world(kitchen),
        *of_pairs("closed", kitchen.closed),
        *of_pairs("opened", kitchen.opened),
        ("is-kitchen", "kitchen"),
    ]
    if kitchen.prepared:
        facts.append(PREPARED)
    if kitchen.eaten:
        facts.append(EATEN)
    return facts
