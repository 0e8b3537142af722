"""Fast Downward as a `core.protocols.Planner`: one resource-limited process for each
task.
"""

from pddlego_local.planner.fast_downward import FastDownward, Limits

__all__ = ["FastDownward", "Limits"]
