"""Op declarations: signatures, rules, the declared op, and the registry of ops by name."""

from . import schema
from .effects import Effects, Histories, Pass, StreamUse
from .infer_cache import InferCache
from .op import Op
from .parts import Expanded, Kernel, Surface
from .position import position
from .registry import REGISTRY, named
from .rule import Derivative, Joint, Rule
from .schema import (
    BILINEAR,
    ELEMENTWISE,
    GREATEST,
    LEAST,
    LINEAR,
    NUMPY_NAMES,
    REQUIRED,
    Param,
    Return,
    Schema,
    check_attr,
    check_attrs,
    check_int,
    type_name,
)

__all__ = [
    "BILINEAR",
    "ELEMENTWISE",
    "GREATEST",
    "LEAST",
    "LINEAR",
    "NUMPY_NAMES",
    "REGISTRY",
    "REQUIRED",
    "Derivative",
    "Effects",
    "Expanded",
    "Histories",
    "InferCache",
    "Joint",
    "Kernel",
    "Op",
    "Param",
    "Pass",
    "Return",
    "Rule",
    "Schema",
    "StreamUse",
    "Surface",
    "check_attr",
    "check_attrs",
    "check_int",
    "named",
    "position",
    "schema",
    "type_name",
]
