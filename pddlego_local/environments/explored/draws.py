"""Where the games of a partly seen world come from: which problem a seed plays.

A folder holds problems (`*.pddl`), or a `draw.py` with `draw(size, random)`, which
returns the text of a problem. With problems, seed n plays the n-th, and there is no
seed beyond. With `vary: {lamp-in: r}`, every seed plays: each fact of that predicate
gets another object of the argument's type, and what cannot be won is drawn again.

Whether a draw can be won is judged without deletions (pddl/reachability.py). So two
facts that exclude each other, and a way back that does not exist, are not noticed; nor
is anything in domains with derived predicates, and in very large problems.
"""

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.seeds import derive_seed
from pddlego_local.core.visible import in_one_line
from pddlego_local.environments.explored.folder import DOMAIN, DRAW
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.check import check
from pddlego_local.pddl.reader import Block, Word, read

Draw = Callable[[int, Random], str]
SEEDS = range(1 << 31)
MOST_DRAWS = 100


def seeds_of(world: World) -> range:
    """Returns the seeds of a world's games."""
    has_every_seed = DRAW in world.files or world.file.vary
    return SEEDS if has_every_seed else range(len(world.problems()))


def problem_text(world: World, seed: int) -> str:
    """Returns the problem that a seed plays, in the names of the folder's files. It
    depends on these files and on the seed alone.

    Raises ConfigError for a seed that no problem has, for a problem that the planner
    would refuse, and for files or keys from which no game can be drawn.
    """
    _check_keys(world)
    seeds = seeds_of(world)
    if seed not in seeds:
        raise ConfigError(
            f"{world.folder} has no game {seed}; its games are {seeds[0]} to"
            f" {seeds[-1]}, one for each problem file."
        )
    chance = Random(derive_seed("explored", seed))
    if DRAW in world.files:
        text, where = _drawn(world, seed, chance)
    else:
        problems = world.problems()
        path = problems[seed % len(problems)]
        text, where = world.files[path.name], str(path)
    _accept(world, text, where)
    return _varied(world, text, seed, chance) if world.file.vary else text


def _check_keys(world: World) -> None:
    """Raises ConfigError unless the folder says in one way where its games come
    from.
    """
    problems = world.problems()
    sizes = world.file.sizes
    if DRAW in world.files:
        if problems:
            raise ConfigError(
                f"{world.folder} has {DRAW} and {problems[0].name}: games come from one"
                " of the two; move the other away."
            )
        if sizes is None or sizes[0] > sizes[1]:
            raise world.wrong(
                "sizes", f"{DRAW} needs the least and the greatest size, such as [3, 5]"
            )
    elif sizes is not None:
        raise world.wrong("sizes", f"only {DRAW} is given a size, and there is none")
    elif not problems:
        raise ConfigError(f"{world.folder} holds no problem files (*.pddl), or {DRAW}.")


def _accept(world: World, text: str, where: str) -> None:
    found = check(world.files[DOMAIN], text)
    if not found.accepted:
        raise ConfigError(f"{where}: {found.faults[0]}")


# ---- draw.py


def _drawn(world: World, seed: int, chance: Random) -> tuple[str, str]:
    """Returns what `draw` makes of a seed, and how messages name it."""
    file = world.folder / DRAW
    draw = _function(file, world.files[DRAW])
    size = chance.randint(*world.file.sizes or (1, 1))
    where = f"{file}: draw({size}, random) for game {seed}"
    try:
        text = draw(size, chance)
    except Exception as error:  # the author's code may raise anything
        raise ConfigError(f"{where} fails: {_words(error)}") from error
    if not isinstance(text, str):
        raise ConfigError(f"{where} returns no text of a problem, but {text!r:.80}.")
    return text, where


@lru_cache(maxsize=64)
def _function(file: Path, source: str) -> Draw:
    module = types.ModuleType("draw")
    module.__file__ = str(file)
    try:
        exec(compile(source, file, "exec"), vars(module))
        draw: Draw = module.draw
    except Exception as error:  # the author's code may raise anything
        raise ConfigError(
            f"{file} cannot be used: {_words(error)}; it needs a function"
            " draw(size, random) that returns the text of a problem."
        ) from error
    return draw


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {in_one_line(error)}"


# ---- vary


def _varied(world: World, text: str, seed: int, chance: Random) -> str:
    """Returns the problem with other objects in the arguments that vary."""
    domain = world.files[DOMAIN]
    plain = replace(world, domain_text=domain, has_pseudo_words=False)
    words = [*_varying(plain, text)]
    for _ in range(MOST_DRAWS):
        varied = _with(text, _chosen(words, chance))
        if not check(domain, varied).no_plan:
            return varied
    raise world.wrong(
        "vary",
        f"{MOST_DRAWS} draws for game {seed} gave none that can be won and is not won"
        " at its start",
    )


Varying = tuple[Word, tuple[str, ...], Sequence[str]]
"""A word of a problem that varies, the rest of its fact, and what it may be."""


def _varying(world: World, text: str) -> Iterator[Varying]:
    """Yields the words of `:init` that vary. Raises ConfigError for a key that fits
    nothing.
    """
    facts = [block for block in _init(text) if block.words == block.items]
    for predicate, argument in world.file.vary.items():
        key = f"vary.{predicate}"
        if predicate not in world.predicates:
            known = ", ".join(world.predicates)
            raise world.wrong(key, f"there is no such predicate; there are {known}")
        parameters = world.parameters[predicate]
        if argument not in parameters:
            listed = ", ".join(parameters) or "(none)"
            raise world.wrong(key, f"{argument} is none of its parameters {listed}")
        position = parameters.index(argument)
        objects = world.instances(world.task(text), predicate, position)
        of_predicate = [fact for fact in facts if fact.words[0].name == predicate]
        if not of_predicate:
            raise world.wrong(key, "a problem states no such fact in `:init`")
        for fact in of_predicate:
            names = [word.name for word in fact.words]
            del names[position + 1]
            yield fact.words[position + 1], tuple(names), sorted(objects)


def _init(text: str) -> Sequence[Block]:
    root = read(text)
    for block in root.blocks if root else ():
        if block.head == ":init":
            return block.blocks
    return ()


def _chosen(words: Sequence[Varying], chance: Random) -> Iterator[tuple[Word, str]]:
    """Yields another name for each word, so that no two facts become one."""
    taken = set[tuple[tuple[str, ...], str]]()
    for word, rest, objects in words:
        free = [name for name in objects if (rest, name) not in taken]
        name = chance.choice(free)
        taken.add((rest, name))
        yield word, name


def _with(text: str, names: Iterator[tuple[Word, str]]) -> str:
    """Returns the text with other names in the places of words."""
    by_offset = sorted(names, key=lambda pair: pair[0].offset, reverse=True)
    for word, name in by_offset:
        text = text[: word.offset] + name + text[word.stop :]
    return text
