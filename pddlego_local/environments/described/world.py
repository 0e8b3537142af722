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
from pddlego_local.pddl.files import ORDER, read_domain, read_problem
from pddlego_local.pddl.marks import stray_mark
from pddlego_local.pddl.reader import Block, read, source

HEADS = ";; Action Heads"
LONGEST_TEXT = (
    200_000  # bytes of one file; the longest public one has a twentieth of that
)

_ORDER = (*ORDER[:2], ":types", ":constants", ":predicates", ":functions", *ORDER[2:])
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
    _, mark, lines = text.partition(HEADS)
    found = [
        (line, _HEAD.fullmatch(line)) for line in lines.splitlines() if line.strip()
    ]
    for line, match in found:
        if match is None:
            raise ConfigError(
                f"{where}: {line.strip()!r} is not an action head NAME (?x - type)"
            )
        for wrong in filter(None, map(stray_mark, match[2].split())):
            raise ConfigError(f"{where}: in the action head {line.strip()!r}, {wrong}")
    heads = tuple(
        _action(match[1], " ".join(match[2].split())) for _, match in found if match
    )
    if not mark or not heads:
        raise ConfigError(
            f"{where} ends without {HEADS!r} and a line for each action below it"
        )
    return heads


def _action(name: str, parameters: str) -> Action:
    variables = re.findall(r"\?([\w-]+)", parameters)
    spoken = [f"{{{variable}}}" for variable in variables]
    example = " ".join([name, *(f"[{variable}]" for variable in variables)])
    return Action(name, f"({parameters})", " ".join([name, *spoken]), example)


@functools.lru_cache(maxsize=16)
def names_in(folder: Path) -> tuple[str, ...]:
    """Returns the names of the worlds in a folder, sorted. Raises ConfigError if it
    holds none.
    """
    if not folder.is_dir():
        raise ConfigError(f"environment.folder={folder}: there is no such folder")
    names = sorted(
        path.name.removesuffix("_problem.txt") for path in folder.glob("*_problem.txt")
    )
    if not names:
        raise ConfigError(
            f"{folder} holds no worlds: p01_problem.txt or the like is missing"
        )
    return tuple(names)


def read_world(folder: Path, name: str) -> World:
    """Returns a world of a folder. Raises ConfigError naming the file that is missing,
    too long, not UTF-8, or not PDDL.
    """
    domain_text = text_of(folder / f"{name}_domain.txt")
    problem_text = text_of(folder / f"{name}_problem.txt")
    files = folder / "domain.pddl", folder / f"{name}.pddl"
    domain, problem = (in_order(text_of(file)) for file in files)
    verdict = check(domain, problem)
    for fault in verdict.faults:
        if fault.kind != "warning":
            raise ConfigError(f"{files[fault.file == 'problem']}: {fault.message}")
    where = str(folder / f"{name}_domain.txt")
    heads = heads_in(domain_text, where)
    domain = with_heads(domain, heads, where)
    texts = domain_text.strip(), problem_text.strip()
    return World(name, *texts, heads, domain, problem, verdict.out_of_reach)


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
    if (root := read(text)) is None:
        return text
    head, sections = (
        root.items[:2],
        [item for item in root.items[2:] if isinstance(item, Block)],
    )
    place = {head: place for place, head in enumerate(_ORDER)}
    sections.sort(key=lambda block: place.get(block.head, len(_ORDER)))
    return f"({' '.join(source(text, node) for node in [*head, *sections])})"


def with_heads(domain: str, heads: Sequence[Action], where: str) -> str:
    """Returns the domain with its actions under the names of the heads. A head matches
    the gold action of its name, otherwise the next one that no head names. Raises
    ConfigError if a head has no action, or if its action has another number of
    parameters.
    """
    gold = {action.word.name: action for action in read_domain(read(domain)).actions}
    named = {head.name.lower() for head in heads}
    free = iter([name for name in gold if name not in named])
    renamed = {}
    for head in heads:
        name = head.name.lower() if head.name.lower() in gold else next(free, "")
        if not name or len(gold[name].parameters) != len(head.variables):
            there = ", ".join(
                f"{n} with {len(a.parameters)} parameters" for n, a in gold.items()
            )
            raise ConfigError(
                f"{where}: the action head {head.name} {head.parameters} fits no action"
                f" of the gold domain, which has {there}"
            )
        renamed[name] = head.name

    def rename(match: re.Match[str]) -> str:
        return f"{match[1]}{renamed.get(match[2].lower(), match[2])}"

    return _ACTION.sub(rename, domain)


def task_hash(problem: str) -> str:
    """Returns a hash that is the same for all problems with the same objects, initial
    facts and goal, in any order.
    """
    written = read_problem(read(problem))
    goal = written.goal.literals if written.goal else []
    return map_hash(
        "described",
        sorted(entry.name for entry in written.objects),
        sorted(fact.atom.key for fact in written.init if not fact.negated),
        sorted((literal.negated, *literal.atom.key) for literal in goal),
    )


def objects_in(problem: str, domain: str = "") -> tuple[str, ...]:
    """Returns the objects that actions can have: the problem's objects and the domain's
    constants."""
    entries = [
        *read_domain(read(domain)).constants,
        *read_problem(read(problem)).objects,
    ]
    return tuple(entry.word.text for entry in entries)
