"""Eager backends: dense arrays over storages, kernels from one table; NumPy's is here, CuPy's in `cupy.py`.

`infer` is law: whatever layout a kernel returns, the tensor handed out has the strides that `infer` gave.
"""

from __future__ import annotations

from contextlib import contextmanager
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import (
    BOOL,
    INT,
    Account,
    BlockAccount,
    Device,
    DType,
    Meta,
    float32,
    from_numpy,
    is_dense,
    quiet_copy,
    quietly,
    reach,
    state,
)
from ..graph import NotAsInferred, infer, misfit, spend, stated
from ..kernels import KernelTable
from ..tensor import Storage, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..schema import InferCache, Op
    from ..tensor import Listener

    Watch = Callable[[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def _alone() -> int:
    """The refcount of a local that nobody else holds; Pythons differ."""
    a = np.empty(0)
    return getrefcount(a)


ALONE = _alone()
#: bytes more than its own that a result may keep alive
_SLACK = 64


class _Watched(KernelTable):
    """A kernel table that shows what it gives out as it runs."""

    def __init__(self, table: KernelTable, watch: Watch) -> None:
        super().__init__(table._xp)
        self._table = table
        self._watch = watch

    def __missing__(self, op: Op) -> Any:
        kernel, watch = self._table[op], self._watch
        found = self[op] = lambda *args, **attrs: watch(op.name, kernel, args, attrs)
        return found


class ArrayBackend:
    """Eager kernels over the array namespace ``xp``."""

    is_meta = False
    eager = True
    #: whether what it is told can be captured, to be started as a whole
    captures = False
    level = 0
    tensor_class = Tensor
    made: Callable[..., Tensor] = Tensor._made
    listener: Listener | None = None

    def __init__(self, xp: Any, device: str) -> None:
        self.xp = xp
        self._ndarray = xp.ndarray
        self.device = Device(device)
        #: what computes each op; plans take their kernels from here too
        self.kernels = self._table = KernelTable(xp)

    @contextmanager
    def watched(self, watch: Watch | None) -> Iterator[None]:
        """Show every eager kernel inside to ``watch(name, kernel, arguments, attributes)``, which runs it and
        returns what it gives.
        """
        if watch is None:
            yield
            return
        table = self.kernels
        self.kernels = _Watched(table, watch)
        try:
            yield
        finally:
            self.kernels = table

    @property
    def memory_bytes(self) -> int:
        """What the device has; 0 where that is the machine's memory."""
        return 0

    def select(self) -> None:
        """Let what this thread computes from now on be done by this device."""

    def synchronize(self) -> None:
        """Wait until the device has done what it was told; here calls return when they are done."""

    def capture(self, work: Callable[[], None], beside: Any = None) -> Any:
        """What `work` starts on a device, to be started as a whole, with the memory of one `beside` it."""
        raise NotImplementedError(f"{type(self).__name__} captures nothing")

    #: bytes that memory is given out in multiples of
    block = 1
    #: devices of the kind that this process sees
    visible = 1

    def cost(self, nbytes: int) -> int:
        """What memory of so many bytes takes."""
        return -(-nbytes // self.block) * self.block

    def account(self, limit: int) -> Account:
        """An account of what its memory takes."""
        return Account(limit) if self.block == 1 else BlockAccount(limit, self.block)

    def spare(self, drop: Callable[[], None]) -> None:
        """Call `drop` where memory runs out, which lets go of what can be made again. Here the system sees to
        that: caches are swapped like all else.
        """

    def stopwatch(self) -> Any:
        """What measures how long the device takes for what it is told; None where calls return when it is
        done.
        """

    def verify(self) -> None:
        """Raise DeviceFailed where the device has failed for good. Waits for nothing."""

    # -- kernels -----------------------------------------------------------------------------------

    infer = staticmethod(infer)

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Run the kernel, then give each result the layout that `infer` promised."""
        if metas and metas[0].room:
            spend(op.name, metas[0].room, metas[0].room)
        account = state.account
        if account is not None:
            if len(metas) == 1:
                account.take(metas[0].nbytes)
            else:
                account.take_all([m.nbytes for m in metas])
        tensors: list[Tensor] = []
        try:
            compute = metas[0].compute if metas else None
            given = []
            for x in inputs:
                if isinstance(x, Tensor) and x.dtype is compute and not compute.is_half:
                    given.append(x.array)
                else:
                    given.append(self._argument(op, len(given), x, compute))
            all_ = self._attributes(op, metas, attrs) if op.random or op.needs_meta else attrs
            run, kernel = quiet_copy().run, self.kernels[op]
            found = run(kernel, self.xp, *given, **all_) if all_ else run(kernel, self.xp, *given)
            for a in found if op.many else (found,):
                m = metas[len(tensors)]
                if not op.simple or not self._is_lawful(a, m, given):
                    a = quietly(self.lawful, a, m, [x.array for x in _tensors(inputs)])
                storage = Storage(a, a.nbytes, account)
                if not m.contiguous:
                    storage.nbytes = storage.flat.nbytes
                tensors.append(Tensor._made(self, storage, m.shape, m.strides, 0, m.dtype, a))
            return tensors
        except BaseException as error:
            if account is not None:
                for m in metas[len(tensors) :]:
                    account.give(m.nbytes)
            if stated(error):
                raise
            raise misfit(op, inputs, attrs) from error

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """`run` for a plain op and inputs of a geometry that is known."""
        m, account = known.meta, state.account
        if account is not None:
            if m.room:
                spend(op.name, m.room, m.room)
            account.take(m.nbytes)
        try:
            run, kernel, takes = quiet_copy().run, self.kernels[op], known.takes
            all_ = self._attributes(op, (m,), attrs) if known.asks else attrs
            if len(takes) == 2:
                x, y = inputs
                t, u = takes
                x = x.array if t is None else t(x) if t else self._argument(op, 0, x, m.compute)
                y = y.array if u is None else u(y) if u else self._argument(op, 1, y, m.compute)
                a = run(kernel, self.xp, x, y, **all_) if all_ else run(kernel, self.xp, x, y)
            else:
                given: list[Any] = []
                for at, t in enumerate(takes):
                    x = inputs[at]
                    given.append(
                        x.array if t is None else t(x) if t else self._argument(op, at, x, m.compute)
                    )
                a = run(kernel, self.xp, *given, **all_) if all_ else run(kernel, self.xp, *given)
            if not (
                type(a) is self._ndarray
                and a.base is None
                and a.shape == known.shape
                and a.dtype is known.dtype
                and (known.line or (known.contiguous and a.flags.c_contiguous))
                # nobody else has it: it is no input
                and getrefcount(a) <= ALONE
            ):
                a = quietly(self.lawful, a, m, [x.array for x in _tensors(inputs)])
            storage = Storage(a, known.nbytes, account)
            if not known.contiguous:
                storage.nbytes = storage.flat.nbytes
            return Tensor._made(self, storage, m.shape, m.strides, 0, m.dtype, a)
        except BaseException as error:
            if account is not None:
                account.give(m.nbytes)
            if stated(error):
                raise
            raise misfit(op, inputs, attrs) from error

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Run the kernel and copy its result over `target`."""
        if state.ledger is not None:
            # The result is computed beside the target.
            spend(op.name, meta.room, meta.room + meta.nbytes)
        metas = (meta,)
        given = [self._argument(op, at, x, meta.compute) for at, x in enumerate(inputs)]
        all_ = self._attributes(op, metas, attrs)
        try:
            quietly(self._store, target, quiet_copy().run(self.kernels[op], self.xp, *given, **all_))
        except Exception as error:
            if stated(error):
                raise
            raise misfit(op, inputs, attrs) from error

    def _store(self, target: Tensor, a: Any) -> None:
        target.array[...] = self.cast(a, target.dtype)

    def _attributes(self, op: Op, metas: Sequence[Meta], attrs: dict[str, Any]) -> dict[str, Any]:
        """The parameters that a kernel gets: those of the op, and what it declares that it needs."""
        if op.random:
            attrs = {**attrs, "key": state.generator.next() if state.generator else (0, 0)}
        if op.needs_meta:
            attrs = {**attrs, "meta": metas[0]}
        return attrs

    def is_given(self, op: Op, at: int) -> bool:
        """Whether a kernel gets an input as it is: what it writes to, and 16-bit numbers that it takes."""
        return op.written[at] or op.name in self._table.narrow

    def _argument(self, op: Op, at: int, x: Any, compute: DType | None) -> Any:
        """What the kernel of an op gets of an input, or of an element of it."""
        given = self.is_given(op, at)
        if isinstance(x, Tensor):
            return x.array if given else self.argument(x.array, x.dtype, compute)
        if isinstance(x, (list, tuple)):
            return [self._argument(op, at, e, compute) for e in x]
        return x if given else self.number(x, compute)

    def argument(self, a: Any, dtype: DType, compute: DType | None) -> Any:
        """An array of `dtype` for a kernel computing in `compute` (None: as it is; 16 bits as float32)."""
        if compute is None:
            return a.astype(np.float32) if dtype.is_half else a
        if compute.is_half:
            return a.astype(np.float32)
        return a if dtype is compute else self.cast(a, compute)

    def needs_cast(self, dtype: DType, compute: DType | None) -> bool:
        """Whether `argument` makes another array."""
        return dtype.is_half if compute is None else compute.is_half or dtype is not compute

    def number(self, x: Any, compute: DType | None) -> Any:
        """Anything but a tensor for a kernel: numbers in the dtype it computes in, all else as it is."""
        if compute is not None and isinstance(x, (bool, int, float, complex)):
            return self.scalar(x, float32 if compute.is_half else compute)
        return x

    def scalar(self, value: Any, dtype: DType) -> Any:
        """A Python number as a 0-d value of `dtype`; integers wrap, as in PyTorch."""
        if isinstance(value, complex) and BOOL < dtype.category < 3:
            value = value.real
        if dtype.category > INT:
            return dtype.np.type(value)
        if dtype.category == INT:
            return np.array(int(value) & 0xFFFFFFFFFFFFFFFF, np.uint64).astype(dtype.np)[()]
        if dtype.category == BOOL:
            return np.bool_(value)
        return dtype.np.type(value)

    def cast(self, a: Any, dtype: DType) -> Any:
        """An array in another dtype: the real part of complex numbers, bool as not equal to zero."""
        if a.dtype == dtype.np:
            return a
        if dtype.category == BOOL:
            return a != 0
        if dtype.category < 3 and a.dtype.kind == "c":
            a = a.real
        return a.astype(dtype.np)

    def _is_lawful(self, a: Any, meta: Meta, given: Sequence[Any]) -> bool:
        """Whether `lawful` has nothing to do, as with most kernels: an array of its own, row-major as due."""
        if (
            type(a) is self._ndarray
            and a.base is None
            and a.dtype is meta.dtype.np
            and a.shape == meta.shape
            and meta.contiguous
            and a.flags.c_contiguous
        ):
            for x in given:  # noqa: SIM110 - a generator would cost more than the kernel of a small tensor
                if x is a:
                    return False
            return True
        return False

    def lawful(self, a: Any, meta: Meta, given: Sequence[Any]) -> Any:
        """A kernel's result with the dtype and strides that `infer` gave, in memory of its own."""
        xp = self.xp
        if type(a) is not xp.ndarray:
            a = xp.asarray(a)
        if a.dtype != meta.dtype.np:
            a = self.cast(a, meta.dtype)
        if a.shape != meta.shape:
            raise NotAsInferred(f"a kernel returned shape {a.shape} where infer says {tuple(meta.shape)}")
        if a.base is None:
            owned = all(x is not a for x in given)
        else:
            # A small part of something large would keep all of it, and the account would not know.
            owned = _size(a) <= a.nbytes + _SLACK and not any(np.may_share_memory(a, x) for x in given)
        if not owned or not self._has_strides(a, meta):
            target = self.allocate(meta)
            target[...] = a
            a = target
        return a

    @staticmethod
    def _has_strides(a: Any, meta: Meta) -> bool:
        if a.flags.c_contiguous and meta.contiguous:
            return True
        item = meta.dtype.itemsize
        return all(
            n == 1 or s == t * item for n, s, t in zip(meta.shape, a.strides, meta.strides, strict=True)
        ) and (a.size > 0)

    def allocate(self, meta: Meta) -> Any:
        """An array of that geometry; contents undefined."""
        if meta.contiguous:
            return self.xp.empty(meta.shape, meta.dtype.np)
        if not is_dense(meta.shape, meta.strides):
            # what lies between its elements can be read through as_strided
            item = meta.dtype.itemsize
            flat = self.xp.zeros(reach(meta.shape, meta.strides), meta.dtype.np)
            steps = [s * item for s in meta.strides]
            return self.xp.lib.stride_tricks.as_strided(flat, meta.shape, steps)
        order = sorted(range(len(meta.shape)), key=lambda i: (-meta.strides[i], -meta.shape[i]))
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return self.xp.empty([meta.shape[i] for i in order], meta.dtype.np).transpose(inverse)

    # -- tensors -----------------------------------------------------------------------------------

    def empty(self, meta: Meta) -> Tensor:
        """A tensor with memory of its own."""
        account = state.account
        if account is not None:
            account.take(meta.nbytes)
        a = self.allocate(meta)
        return Tensor._made(
            self, Storage(a, meta.nbytes, account), meta.shape, meta.strides, 0, meta.dtype, a
        )

    def from_array(self, array: Any, dtype: DType | None = None) -> Tensor:
        """Take over `array` (made dense if it is not)."""
        dtype = dtype or from_numpy(array.dtype)
        array = self.xp.asarray(array, dtype=dtype.np, order="C")
        if account := state.account:
            account.take(array.nbytes)
        meta = Meta(tuple(array.shape), dtype)
        return Tensor._made(
            self, Storage(array, array.nbytes, account), meta.shape, meta.strides, 0, dtype, array
        )

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Copy elements; both have one shape and dtype."""
        target.array[...] = self.xp.conjugate(source.array) if source._conj else source.array

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """A tensor over the same memory."""
        assert of._storage is not None
        a = self.strided(of._storage.flat, meta)
        return Tensor._made(self, of._storage, meta.shape, meta.strides, meta.offset, meta.dtype, a, of._vc)

    def to_numpy(self, t: Tensor) -> Any:
        """The values as of now, as a C-ordered NumPy array that shares nothing."""
        a = np.array(t.array, order="C")
        return np.conjugate(a) if t._conj else a

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat` with the geometry of `meta`."""
        raise NotImplementedError(f"{type(self).__name__} does not make strided views")


def _size(a: Any) -> int:
    """Bytes of the memory that an array lies in."""
    while getattr(a, "base", None) is not None:
        a = a.base
    found: int = a.nbytes
    return found


def _tensors(inputs: Any) -> Any:
    for x in inputs:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)


class NumpyBackend(ArrayBackend):
    """Kernels and memory by NumPy."""

    def __init__(self) -> None:
        super().__init__(np, "cpu")

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat`; reinterprets its bytes where the dtype differs (real and imaginary views)."""
        if 0 in meta.shape:
            # No element, no address: NumPy would look for the place of the first one all the same.
            return np.empty(meta.shape, meta.dtype.np)
        item = meta.dtype.itemsize
        steps = [s * item for s in meta.strides]
        return np.ndarray(meta.shape, meta.dtype.np, flat, meta.offset * item, steps)


NUMPY = NumpyBackend()
