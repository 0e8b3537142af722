"""How long the lists of an answer may be on the rungs "typed" and "grounded".

Twice the 99.5th percentile of 5,093 recorded answers that worked (in brackets). A list that is to
hold more has another bound: objects may be twice the names that the prompt shows, facts
MOST_FACTS_PER_THING for each object and constant.
"""

MOST_TYPES = 12  # (6)
MOST_CONSTANTS = 24  # (12)
MOST_PREDICATES = 20  # (10)
MOST_PARAMETERS = 6  # (3), of a predicate
MOST_OPERANDS = 14  # (7), of `and` and `or`
MOST_NESTED = 6  # (3) operators of a condition or effect, one inside the other; no quantifiers
MOST_OBJECTS = 54  # (27)
MOST_FACTS_PER_THING = 7  # (3.4)
LEAST_FACTS = 20  # that are always allowed, and lines of an edit

PREDICATES_AT_ONCE = 10
"""Predicates that are drawn before they are looked at: so many, at most, are discarded where a
model repeats itself."""


def most_objects(shown: int) -> int:
    """`shown` is how many names the prompt shows."""
    return max(MOST_OBJECTS, 2 * shown)


def most_lines(shown: int) -> int:
    """Of objects that an edit adds, each line at least one; `shown` as above."""
    return max(LEAST_FACTS, 2 * shown)


def facts_at_once(things: int) -> int:
    """How many facts are drawn before they are looked at."""
    return max(LEAST_FACTS, 3 * things)


def most_facts(things: int) -> int:
    """`things` is how many objects and constants there are."""
    return max(LEAST_FACTS, MOST_FACTS_PER_THING * things)
