"""Typed storages: the memory behind a tensor as numbers of its dtype (torch.TypedStorage).

PyTorch deprecates them; older scripts and courses print them and write to their elements.
Source: https://docs.pytorch.org/docs/stable/storage.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes, warn
from gradd_engine.graph import no_grad

from .._tensor import Tensor
from .creation import tensor
from .storages import UntypedStorage, whole

if TYPE_CHECKING:
    from gradd_engine.data import Device, DType


_CASTS = {
    "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32, "double": dtypes.float64,
    "char": dtypes.int8, "byte": dtypes.uint8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "bool": dtypes.bool_, "complex_float": dtypes.complex64,
    "complex_double": dtypes.complex128,
}  # fmt: skip


class _StorageType(type):
    """The metaclass of `TypedStorage` and `FloatStorage` etc., whose instances are those of one dtype."""

    def _dtype(cls) -> DType | None:
        found: DType | None = cls.__dict__.get("_only")
        return found

    def __instancecheck__(cls, instance: Any) -> bool:
        dtype = cls._dtype()
        if dtype is None:
            return type.__instancecheck__(cls, instance)
        return isinstance(instance, TypedStorage) and instance.dtype is dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        dtype = cls._dtype()
        if dtype is None:
            return super().__call__(*args, **kwargs)
        for refused in ("dtype", "device"):
            if refused in kwargs:
                raise RuntimeError(_combination(cls, f"Keyword argument '{refused}' cannot be specified"))
        if len(args) > 1:
            raise RuntimeError(_combination(cls, "Too many positional arguments"))
        return TypedStorage(*args, dtype=dtype, **kwargs)

    def __repr__(cls) -> str:
        return f"<class 'torch.{'storage.' if cls._dtype() is None else ''}{cls.__name__}'>"


def _combination(cls: type, what: str) -> str:
    return (
        f"{cls!r}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n"
        f" * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n{what}"
    )


class TypedStorage(metaclass=_StorageType):
    """The elements in the memory that a tensor shares with its views, in the order of their addresses
    (torch.TypedStorage): made of a size, of numbers, or by `Tensor.storage`. Reading waits for the values.

    Its size is fixed: NotImplementedError by `resize_`. RuntimeError for slices, as in PyTorch; IndexError
    out of range.
    """

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: DType | None = None, device: Any = None
    ) -> None:
        _deprecated()
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
                )
            if dtype is None:
                raise RuntimeError("Argument 'dtype' must be specified")
            made = whole(wrap_storage.tensor)
            self._elements = made if made.dtype is dtype else made.view(dtype)
            return
        kind = dtypes.default_dtype() if dtype is None else dtype
        if len(args) > 1:
            raise RuntimeError(_combination(type(self), "Too many positional arguments"))
        given = args[0] if args else 0
        if isinstance(given, int):
            self._elements = tensor([], dtype=kind).new_zeros([given])
        elif isinstance(given, TypedStorage):
            self._elements = given._elements if given.dtype is kind else given._elements.to(kind)
        elif isinstance(given, str):
            raise TypeError("new(): invalid data type 'str'")
        elif isinstance(given, Sequence):
            self._elements = tensor(list(given), dtype=kind)
        else:
            raise TypeError(_combination(type(self), f"Argument type not recognized: {type(given)}"))

    @classmethod
    def _of(cls, t: Any) -> TypedStorage:
        made = cls.__new__(cls)
        with no_grad():
            made._elements = whole(t.data)
        return made

    #: all elements, one after the other
    _elements: Any

    @property
    def tensor(self) -> Tensor:
        """All elements as a tensor that shares the memory."""
        found: Tensor = self._elements
        return found

    @property
    def dtype(self) -> DType:
        """That of the elements."""
        found: DType = self._elements.dtype
        return found

    @property
    def device(self) -> Device:
        """The session's device."""
        found: Device = self._elements.device
        return found

    @property
    def is_cuda(self) -> bool:
        """Whether the session computes on a GPU."""
        return self.device.type == "cuda"

    def size(self) -> int:
        """The number of elements."""
        return int(self._elements.numel())

    def __len__(self) -> int:
        return self.size()

    def nbytes(self) -> int:
        """The size in bytes."""
        return self.size() * self.element_size()

    def element_size(self) -> int:
        """The size of one element in bytes."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """Where its range of addresses begins; they are made up (`Tensor.data_ptr`)."""
        return int(self._elements.data_ptr())

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage._of(self._elements)

    _untyped_storage = property(untyped)

    def tolist(self) -> list[Any]:
        """The elements. A round trip."""
        found: list[Any] = self._elements.tolist()
        return found

    def _place(self, index: Any) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)!r} with {type(index)}")
        size = self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return index % size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._elements[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        with no_grad():
            place = index if isinstance(index, slice) else self._place(index)
            self._elements[place] = value._elements if isinstance(value, TypedStorage) else value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def fill_(self, value: Any) -> TypedStorage:
        """Set each element."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Set each element to that of a storage of as many."""
        self[:] = source
        return self

    def clone(self) -> TypedStorage:
        """Another storage with the same elements."""
        return TypedStorage._of(self._elements.clone())

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of its class, ``torch.FloatStorage``; with a dtype, the elements as that."""
        if dtype is None:
            return f"torch.{self.dtype.title}Storage"
        kind = getattr(dtype, "dtype", dtype)
        return self if kind is self.dtype else TypedStorage._of(self._elements.to(kind))

    def pickle_storage_type(self) -> str:
        """The name of its class without ``torch.``."""
        return f"{self.dtype.title}Storage"

    def cpu(self) -> TypedStorage:
        """Itself: a session has one device."""
        return self

    def is_shared(self) -> bool:
        """False: no other process can reach it but by the session."""
        return False

    def is_pinned(self, device: Any = "cuda") -> bool:
        """False."""
        return False

    def resizable(self) -> bool:
        """False."""
        return False

    def resize_(self, size: int) -> None:
        """Raise NotImplementedError unless it has that size."""
        self.untyped().resize_(size * self.element_size())

    def __repr__(self) -> str:
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
        return " " + "\n ".join(map(str, self)) + f"\n{kind}"


def _cast(dtype: DType) -> Any:
    def cast(self: TypedStorage) -> TypedStorage:
        found: TypedStorage = self.type(dtype)
        return found

    cast.__doc__ = f"The elements as {dtype!r}."
    return cast


for _name, _dtype in _CASTS.items():
    setattr(TypedStorage, _name, _cast(_dtype))

#: whether a script was warned
_told: list[bool] = []


def _deprecated() -> None:
    """Warn once, as PyTorch does."""
    if not _told:
        _told.append(True)
        warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
            "only storage class. This should only matter to you if you are using storages directly.  To "
            "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
        )


def storage(self: Any) -> TypedStorage:
    """The elements in the memory that it shares with its views (torch.Tensor.storage). Warns once, since
    PyTorch deprecates it.
    """
    _deprecated()
    return TypedStorage._of(self)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is a storage (torch.is_storage)."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def storage_type(self: Any) -> type[Any]:
    """The class of its typed storage (torch.Tensor.storage_type)."""
    found: type[Any] = STORAGES[f"{self.dtype.title}Storage"]
    return found


#: `FloatStorage`, `LongStorage` ... by PyTorch's names
STORAGES: dict[str, Any] = {
    f"{d.title}Storage": _StorageType(
        f"{d.title}Storage", (), {"_only": d, "__doc__": f"Makes storages of {d!r} (torch.{d.title}Storage)."}
    )
    for d in dtypes.ALL
    if d.is_promoted
}

#: the methods of a tensor
TYPED: dict[str, Any] = {"storage": storage, "storage_type": storage_type}
