"""Draws the same tasks as Blocksworld."""

from pddlego_local.environments.described.worlds.blocksworld import draw

__all__ = ["draw"]
