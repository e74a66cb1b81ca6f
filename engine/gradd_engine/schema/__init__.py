"""What a declaration says: signatures, rules, the declared op itself, and the table of all ops by name."""

from .infer_cache import InferCache
from .op import Op
from .registry import REGISTRY, named
from .rule import Joint, Rule
from .schema import (
    BILINEAR,
    ELEMENTWISE,
    GREATEST,
    LEAST,
    LINEAR,
    NUMPY_NAMES,
    REQUIRED,
    Param,
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
    "InferCache",
    "Joint",
    "Op",
    "Param",
    "Rule",
    "Schema",
    "check_attr",
    "check_attrs",
    "check_int",
    "named",
    "type_name",
]
