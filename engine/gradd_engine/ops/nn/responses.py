"""What weighs elements by others: local_response_norm, bilinear maps, and what draws its weights.

Source: https://pytorch.org/docs/stable/nn.functional.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes, numel, warn
from ...declare import composite, public
from ...schema import named
from ...tensor import Tensor
from ..elementwise import add, div, mul, neg, sub, where
from ..shape import to_dtype
from ..shared import zeros_like
from .activations import leaky_relu
from .avgpool import avg_pool2d
from .padding import constant_pad
from .volumes import avg_pool3d

if TYPE_CHECKING:
    from ...schema import Op


def _local_response(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality {' ' * 25}input (got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input.clone()
    around = [size // 2, (size - 1) // 2]
    squares = mul(input, input)
    if input.ndim == 3:
        padded = constant_pad(squares.unsqueeze(1), [0, 0, *around])
        mean = avg_pool2d(padded, [size, 1], 1).squeeze(1)
    else:
        n, c, h = input.shape[:3]
        padded = constant_pad(squares.reshape([n, 1, c, h, numel(input.shape[3:])]), [0, 0, 0, 0, *around])
        mean = avg_pool3d(padded, [size, 1, 1], 1).squeeze(1).reshape(list(input.shape))
    return div(input, add(mul(mean, alpha), k).pow(beta))


local_response_norm: Op = composite(
    "local_response_norm(Tensor input, int size, float alpha=1e-4, float beta=0.75, float k=1.0) -> Tensor",
    body=_local_response,
    namespace="nn.functional",
    doc="Elements over a power of the mean square of `size` neighbouring channels "
    "(torch.nn.functional.local_response_norm).",
)


def _bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> Any:
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for i, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    for i, x in enumerate((input1, input2), 1):
        if weight.ndim <= i or x.shape[-1] != weight.shape[i]:
            raise RuntimeError(
                f"bilinear(): input{i} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[i] if weight.ndim > i else 0}"
            )
    out, first, second = weight.shape
    if bias is not None and tuple(bias.shape) != (out,):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {out}"
        )
    lead = list(input1.shape[:-1])
    count = numel(lead)
    maps = weight.permute(1, 0, 2).reshape([first, out * second])
    rows = named.mm(input1.reshape([count, first]), maps).reshape([count, out, second])
    found = named.bmm(rows, input2.reshape([count, second, 1])).reshape([*lead, out])
    return found if bias is None else add(found, bias)


bilinear: Op = composite(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    body=_bilinear,
    namespace="|nn.functional",
    doc="x1 W x2 + b for each matrix W of `weight` [out, in1, in2] (torch.nn.functional.bilinear).",
    autocast={"cuda": "widest"},
)


# -- with weights that are drawn -------------------------------------------------------------------


def _uniform(input: Any) -> Any:
    """Uniform numbers in the input's shape; 16 bits would be too few to take logarithms of."""
    return named.rand_like(input.detach(), dtype=dtypes.float32 if input.dtype.is_half else input.dtype)


def _gumbel(logits: Any, tau: float, hard: bool, dim: int) -> Any:
    # the smallest uniform number is 0, which has no logarithm
    noise = neg(neg(_uniform(logits).clamp_min(1e-38).log()).log())
    soft = div(add(logits, to_dtype(noise, logits.dtype)), tau).softmax(dim)
    if not hard:
        return soft
    value = soft.detach()
    chosen = named.scatter(zeros_like(value), dim, value.argmax(dim, True), 1.0)
    return add(sub(chosen, value), soft)


gumbel: Op = composite(
    "gumbel_softmax(Tensor logits, *, float tau, bool hard, int dim) -> Tensor",
    body=_gumbel,
    namespace="-",
    outside=True,
    doc="Softmax of logits with Gumbel noise, over `tau` (torch.nn.functional.gumbel_softmax).",
)


@public("nn.functional")
def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """See torch.nn.functional.gumbel_softmax."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    return gumbel(logits, tau=float(tau), hard=hard, dim=dim)


def _rrelu(input: Any, lower: float, upper: float, training: bool, inplace: bool) -> Any:
    if not training:
        form = leaky_relu.inplace if inplace else leaky_relu
        assert form is not None
        return form(input, (lower + upper) / 2)
    slopes = add(mul(to_dtype(_uniform(input), input.dtype), upper - lower), lower)
    form = mul.inplace if inplace else mul
    assert form is not None
    return form(input, where(input.detach().le(0), slopes, 1.0))


randomized: Op = composite(
    "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, "
    "bool inplace=False) -> Tensor",
    body=_rrelu,
    namespace="-",
    outside=True,
    doc="x where positive, else x times a slope between `lower` and `upper`, drawn for each element in "
    "training (torch.nn.functional.rrelu).",
)


@public("", "nn.functional")
def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """See torch.nn.functional.rrelu."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"rrelu_with_noise_out_cpu\" not implemented for '{input.dtype.title}'")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if inplace:  # by its parts: they declare that they write to the input
        return _rrelu(input, lower, upper, training, True)
    return randomized(input, lower, upper, training, False)


@public("", "nn.functional", name="rrelu_")
def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Any:
    """`rrelu` written to its input."""
    return rrelu(input, lower, upper, training, True)
