"""Dropout of elements or whole channels; one random step per call."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ...data import Meta, dtypes, numel, preserved_strides, rng, warn
from ...declare import composite, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import add, mul, sign, sub


def _mask_infer(input: Tensor, p: float, features: int) -> Meta:
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{input.dtype.title}'")
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"result type {dtypes.default_dtype().title} can't be cast to the desired output type "
            f"{input.dtype.title}"
        )
    if not features:
        return Meta(tuple(input.shape), input.dtype, preserved_strides(input))
    return Meta(tuple(s if d < features else 1 for d, s in enumerate(input.shape)), input.dtype)


def _mask_impl(xp: Any, a: Any, p: float, features: int, meta: Meta, key: Any) -> Any:
    number = a.dtype.type

    def make(first: int, count: int) -> Any:
        kept = rng.uniform(key, count, False, xp, first) >= number(p)
        return kept.astype(a.dtype) * number(1 / (1 - p))

    return rng.blockwise(numel(meta.shape), make, xp).reshape(meta.shape)


dropout_mask = kernel(
    "dropout_mask(Tensor input, float p, int features=0) -> Tensor",
    infer=_mask_infer,
    impl=_mask_impl,
    jvp=lambda: None,  # of the input only the geometry counts
    random=True,
    namespace="-",
    outside=True,
    doc=(
        "0 with probability `p`, otherwise 1 / (1 - p); drawn once per index of the first `features` "
        "dimensions, if any."
    ),
    raises=False,
    independent=True,
    reads_values=False,
)


#: the negated limit of SELU at -inf: scale * alpha
_SATURATION = 1.7580993408473766


def _dropout(
    input: Any, p: float, training: bool, inplace: bool, features: int = 0, alpha: bool = False
) -> Any:
    if not training or p == 0 or not input.numel():
        return input
    product = mul.inplace if inplace and mul.inplace else mul
    if p == 1:
        return product(input, input.new_zeros([]))
    if features and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    noise = dropout_mask(input, float(p), features)
    if not alpha:
        return product(input, noise)
    kept = sign(noise)
    scale = 1 / sqrt((_SATURATION**2 * p + 1) * (1 - p))
    # dropped elements saturate; the affine transform preserves mean and variance
    shift = add(mul(sub(kept, 1), _SATURATION * scale), _SATURATION * scale * p)
    found = product(input, mul(kept, scale))
    return add.inplace(found, shift) if inplace and add.inplace else add(found, shift)


_dropout_op = composite(
    "dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    body=_dropout,
    doc=(
        "Elements zeroed with probability `p`, the rest scaled by 1 / (1 - p) (torch.nn.functional.dropout)."
    ),
)
_feature_dropout_op = composite(
    "feature_dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    body=lambda input, p, training, inplace: _dropout(input, p, training, inplace, 2),
    namespace="-",
    outside=True,
    doc="Whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).",
)
_alpha_dropout_op = composite(
    "alpha_dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    body=lambda input, p, training, inplace: _dropout(input, p, training, inplace, 0, True),
    namespace="-",
    outside=True,
    doc="Elements set to SELU's saturation value with probability `p`, preserving mean and variance.",
)
_feature_alpha_dropout_op = composite(
    "feature_alpha_dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    body=lambda input, p, training, inplace: _dropout(input, p, training, inplace, 2, True),
    namespace="-",
    outside=True,
    doc="Whole channels set to SELU's saturation value with probability `p`, preserving mean and variance.",
)


def _run(op: Op, input: Tensor, p: float, training: bool, inplace: bool) -> Any:
    """By its parts where it writes to its input: they declare so, and the whole does not."""
    if inplace:
        assert op.composite is not None
        return op.composite(input, p, training, True)
    return op(input, p, training, False)


def _check_p(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@public("nn.functional")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """See torch.nn.functional.dropout; returns the input itself if nothing is dropped."""
    _check_p(p)
    if not training or p == 0:
        return input
    return _run(_dropout_op, input, p, training, inplace)


def _function(name: str, run: Op, training: bool) -> None:
    """Publish `name` in torch.nn.functional; `training` is its default."""

    def function(input: Any, p: float = 0.5, training: bool = training, inplace: bool = False) -> Any:
        _check_p(p)
        if not training or p == 0:
            return input
        return _run(run, input, p, training, inplace)

    function.__doc__ = run.surface.doc
    public("nn.functional", name=name)(function)


def _check_channels(name: str, dims: int, rank: int) -> None:
    """Raise or warn, as PyTorch does, where an input has other dimensions than a channel's and a batch's."""
    if rank not in (dims + 1, dims + 2):
        exists = (
            f"Note that {name} exists to provide channel-wise dropout on inputs with {dims} spatial "
            f"dimension{'s' * (dims > 1)}, a channel dimension, and an optional batch dimension (i.e. "
            f"{dims + 1}D or {dims + 2}D inputs)."
        )
        if dims == 1:
            raise RuntimeError(f"{name}: Expected 2D or 3D input, but received a {rank}D input. {exists}")
        warn(
            f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an error "
            "in a future release. To retain the behavior and silence this warning, please use dropout "
            f"instead. {exists}"
        )
    if dims == 2 and rank == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead."
        )


def _channels(dims: int) -> None:
    """Publish dropout of whole channels of `dims` dimensions."""
    name = f"dropout{dims}d"

    def function(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        _check_p(p)
        _check_channels(name, dims, input.ndim)
        if not training or p == 0:
            return input
        # in two dimensions PyTorch takes what has no batch for one of rows
        if dims == 2 or input.ndim == dims + 2:
            return _run(_feature_dropout_op, input, p, training, inplace)
        if inplace:
            return _run(_feature_dropout_op, input.unsqueeze_(0), p, training, True).squeeze_(0)
        return _feature_dropout_op(input.unsqueeze(0), p, training, False).squeeze(0)

    function.__doc__ = _feature_dropout_op.surface.doc
    public("nn.functional", name=name)(function)


def _top(name: str, run: Op) -> None:
    """Publish `name` and its in-place form in torch, where all arguments are required."""

    def dropped(input: Tensor, p: float, train: bool, inplace: bool) -> Any:
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        return _run(run, input, p, train, inplace) if train and p else input

    def function(input: Tensor, p: float, train: bool) -> Any:
        return dropped(input, p, train, False)

    def changing(input: Tensor, p: float, train: bool) -> Any:
        return dropped(input, p, train, True)

    function.__doc__ = run.surface.doc
    changing.__doc__ = f"In-place form of `{name}`."
    public("", name=name)(function)
    public("", name=f"{name}_")(changing)


for _dims in (1, 2, 3):
    _channels(_dims)
_function("alpha_dropout", _alpha_dropout_op, False)
_function("feature_alpha_dropout", _feature_alpha_dropout_op, False)
_top("dropout", _dropout_op)
_top("feature_dropout", _feature_dropout_op)
_top("alpha_dropout", _alpha_dropout_op)
_top("feature_alpha_dropout", _feature_alpha_dropout_op)
