"""The functions of the top level, built from the engine's table of names; their types stand in the stub
beside.
"""

from ._facts import FUNCTIONS as _facts
from ._functions import namespace as _namespace
from ._random import FUNCTIONS as _random
from ._typed import TYPES as _types

_functions = {**_namespace(""), **_random, **_facts, **_types}
globals().update(_functions)
__all__ = sorted(_functions)
