"""What NumPy and CuPy have in common: dense arrays over storages, kernels from an op's `impl`.

`infer` is law: whatever layout a kernel returns, the tensor handed out has the strides that `infer` gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import BOOL, INT, DType, float32, from_numpy
from ..layout import Meta, is_contiguous, numel
from ..state import state
from ..tensor import Storage, Tensor
from . import Device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..op import Op
    from . import Listener


class ArrayBackend:
    """Eager kernels over the array namespace ``xp``."""

    is_meta = False
    tensor_class = Tensor
    listener: Listener | None = None

    def __init__(self, xp: Any, device: str) -> None:
        self.xp = xp
        self.device = Device(device)

    # -- kernels -----------------------------------------------------------------------------------

    def infer(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What `op` says of its outputs."""
        assert op.infer is not None
        return op.infer(*inputs, **attrs)

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Run the kernel, then give each result the layout that `infer` promised."""
        account = state.account
        if account is not None:
            for m in metas:
                account.take(numel(m.shape) * m.dtype.itemsize)
        done = 0
        try:
            out = self._call(op, metas, inputs, attrs)
            tensors = []
            for m, a in zip(metas, out, strict=True):
                tensors.append(self._lawful(a, m, inputs, account))
                done += 1
            return tensors
        except BaseException:
            if account is not None:
                for m in metas[done:]:
                    account.give(numel(m.shape) * m.dtype.itemsize)
            raise

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Run the kernel and copy its result over `target`."""
        (out,) = self._call(op, (meta,), inputs, attrs)
        with np.errstate(all="ignore"):
            target.array[...] = self.cast(out, target.dtype)

    def _call(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> Sequence[Any]:
        compute = metas[0].compute if metas else None
        arrays = []
        for x, written in zip(inputs, op.written, strict=True):
            if isinstance(x, Tensor) and x.dtype is compute and not compute.is_half:
                arrays.append(x.array)
            else:
                arrays.append(_raw(x) if written else self._argument(x, compute))
        if op.random:
            attrs = {**attrs, "key": state.generator.next() if state.generator else (0, 0)}
        if op.needs_meta:
            attrs = {**attrs, "meta": metas[0]}
        if state.quiet:
            out = op.impl(self.xp, *arrays, **attrs)
        else:
            with np.errstate(all="ignore"):
                out = op.impl(self.xp, *arrays, **attrs)
        return out if op.many else (out,)

    def _argument(self, x: Any, compute: DType | None) -> Any:
        if isinstance(x, Tensor):
            return self.argument(x.array, x.dtype, compute)
        if isinstance(x, (list, tuple)):
            return [self._argument(e, compute) for e in x]
        return self.number(x, compute)

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
        if dtype.category < 3 and a.dtype.kind == "c":
            a = a.real
        if dtype.category == BOOL:
            return a != 0
        return a.astype(dtype.np)

    def _lawful(self, a: Any, meta: Meta, inputs: tuple[Any, ...], account: Any) -> Tensor:
        a = self.lawful(a, meta, [x.array for x in _tensors(inputs)])
        storage = Storage(a, a.nbytes, account)
        return Tensor(self, storage, meta.shape, meta.strides, 0, meta.dtype, a)

    def lawful(self, a: Any, meta: Meta, given: Sequence[Any]) -> Any:
        """A kernel's result with the dtype and strides that `infer` gave, in memory of its own."""
        xp = self.xp
        if type(a) is not xp.ndarray:
            a = xp.asarray(a)
        if a.dtype != meta.dtype.np:
            a = self.cast(a, meta.dtype)
        if a.shape != meta.shape:
            raise AssertionError(f"a kernel returned shape {a.shape} where infer says {meta.shape}")
        if a.base is None:
            owned = all(x is not a for x in given)
        else:
            owned = not any(np.may_share_memory(a, x) for x in given)
        if not owned or not self._has_strides(a, meta):
            target = self.allocate(meta)
            target[...] = a
            a = target
        return a

    @staticmethod
    def _has_strides(a: Any, meta: Meta) -> bool:
        if a.flags.c_contiguous and is_contiguous(meta.shape, meta.strides):
            return True
        item = meta.dtype.itemsize
        return all(
            n == 1 or s == t * item for n, s, t in zip(meta.shape, a.strides, meta.strides, strict=True)
        ) and (a.size > 0)

    def allocate(self, meta: Meta) -> Any:
        """An array of that geometry; contents undefined."""
        if is_contiguous(meta.shape, meta.strides):
            return self.xp.empty(meta.shape, meta.dtype.np)
        order = sorted(range(len(meta.shape)), key=lambda i: (-meta.strides[i], -meta.shape[i]))
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return self.xp.empty([meta.shape[i] for i in order], meta.dtype.np).transpose(inverse)

    # -- tensors -----------------------------------------------------------------------------------

    def empty(self, meta: Meta) -> Tensor:
        """A tensor with memory of its own."""
        account = state.account
        nbytes = numel(meta.shape) * meta.dtype.itemsize
        if account is not None:
            account.take(nbytes)
        a = self.allocate(meta)
        return Tensor(self, Storage(a, nbytes, account), meta.shape, meta.strides, 0, meta.dtype, a)

    def from_array(self, array: Any, dtype: DType | None = None) -> Tensor:
        """Take over `array` (made dense if it is not)."""
        dtype = dtype or from_numpy(array.dtype)
        array = self.xp.asarray(array, dtype=dtype.np, order="C")
        if account := state.account:
            account.take(array.nbytes)
        meta = Meta(tuple(array.shape), dtype)
        return Tensor(self, Storage(array, array.nbytes, account), meta.shape, meta.strides, 0, dtype, array)

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Copy elements; both have one shape and dtype."""
        target.array[...] = source.array

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """A tensor over the same memory."""
        assert of.storage is not None
        a = self.strided(of.storage.flat, meta)
        return Tensor(self, of.storage, meta.shape, meta.strides, meta.offset, meta.dtype, a, of._vc)

    def to_numpy(self, t: Tensor) -> Any:
        """The values as of now, as a C-ordered NumPy array that shares nothing."""
        return np.array(t.array, order="C")

    def strided(self, flat: Any, meta: Meta) -> Any:
        """An array over `flat` with the geometry of `meta`."""
        raise NotImplementedError(f"{type(self).__name__} does not make strided views")


def _raw(x: Any) -> Any:
    """The memory itself of what a kernel writes to, never a converted copy."""
    return [_raw(e) for e in x] if isinstance(x, (list, tuple)) else x.array if isinstance(x, Tensor) else x


def _tensors(inputs: Any) -> Any:
    for x in inputs:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _tensors(x)
