"""A level of `vmap` as a backend: its tensors show one sample and hold the whole batch.

A tensor of a level has the *logical* geometry of a sample; its ``array`` is the *physical* tensor below (of
an array, a session or another level), with the batch as dimension 0. If the physical tensor has no more
dimensions than the logical one, it is the same for every sample. Ops infer on logical geometry, so shape
errors are PyTorch's, and run on physical tensors through dispatch, so the backend below sees plain ops and
may track gradients of its own. Strides and offsets are those of the first sample in the physical storage.

Source: https://pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..data import REROUTED, Meta, Size, ambient, state
from ..graph import infer
from ..schema import Pass, named
from ..tensor import Backend, Listener, Tensor, VersionCounter
from .mapped_call import MappedCall
from .randomness import randomly
from .refused import BACKWARD, REQUIRES
from .restride import restride
from .rules import apply_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..schema import InferCache, Op

_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
    "`gen_vmap_plumbing` Please file an issue if it looks like the latter"
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
    "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere "
    "inside PyTorch internals, please file a bug report."
)
_BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
    "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_UNBATCHED = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
    "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
    "vmapped over in a vmap. Please try to use out-of-place operators instead of {0}. If said operator is "
    "being called inside the PyTorch framework, please file a bug report instead."
)
_MASKED = (
    "vmap: Attempted to vmap over `{mask}` in torch.{op}(self, {mask}) We cannot support this because "
    "for each batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)
_BY_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
    "indexing with a boolean mask."
)


class Batched(Tensor):
    """What a level's tensors have beyond a tensor's methods; `class_over` adds those users see."""

    grad = Tensor.grad
    #: of a tensor made by an op without tensor inputs: its views
    views_made: list[weakref.ref[Any]] | None = None

    @property
    def data(self) -> Any:
        """Raise RuntimeError: `.data` is not allowed within vmap."""
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    @data.setter
    def data(self, value: Any) -> None:
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")

    @property
    def mapped(self) -> bool:
        """Whether samples differ: the physical tensor has a batch dimension 0."""
        return len(self.array.shape) > len(self.shape)

    def _only(self) -> Any:
        level: Any = self.backend
        return level.only(self)

    def _below(self) -> ambient:
        level: Any = self.backend
        return level.beneath()  # type: ignore[no-any-return]

    def item(self) -> Any:
        """Raise RuntimeError if samples differ (torch.Tensor.item within vmap)."""
        with self._below():
            return self._only().item()

    def _values(self) -> Any:
        if self.mapped:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        with self._below():
            return self.array._values()

    def numpy(self, *, force: bool = False) -> Any:
        """Raise RuntimeError if samples differ."""
        self._values()
        with self._below():
            return self.array.numpy(force=force)

    def tolist(self) -> Any:
        """Raise RuntimeError if samples differ."""
        self._values()
        with self._below():
            return self.array.tolist()

    def __bool__(self) -> bool:
        if self.mapped:
            raise RuntimeError(_BRANCH)
        with self._below():
            return bool(self.array)

    def __contains__(self, element: Any) -> bool:
        found: Any = self == element
        return bool(found.any().item())

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Raise RuntimeError: transforms decide what is differentiated."""
        raise RuntimeError(REQUIRES)

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Raise RuntimeError: transforms decide what is differentiated."""
        raise RuntimeError(BACKWARD)

    def __repr__(self) -> str:
        level: Any = self.backend
        with level.beneath():
            body = repr(self.array).replace("\n", "\n    ")
        if not self.mapped:
            return f"GradTrackingTensor(lvl={level.level}, value=\n    {body}\n)"
        return f"BatchedTensor(lvl={level.level}, bdim=0, value=\n    {body}\n)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self) if self.shape else format(self.item(), spec)


_classes: dict[type[Tensor], type[Any]] = {Tensor: Batched}


def class_over(root: type[Tensor]) -> type[Any]:
    """The class of a level's tensors, with the methods of the user-facing class."""
    found = _classes.get(root)
    if found is None:
        found = _classes[root] = type("BatchedTensor", (Batched, root), {"__module__": __name__})
    return found


class BatchedBackend:
    """A level: ``size`` samples over the tensors of ``below``; ``randomness`` is "error", "same" or
    "different".
    """

    listener: Listener | None = None
    eager = False

    def __init__(
        self, below: Backend, size: int, randomness: str = "error", outer: tuple[BatchedBackend, ...] = ()
    ) -> None:
        REROUTED[:] = [True]
        self.below = below
        #: the thread's levels when this one began
        self.outer = outer
        self.size = size
        #: whether the mapped function is still running
        self.open = True
        #: for "same": the draws so far, if the levels of several chunks share them; `drawn` is how many this
        #: one used
        self.draws: list[Any] | None = None
        self.drawn = 0
        self.randomness = randomness
        self.level: int = below.level + 1
        self.device = below.device
        self.root: Backend = getattr(below, "root", below)
        self.is_meta: bool = self.root.is_meta
        self.tensor_class = class_over(self.root.tensor_class)
        self.made: Callable[..., Any] = self.tensor_class._made

    @property
    def session(self) -> Any:
        """The session that computes everything, for clients."""
        return self.root.session  # type: ignore[attr-defined]

    def beneath(self) -> ambient:
        """A context that computes on physical tensors."""
        return ambient(backend=self.below, vmaps=self.outer)

    # -- in and out --------------------------------------------------------------------------------

    def wrap(self, physical: Any, version: VersionCounter | None = None) -> Any:
        """One tensor whose samples are along dimension 0 of `physical`."""
        return self._over(physical, Size(physical.shape[1:]), tuple(physical.strides[1:]), version)

    def lift(self, t: Any) -> Any:
        """`t` as a tensor of this level, without history here; the same for every sample."""
        return self._over(t, t.shape, t.strides, t._vc)

    def _over(
        self, physical: Any, shape: Any, strides: tuple[int, ...], version: VersionCounter | None
    ) -> Any:
        if physical.backend.level >= self.level:
            raise RuntimeError(_ESCAPED)
        conjugate = physical._conj
        if conjugate:
            # The level's tensor gets the flag, and its physical tensor the values in memory.
            with self.beneath():
                physical = named.conj(physical)
        out = self.made(
            self, physical._storage, shape, strides, physical.offset, physical.dtype, physical, version
        )
        if conjugate:
            out._conj = True
        return out

    def front(self, t: Tensor) -> Any:
        """The physical tensor with the batch as dimension 0, expanded if samples do not differ."""
        if t.backend is not self:
            t = self.lift(t)
        with self.beneath():
            p = t.array if t.mapped else named.expand(t.array, [self.size, *t.shape])  # type: ignore[attr-defined]
            return named.conj(p) if t._conj else p

    def only(self, t: Any) -> Any:
        """The value that all samples share; PyTorch's RuntimeError for ``item()`` if they differ."""
        if t.mapped:
            raise RuntimeError(ITEM)
        with self.beneath():
            return named.conj(t.array) if t._conj else t.array

    def lifted(self, op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of `op` as tensors of this level; RuntimeError if a shape depends on samples' values."""
        found = tuple(self._lifted(x) for x in inputs)
        if op.effects.backward_pass is Pass.BACKWARD:
            raise RuntimeError(BACKWARD)
        mask = op.effects.shaped_by
        if mask and found[op.slot_of[mask]].mapped:
            raise RuntimeError(_MASKED.format(mask=mask, op=op.name))
        return found

    def check_mask(self, t: Any) -> None:
        """Raise RuntimeError if an index mask differs by sample, as shapes would too."""
        if t.mapped:
            raise RuntimeError(_BY_MASK)

    def _lifted(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return x if x.backend is self else self.lift(x)
        if type(x) is list or type(x) is tuple:
            return [self._lifted(e) for e in x]
        return x

    # -- the interface of backends -----------------------------------------------------------------

    infer = staticmethod(infer)

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Run `op` on physical tensors, by its rule if samples differ."""
        call = MappedCall(self, op, tuple(metas), inputs, attrs)
        if not self.open:
            return self._after(call)
        inside = state.backend is self
        with self.beneath():
            if op.random:
                return randomly(call)
            if call.mapped:
                return [self.wrap(call.fitted(p, m)) for p, m in zip(apply_rule(call), metas, strict=True)]
            found = [self.lift(t) for t in call.outputs(call.below(call.physical(inputs)))]
            if inside and not call.tensors:
                for t in found:
                    t.views_made = []
            return found

    def _after(self, call: MappedCall) -> list[Tensor]:
        """`run` after the level has closed; RuntimeError if samples differ."""
        if call.mapped:
            raise RuntimeError(_ESCAPED)
        return call.outputs(call.op.run(tuple(call.physical(call.inputs)), call.attrs))

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """`run` for one output."""
        return self.run(op, (known.meta,), inputs, attrs)[0]

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Store the result in the physical tensor; RuntimeError if samples would differ in a tensor they
        share.
        """
        call = MappedCall(self, op, (meta,), inputs, attrs)
        t: Any = target
        if not self.open and (call.mapped or t.mapped):
            raise RuntimeError(_ESCAPED)
        if not t.mapped and (call.mapped or op.random):
            self._part(t)
        if op.random and self.randomness == "different" and not t.mapped:
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
                "like same randomness. If this is necessary for your usage, please file an issue with "
                "functorch."
            )
        if call.mapped and not t.mapped:
            if not op.effects.shared_write:
                raise RuntimeError(
                    f"output with shape {list(t.shape)} doesn't match the broadcast shape "
                    f"{[self.size, *meta.shape]}"
                )
            raise RuntimeError(_UNBATCHED.format(op.effects.shared_write))
        with self.beneath():
            if op.effects.copies:
                source = call.padded(inputs[1], t.ndim)
            else:
                source = self.run(op, (meta,), inputs, attrs)[0]
                source = source.array if source.backend is self else source
            named.copy_(t.array, source)

    def _part(self, t: Any) -> None:
        """Give each sample its own memory in a tensor that an op made here, so that samples can write
        different values. Tensors from outside the level are not changed.
        """
        base: Any = t if t._base is None else t._base
        if not isinstance(base, Batched) or base.views_made is None:
            return
        begin = base.offset
        with self.beneath():
            whole: Any = named.to_layout(self.front(base), [max(base.numel(), 1), *base.strides])
            for x in (base, *(ref() for ref in base.views_made)):
                if x is None:
                    continue
                shape, strides = (self.size, *x.shape), (whole.strides[0], *x.strides)
                p = restride(whole, shape, strides, whole.offset + x.offset - begin)
                x.array, x._storage, x.offset = p, p._storage, p.offset

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Copy elements; both have the same shape and dtype."""
        with self.beneath(), ambient(grad=False):
            named.copy_(target.array, self.front(source))

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """The same view of every sample, by whichever op gives the physical tensor that geometry."""
        p, shape, strides = of.array, tuple(meta.shape), tuple(meta.strides)
        if not self.open and of.mapped:  # type: ignore[attr-defined]
            raise RuntimeError(_ESCAPED)
        with self.beneath():
            if meta.dtype is not of.dtype:
                if len(shape) == of.ndim:
                    p = named.view_dtype(p, meta.dtype)
                else:
                    p = named.real_parts(p) if of.dtype.is_complex else named.complex_pairs(p)
            if of.mapped:  # type: ignore[attr-defined]
                shape, strides = (self.size, *shape), (p.strides[0], *strides)
            made = restride(p, shape, strides, meta.offset)
        out = self._over(made, meta.shape, tuple(meta.strides), of._vc)
        base: Any = of if of._base is None else of._base
        if isinstance(base, Batched) and base.views_made is not None:
            base.views_made.append(weakref.ref(out))
        return out  # type: ignore[no-any-return]

    def empty(self, meta: Meta) -> Tensor:
        """A tensor whose samples may differ."""
        with self.beneath():
            return self.wrap(named.empty([self.size, *meta.shape], dtype=meta.dtype))  # type: ignore[no-any-return]

    def from_array(self, array: Any, dtype: Any = None) -> Tensor:
        """A tensor of the backend below, the same for every sample."""
        return self.below.from_array(array, dtype)

    def to_numpy(self, t: Tensor) -> Any:
        """Raise RuntimeError if samples differ."""
        return self.below.to_numpy(self.only(t))
