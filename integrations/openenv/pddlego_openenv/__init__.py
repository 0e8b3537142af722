"""The games of pddlego_local as an OpenEnv environment: the client and its messages."""

from pddlego_openenv.client import PddlegoEnv
from pddlego_openenv.models import Reply, Text

__all__ = ["PddlegoEnv", "Reply", "Text"]
