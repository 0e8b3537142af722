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
    Step,
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
    """Returns what remains to be done, in words, in the order of the recipe."""
    return tuple(words for group in parallel(memory) for words in group)


def parallel(memory: Turns) -> tuple[tuple[str, ...], ...]:
    """Returns `subgoals` in groups that may each be done in any order: what to take,
    what to process, the meal, the end.
    """
    kitchen = Kitchen.read(memory)
    facts = _facts(kitchen)
    grouped: dict[str, list[str]] = {}
    for words, aim in _aims(kitchen).items():
        if aim not in facts:
            kind = "processed" if isinstance(aim, Step) else aim[0]
            grouped.setdefault(kind, []).append(words)
    return tuple(map(tuple, grouped.values()))


def contents(memory: Turns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns (closed containers in this room that are worth opening, the likeliest
    first; the things within reach in this room).
    """
    kitchen = Kitchen.read(memory)
    here = kitchen.house.here
    unknown = _unknown(kitchen, _work(kitchen))
    closed = []
    for discovery in _discoveries(kitchen, unknown):
        predicate, *places = discovery
        if predicate != "opened" or here not in places:
            break
        closed.append(places[0])
    in_reach = [name for name, room in kitchen.items.items() if room == here]
    return tuple(closed), tuple(in_reach)


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
    for step in recipe.steps:
        tool = f"with the {KNIFE}"
        if step.state in APPLIANCES:
            tool = f"in the {_appliance(step.state)}"
        verb = VERBS[step.state]
        aims[f"{verb} the {step.thing} {tool}"] = step
    aims["prepare the meal in the kitchen"] = PREPARED
    aims["eat the meal"] = EATEN
    return aims


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
        goal = _within_reach(kitchen, work)
        goal += islice(_discoveries(kitchen, unknown), 1)
        return goal or work
    if is_meal:
        work.append(("at", "kitchen"))
    return work


def _things(work: Sequence[Fact]) -> list[str]:
    """Returns the ingredients that the work is about, and the knife if the work needs
    one.
    """
    things = [thing for _, thing in work]
    if any(state in CUT for state, _ in work):
        things.append(KNIFE)
    return list(dict.fromkeys(things))


def _unknown(kitchen: Kitchen, work: Sequence[Fact]) -> list[str]:
    """Returns the things and appliances that the work needs and that were not seen
    yet.
    """
    seen = {*kitchen.held, *kitchen.items}
    seen.update(appliance.name for appliance in kitchen.appliances)
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
    tools = {tool.name for tool in kitchen.appliances if tool.room == here}
    if KNIFE in at_hand:
        tools.add(KNIFE)
    facts = of_each("have", lying)
    for state, thing in work:
        suitable = APPLIANCES.get(state, ())
        if state in CUT:
            suitable = (KNIFE,)
        if thing in at_hand and not tools.isdisjoint(suitable):
            facts.append((state, thing))
    return facts


def _discoveries(kitchen: Kitchen, unknown: Sequence[str]) -> Iterator[Fact]:
    """Yields where the unknown things may be found, the most promising first: likely
    containers here, the nearest new room, likely containers elsewhere, and then the
    other containers.
    """
    if not unknown:
        return
    likely: list[str] = []
    if any(name in kitchen.recipe.ingredients for name in unknown):
        likely += FOOD_IS_IN
    if KNIFE in unknown:
        likely += KNIFE_IS_IN
    here = kitchen.house.here
    closed = sorted(kitchen.closed, key=lambda container: container.room != here)
    promising = []
    for name in likely:
        promising += [container for container in closed if container.name == name]
    for container in promising:
        if container.room == here:
            yield ("opened", *container)
    if room := kitchen.house.nearest_unvisited():
        yield ("at", room)
    for container in promising:
        if container.room != here:
            yield ("opened", *container)
    for container in closed:
        if likely and container not in promising:
            yield ("opened", *container)


def _problem(
    kitchen: Kitchen, domain: str, facts: Sequence[Fact], goal: Sequence[Fact]
) -> str:
    """Declares all known objects. The recipe's ingredients are objects before they are
    found, and so is a knife that is needed.
    """
    things = [*kitchen.recipe.ingredients, *kitchen.held, *kitchen.items]
    containers = [*kitchen.closed, *kitchen.opened]
    kinds = {
        "location": [*kitchen.house.places(), "kitchen"],
        "direction": kitchen.house.directions(),
        "container": [container.name for container in containers],
        "ingredient": [name for name in things if name not in (KNIFE, COOKBOOK)],
    }
    if kitchen.recipe.cuts or KNIFE in things:
        kinds["knife"] = [KNIFE]
    for appliance in kitchen.appliances:
        kinds[appliance.name] = [appliance.name]
    objects = []
    for kind, names in kinds.items():
        if names:
            spelled = " ".join(dict.fromkeys(map(pddl_name, names)))
            objects.append(f"{spelled} - {kind}")
    wanted = "\n    ".join(["(and", *atoms(goal, pddl_name)])
    return problem_file(
        name=f"{domain}_now",
        domain=domain,
        objects=objects,
        facts=atoms(facts, pddl_name),
        goal=f"{wanted})",
    )


def _world(kitchen: Kitchen) -> list[Fact]:
    """Returns where everything is, what is held and what is processed."""
    in_sight = [place for place in kitchen.items.items() if COOKBOOK not in place]
    held = [name for name in kitchen.held if name != COOKBOOK]
    return [
        ("at", kitchen.house.here),
        *kitchen.house.ways(),
        *of_pairs("obj-at", kitchen.appliances),
        *of_pairs("obj-at", in_sight),
        *of_each("have", held),
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
