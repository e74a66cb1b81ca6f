"""The node of an `autograd.Function`, which is its ``ctx``: what it keeps, and how its backward is run and
checked.

Messages and order of checks as PyTorch's (https://pytorch.org/docs/stable/notes/extending.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .dispatch import flat_tensors
from .fitting import cast_gradient
from .nodes import BODY, Node, edge_of, next_priority
from .op import op
from .registry import named
from .saved import FREED, Packed, Saved, TensorMeta, check_saved
from .state import ambient, state
from .tensor import Tensor
from .views import CUSTOM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .nodes import Geometry


class CustomNode(Node):
    """A node whose body is Python in some process: that of a `BackwardNode`, or of another client."""

    def __init__(self, name: str = "") -> None:
        self.priority = next_priority()
        self._label = name
        self.metas: dict[int, TensorMeta] = {}
        #: outputs that are kept for backward: here, since they share the node's history
        self.outputs: list[Saved] | None = []
        #: per tensor argument of the forward, what it was like
        self.arguments: list[Geometry] = []

    def name(self) -> str:
        """``<Class>Backward``."""
        return self._label

    def _slot(self, slot: int) -> Any:
        """Of what the argument was."""
        return self.arguments[slot]

    def waits(self, at: str) -> bool:
        """The body is a callable of the user."""
        return False if at == BODY else super().waits(at)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """RuntimeError: nobody here has the body."""
        raise RuntimeError(f"the backward of {self._label} runs in the process that made it")

    def verify(self) -> None:
        """Freed, versions of kept outputs."""
        if self.outputs is None:
            raise RuntimeError(FREED)
        for entry in self.outputs:
            entry.check(self)

    def release(self) -> None:
        """Let go of kept outputs."""
        if self.outputs:
            self.outputs = None

    def kept(self) -> Sequence[Tensor]:
        """The outputs that backward asked for, with their history."""
        if self.outputs is None:
            raise RuntimeError(FREED)
        return [entry.unpack(self) for entry in self.outputs]


class BackwardNode(CustomNode):
    """The ``ctx`` of a Function (torch.autograd.function.FunctionCtx), and the node of what it computed."""

    forward_cls: ClassVar[Any] = None

    def __init__(self) -> None:
        super().__init__(type(self).__name__)
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._materialize = True
        self.saved_for_forward: tuple[Any, ...] | None = None
        self._pushing = False
        self._saved: list[Any] | None = []
        self._kept: Sequence[Tensor] | None = None
        #: per argument: its place among the edges, None for what is no tensor
        self._places: list[int | None] = []
        self._inputs: list[TensorMeta] = []
        Node.callables = True

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self._label} object at {id(self):#x}>"

    # -- what forward says ---------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward: they are freed with the graph, and their versions are
        checked.
        """
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp, which runs at once."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Inputs that forward changed in place; they must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs that need no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients of outputs come as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept (within jvp, `save_for_forward`); RuntimeError once it was freed, or
        where it was changed in place.
        """
        if self._pushing and self.saved_for_forward is not None:
            return self.saved_for_forward
        if self._saved is None:
            raise RuntimeError(FREED)
        return tuple(self._open(entry) for entry in self._saved)

    def _open(self, entry: Any) -> Any:
        if isinstance(entry, Packed):
            entry.found = entry.open()
            return entry.dressed()
        if isinstance(entry, int):
            if self._kept is not None:
                return self._kept[entry]
            if self.outputs is None:
                raise RuntimeError(FREED)
            return self.outputs[entry].source() or self.outputs[entry].unpack(self)
        check_saved(entry, self)
        return None if entry is None else entry.tensor

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{self._label}' object has no attribute '{name}'")

    # -- the forward ---------------------------------------------------------------------------------

    def begin(self, given: tuple[Any, ...]) -> None:
        """Take in the arguments."""
        at = 0
        for a in given:
            self._places.append(at if isinstance(a, Tensor) else None)
            at += isinstance(a, Tensor)
        self.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in given)

    def end(self, outputs: list[Any], inputs: list[Tensor], recorded: bool) -> None:
        """Give the outputs (changed in place) their history, and keep what is to be kept."""
        for t in self._dirty:
            if not any(t is o for o in outputs):
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as output. "
                    "The inputs that are modified inplace must all be outputs of the Function."
                )
        for i, o in enumerate(outputs):
            if isinstance(o, Tensor) and any(o is x for x in inputs) and not any(o is d for d in self._dirty):
                with ambient(grad=False):
                    marked = any(o is c for c in self._constant)
                    alone = o.requires_grad and (marked or not recorded)
                    outputs[i] = named.detach(o) if alone else named.view(o, list(o.shape))
                if marked:
                    self._constant += (outputs[i],)
        if recorded:
            self._attach(outputs, inputs)
        self._keep(outputs, recorded)

    def _attach(self, outputs: list[Any], inputs: list[Tensor]) -> None:
        self._inputs = [TensorMeta(x) for x in inputs]
        numbers = [
            i
            for i, o in enumerate(outputs)
            if isinstance(o, Tensor) and o.dtype.category > 1 and not any(o is c for c in self._constant)
        ]
        tracked = [outputs[i] for i in numbers]
        dirty = [k for k, o in enumerate(tracked) if any(o is d for d in self._dirty)]
        kept = [
            k for k, o in enumerate(tracked) if state.packing is None and any(o is t for t in self._to_save)
        ]
        with ambient(function=self):
            set_history(
                tracked, inputs, name=self._label, numbers=numbers, width=len(outputs), dirty=dirty, kept=kept
            )
        for nr, o in enumerate(outputs):
            if isinstance(o, Tensor):
                self.metas[nr] = TensorMeta(o)

    def _keep(self, outputs: list[Any], recorded: bool) -> None:
        assert self._saved is not None
        known: list[Any] = [e.source() for e in self.outputs or ()]
        for i, t in enumerate(self._to_save):
            if t is None:
                self._saved.append(None)
            elif not isinstance(t, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{i} is of type {type(t).__name__}"
                )
            elif recorded:
                at = next((k for k, o in enumerate(known) if o is t), None)
                self._saved.append(self._entry(t, outputs) if at is None else at)
        self._to_save = ()

    def _entry(self, t: Tensor, outputs: list[Any]) -> Any:
        nr = next((i for i, o in enumerate(outputs) if o is t and t._fn is self), None)
        if state.packing is None:
            return Saved(t, False)
        entry = Packed(Saved(t, nr is not None, nr or 0), self)
        pack, entry.unpack = state.packing
        with ambient(grad=False, watcher=None, packing=None):
            entry.box = pack(t)
        return entry

    # -- the backward --------------------------------------------------------------------------------

    def waits(self, at: str) -> bool:
        """The body is a callable of the user."""
        return at == BODY or super().waits(at)

    def release(self) -> None:
        """Let go of what was saved."""
        if self._saved:
            self._saved = None
        super().release()

    def body(self, values: list[Any]) -> list[Any]:
        """Run backward on the gradients (and kept outputs) in `values`; one gradient for each tensor
        argument.
        """
        grads, self._kept = values[: self.width], values[self.width :]
        cls = self.forward_cls
        run = cls.vjp if cls.vjp is not _default_vjp(cls) else cls.backward
        try:
            found = run(self, *[self._materialized(nr, g) for nr, g in enumerate(grads)])
        finally:
            self._kept = None
        return self._checked(list(found) if isinstance(found, tuple) else [found])

    def _materialized(self, nr: int, g: Tensor | None) -> Any:
        meta = self.metas.get(nr)
        if g is not None or not self._materialize or meta is None:
            return g
        with ambient(backend=self.backend):
            return named.zeros(list(meta.shape), dtype=meta.dtype)

    def _checked(self, found: list[Any]) -> list[Any]:
        count = len(self._places)
        while len(found) > count and found[-1] is None:
            found.pop()
        if len(found) != count:
            raise RuntimeError(
                f"function {self._label} returned an incorrect number of gradients (expected "
                f"{count}, got {len(found)})"
            )
        out: list[Any] = [None] * len(self.edges)
        for i, (g, place) in enumerate(zip(found, self._places, strict=True)):
            if place is None:
                if g is not None:
                    raise RuntimeError(
                        f"function {self._label} returned a gradient different than None at position "
                        f"{i + 1}, but the corresponding forward input was not a Variable"
                    )
            elif g is not None:
                if not isinstance(g, Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
                # Where nothing takes a gradient it goes no further than to posthooks, unchecked
                out[place] = g if self.edges[place] is None else self._fitted(g, self._inputs[place], i)
        return out

    def _fitted(self, g: Tensor, meta: TensorMeta, at: int) -> Tensor:
        if tuple(g.shape) != tuple(meta.shape):
            if not _expandable(tuple(meta.shape), tuple(g.shape)):
                raise RuntimeError(
                    f"Function {self._label} returned an invalid gradient at index {at} - got "
                    f"{list(g.shape)} but expected shape compatible with {list(meta.shape)}"
                )
            g = named.sum_to_size(g, list(meta.shape))
        return cast_gradient(g, meta.dtype)


def _default_vjp(cls: Any) -> Any:
    """What `vjp` is where no subclass wrote one."""
    return cls.__mro__[-2].vjp


def _expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`."""
    return len(shape) <= len(to) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(to), strict=False)
    )


class DirtySlices(Node):
    """The history of a tensor of which a Function changed a view: CopySlices with a body of the user.

    `at`: which input of `fn` the view was.
    """

    _name = "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, fn: CustomNode, at: int) -> None:
        super().__init__()
        self.fn, self.at = fn, at
        self.backend = base.backend
        self._base, self._view = TensorMeta(base), TensorMeta(view)
        self.edges = (edge_of(base), *[e for i, e in enumerate(fn.edges) if i != at])

    def _slot(self, slot: int) -> Any:
        """Of the base, then of the Function's other inputs."""
        if slot == 0:
            return self._base.shape, self._base.dtype
        return self.fn._slot(slot - 1 if slot <= self.at else slot)

    def waits(self, at: str) -> bool:
        """Its body is that of the Function."""
        return self.fn.waits(at) if at == BODY else super().waits(at)

    def verify(self) -> None:
        """What the Function's node would raise."""
        self.fn.verify()

    def release(self) -> None:
        """Drop what the Function saved."""
        self.fn.release()

    def kept(self) -> Sequence[Tensor]:
        """The outputs that backward asked for."""
        return self.fn.kept()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """RuntimeError: nobody here has the body."""
        return self.fn.apply(grads)

    def body(self, values: list[Any]) -> list[Any]:
        """The part of the gradient that was changed goes through the Function's backward, the rest straight
        on.
        """
        g, base, view = values[0], self._base, self._view
        if g is None:
            return [None] * len(self.edges)
        where = (list(view.shape), list(view.strides), view.offset - base.offset)
        whole = named.to_layout(g, list(base.strides))
        part = named.as_strided(whole, *where)
        found = self.fn.body([part, *values[1:]])
        first = found.pop(self.at)
        if self.edges[0] is None:
            return [None, *found]
        first = named.zeros_like(part) if first is None else first
        return [named.as_strided_scatter(whole, first, *where), *found]


class DelayedError(Node):
    """A history that raises when a pass comes by."""

    _name = "torch::autograd::Error"

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def verify(self) -> None:
        """RuntimeError with its message."""
        raise RuntimeError(self._message)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """RuntimeError with its message."""
        raise RuntimeError(self._message)


def _set_history(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    name: str,
    numbers: Sequence[int],
    width: int,
    dirty: Sequence[int],
    kept: Sequence[int],
) -> None:
    for k in dirty:
        o = outputs[k]
        if o.is_leaf and o.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    node: CustomNode = state.function or CustomNode(name)
    node.priority = next_priority()
    node.edges = tuple(edge_of(x) if x.dtype.category > 1 else None for x in inputs)
    node.width = width
    node.arguments = [(x.shape, x.dtype) for x in inputs]
    node.geometries = {nr: (o.shape, o.dtype) for nr, o in zip(numbers, outputs, strict=True)}
    node.backend = next(flat_tensors((outputs, inputs))).backend
    for k, (o, nr) in enumerate(zip(outputs, numbers, strict=True)):
        if k in dirty:
            o._vc.n += 1
        if k in dirty and o._base is not None:
            at = next(i for i, x in enumerate(inputs) if x is o)
            o._base._fn, o._base._nr = DirtySlices(o._base, o, node, at), 0
            o.grad_fn  # noqa: B018 - reading it rebuilds the view's node over the new base
            continue
        if o._base is not None:
            o._creation, o._view_version = CUSTOM, o._vc.n
        o._fn, o._nr, o._requires_grad = node, nr, False
    node.outputs = [Saved(outputs[k], True, numbers[k]) for k in kept]


set_history = op(
    "set_history(Tensor[] outputs, Tensor[] inputs, *, str name, int[] numbers, int width, int[] "
    "dirty, int[] kept)",
    composite=_set_history,
    writes="outputs",
    traced=False,
    namespace="-",
    doc="""Give `outputs` a node whose body runs in the process that calls this: a pass over it stops there.

    `numbers`: which outputs of the node they are, of `width`; `dirty`: those that were changed in place;
    `kept`: those that the body is given besides the gradients.
    """,
)
