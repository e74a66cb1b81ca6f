"""`gradd.Tensor`: an engine tensor on the mirror, plus what needs values from the server.

As torch.Tensor (https://pytorch.org/docs/stable/tensors.html).
"""

from __future__ import annotations

import copy
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from gradd_engine.backward import autograd as _autograd
from gradd_engine.backward import gradients as _gradients
from gradd_engine.data import Device, dtypes, format_name, has_format, warn
from gradd_engine.graph import is_grad_enabled
from gradd_engine.ops.index.subscript import alias
from gradd_engine.ops.shape.cast import to_copy
from gradd_engine.ops.shared.number import fits
from gradd_engine.schema import type_name
from gradd_engine.tensor import Tensor as EngineTensor
from gradd_engine.transforms import forward_ad

from .._aligned import aligned
from .attached import Methods
from .overriding import Without
from .typed import TensorType, dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T", bound="Tensor")


class Tensor(Methods, metaclass=TensorType):
    """A tensor in a session. Operations are recorded; reading values fetches them."""

    _by_users = True
    _printed = "torch.Tensor"

    _id: str | None = None
    _out: Any = None
    _owner: weakref.ref[Tensor] | None = None
    _fetch: Any = None
    #: a tensor that it is a part of, beside `_base`
    _whole: Tensor | None = None
    #: how often a part of it was read that had to be fetched
    _asked: int = 0
    _lost: Exception | None = None
    _gradient: Tensor | None = None
    #: whether `_scalar` has already warned in this process
    _warned_scalar: ClassVar[bool] = False

    @property
    def _session(self) -> Any:
        """The tensor's session; untyped, as sessions import tensors."""
        return self.backend.session  # type: ignore[attr-defined]

    # -- gradients ---------------------------------------------------------------------------------

    @property  # type: ignore[override]  # an attribute there, watched here
    def _grad(self) -> Tensor | None:
        return self._gradient

    @_grad.setter
    def _grad(self, value: Tensor | None) -> None:
        self._gradient = value
        if value is not None:
            value._owner = weakref.ref(self)

    @property  # type: ignore[override]  # of this class, by the backend
    def grad(self) -> Tensor | None:
        """The accumulated gradient (torch.Tensor.grad)."""
        self._session.ready()
        g = self._gradient
        if g is None:
            found: Any = EngineTensor.grad.fget(self)  # type: ignore[attr-defined]
            return found  # type: ignore[no-any-return]
        if g._id is None and g._out is None:
            self._session.name_gradient(self, g)
        return g

    @grad.setter
    def grad(self, value: Any) -> None:
        _gradients.set_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        _gradients.set_grad(self, None)

    @property
    def data(self) -> Tensor:
        """An alias without history and with its own version counter (torch.Tensor.data)."""
        found: Tensor = _autograd.data(self)
        return found

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        _autograd.set_data(self, value)
        self._fetch = None
        # With separate version counters, neither tells whether earlier values are still valid.
        self._storage.aliased = True  # type: ignore[union-attr]

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # -- values ------------------------------------------------------------------------------------

    def _values(self) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = self._session.read(self)
        return found

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The values as a NumPy array, aligned to 64 bytes. It is a copy, and read-only so that no write gets
        lost; one to the tensor gives a LostWriteWarning while the array is in use.

        RuntimeError on tensors that require grad, as in PyTorch, unless `force`.
        """
        self._check_plain(force)
        return self._copied(self._values())

    async def anumpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """As `numpy`, for a task of an event loop: the values that the tensor has when this is called."""
        self._check_plain(force)
        return self._copied(await self._session.aread(self))

    def _check_plain(self, force: bool) -> None:
        if self.requires_grad and is_grad_enabled() and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if self._conj and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that has conjugate bit set. "
                "Use tensor.resolve_conj().numpy() instead."
            )

    def _copied(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        out = aligned(values).view()
        out.flags.writeable = False
        self._storage.given = weakref.ref(out)  # type: ignore[union-attr]
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(
                "Unable to avoid copy: the values are in the session, an array is a copy of them"
            )
        found = self.numpy()
        return np.array(found, dtype=dtype) if copy or (dtype is not None and found.dtype != dtype) else found

    @property
    def _at_hand(self) -> bool:
        """Whether the values are here, so that reading them waits for nothing."""
        found: bool = self._session.has(self)
        return found

    def item(self) -> Any:
        """The only element as a Python number; RuntimeError unless there is exactly one."""
        self._check_single()
        return self._python(self._values().reshape(()))

    async def aitem(self) -> Any:
        """As `item`, for a task of an event loop."""
        self._check_single()
        return self._python((await self._session.aread(self)).reshape(()))

    def _check_single(self) -> None:
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return self._python(self._values())

    async def atolist(self) -> Any:
        """As `tolist`, for a task of an event loop."""
        return self._python(await self._session.aread(self))

    def _python(self, a: np.ndarray[Any, Any]) -> Any:
        return (a.astype(np.float32) if self.dtype.is_half else a).tolist()

    def _scalar(self) -> Any:
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad and not Tensor._warned_scalar:
            Tensor._warned_scalar = True
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first.",
                UserWarning,
            )
        return self.item()

    def _real_scalar(self, dtype: Any) -> Any:
        value = self._scalar()
        if isinstance(value, complex):
            fits(value, dtype)
            return value.real
        return value

    def __float__(self) -> float:
        return float(self._real_scalar(dtypes.float64))

    def __int__(self) -> int:
        return int(self._real_scalar(dtypes.int64))

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self.dtype.category > dtypes.INT or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __bool__(self) -> bool:
        if self.numel() == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        if self.numel() > 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.item())

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        parts = self.unbind(0)
        for part in parts:
            part._whole = self
        return iter(parts)

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.shape else self

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape else super().__format__(spec)

    def __repr__(self) -> str:
        from gradd_engine.tensor import format_tensor

        try:
            fn = self._shown()
            name = None if fn is None else fn.short_name()
        except RuntimeError:
            name = "Invalid"
        tangent = forward_ad.tangent_at_hand(self)
        return format_tensor(
            self._values(),
            self.dtype,
            prefix=f"{type(self).__name__}(" if isinstance(self, Derived) else "tensor(",
            requires_grad=self.requires_grad,
            grad_fn_name=name,
            tangent=None if tangent is None else f"{tangent}",
        )

    __str__ = __repr__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .bundle import bundle

        return bundle(self)

    # -- conversions -------------------------------------------------------------------------------

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """As torch.Tensor.to, by dtype, another tensor's dtype, or memory format; devices have no effect,
        since a session has only one.
        """
        copy_it = kwargs.pop("copy", False)
        dtype = kwargs.pop("dtype", None)
        memory_format = format_name("to", kwargs.pop("memory_format", None))
        device = kwargs.pop("device", None)
        kwargs.pop("non_blocking", None)
        if kwargs:
            raise TypeError(f"to() got an unexpected keyword argument {next(iter(kwargs))!r}")
        flags = [a for a in args if isinstance(a, bool)]  # non_blocking, copy
        copy_it = copy_it or (len(flags) > 1 and flags[1])
        for a in (*args, device):
            if isinstance(a, (str, Device)):
                if (a if isinstance(a, Device) else Device(a)).type != "cpu" and self._session.sharing.taken:
                    self._session.sharing.keep(self)
            elif isinstance(a, dtypes.DType):
                dtype = a
            elif isinstance(a, EngineTensor):
                dtype = a.dtype
            elif isinstance(a, type):
                dtype = dtypes.BY_TYPE.get(a)
        dtype = dtypes.BY_TYPE.get(dtype, dtype) or self.dtype
        laid_out = memory_format is None or has_format(self.shape, self.strides, memory_format)
        if dtype is self.dtype and laid_out and not copy_it:
            return self
        return to_copy(self, dtype, memory_format=memory_format)  # type: ignore[no-any-return]

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, or with a dtype or such a name, the tensor converted
        (torch.Tensor.type).
        """
        if dtype is None:
            return self.dtype.tensor_type
        if isinstance(dtype, str):
            found = next((d for d in dtypes.ALL if d.tensor_type == dtype), None)
            if found is None:
                raise ValueError(f"invalid type: '{dtype}'")
            dtype = found
        dtype = dtype_of(dtype)
        if not isinstance(dtype, dtypes.DType):
            raise TypeError("dtype must be a type, str, or dtype object")
        return self.to(dtype)

    def cpu(self, memory_format: Any = None) -> Tensor:
        """Itself, since a session has one device; a copy if it does not have the memory format."""
        return self.to(memory_format=memory_format)

    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
        """Itself, since a session has one device; a copy if it does not have the memory format."""
        return self.to("cuda", memory_format=memory_format)

    @property
    def is_cuda(self) -> bool:
        """Whether the session computes on a GPU."""
        return bool(self.device.type == "cuda")

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                "at the moment.  If you were attempting to deepcopy a module, this may be because of a "
                "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            found: Tensor = memo[id(self)]
            return found
        out: Any = as_subclass(self.detach().clone(), type(self))
        out.requires_grad = self.requires_grad
        if self._gradient is not None:
            out.grad = copy.deepcopy(self.grad, memo)
        memo[id(self)] = out
        return out  # type: ignore[no-any-return]

    def as_subclass(self, cls: Any) -> Any:
        """A tensor of the class over the same memory; gradients flow through it
        (torch.Tensor.as_subclass).
        """
        if EngineTensor not in getattr(cls, "__mro__", ()):
            raise TypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, not {cls!r}")
        with Without():
            made: Tensor = alias(self)
        return as_subclass(made, cls)

    @staticmethod
    def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Any:
        """A tensor of the class over the memory of `data`, without its history
        (torch.Tensor._make_subclass).
        """
        with Without():
            made = data.detach()
            made.requires_grad = require_grad
        return as_subclass(made, cls)

    @staticmethod
    def _make_wrapper_subclass(*args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: such classes need ``__torch_dispatch__``."""
        raise NotImplementedError(
            "_make_wrapper_subclass(): __torch_dispatch__ is not supported, since operations run in the "
            "daemon; __torch_function__ is"
        )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls the function, and gives its results this class (torch.Tensor.__torch_function__)."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        given = kwargs or {}
        with Without():
            return converted(func(*args, **given), cls, (*args, *given.values()))

    def __copy__(self) -> Tensor:
        out: Any = as_subclass(self.data, type(self))
        return out.requires_grad_(self.requires_grad)  # type: ignore[no-any-return]


def as_subclass(t: Tensor, cls: type[T]) -> T:
    """The same tensor object with another class; NotImplementedError for one with
    ``__torch_dispatch__``.
    """
    if hasattr(cls, "__torch_dispatch__"):
        raise NotImplementedError(
            f"{cls.__name__}: __torch_dispatch__ is not supported, since operations run in the daemon; "
            "__torch_function__ is"
        )
    t.__class__ = cls
    return t  # type: ignore[return-value]


class Derived(Tensor):
    """What classes of users have in the place of `Tensor`: they are made of data, or share a tensor's
    memory.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor of this class, as ``torch.Tensor(...)`` makes one."""
        kwargs.pop("device", None)
        if kwargs:
            raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
        shared = len(args) == 1 and isinstance(args[0], Tensor)
        with Without():
            made = args[0].detach() if shared else TensorType.make(dtypes.default_dtype(), *args)
        return as_subclass(made, cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing: `__new__` returns a complete tensor."""


TensorType.derived = (Tensor, Derived)


def converted(found: Any, cls: Any, given: Iterable[Any]) -> Any:
    """A result, also within a tuple or list, as of a class; what the function was given itself is not
    touched, but another tensor over the same memory made of it.
    """
    if isinstance(found, Tensor):
        if cls is Tensor or isinstance(found, cls):
            return found
        fresh = type(found) is Tensor and not any(x is found for x in _flat(given))
        return as_subclass(found, cls) if fresh else found.as_subclass(cls)
    if isinstance(found, (tuple, list)):
        parts = [converted(x, cls, given) for x in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


def _flat(given: Iterable[Any]) -> Iterable[Any]:
    for x in given:
        if isinstance(x, (tuple, list)):
            yield from _flat(x)
        else:
            yield x
