"""Which of gradd's functions computes what one of PyTorch's operators (ATen) does.

Most have the name and the parameters of gradd's, and need no row here: `find` compares the signatures. The
others are rows of `ROWS`, which take an operator's arguments as its schema has them.
Source: https://pytorch.org/docs/stable/user_guide/torch_compiler/torch.compiler_ir.html
"""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from gradd_engine.data import channels_last, channels_last_3d, contiguous_format, preserve_format

from .._surface import namespace
from .._tensor import Tensor
from .values import dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

top, F = SimpleNamespace(**namespace("")), SimpleNamespace(**namespace("nn.functional"))
#: where a function may be found, and what an operator's name then begins with
_PLACES: tuple[tuple[Any, str], ...] = (
    (top, ""),
    (F, ""),
    *((SimpleNamespace(**namespace(space)), f"{space}_") for space in ("fft", "linalg", "special")),
    (Tensor, ""),
)
#: operators that write into running statistics though their schema does not say so: they are decomposed
_WRITES_UNSAID = frozenset({"aten::batch_norm", "aten::instance_norm"})
#: arguments about memory, devices, generators and libraries, which a session decides
_PLACED = frozenset({
    "layout", "device", "pin_memory", "non_blocking", "generator", "memory_format", "cudnn_enable",
    "cudnn_enabled",
})  # fmt: skip
_REDUCTIONS = ("none", "mean", "sum")
_FORMATS = {
    torch.contiguous_format: contiguous_format, torch.preserve_format: preserve_format,
    torch.channels_last: channels_last, torch.channels_last_3d: channels_last_3d,
}  # fmt: skip


def _batch_norm(
    input: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, ...]:
    """The result and the new statistics; those of the batch are for a backward pass of PyTorch's."""
    mean, var = mean.clone(), var.clone()
    return F.batch_norm(input, mean, var, weight, bias, training, momentum, eps), None, None, mean, var


def _convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    n = len(stride)
    if transposed:
        apply = getattr(F, f"conv_transpose{n}d")
        return apply(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(F, f"conv{n}d")(input, weight, bias, stride, padding, dilation, groups)


def _elu(self: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    if (scale, input_scale) == (1, 1):
        return F.elu(self, alpha)
    return top.where(self > 0, self * scale, (self * input_scale).expm1() * (alpha * scale))


def _embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    return F.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq
    )


def _embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Any, ...]:  # fmt: skip
    """The bags; the rest is for a backward pass of PyTorch's."""
    out = F.embedding_bag(
        indices, weight, offsets, scale_grad_by_freq=scale_grad_by_freq, mode=("sum", "mean", "max")[mode],
        per_sample_weights=per_sample_weights, include_last_offset=include_last_offset,
        padding_idx=None if padding_idx < 0 else padding_idx,
    )  # fmt: skip
    return out, None, None, None


def _grid_sample(input: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return F.grid_sample(input, grid, modes[mode], paddings[padding], align_corners)


def _slice(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    before = (slice(None),) * (dim % self.dim())
    return self[(*before, slice(start, end, step))]


def _interpolate(mode: str, aligns: bool) -> Callable[..., Any]:
    def interpolate(input: Any, output_size: Any, *given: Any) -> Any:
        align = {"align_corners": given[0]} if aligns else {}
        return F.interpolate(input, output_size, given[-1], mode, **align)

    return interpolate


def _padded(mode: str) -> Callable[..., Any]:
    return lambda self, padding: F.pad(self, padding, mode)


def _sized(name: str) -> Callable[..., Any]:
    """A function that makes a tensor of a given size."""
    return lambda size, *, dtype=None: getattr(top, name)(size, dtype=dtype)


def _like(name: str) -> Callable[..., Any]:
    """A function that makes a tensor of the size of another."""
    return lambda self, *, dtype=None: getattr(top, name)(self, dtype=dtype)


def _new(name: str) -> Callable[..., Any]:
    """A method that makes a tensor of a given size, and of the tensor's dtype."""
    return lambda self, size, *value, dtype=None: getattr(self, name)(size, *value, dtype=dtype)


def _trilinear(
    i1: Any, i2: Any, i3: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any, unroll_dim: int = 1
) -> Any:
    """The products of three tensors that get dimensions of size 1 at `expand1` ..., summed over `sumdim`."""
    expanded = []
    for t, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in sorted(dims):
            t = t.unsqueeze(dim)
        expanded.append(t)
    a, b, c = expanded
    return (a * b * c).sum(sumdim)


ROWS: dict[str, Callable[..., Any]] = {
    "_adaptive_avg_pool2d": lambda self, output_size: F.adaptive_avg_pool2d(self, output_size),
    "_adaptive_avg_pool3d": lambda self, output_size: F.adaptive_avg_pool3d(self, output_size),
    "_cdist_forward": lambda x1, x2, p, compute_mode=None: top.cdist(x1, x2, p),
    "_embedding_bag": _embedding_bag,
    "_log_softmax": lambda self, dim, half_to_float: top.log_softmax(self, dim),
    "_native_batch_norm_legit_functional": _batch_norm,
    "_native_batch_norm_legit.no_stats": lambda input, weight, bias, training, momentum, eps: (
        F.batch_norm(input, None, None, weight, bias, True, momentum, eps), None, None
    ),
    "_native_batch_norm_legit_no_training": lambda input, weight, bias, mean, var, momentum, eps: (
        F.batch_norm(input, mean, var, weight, bias, False, momentum, eps), None, None
    ),
    "_pdist_forward": lambda self, p=2.0: F.pdist(self, p),
    "_safe_softmax": lambda self, dim, dtype=None: top.softmax(self, dim, dtype),
    "_softmax": lambda self, dim, half_to_float: top.softmax(self, dim),
    "_to_copy": lambda self, *, dtype=None: self.to(self.dtype if dtype is None else dtype, copy=True),
    "_trilinear": _trilinear,
    "_unsafe_view": lambda self, size: self.reshape(size),
    "_upsample_nearest_exact1d.vec": _interpolate("nearest-exact", False),
    "_upsample_nearest_exact2d.vec": _interpolate("nearest-exact", False),
    "_upsample_nearest_exact3d.vec": _interpolate("nearest-exact", False),
    "alias": lambda self: self,
    "arange": lambda *bounds, dtype=None: top.arange(*bounds, dtype=dtype),
    "col2im": lambda self, size, kernel_size, *how: F.fold(self, size, kernel_size, *how),
    "constant_pad_nd": lambda self, pad, value=0: F.pad(self, pad, "constant", value),
    "convolution": _convolution,
    "copy": lambda self, src: src.to(self.dtype).expand(self.shape).clone(),
    "cross_entropy_loss": lambda self, target, weight=None, reduction="mean", ignore_index=-100, eps=0.0: (
        F.cross_entropy(
            self, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=eps
        )
    ),
    "einsum": lambda equation, tensors, *, path=None: top.einsum(equation, *tensors),
    "elu": _elu,
    "embedding": _embedding,
    "empty.memory_format": _sized("empty"),
    "empty_like": _like("empty_like"),
    "expand": lambda self, size, implicit=False: self.expand(size),
    "full_like": lambda self, fill_value, *, dtype=None: top.full_like(self, fill_value, dtype=dtype),
    "grid_sampler": _grid_sample,
    "grid_sampler_2d": _grid_sample,
    "grid_sampler_3d": _grid_sample,
    "im2col": lambda self, *how: F.unfold(self, *how),
    "index.Tensor": lambda self, indices: self[tuple(slice(None) if i is None else i for i in indices)],
    "max_pool2d_with_indices": lambda self, *how: F.max_pool2d(self, *how, return_indices=True),
    "max_pool3d_with_indices": lambda self, *how: F.max_pool3d(self, *how, return_indices=True),
    "native_dropout": lambda input, p, train: (top.dropout(input, p, train is not False), None),
    "native_group_norm": lambda input, weight, bias, N, C, HxW, group, eps: (
        F.group_norm(input, group, weight, bias, eps), None, None
    ),
    "native_layer_norm": lambda input, shape, weight, bias, eps: (
        F.layer_norm(input, shape, weight, bias, eps), None, None
    ),
    "new_empty": _new("new_empty"),
    "new_full": _new("new_full"),
    "new_ones": _new("new_ones"),
    "new_zeros": _new("new_zeros"),
    "one_hot": lambda self, num_classes=-1: F.one_hot(self, num_classes),
    "ones": _sized("ones"),
    "ones_like": _like("ones_like"),
    "rand": _sized("rand"),
    "rand_like": _like("rand_like"),
    "randint": lambda high, size, *, dtype=None: top.randint(high, size, dtype=dtype),
    "randint.low": lambda low, high, size, *, dtype=None: top.randint(low, high, size, dtype=dtype),
    "randn": _sized("randn"),
    "randn_like": _like("randn_like"),
    "reflection_pad1d": _padded("reflect"),
    "reflection_pad2d": _padded("reflect"),
    "reflection_pad3d": _padded("reflect"),
    "repeat": lambda self, repeats: self.repeat(*repeats),
    "replication_pad1d": _padded("replicate"),
    "replication_pad2d": _padded("replicate"),
    "replication_pad3d": _padded("replicate"),
    "scalar_tensor": lambda s, *, dtype=None: top.full((), s, dtype=dtype),
    "slice.Tensor": _slice,
    "split.Tensor": lambda self, split_size, dim=0: top.split(self, split_size, dim),
    "sym_numel": lambda self: self.numel(),
    "sym_size.int": lambda self, dim: self.shape[dim],
    "upsample_bicubic2d.vec": _interpolate("bicubic", True),
    "upsample_bilinear2d.vec": _interpolate("bilinear", True),
    "upsample_linear1d.vec": _interpolate("linear", True),
    "upsample_nearest1d.vec": _interpolate("nearest", False),
    "upsample_nearest2d.vec": _interpolate("nearest", False),
    "upsample_nearest3d.vec": _interpolate("nearest", False),
    "upsample_trilinear3d.vec": _interpolate("trilinear", True),
    # A view of a memory that is laid out otherwise is a copy here; nothing writes to either.
    "view": lambda self, size: self.reshape(size),
    "zeros": _sized("zeros"),
    "zeros_like": _like("zeros_like"),
}  # fmt: skip


@functools.cache
def find(operator: Any) -> Callable[..., Any] | None:
    """The function for an operator, with the operator's parameters; None if there is none."""
    schema = operator._schema
    name = schema.name.removeprefix("aten::")
    row = ROWS.get(f"{name}.{schema.overload_name}", ROWS.get(name))
    names = [a.name for a in schema.arguments]
    if row is not None:
        return functools.partial(_row, row, names)
    if schema.is_mutable or "::" in name or schema.name in _WRITES_UNSAID:
        return None
    for function in _named(name):
        if (renamed := _parameters(schema, function)) is not None:
            return functools.partial(_call, function, names, renamed)
    return None


def _named(name: str) -> Iterator[Callable[..., Any]]:
    for place, prefix in _PLACES:
        found = getattr(place, name.removeprefix(prefix), None) if name.startswith(prefix) else None
        if callable(found):
            yield found


def _parameters(schema: Any, function: Callable[..., Any]) -> dict[str, str] | None:
    """The function's name of each argument of an operator, in its order; None unless it has them all."""
    parameters = inspect.signature(function).parameters.items()
    known = {n: p for n, p in parameters if n != "_rest"}  # numbers before tensors, as of old
    kinds = {p.kind for p in known.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return None
    found = {}
    for place, argument in enumerate(schema.arguments):
        name = argument.name
        if name == "self":
            name = next(iter(known), "") if place == 0 else "input"
        if name in known:
            found[argument.name] = name
        elif argument.name not in _PLACED:
            return None
    needed = {p.name for p in known.values() if p.default is p.empty}
    return found if needed <= set(found.values()) else None


def _call(
    function: Callable[..., Any], names: list[str], renamed: dict[str, str], *args: Any, **kw: Any
) -> Any:
    given = dict(zip(names, args, strict=False), **kw)
    if "reduction" in given and getattr(top, function.__name__, None) is function:
        given["reduction"] = _REDUCTIONS.index(given["reduction"])  # these take the operator's number
    return function(**{renamed[name]: value for name, value in given.items() if name in renamed})


def _row(row: Callable[..., Any], names: list[str], *args: Any, **kw: Any) -> Any:
    placed = [value for name, value in zip(names, args, strict=False) if name not in _PLACED]
    return row(*placed, **{name: value for name, value in kw.items() if name not in _PLACED})


def constant(name: str, value: Any) -> Any:
    """A constant argument of an operator as gradd's functions take it."""
    if isinstance(value, torch.dtype):
        return dtype_of(value)
    if isinstance(value, torch.memory_format):
        return _FORMATS[value]
    if name == "reduction" and isinstance(value, int):
        return _REDUCTIONS[value]
    if name == "stride" and value == []:
        return None
    return value


__all__ = ["ROWS", "constant", "find"]
