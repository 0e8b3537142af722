"""PDDL-writing language models in partly seen text worlds, offline and under grammars."""

__version__ = "0.1.0"
