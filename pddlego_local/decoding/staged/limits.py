"""The maximum lengths of the lists of an answer on the rungs "typed" and "grounded".

Each limit is twice the 99.5th percentile (in brackets) of 5,093 recorded answers that
worked. Large problems have higher limits: twice as many objects as the prompt shows
names, and MOST_FACTS_PER_THING facts for each object and constant.
"""

MOST_TYPES = 12  # (6)
MOST_CONSTANTS = 24  # (12)
MOST_PREDICATES = 20  # (10)
MOST_PARAMETERS = 6  # (3), of a predicate
MOST_OPERANDS = 14  # (7), of `and` and `or`
MOST_NESTED = 6  # (3) nested operators of a condition or effect, without quantifiers
MOST_OBJECTS = 54  # (27)
MOST_FACTS_PER_THING = 7  # (3.4)
LEAST_FACTS = 20  # facts, or lines of an edit, that are always allowed
