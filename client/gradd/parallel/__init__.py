"""One script with several sessions of a daemon: work in all of them at once, and data parallel training.

Values go from session to session over there; none comes to the script.
"""

from ._mapping import map
from ._reducing import all_reduce, broadcast

__all__ = ["all_reduce", "broadcast", "map"]
