"""Convolutions over any number of spatial dimensions.

Three ops are each other's derivatives: `convolution`, its transpose (the gradient for the input) and
`convolution_weight` (the gradient for the weight). They cover every order of both modes.
Source: https://pytorch.org/docs/stable/nn.functional.html#convolution-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta
from ...declare import BILINEAR, composite, kernel
from ...kernels import How, convolve, convolve_transposed, convolve_weight
from ..elementwise import add
from ..shared import conj, each_dim
from .channel_backward import along, of_channels
from .convcheck import check_numbers, conv_infer, out_size, transpose_infer
from .convroom import weight_room
from .padding import constant_pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

# -- kernels ---------------------------------------------------------------------------------------


def _conv(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    how = How(weight.shape[2:], stride, padding, dilation)
    size = out_size(input.shape[2:], *how)
    return convolve(xp, input, weight, bias, how, size, groups)


def _conv_transpose(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    how = How(weight.shape[2:], stride, padding, dilation)
    return convolve_transposed(xp, input, weight, bias, how, size, groups)


def _conv_weight(
    xp: Any,
    g: Any,
    input: Any,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    return convolve_weight(xp, g, input, How(kernel, stride, padding, dilation), groups)


# -- declarations ----------------------------------------------------------------------------------


def _tangent(of: Op, pairs: Any, bias_t: Any, out: Tensor, **how: Any) -> Any:
    """The sum of the op over the pairs without a None, plus the bias's tangent."""
    parts = [of(a, b, None, **how) for a, b in pairs if a is not None and b is not None]
    if bias_t is not None:
        parts.append(along(bias_t, out.ndim).expand(*out.shape))
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


_HOW = "int[] stride, int[] padding, int[] dilation, int groups"


def _how(stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    return {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


convolution: Op = kernel(
    f"convolution(Tensor input, Tensor weight, Tensor? bias, *, {_HOW}) -> Tensor",
    infer=conv_infer,
    impl=_conv,
    vjp={
        "input": lambda g, input_meta, weight, stride, padding, dilation, groups: convolution_transpose(
            g, conj(weight), None, size=list(input_meta.shape[2:]), **_how(stride, padding, dilation, groups)
        ),
        "weight": lambda g, input, weight_meta, stride, padding, dilation, groups: convolution_weight(
            g, conj(input), kernel=list(weight_meta.shape[2:]), **_how(stride, padding, dilation, groups)
        ),
        "bias": lambda g: of_channels(g),
    },
    jvp=lambda input, input_t, weight, weight_t, bias_t, out, stride, padding, dilation, groups: _tangent(
        convolution,
        ((input_t, weight), (input, weight_t)),
        bias_t,
        out,
        **_how(stride, padding, dilation, groups),
    ),
    namespace="-",
    outside=True,
    doc="Cross-correlation of [N, C, ...] with a weight [O, C / groups, ...].",
    raises=False,
)

convolution_transpose: Op = kernel(
    f"convolution_transpose(Tensor input, Tensor weight, Tensor? bias, *, int[] size, {_HOW}) -> Tensor",
    infer=transpose_infer,
    impl=_conv_transpose,
    vjp={
        "input": lambda g, weight, stride, padding, dilation, groups: convolution(
            g, conj(weight), None, **_how(stride, padding, dilation, groups)
        ),
        "weight": lambda g, input, weight_meta, stride, padding, dilation, groups: convolution_weight(
            conj(input), g, kernel=list(weight_meta.shape[2:]), **_how(stride, padding, dilation, groups)
        ),
        "bias": lambda g: of_channels(g),
    },
    jvp=lambda input, input_t, weight, weight_t, bias_t, out, size, stride, padding, dilation, groups: (
        _tangent(
            convolution_transpose,
            ((input_t, weight), (input, weight_t)),
            bias_t,
            out,
            size=size,
            **_how(stride, padding, dilation, groups),
        )
    ),
    node="ConvolutionBackward0",
    namespace="-",
    outside=True,
    doc="The transpose of a convolution with a weight [C, O / groups, ...], to the spatial `size`.",
)


def _weight_infer(
    grad: Tensor,
    input: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Meta:
    check_numbers(len(kernel), groups, stride=stride, padding=padding, dilation=dilation)
    if input.ndim != 2 + len(kernel) or grad.ndim != input.ndim or min(kernel, default=1) <= 0:
        raise RuntimeError(f"a convolution does not lead from {list(input.shape)} to {list(grad.shape)}")
    if grad.dtype is not input.dtype or input.shape[1] % groups or grad.shape[1] % groups:
        raise RuntimeError(
            f"convolution_weight(): {grad.dtype} {list(grad.shape)} and {input.dtype} {list(input.shape)} do "
            f"not go together in {groups} groups"
        )
    size = out_size(input.shape[2:], kernel, stride, padding, dilation)
    if input.ndim != 2 + len(kernel) or (input.shape[0], *size) != (grad.shape[0], *grad.shape[2:]):
        raise RuntimeError(f"a convolution does not lead from {list(input.shape)} to {list(grad.shape)}")
    meta = Meta((grad.shape[1], input.shape[1] // groups, *kernel), grad.dtype)
    return weight_room(meta, grad, input, kernel, stride, padding, dilation)


convolution_weight: Op = kernel(
    f"convolution_weight(Tensor grad, Tensor input, *, int[] kernel, {_HOW}) -> Tensor",
    infer=_weight_infer,
    impl=_conv_weight,
    vjp={
        "grad": lambda g, input, stride, padding, dilation, groups: convolution(
            conj(input), g, None, **_how(stride, padding, dilation, groups)
        ),
        "input": lambda g, grad, input_meta, stride, padding, dilation, groups: convolution_transpose(
            conj(grad), g, None, size=list(input_meta.shape[2:]), **_how(stride, padding, dilation, groups)
        ),
    },
    jvp=BILINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of a convolution for its weight, from the gradient of its result.",
    raises=False,
)


# -- what users call -------------------------------------------------------------------------------


def _same(input: Any, weight: Any, stride: Sequence[int], dilation: Sequence[int]) -> tuple[Any, list[int]]:
    """The input and padding that give a result of the input's size; an odd element is padded on the right."""
    from .padding import constant_pad

    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    whole = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    odd = [w % 2 for w in whole]
    if any(odd):
        input = constant_pad(input, [n for o in reversed(odd) for n in (0, o)])
    return input, [w // 2 for w in whole]


def _forward(
    dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if padding == "same" and weight.ndim != dims + 2:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional "
            f"weight{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to conv{dims}d, but got input "
            f"of size: {list(input.shape)}"
        )
    x = input if input.ndim == dims + 2 else input.unsqueeze(0)
    stride, dilation = each_dim(stride, dims), each_dim(dilation, dims)
    if padding == "same":
        x, padding = _same(x, weight, stride, dilation)
    elif padding == "valid":
        padding = 0
    elif isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    out = convolution(
        x, weight, bias, stride=stride, padding=each_dim(padding, dims), dilation=dilation, groups=groups
    )
    return out if x.ndim == input.ndim else out.squeeze(0)


def _backward(
    dims: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to conv_transpose{dims}d, but "
            f"got input of size: {list(input.shape)}"
        )
    x = input if input.ndim == dims + 2 else input.unsqueeze(0)
    stride, padding, extra, dilation = (
        each_dim(v, dims) for v in (stride, padding, output_padding, dilation)
    )
    check_numbers(dims, groups, stride=stride, padding=padding, dilation=dilation, output_padding=extra)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{extra} stride: {stride} dilation: {dilation}"
        )
    over = [e // s for e, s in zip(extra, stride, strict=True)]
    if any(over):  # as much as of an input with zeros behind it
        x = constant_pad(x, [n for e in reversed(over) for n in (0, e)])
        extra = [e - n * s for e, n, s in zip(extra, over, stride, strict=True)]
    size = [
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, s, p, d, k, e in zip(
            x.shape[2:], stride, padding, dilation, weight.shape[2:], extra, strict=True
        )
    ]
    out = convolution_transpose(
        x, weight, bias, size=size, stride=stride, padding=padding, dilation=dilation, groups=groups
    )
    return out if x.ndim == input.ndim else out.squeeze(0)


def _declare(dims: int) -> tuple[Op, Op]:
    def forward(input: Any, weight: Any, bias: Any, **how: Any) -> Any:
        return _forward(dims, input, weight, bias, **how)

    def backward(input: Any, weight: Any, bias: Any, **how: Any) -> Any:
        return _backward(dims, input, weight, bias, **how)

    return composite(
        f"conv{dims}d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, any padding=0, "
        "int[] dilation=1, int groups=1) -> Tensor",
        body=forward,
        autocast="lower",
        namespace="|nn.functional",
        doc=f"{dims}-dimensional convolution (torch.nn.functional.conv{dims}d); `padding` is a number, one "
        "per dimension, 'valid' or 'same'.",
    ), composite(
        f"conv_transpose{dims}d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, "
        "int[] padding=0, int[] output_padding=0, int groups=1, int[] dilation=1) -> Tensor",
        body=backward,
        autocast="lower",
        namespace="|nn.functional",
        doc=f"The transpose of a convolution (torch.nn.functional.conv_transpose{dims}d).",
    )


conv1d, conv_transpose1d = _declare(1)
conv2d, conv_transpose2d = _declare(2)
conv3d, conv_transpose3d = _declare(3)
