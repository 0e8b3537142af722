"""Slips in edits, and in lists of what was seen, as in `faults` for whole files."""

import json
import re
from random import Random

from pddlego_local.pddl.edit import Changes

CONFUSED = {"(closed ": "(opened ", "(opened ": "(closed ", "(explored ": "(visited "}


def plant_in_edit(rng: Random, answer: str) -> str:
    """Returns the edit without one entry, with one wrong entry, or cut."""
    edit: dict[str, Changes] = json.loads(answer)
    lists = []
    for part in edit.values():
        lists += [entries for entries in (part["add"], part["delete"]) if entries]
    if not lists or rng.random() < 0.05:
        end = rng.randrange(len(answer))
        return answer[:end]
    entries = rng.choice(lists)
    place = rng.randrange(len(entries))
    wrong = _wrong(rng, entries[place])
    if wrong and rng.random() < 0.6:
        entries[place] = rng.choice(wrong)
    else:
        del entries[place]
    return json.dumps(edit, ensure_ascii=False)


def _wrong(rng: Random, entry: str) -> list[str]:
    """Returns the entry with another number or predicate."""
    number = str(rng.randint(1, 6))
    changed = [re.sub(r"\d+", number, entry, count=1)]
    for right, wrong in CONFUSED.items():
        changed.append(entry.replace(right, wrong))
    return [other for other in changed if other != entry]


def leave_out(rng: Random, answer: str) -> str:
    """Returns the list of seen things without one of them."""
    seen: dict[str, list[str]] = json.loads(answer)
    filled = [things for things in seen.values() if things]
    entries = rng.choice(filled or [[""]])
    place = rng.randrange(len(entries))
    del entries[place]
    return json.dumps(seen, ensure_ascii=False)
