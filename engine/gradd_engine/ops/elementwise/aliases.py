"""PyTorch's aliases of element-wise functions."""

from __future__ import annotations

from ...declare import attach, public
from ...schema import Op
from . import arithmetic, binary, comparison, rounding
from . import binary_more as combine
from . import unary as elementwise

#: name -> op, at the top level and as a method (also in place if the op has that form)
NAMES: dict[str, Op] = {
    "absolute": elementwise.abs,
    "arccos": elementwise.acos,
    "arccosh": elementwise.acosh,
    "arcsin": elementwise.asin,
    "arcsinh": elementwise.asinh,
    "arctan": elementwise.atan,
    "arctan2": combine.atan2,
    "arctanh": elementwise.atanh,
    "clip": binary.clamp,
    "divide": arithmetic.div,
    "fix": rounding.trunc,
    "greater": comparison.gt,
    "greater_equal": comparison.ge,
    "less": comparison.lt,
    "less_equal": comparison.le,
    "multiply": arithmetic.mul,
    "negative": arithmetic.neg,
    "not_equal": comparison.ne,
    "subtract": arithmetic.sub,
    "true_divide": arithmetic.div,
}

#: (namespace, name) -> op
ELSEWHERE: dict[tuple[str, str], Op] = {
    ("nn.functional", "sigmoid"): elementwise.sigmoid,
    ("nn.functional", "tanh"): elementwise.tanh,
    ("special", "exp2"): elementwise.exp2,
    ("special", "expit"): elementwise.sigmoid,
    ("special", "expm1"): elementwise.expm1,
    ("special", "log1p"): elementwise.log1p,
}

for _name, _op in NAMES.items():
    public(name=_name, method=True)(_op.call)
    if _op.inplace is not None:
        attach(f"{_name}_", _op.inplace.call)
for (_space, _name), _op in ELSEWHERE.items():
    public(_space, name=_name)(_op.call)
