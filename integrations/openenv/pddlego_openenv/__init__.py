"""The games of pddlego_local as an OpenEnv environment: the client and its messages."""

from pddlego_openenv.client import PddlegoEnv
from pddlego_openenv.models import Text, Told

__all__ = ["PddlegoEnv", "Text", "Told"]
