"""Saved tensors that may be changed in place: they are copied just before.

Source: https://pytorch.org/docs/stable/generated/torch.autograd.graph.allow_mutation_on_saved_tensors.html
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..data import ambient
from ..declare import flat_tensors, written
from ..schema import named
from .saved_hooks import Packing, saved_tensors_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..schema import Op
    from ..tensor import Tensor


class _Handle:
    """What nodes keep instead of a saved tensor."""

    __slots__ = ("__weakref__",)


class Saves:
    """What was saved within one context, and which of it has been copied since."""

    #: such a context is open
    entered: ClassVar[bool] = False

    def __init__(self) -> None:
        self.original: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        #: by memory, place in it and version: a tensor that is saved twice has one handle
        self.tid_to_weakhandle: WeakValueDictionary[tuple[Any, ...], _Handle] = WeakValueDictionary()
        #: by memory
        self.sid_to_tid: dict[int, set[tuple[Any, ...]]] = {}

    def pack(self, t: Tensor) -> _Handle:
        """A handle for `t` as it is."""
        memory = id(t._storage)
        tid = (memory, t.offset, t.shape, t.strides, t.dtype, t._conj, t._vc.n)
        self.sid_to_tid.setdefault(memory, set()).add(tid)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle()
            self.original[handle] = t
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """What was saved; AssertionError once the context has ended."""
        found = self.cloned.get(handle)
        found = self.original.get(handle) if found is None else found
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the "
                "graph was originally recorded."
            )
        return found

    def about_to_change(self, t: Tensor) -> None:
        """Copy what is saved of the memory of `t`."""
        tids = self.sid_to_tid.pop(id(t._storage), ())
        for tid in tids:
            # A later tensor may reuse the memory, and is not what was saved.
            handle = self.tid_to_weakhandle.pop(tid, None)
            if handle is not None and handle in self.original:
                with ambient(grad=False, watcher=None, packing=None):
                    self.cloned[handle] = named.clone(self.original.pop(handle))

    def clear(self) -> None:
        """The context ends."""
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()


class _Mutation(Packing):
    """Copies saved tensors before an operation of the thread writes to them."""

    def __init__(self, saves: Saves) -> None:
        super().__init__()
        self._saves = saves

    def begin(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """An operation is about to run."""
        super().begin(op, inputs)
        changed = flat_tensors(inputs[:1]) if op.base is not None else written(op, inputs)
        for t in changed:
            self._saves.about_to_change(t)

    def inside(self) -> _Mutation:
        """What a Function writes to may have been saved before."""
        return self


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Saves]:
    """Context in which tensors saved for backward may be changed in place: backward, within the same
    context, uses what they held when they were saved (torch.autograd.graph.allow_mutation_on_saved_tensors).
    Only what is changed is copied.

    RuntimeError where one such context is within another.
    """
    if Saves.entered:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    saves = Saves()
    with saved_tensors_hooks(saves.pack, saves.unpack), ambient(watcher=_Mutation(saves)):
        Saves.entered = True
        try:
            yield saves
        finally:
            saves.clear()
            Saves.entered = False
