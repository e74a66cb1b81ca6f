"""The functions of the top level, from the engine's table of names; their types are in the stub."""

from ._surface import DRAWING as _drawing
from ._surface import FACTS as _facts
from ._surface import namespace as _namespace
from ._tensor import TYPES as _types

_functions = {**_namespace(""), **_drawing, **_facts, **_types}
globals().update(_functions)
__all__ = sorted(_functions)
