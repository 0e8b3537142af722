"""What a problem file lists, whether or not the planner would take it: its objects and facts.

Names are in lower case, as the planner reads them.
"""

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.sections import section
from pddlego_local.pddl.typed_list import read_typed_list


def objects_of(problem: str) -> list[str]:
    """The names in `:objects`, in order; none where there is no such list, or no readable one."""
    block = section(problem, ":objects")
    entries = read_typed_list(block.items[1:], FaultLog("problem", problem)) if block else None
    return [entry.name for entry in entries or ()]


def facts_of(problem: str) -> list[tuple[str, ...]]:
    """The facts in `:init` as ("at", "kitchen"), in order; what is no fact, or denied, is not."""
    block = section(problem, ":init")
    listed = [item for item in block.items[1:] if isinstance(item, Block)] if block else []
    return [
        tuple(word.name for word in fact.items if isinstance(word, Word))
        for fact in listed
        if fact.items and all(isinstance(word, Word) for word in fact.items)
    ]
