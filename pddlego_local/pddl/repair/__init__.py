"""Files that the planner refuses, repaired where it is clear what was meant: an arm of its own.

    text → parentheses → sections → actions → lists → names → facts

Each step changes what only one reading can have been meant by, and says so in words. Nothing is
invented: no predicate, no object, no condition and no effect that the model did not write.
"""

from pddlego_local.pddl.repair.repairing import Repaired, repair

__all__ = ["Repaired", "repair"]
