"""One world: its texts, and the gold files that define what is true in it.

Folders have the published layout (github.com/prakashkagitha/llm-pddl-gen):
`domain.pddl`, and for each world `p01_domain.txt`, which ends with its action heads,
`p01_problem.txt`, and `p01.pddl`.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Action
from pddlego_local.environments.maps import map_hash
from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.marks import stray_mark
from pddlego_local.pddl.reader import Block, read, source

HEADS = ";; Action Heads"
LONGEST_TEXT = 200_000
"""Bytes of one file. The longest public file has a twentieth of that."""

_ORDER = (
    ":domain",
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":objects",
    ":init",
    ":goal",
    ":metric",
)
"""Sections that are not listed come last."""
_ACTION = re.compile(r"(\(\s*:action\s+)([^\s()]+)", re.IGNORECASE)
_HEAD = re.compile(r"\s*([A-Za-z][\w-]*)\s*\(([^()]*)\)\s*")


@dataclass(frozen=True)
class World:
    """`heads` are the actions as the text names them. `domain` and `problem` are the
    gold files: the actions have the heads' names, and the sections are in the planner's
    order. `out_of_reach` says why no plan can reach the goal, if a check shows that;
    generated worlds are not checked.
    """

    name: str
    domain_text: str
    problem_text: str
    heads: tuple[Action, ...]
    domain: str
    problem: str
    out_of_reach: str = ""


def heads_in(text: str, where: str) -> tuple[Action, ...]:
    """Returns the actions that a domain text ends with, one per line, as "stack (?b
    ?under - block)".

    Raises ConfigError if there are none, or if a line is not an action head.
    """
    _, _, rest = text.partition(HEADS)
    lines = [line for line in rest.splitlines() if line.strip()]
    heads = [_head(line, where) for line in lines]
    if not heads:
        raise ConfigError(
            f"{where} ends without {HEADS!r} and a line for each action below it"
        )
    return tuple(heads)


def _head(line: str, where: str) -> Action:
    head = line.strip()
    match = _HEAD.fullmatch(line)
    if match is None:
        raise ConfigError(f"{where}: {head!r} is not an action head NAME (?x - type)")
    name, parameters = match.groups()
    parts = parameters.split()
    for part in parts:
        if wrong := stray_mark(part):
            raise ConfigError(f"{where}: in the action head {head!r}, {wrong}")
    command = example = name
    for variable in re.findall(r"\?([\w-]+)", parameters):
        command += f" {{{variable}}}"
        example += f" [{variable}]"
    return Action(name, f"({' '.join(parts)})", command, example)


@functools.lru_cache(maxsize=16)
def names_in(folder: Path) -> tuple[str, ...]:
    """Returns the names of the worlds in a folder, sorted. Raises ConfigError if it
    holds none.
    """
    if not folder.is_dir():
        raise ConfigError(f"environment.folder={folder}: there is no such folder")
    ending = "_problem.txt"
    paths = folder.glob(f"*{ending}")
    names = sorted(path.name.removesuffix(ending) for path in paths)
    if not names:
        raise ConfigError(
            f"{folder} holds no worlds: p01_problem.txt or the like is missing"
        )
    return tuple(names)


def read_world(folder: Path, name: str) -> World:
    """Returns a world of a folder. Raises ConfigError naming the file that is missing,
    too long, not UTF-8, or not PDDL.
    """
    told = folder / f"{name}_domain.txt"
    domain_text = text_of(told)
    problem_text = text_of(folder / f"{name}_problem.txt")
    domain_file = folder / "domain.pddl"
    domain = in_order(text_of(domain_file))
    problem_file = folder / f"{name}.pddl"
    problem = in_order(text_of(problem_file))
    verdict = check(domain, problem)
    for fault in verdict.faults:
        if fault.kind != "warning":
            file = domain_file if fault.file == "domain" else problem_file
            raise ConfigError(f"{file}: {fault.message}")
    heads = heads_in(domain_text, str(told))
    return World(
        name=name,
        domain_text=domain_text.strip(),
        problem_text=problem_text.strip(),
        heads=heads,
        domain=with_heads(domain, heads, str(told)),
        problem=problem,
        out_of_reach=verdict.out_of_reach,
    )


def text_of(path: Path) -> str:
    """Returns the text of a file. Raises ConfigError if the file is missing, too long,
    or not UTF-8.
    """
    try:
        if path.stat().st_size > LONGEST_TEXT:
            raise ConfigError(
                f"{path} has more than {LONGEST_TEXT:,} bytes: too long for a prompt"
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


_worlds: dict[str, World] = {}


def tell(world: World) -> str:
    """Returns the text that describes the world to a model, and remembers the world for
    `world_of`."""
    text = f"{world.domain_text}\n\n{world.problem_text}"
    _worlds[text] = world
    return text


def world_of(text: str) -> World:
    """Returns the world whose text this is; the reference answers with its files.
    Raises KeyError if `tell` has never returned the text.
    """
    return _worlds[text]


# ---- Adapts public gold files, which are looser than the planner accepts


def in_order(text: str) -> str:
    """Returns the file with its sections in the only order that Fast Downward accepts.
    Some public problems have their goal before `:init`. A text that is not a list is
    returned unchanged.
    """
    root = read(text)
    if root is None:
        return text
    opening, sections = root.items[:2], root.items[2:]
    blocks = [section for section in sections if isinstance(section, Block)]
    blocks.sort(key=_place_in_file)
    parts = [source(text, node) for node in (*opening, *blocks)]
    written = " ".join(parts)
    return f"({written})"


def _place_in_file(section: Block) -> int:
    if section.head not in _ORDER:
        return len(_ORDER)
    return _ORDER.index(section.head)


def with_heads(domain: str, heads: Sequence[Action], where: str) -> str:
    """Returns the domain with its actions under the names of the heads. A head matches
    the gold action of its name, otherwise the next one that no head names. Raises
    ConfigError if a head has no action, or if its action has another number of
    parameters.
    """
    gold = {}
    for action in read_domain(read(domain)).actions:
        gold[action.word.name] = len(action.parameters)
    named = [head.name.lower() for head in heads]
    unnamed = [name for name in gold if name not in named]
    renamed = {}
    for head in heads:
        name = head.name.lower()
        if name not in gold:
            name = unnamed.pop(0) if unnamed else ""
        if gold.get(name) != len(head.variables):
            actions = [
                f"{name} with {count} parameters" for name, count in gold.items()
            ]
            raise ConfigError(
                f"{where}: the action head {head.name} {head.parameters} fits no action"
                f" of the gold domain, which has {', '.join(actions)}"
            )
        renamed[name] = head.name

    def rename(match: re.Match[str]) -> str:
        opening, name = match.groups()
        return opening + renamed.get(name.lower(), name)

    return _ACTION.sub(rename, domain)


def task_hash(problem: str) -> str:
    """Returns a hash that is the same for all problems with the same objects, initial
    facts and goal, in any order.
    """
    task = read_problem(read(problem))
    objects = [entry.name for entry in task.objects]
    facts = [fact.atom.key for fact in task.init if not fact.negated]
    goal = task.goal.literals if task.goal else []
    wanted = [(literal.negated, *literal.atom.key) for literal in goal]
    return map_hash("described", sorted(objects), sorted(facts), sorted(wanted))


def objects_in(problem: str, domain: str = "") -> tuple[str, ...]:
    """Returns the objects that actions can have: the problem's objects and the domain's
    constants."""
    constants = read_domain(read(domain)).constants
    objects = read_problem(read(problem)).objects
    entries = [*constants, *objects]
    return tuple(entry.word.text for entry in entries)
