"""PyTorch's aliases of element-wise functions."""

from __future__ import annotations

from ...declare import attach, public
from ...schema import Op
from ...tensor import Tensor
from . import arithmetic, bessel, binary, comparison, complex, divisors, erf, float_parts, rounding, special
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

#: in-place forms that PyTorch has as functions too
IN_PLACE = """abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_
    ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ erf_ erfc_ exp2_ exp_ expm1_
    fix_ floor_ frac_ gcd_ i0_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_
    reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_""".split()  # noqa: SIM905 - a list of words
#: where they are declared
_FILES = (
    arithmetic, bessel, binary, combine, comparison, complex, divisors, elementwise, erf, float_parts,
    rounding, special,
)  # fmt: skip

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
for _name in IN_PLACE:
    public(name=_name)(getattr(Tensor, _name))
