"""The node of an `autograd.Function`, which is its ``ctx``: what it saves, and how its backward runs and is
checked.

Messages and the order of checks follow PyTorch (https://pytorch.org/docs/stable/notes/extending.html).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from ..data import ambient, state
from ..graph import CUSTOM, MULTI_VIEW, cast_gradient, expandable
from ..schema import named
from ..tensor import (
    BODY,
    FREED,
    Node,
    Packed,
    Saved,
    Tensor,
    TensorMeta,
    check_saved,
)
from .context import Context
from .custom_node import CustomNode
from .written_views import check_written

if TYPE_CHECKING:
    from collections.abc import Sequence


class BackwardNode(CustomNode):
    """The ``ctx`` of a Function (torch.autograd.function.FunctionCtx), and the node of its outputs."""

    forward_cls: ClassVar[Any] = None
    #: it was released, and had saved nothing
    _bare = False

    def __init__(self) -> None:
        super().__init__(type(self).__name__)
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._materialize = True
        #: whether outputs that do not need a gradient are materialised too
        self._materialize_non_diff_grads = True
        self.saved_for_forward: tuple[Any, ...] | None = None
        self._pushing = False
        self._saved: list[Any] | None = []
        self._kept: Sequence[Tensor] | None = None
        #: per argument: its position among the edges, None if not a tensor
        self._places: list[int | None] = []
        self._inputs: list[TensorMeta] = []
        #: attributes that methods set on their ctx
        self.kept_by_methods: dict[str, Any] = {}
        Node.callables = True

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self._label} object at {id(self):#x}>"

    # -- what forward says ---------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward; the graph frees them, and their versions are checked."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp, which runs immediately."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare inputs that forward changed in place and must return. RuntimeError for non-tensors."""
        _only_tensors("mark_dirty can only accept variables", tensors)
        self._dirty = tensors
        named.increment_version(list(tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declare outputs without a gradient. RuntimeError for non-tensors."""
        _only_tensors("mark_non_differentiable only accepts variable arguments", tensors)
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether missing output gradients are passed as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors from `save_for_backward` (within jvp, from `save_for_forward`); RuntimeError if they
        were freed or changed in place.
        """
        if self._pushing:
            return self.saved_for_forward or ()
        if self._saved is None:
            raise RuntimeError(FREED)
        return tuple(self._open(entry) for entry in self._saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`; warns with DeprecationWarning."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def entries(self) -> dict[str, Any] | None:
        """The entries from `save_for_backward`; None once freed."""
        if self._saved is None:
            return None
        outputs = self.outputs or ()
        return {"tensors": [outputs[e] if isinstance(e, int) else e for e in self._saved]}

    def _open(self, entry: Any) -> Any:
        if isinstance(entry, Packed):
            found = entry.open()
            return found if entry.stand_in is None else named.with_history(found, entry.stand_in)
        if isinstance(entry, int):
            if self.outputs is None:
                raise RuntimeError(FREED)
            self.outputs[entry].check(self)
            if self._kept is not None:
                return self._kept[entry]
            output = self.outputs[entry].source()
            _ = output is not None and output.grad_fn  # accessing grad_fn makes the node known to a session
            with ambient(grad=True):
                return self._show("tensors", self.outputs)[entry]
        check_saved(entry, self)
        if entry is not None and entry.tensor._base is not None:
            entry.tensor._shown()  # rebuilds its node or raises, even if backward does not use it
        return None if entry is None else entry.tensor

    def __getattr__(self, name: str) -> Any:
        kept = self.__dict__.get("kept_by_methods", {})
        if name in kept:
            return kept[name]
        raise AttributeError(f"'{self._label}' object has no attribute '{name}'")

    # -- the forward ---------------------------------------------------------------------------------

    def begin(self, given: tuple[Any, ...]) -> None:
        """Note which arguments are tensors or need gradients."""
        at = 0
        for a in given:
            self._places.append(at if isinstance(a, Tensor) else None)
            at += isinstance(a, Tensor)
        self.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in given)

    def end(self, outputs: list[Any], inputs: list[Tensor], recorded: bool, split: bool) -> None:
        """Give the outputs their history, replacing them in the list where needed, and save tensors. `split`:
        the class has a ``setup_context``.
        """
        raw = list(outputs)
        constant = {i for i, o in enumerate(raw) if _among(o, self._constant)}
        numbers = [
            i
            for i, o in enumerate(raw)
            if recorded and isinstance(o, Tensor) and o.dtype.category > 1 and i not in constant
        ]
        for i, o in enumerate(raw):
            if not isinstance(o, Tensor):
                continue
            given, written = _among(o, inputs), _among(o, self._dirty)
            if i in numbers and written:
                check_written(o, given, len(raw))
            elif given and not written and (i in numbers or not o.requires_grad):
                if split and _among(o, self._to_save):
                    raise RuntimeError(
                        "An input that has been returned as-is as output is being saved for backward. This "
                        "is not supported if you override setup_context. You should return and save a view "
                        "of the input instead, e.g. with x.view_as(x) or setup ctx inside the forward "
                        "function itself."
                    )
                with ambient(grad=False):
                    outputs[i] = named.view(o, list(o.shape))
            elif i not in numbers and o.requires_grad:
                with ambient(grad=False):
                    if given:
                        outputs[i] = named.detach(o)
                    elif o._base is None:
                        named.detach_(o)
            if outputs[i]._base is not None and not (given and written):
                outputs[i]._creation = CUSTOM
        if not all(_among(t, raw) for t in self._dirty):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. "
                "The inputs that are modified inplace must all be outputs of the Function."
            )
        if recorded:
            self._attach(outputs, inputs, numbers)
        if len(numbers) > 1:
            for o in outputs:
                if isinstance(o, Tensor) and o._base is not None:
                    o._creation = MULTI_VIEW
        self._keep(outputs, recorded)

    def forget(self) -> None:
        """Drop tensors not needed after `apply`, as keeping outputs would be a reference cycle."""
        self._dirty = self._constant = self._to_save = ()
        self.saved_for_forward = None

    def _attach(self, outputs: list[Any], inputs: list[Tensor], numbers: list[int]) -> None:
        self._inputs = [TensorMeta(x) for x in inputs]
        tracked = [outputs[i] for i in numbers]
        dirty = [k for k, o in enumerate(tracked) if _among(o, self._dirty)]
        kept = [] if state.packing else [k for k, o in enumerate(tracked) if _among(o, self._to_save)]
        if tracked:  # otherwise no pass reaches this node
            with ambient(function=self):
                named.set_history(
                    tracked,
                    inputs,
                    name=self._label,
                    numbers=numbers,
                    width=len(outputs),
                    dirty=dirty,
                    kept=kept,
                )
        for nr, o in enumerate(outputs):
            if isinstance(o, Tensor):
                self.metas[nr] = TensorMeta(o)

    def keep(self, tensors: Sequence[Any]) -> None:
        """Save tensors (or None) without a forward; `saved_tensors` returns them, checked and unpacked."""
        self._to_save = tuple(tensors)
        self._keep([], True)

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
                at = max((k for k, o in enumerate(known) if o is t), default=None)
                self._saved.append(self._entry(t, outputs) if at is None else at)
        self._to_save = ()

    def _entry(self, t: Tensor, outputs: list[Any]) -> Any:
        nr = next((i for i, o in enumerate(outputs) if o is t and t._fn is self), None)
        if state.packing is None:
            return Saved(t, False)
        entry = Packed(Saved(t, nr is not None, nr or 0))
        pack, entry.unpack = state.packing
        with ambient(grad=False, watcher=None, packing=None):
            entry.box = pack(t)
            entry.stand_in = None if entry.edge(self) is None else named.edge(t)
        return entry

    # -- the backward --------------------------------------------------------------------------------

    def waits(self, at: str) -> bool:
        """The body is a user callback."""
        return at == BODY or super().waits(at)

    def freed(self) -> bool:
        """Whether it saved something that is gone."""
        return self._saved is None and not self._bare

    def outdated(self) -> bool:
        """Whether a tensor that was saved changed since."""
        return super().outdated() or any(isinstance(e, Saved) and e.changed(self) for e in self._saved or ())

    def release(self) -> None:
        """Drop saved tensors and kept outputs."""
        if self._saved == []:
            self._bare = True
        self._saved = None
        super().release()

    def body(self, values: list[Any]) -> list[Any]:
        """Run backward on the gradients (and kept outputs) in `values`; one gradient per tensor argument."""
        grads, self._kept = values[: self.width], values[self.width :]
        try:
            found = self._rule()(Context(self), *[self._materialized(nr, g) for nr, g in enumerate(grads)])
        finally:
            self._kept = None
        return self._checked(list(found) if isinstance(found, tuple) else [found])

    def _rule(self) -> Any:
        """The class's backward, under either of its names."""
        cls, base = self.forward_cls, self.forward_cls.__mro__[-2]
        if cls.vjp is base.vjp:
            return cls.backward
        if cls.backward is not base.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
                "only implement one of them."
            )
        return cls.vjp

    def _materialized(self, nr: int, g: Tensor | None) -> Any:
        meta = self.metas.get(nr)
        if g is not None or not self._materialize or meta is None:
            return g
        if not self._materialize_non_diff_grads and nr not in self.geometries:
            return None
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
                # Without an edge the gradient goes nowhere, but the node's hooks see it.
                out[place] = g if self.edges[place] is None else self._fitted(g, self._inputs[place], i)
        return out

    def _fitted(self, g: Tensor, meta: TensorMeta, at: int) -> Tensor:
        if tuple(g.shape) != tuple(meta.shape):
            if not expandable(tuple(meta.shape), tuple(g.shape)):
                raise RuntimeError(
                    f"Function {self._label} returned an invalid gradient at index {at} - got "
                    f"{list(g.shape)} but expected shape compatible with {list(meta.shape)}"
                )
            g = named.sum_to_size(g, list(meta.shape))
        if g.dtype.is_complex and not meta.dtype.is_complex:
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be "
                "true, but got false.  (Could this error message be improved?  If so, please report an "
                "enhancement request to PyTorch.)"
            )
        return cast_gradient(g, meta.dtype)


def _among(t: Any, some: Sequence[Any]) -> bool:
    return any(t is x for x in some)


def _only_tensors(message: str, given: Sequence[Any]) -> None:
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise RuntimeError(f"{message}, but argument {i} is of type {type(t).__name__}")
