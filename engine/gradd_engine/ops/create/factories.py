"""Creation functions as PyTorch spells them: sizes as numbers or a tuple, dtype, device, requires_grad.

A session has one device: `device` accepts PyTorch's names and has no effect. Defaults are resolved here, so
recorded ops name their dtype. Memory is never uninitialised: `empty` is `zeros`.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from ...data import ambient, dtypes, format_name, reach, state, warn
from ...declare import attach, attach_as_is, composite, public
from ...schema import named, type_name
from ...tensor import Tensor
from ..shape import clone, detach, fill, reshape, to_dtype, unsafe_strided
from ..shared import constants as create

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import DType

_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


def check_device(device: Any) -> None:
    """Raise PyTorch's RuntimeError if `device` is not a device name."""
    if device is None or isinstance(device, int):
        return
    name, _, index = str(device).partition(":")
    if name not in _DEVICES:
        known = ", ".join(_DEVICES)
        raise RuntimeError(f"Expected one of {known} device type at start of device string: {name}")
    if index and not index.isdecimal():
        raise RuntimeError(f"Invalid device string: '{device}'")


def sizes(name: str, size: tuple[Any, ...]) -> list[int]:
    """Sizes given as numbers or one sequence; TypeError as in PyTorch."""
    given = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    try:
        return [operator.index(s) for s in given]
    except TypeError:
        bad = next(s for s in given if not hasattr(s, "__index__"))
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(bad).__name__}"
        ) from None


def wanted(dtype: DType, requires_grad: bool | None, name: str) -> None:
    """Raise RuntimeError if a gradient is requested for a dtype that cannot have one, TypeError if
    `requires_grad` is not a bool.
    """
    if requires_grad is not None and not isinstance(requires_grad, bool):
        raise TypeError(f"{name}(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    if requires_grad and not dtype.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")


def finished(t: Any, requires_grad: bool) -> Any:
    """`t`, turned into a leaf if `requires_grad`."""
    if requires_grad:
        wanted(t.dtype, True, "")
        t._set_requires_grad(True, "method")
    return t


def check_layout(name: str, layout: Any) -> None:
    """Raise NotImplementedError for a layout other than torch.strided, which all tensors have here."""
    if layout is not None and str(layout) != "torch.strided":
        raise NotImplementedError(
            f"{name}(): layout {layout} is not supported: tensors made here are strided"
        )


def made(
    name: str,
    make: Callable[..., Any],
    dtype: DType | None,
    usual: DType,
    requires_grad: bool = False,
    *,
    out: Any = None,
    device: Any = None,
    layout: Any = None,
    flat: bool = False,
) -> Any:
    """``make(dtype=...)`` in the dtype given or else the `usual` one, or its elements in `out`, whose dtype
    counts. `out` is resized where it has another shape; `flat` ones may have any of as many elements.

    TypeError for an `out` that is no tensor, RuntimeError where `dtype` is not that of `out`.
    """
    check_device(device)
    check_layout(name, layout)
    if out is None:
        dtype = dtype or usual
        wanted(dtype, requires_grad, name)
        return finished(make(dtype=dtype), requires_grad)
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.title} does not match dtype of out parameter ({out.dtype.title})")
    if state.grad and out.requires_grad:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad."
        )
    found = make(dtype=out.dtype)
    if out.shape != found.shape and not (flat and out.numel() == found.numel()):
        if name == "arange" and out.numel():  # PyTorch's others say nothing
            warn(
                f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which "
                f"does not match the computed number of elements {found.numel()}. Note that this may occur "
                "as a result of rounding error. The out tensor will be resized to a tensor of shape "
                f"({found.numel()},)."
            )
        named.resize_(out, list(found.shape))
    named.copy_(out, found if out.shape == found.shape else reshape(found, list(out.shape)))
    return finished(out, requires_grad)


def _size_argument(name: str, size: tuple[Any, ...], kw: dict[str, Any]) -> list[int]:
    if "size" in kw:
        size = (kw.pop("size"),)
    if kw:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return sizes(name, size)


def sized_function(
    name: str,
    make: Callable[..., Any],
    doc: str,
    options: tuple[str, ...] = (),
    forms: str | tuple[str, ...] = (),
) -> Callable[..., Any]:
    """Publish ``name(*size, dtype, device, requires_grad)`` over ``make(size, dtype=...)``.

    `options` are further keyword arguments, passed to `make` when given.
    """

    def function(
        *size: Any,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        out: Any = None,
        **kw: Any,
    ) -> Any:
        given = {option: kw.pop(option) for option in options if option in kw}
        shape = _size_argument(name, size, kw)
        creator = functools.partial(make, shape, **given)
        usual = dtypes.default_dtype()
        return made(name, creator, dtype, usual, requires_grad, out=out, device=device, layout=layout)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(creates=True, forms=forms)(function)


def like_function(name: str, make: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """Publish ``name(input, *args, dtype, device, requires_grad)`` over ``make(input, *args, dtype=...)``."""

    def function(
        input: Tensor,
        *args: Any,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        memory_format: Any = None,
        pin_memory: bool = False,
        **kw: Any,
    ) -> Any:
        check_device(device)
        check_layout(name, layout)
        wanted(dtype or input.dtype, requires_grad, name)
        layout_name = format_name(name, memory_format)
        if layout_name is not None:
            kw["memory_format"] = layout_name
        return finished(make(input, *args, dtype=dtype, **kw), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public()(function)


zeros = sized_function("zeros", create.zeros, "See torch.zeros.")
ones = sized_function("ones", create.ones, "See torch.ones.")


def _empty(size: list[int], *, dtype: DType, memory_format: Any = None) -> Any:
    return create.empty(size, dtype=dtype, memory_format=format_name("empty", memory_format) or _ROWS)


_ROWS = "contiguous_format"
_OPTIONS = "out=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False"
empty = sized_function(
    "empty",
    _empty,
    "See torch.empty; the memory is zeros.",
    ("memory_format",),
    (
        f"(size: Sequence[int], *, {_OPTIONS}, memory_format=None)",
        f"(*size: int, {_OPTIONS}, memory_format=None)",
    ),
)


def _empty_strided(size: Any, stride: Any, dtype: DType | None) -> Any:
    shape, steps = create.checked(size), tuple(stride)
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    if any(s < 0 for s in steps):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}"
        )
    memory = create.empty([reach(shape, steps)], dtype=dtype)
    return unsafe_strided(memory, list(shape), list(steps))


_empty_strided_op = composite(
    "empty_strided(int[] size, int[] stride, *, dtype? dtype=None) -> Tensor",
    body=_empty_strided,
    namespace="-",
    outside=True,
    doc="Zeros with the given strides; never uninitialised (torch.empty_strided).",
)


@public(creates=True)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.empty_strided; the memory is zeroed."""
    check_device(device)
    check_layout("empty_strided", layout)
    dtype = dtype or dtypes.default_dtype()
    wanted(dtype, requires_grad, "empty_strided")
    shape, steps = sizes("empty_strided", (size,)), sizes("empty_strided", (stride,))
    return finished(_empty_strided_op(shape, steps, dtype=dtype), requires_grad)


@public(creates=True)
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Zeros whose dimensions lie in memory in the order given (torch.empty_permuted)."""
    check_device(device)
    check_layout("empty_permuted", layout)
    dtype = dtype or dtypes.default_dtype()
    wanted(dtype, requires_grad, "empty_permuted")
    shape, order = sizes("empty_permuted", (size,)), sizes("empty_permuted", (physical_layout,))
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    wrong = next((i for i, d in enumerate(order) if not 0 <= d < len(shape)), None)
    if wrong is not None:
        raise RuntimeError(
            f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got "
            f"{order[wrong]} at index {wrong}).  NB: negative dims not currently supported; file an issue "
            "if you want it."
        )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return finished(_empty_strided_op(shape, strides, dtype=dtype), requires_grad)


zeros_like = like_function("zeros_like", create.zeros_like, "See torch.zeros_like.")
ones_like = like_function("ones_like", create.ones_like, "See torch.ones_like.")
empty_like = like_function("empty_like", create.empty_like, "See torch.empty_like; the memory is zeros.")
full_like = like_function("full_like", create.full_like, "See torch.full_like.")


def _fill_dtype(value: Any) -> DType:
    """The dtype inferred from a fill value; a tensor counts as the Python number it holds."""
    if not isinstance(value, Tensor):
        return dtypes.of_number(value)
    if value.dtype.is_complex:
        return dtypes.to_complex(dtypes.default_dtype())
    kinds = (dtypes.bool_, dtypes.int64, dtypes.default_dtype())
    return kinds[value.dtype.category]


@public(
    creates=True,
    forms="(size: Sequence[int], fill_value: Tensor | Number, *, out=None, dtype=None, device=None, "
    "requires_grad=False, layout=None, pin_memory=False)",
)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.full."""
    if not isinstance(size, (list, tuple)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    shape = sizes("full", (size,))

    def make(dtype: DType) -> Any:
        if isinstance(fill_value, Tensor):
            return fill(create.zeros(shape, dtype=dtype), fill_value)
        return create.full(shape, fill_value, dtype=dtype)

    usual = dtype or _fill_dtype(fill_value)
    return made("full", make, dtype, usual, requires_grad, out=out, device=device, layout=layout)


@public(creates=True)
def scalar_tensor(
    s: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """A number as a 0-d tensor (torch.scalar_tensor)."""
    dtype = dtype or dtypes.default_dtype()
    return full((), s, dtype=dtype, device=device, requires_grad=requires_grad, layout=layout)


def _new(name: str, make: Callable[..., Any]) -> None:
    def method(
        self: Any,
        *args: Any,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        **kw: Any,
    ) -> Any:
        placed = {"device": device, "requires_grad": requires_grad, "layout": layout}
        with ambient(backend=self.backend):
            return make(*args, dtype=dtype or self.dtype, **placed, **kw)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As torch.{name[4:]}, of this tensor's dtype unless one is given (torch.Tensor.{name})."
    attach_as_is(name, method)


def _new_tensor(
    self: Any,
    data: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A leaf with these values, of this tensor's dtype by default (torch.Tensor.new_tensor)."""
    check_device(device)
    check_layout("new_tensor", layout)
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "tensor.new_tensor(sourceTensor)."
        )
        wanted(dtype or self.dtype, requires_grad, "new_tensor")
        return finished(to_dtype(clone(detach(data)), dtype or self.dtype), requires_grad)  # type: ignore[no-any-return]
    with ambient(backend=self.backend):
        return create.tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)


for _name, _make in (
    ("new_zeros", zeros),
    ("new_ones", ones),
    ("new_empty", empty),
    ("new_full", full),
    ("new_empty_strided", empty_strided),
):
    _new(_name, _make)
attach("new_tensor", _new_tensor)
