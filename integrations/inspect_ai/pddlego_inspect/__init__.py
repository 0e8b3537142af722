"""The games of pddlego_local as a task of inspect_ai."""

from pddlego_inspect.tasks import games

__all__ = ["games"]
