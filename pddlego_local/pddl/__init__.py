"""PDDL as text: reader, static check, explanations, repair; `as_objects` leaves for other tools."""

from pddlego_local.pddl.objects import NotForPddl, as_objects

__all__ = ["NotForPddl", "as_objects"]
