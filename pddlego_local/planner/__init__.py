"""Fast Downward as a `core.protocols.Planner`: a limited process per task, outcomes as data."""

from pddlego_local.planner.fast_downward import FastDownward, Limits

__all__ = ["FastDownward", "Limits"]
