"""How answers are drawn. Configurations name `Decoding` by this package."""

from pddlego_local.decoding.settings import Decoding

__all__ = ["Decoding"]
