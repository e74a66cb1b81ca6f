"""Creation functions as PyTorch spells them: sizes as numbers or a tuple, dtype, device, requires_grad.

A session has one device: `device` accepts PyTorch's names and has no effect. Defaults are resolved here, so
recorded ops name their dtype. Memory is never uninitialised: `empty` is `zeros`.
"""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

from ...data import ambient, dtypes, format_name, reach
from ...declare import attach, attach_as_is, composite, public
from ...schema import type_name
from ...tensor import Tensor
from ..shape import clone, detach, fill, to_dtype, unsafe_strided
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


def _size_argument(name: str, size: tuple[Any, ...], kw: dict[str, Any]) -> list[int]:
    if "size" in kw:
        size = (kw.pop("size"),)
    if kw:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return sizes(name, size)


def sized_function(
    name: str, make: Callable[..., Any], doc: str, options: tuple[str, ...] = ()
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
        **kw: Any,
    ) -> Any:
        given = {option: kw.pop(option) for option in options if option in kw}
        shape = _size_argument(name, size, kw)
        check_device(device)
        dtype = dtype or dtypes.default_dtype()
        wanted(dtype, requires_grad, name)
        return finished(make(shape, dtype=dtype, **given), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(creates=True)(function)


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
        **kw: Any,
    ) -> Any:
        check_device(device)
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
empty = sized_function("empty", _empty, "See torch.empty; the memory is zeros.", ("memory_format",))


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
    forms="(size: Sequence[int], fill_value: Tensor | Number, *, dtype=None, device=None, "
    "requires_grad=False, layout=None)",
)
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Any:
    """See torch.full."""
    if not isinstance(size, (list, tuple)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    check_device(device)
    found = dtype or _fill_dtype(fill_value)
    wanted(found, requires_grad, "full")
    shape = sizes("full", (size,))
    if isinstance(fill_value, Tensor):
        return finished(fill(create.zeros(shape, dtype=found), fill_value), requires_grad)
    return finished(create.full(shape, fill_value, dtype=found), requires_grad)


@public(creates=True)
def scalar_tensor(
    s: Any, *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """A number as a 0-d tensor (torch.scalar_tensor)."""
    return full((), s, dtype=dtype or dtypes.default_dtype(), device=device, requires_grad=requires_grad)


def _new(name: str, make: Callable[..., Any]) -> None:
    def method(
        self: Any,
        *args: Any,
        dtype: DType | None = None,
        device: Any = None,
        requires_grad: bool = False,
        **kw: Any,
    ) -> Any:
        with ambient(backend=self.backend):
            return make(*args, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad, **kw)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As torch.{name[4:]}, of this tensor's dtype unless one is given (torch.Tensor.{name})."
    attach_as_is(name, method)


def _new_tensor(self: Any, data: Any, *, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf with these values, of this tensor's dtype by default (torch.Tensor.new_tensor)."""
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "tensor.new_tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
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
