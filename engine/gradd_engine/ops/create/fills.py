"""Tensors overwritten with numbers of a distribution: random_, cauchy_, geometric_, log_normal_.

https://pytorch.org/docs/stable/torch.html#in-place-random-sampling
"""

from __future__ import annotations

import math
from typing import Any

from ...data import Meta, dtypes, preserved_strides
from ...declare import attach, kernel
from ...tensor import Tensor
from ..shared import refuse, zeros_like
from .draws import check_range, integers, normal_array, uniform_array

#: the integers below it are all numbers of the dtype
_EXACT = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}

#: what PyTorch's message calls them
_SPELLED = {
    dtypes.bool_: "bool",
    dtypes.uint8: "unsigned char",
    dtypes.int8: "signed char",
    dtypes.int16: "short int",
    dtypes.int32: "int",
    dtypes.int64: "long int",
    dtypes.complex64: "c10::complex<float>",
    dtypes.complex128: "c10::complex<double>",
}


def _geometry(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


def _no_gradient(g: Any) -> Any:
    return zeros_like(g)


def _no_tangent(input_t: Any) -> Any:
    return None if input_t is None else zeros_like(input_t)


_FILL: Any = {
    "vjp": _no_gradient,
    "jvp": _no_tangent,
    "random": True,
    "inplace": True,
    "namespace": "-",
    "outside": True,
    "independent": True,
    "reads_values": False,
}


def _random_infer(input: Tensor, low: int, high: int) -> Meta:
    check_range(low, high, input.dtype)
    if not -(1 << 63) <= low < high <= 1 << 63:
        raise RuntimeError(f"random_ draws integers of 64 bits, but got from={low} and to={high}")
    return _geometry(input)


_random = kernel(
    "random_integers(Tensor input, value int low, value int high) -> Tensor",
    infer=_random_infer,
    impl=lambda xp, a, low, high, meta, key: integers(xp, key, low, high, meta),
    node="RandomBackward0",
    doc="Integers from `low` (inclusive) to `high` (exclusive), as `random_` stores them.",
    **_FILL,
)


def _ends(input: Tensor) -> int:
    """Behind the largest integer that `random_` draws of itself."""
    dtype = input.dtype
    if dtype in _EXACT:
        return (1 << _EXACT[dtype]) + 1
    if dtype is dtypes.bool_:
        return 2
    return 1 << min(8 * dtype.itemsize - dtype.is_signed, 63)


def _random_method(self: Any, *args: Any, **kw: Any) -> Any:
    """See torch.Tensor.random_: ``random_(from=0, to=None)`` or ``random_(to)``."""
    names = ("to",) if len(args) == 1 and "from" not in kw and "to" not in kw else ("from", "to")
    given = dict(zip(names, args, strict=False)) | kw
    if len(args) > 2 or set(given) - {"from", "to"}:
        raise TypeError("random_() received an invalid combination of arguments")
    low, high = given.get("from", 0), given.get("to")
    assert _random.inplace is not None
    return _random.inplace(self, low, _ends(self) if high is None else high)


attach("random_", _random_method, "(*args: int)")


def _cauchy_infer(input: Tensor, median: float, sigma: float) -> Meta:
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {_SPELLED.get(input.dtype, input.dtype.title)}"
        )
    return _geometry(input)


kernel(
    "cauchy(Tensor input, value float median=0.0, value float sigma=1.0) -> Tensor",
    infer=_cauchy_infer,
    impl=lambda xp, a, median, sigma, meta, key: uniform_array(
        xp, key, meta, lambda u: xp.tan(math.pi * (u - 0.5)) * sigma + median
    ),
    doc="Numbers of a Cauchy distribution in the input's shape, as `cauchy_` stores them.",
    **_FILL,
)


def _log_normal_infer(input: Tensor, mean: float, std: float) -> Meta:
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{input.dtype.title}'")
    return _geometry(input)


kernel(
    "log_normal(Tensor input, value float mean=1.0, value float std=2.0) -> Tensor",
    infer=_log_normal_infer,
    impl=lambda xp, a, mean, std, meta, key: normal_array(xp, key, meta, lambda z: xp.exp(z * std + mean)),
    doc="Numbers whose logarithm is normal, in the input's shape, as `log_normal_` stores them.",
    **_FILL,
)


def _geometric_infer(input: Tensor, p: float) -> Meta:
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    refuse(input.dtype, "geometric", dtypes.bool_, complex=True)
    return _geometry(input)


kernel(
    "geometric(Tensor input, value float p) -> Tensor",
    infer=_geometric_infer,
    impl=lambda xp, a, p, meta, key: xp.maximum(
        uniform_array(
            xp,
            key,
            Meta(meta.shape, dtypes.float64),
            lambda u: xp.ceil(xp.log1p(-u) / math.log1p(-p)),
        ),
        1.0,
    ),
    doc="How many draws of probability `p` it takes, in the input's shape, as `geometric_` stores them.",
    **_FILL,
)
