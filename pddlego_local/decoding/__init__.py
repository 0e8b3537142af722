"""The decoding of answers. Configuration files refer to `Decoding` by the name of this
package.
"""

from pddlego_local.decoding.settings import Decoding

__all__ = ["Decoding"]
