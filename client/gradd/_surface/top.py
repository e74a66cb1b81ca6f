"""The functions of the top level, built from the engine's table of names; their types stand in the stub
beside.
"""

from .._tensor import TYPES as _types
from .facts import FACTS as _facts
from .functions import namespace as _namespace
from .generator import DRAWING as _drawing

_functions = {**_namespace(""), **_drawing, **_facts, **_types}
globals().update(_functions)
__all__ = sorted(_functions)
