"""The one choke point: every op, forward or inside a backward pass, runs through `dispatch`.

Order of events: infer (shapes, PyTorch's errors), kernel, in-place bookkeeping, tangents, node. Listeners
(the recorder of a client, a plan's tracer) stand here and nowhere else, and see only outermost ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends import NUMPY
from ..data import REROUTED, ambient, state, warn
from ..graph import (
    INFERENCE,
    LEVELS,
    MULTI_VIEW,
    NO_GRAD,
    apart,
    charge,
    check_inference,
    check_memory,
    check_overlap,
    check_result,
    check_target,
    conjugate,
    keep,
    levels_of,
    misfit,
    propagate,
    rebase,
    shared_along,
    stated,
    write,
)
from ..graph import recording as graph
from ..schema import GREATEST, LEAST, check_attrs, named
from ..tensor import Tensor, new_counter
from .arguments import as_given, check_inputs, flat_tensors, refused
from .autocast import recast
from .swift import swift

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..data import Meta
    from ..schema import InferCache, Op
    from ..tensor import Backend, Listener


def dispatch(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Run `op`; the outermost call is shown to the backend's listener."""
    try:
        backend = backend_of(op, inputs)
    except TypeError:
        found = NotImplemented if state.depth else refused(op.call, *as_given(op, inputs, attrs))
        if found is NotImplemented:
            raise
        return found
    if REROUTED:
        if state.vmaps and not op.stateful:
            backend = _in_sight(backend)
        if state.casting is not None and not state.depth:
            return _autocast(op, backend, inputs, attrs)
    listener = backend.listener
    if state.depth == 0:
        if listener is not None:
            # What others are sent, they check themselves: a frame says what is of which kind.
            check_attrs(op.schema, attrs)
        if state.watcher is not None:
            return _watched(op, backend, inputs, attrs)
    if listener is None or state.depth or op.inline:
        return execute(op, backend, inputs, attrs)
    return shown(listener, op, inputs, attrs, execute, op, backend, inputs, attrs)


def default_backend() -> Backend:
    """Where tensors are created that have no tensor inputs: the thread's backend, else NumPy."""
    if state.backend is None:
        state.backend = NUMPY
    found: Backend = state.backend
    return found


def backend_of(op: Op, inputs: tuple[Any, ...]) -> Backend:
    """Check that tensors stand where tensors are due, and find the one backend that they share."""
    backend = None
    if op.simple:
        odd = False
        at = -1
        for x in inputs:
            at += 1
            if not isinstance(x, Tensor):
                kind = x.__class__
                odd = odd or kind not in op.accepts[at] or (kind is int and not LEAST <= x <= GREATEST)
            elif x.backend is not backend:
                backend = x.backend if backend is None else _mixed(backend, x.backend)
        if odd or (backend is None and op.never_alone):
            check_inputs(op, inputs)
        return default_backend() if backend is None else backend
    at = -1
    for x in inputs:
        at += 1
        kind = x.__class__
        if kind is list or kind is tuple:
            if not op.listed[at]:
                return _checked_backend(op, inputs)
            for kind in set(map(type, x)):
                if not issubclass(kind, Tensor):
                    return _checked_backend(op, inputs)
            for other in {t.backend for t in x}:
                if other is not backend and backend is not None:
                    return _checked_backend(op, inputs)
                backend = other
        elif isinstance(x, Tensor):
            if op.listed[at] or (x.backend is not backend and backend is not None):
                return _checked_backend(op, inputs)
            backend = x.backend
        elif kind not in op.accepts[at]:
            return _checked_backend(op, inputs)
    return default_backend() if backend is None else backend


def _checked_backend(op: Op, inputs: tuple[Any, ...]) -> Backend:
    """`backend_of` where something is out of the ordinary: wrong kinds are told before mixed backends."""
    check_inputs(op, inputs)
    backend = None
    for t in flat_tensors(inputs):
        backend = t.backend if backend in (None, t.backend) else _mixed(backend, t.backend)
    return default_backend() if backend is None else backend


def _mixed(a: Backend, b: Backend) -> Backend:
    """The higher of two levels of vmap; RuntimeError where tensors do not belong together."""
    if a.level != b.level:
        return a if a.level > b.level else b
    if str(a.device) != str(b.device):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {a.device} and "
            f"{b.device}!"
        )
    raise RuntimeError(
        "Expected all tensors to be of the same session, but found tensors of at least two sessions!"
    )


def _in_sight(backend: Backend) -> Backend:
    """The innermost open level of vmap, for what is of one below it: all that a mapped function does is its
    level's, so that tensors made inside can be written to, and a composite may draw.
    """
    level = state.vmaps[-1]
    below = backend.level < level.level and getattr(backend, "root", backend) is level.root
    return level if below else backend


def _autocast(op: Op, backend: Backend, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """`dispatch` where automatic casts are on. A composite that does not say how it is cast is called as the
    ops inside it, which do; no other op casts within itself.
    """
    kind = backend.device.type
    on, how = kind in state.casting.enabled, op.kernel.autocast.get(kind)
    opens = op.composite is not None and op.infer is None and op.base is None and not op.stateful
    if on and how is None and opens and op.effects.traced:
        if backend.listener is not None:
            check_attrs(op.schema, attrs)
        return execute(op, backend, inputs, attrs)
    if on and how is not None:
        inputs, attrs = recast(op, how, kind, inputs, attrs)
    with ambient(casting=None):
        return dispatch(op, inputs, attrs)


def _watched(op: Op, backend: Backend, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """`dispatch` where a watcher of the thread wants to see the nodes that the op makes."""
    watcher, listener = state.watcher, backend.listener
    watcher.begin(op, inputs)
    try:
        if listener is None or op.inline or watcher.opens(op):
            found = execute(op, backend, inputs, attrs)
        else:
            found = shown(listener, op, inputs, attrs, execute, op, backend, inputs, attrs)
    finally:
        watcher.end()
    watcher.settle(inputs, found)
    return found


def shown(
    listener: Listener,
    op: Op,
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
    run: Callable[..., Any],
    *given: Any,
) -> Any:
    """Run `op`, an outermost call, as ``run(*given)``, and tell the listener; `attrs` may be completed by
    the run.
    """
    with listener.lock:
        listener.before(op, inputs, attrs)
        state.depth = 1
        try:
            outputs = run(*given)
        except Exception as error:
            if getattr(error, "pass_began", False):
                listener.failed(op, inputs, attrs)
            else:
                listener.refused()
                state.depth = 0
                graph.tell_renewed(inputs)
            raise
        finally:
            state.depth = 0
        return listener.record(op, inputs, attrs, outputs)


def execute(op: Op, backend: Backend, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Run `op` on `backend` without telling the listener."""
    if backend.level:
        inputs = backend.lifted(op, inputs)  # type: ignore[attr-defined]
    if op.check_values is not None:
        op.check_values(*inputs, **attrs)
    temporaries = 0 if op.cost is None else charge(op, inputs, attrs)
    if op.base is not None:
        return _execute_inplace(op, backend, inputs, attrs)
    composite = op.composite
    if composite is not None and (
        op.infer is None or (not op.rules and (_tracked(op, inputs) or (LEVELS and levels_of(inputs))))
    ):
        # What the composite makes from nothing belongs where its inputs are.
        before = state.backend
        state.backend = backend
        try:
            return composite(*inputs, **attrs)
        except Exception as error:
            if op.stateful or stated(error):
                raise
            raise misfit(op, inputs, attrs) from error
        finally:
            state.backend = before
    assert op.infer is not None
    found = backend.infer(op, inputs, attrs)
    if temporaries and not op.view and state.ledger is not None:
        state.ledger.afford(temporaries, sum([m.nbytes for m in (found if op.many else (found,))]))
    tracked = bool(op.rules) and _tracked(op, inputs)
    if tracked and any(m.dtype.category > 1 for m in (found if op.many else (found,))):
        graph.renew(inputs)
    changed = written(op, inputs) if op.writes else ()
    if changed:
        _check_written(op, changed)
    given = inputs
    if not op.view and conjugate.flagged(inputs):
        given = conjugate.resolved(inputs)
    if op.view:
        if op.multi_view:
            outs = [backend.view(inputs[0], m) for m in found]
        else:
            outs = [backend.view(inputs[0], found)]
        if op.conjugates or inputs[0]._conj:
            conjugate.mark(op, inputs[0], outs)
    elif op.many:
        outs = backend.run(op, found, given, attrs)
    else:
        outs = backend.run(op, (found,), given, attrs)
    for t in () if op.effects.unversioned else changed:
        t._vc.n += 1
    if tracked:
        graph.record(op, inputs, attrs, outs)
    if op.unsafe:
        outs[0]._vc = new_counter()
    elif op.view:
        mark_views(op, inputs[0], outs)
    if LEVELS:
        propagate(op, inputs, attrs, outs)
    return tuple(outs) if op.many else outs[0]


def compute(
    op: Op,
    known: InferCache,
    backend: Backend,
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
) -> Any:
    """`dispatch` for a plain op or view whose inputs were looked at: they share a backend and are of a
    geometry that is known.
    """
    if REROUTED and (state.casting is not None or (state.vmaps and backend is not state.vmaps[-1])):
        return dispatch(op, inputs, attrs)
    if known.swift is None and backend.eager:
        known.swift = swift(op, known, compute) or False
    if not state.depth:
        if state.watcher is not None:
            return _watched(op, backend, inputs, attrs)
        listener = backend.listener
        if listener is not None:
            return shown(listener, op, inputs, attrs, _computed, op, known, backend, inputs, attrs)
    return _computed(op, known, backend, inputs, attrs)


def _computed(
    op: Op, known: InferCache, backend: Backend, inputs: tuple[Any, ...], attrs: dict[str, Any]
) -> Any:
    if op.composite is not None and not op.rules and (_tracked(op, inputs) or (LEVELS and levels_of(inputs))):
        return execute(op, backend, inputs, attrs)
    if op.cost is not None:
        charge(op, inputs, attrs, 0 if op.view else known.nbytes)
    edges = graph.edges_of(op, known, inputs) if known.tracks and state.grad else None
    if op.view:
        out = backend.view(inputs[0], known.meta)
        if op.conjugates or inputs[0]._conj:
            conjugate.mark(op, inputs[0], (out,))
    else:
        given = conjugate.resolved(inputs) if known.complex and conjugate.flagged(inputs) else inputs
        out = backend.run_plain(op, known, given, attrs)
    if edges is not None:
        graph.record_one(op, known, edges, inputs, attrs, out)
    if op.view:
        mark_views(op, inputs[0], (out,))
    if LEVELS:
        propagate(op, inputs, attrs, (out,))
    return out


def mark_views(op: Op, source: Tensor, outs: Sequence[Tensor]) -> None:
    """Tell each output of a view op what it is a view of."""
    if source._vc.inference:
        return  # autograd follows no views of these
    base = source if source._base is None else source._base
    creation = MULTI_VIEW if op.multi_view else source._creation
    if not state.grad:
        creation = NO_GRAD if state.inference is None else INFERENCE
    for o in outs:
        o._base = base
        o._view_version = o._vc.n
        o._creation = creation


def written(op: Op, inputs: tuple[Any, ...]) -> list[Tensor]:
    """The inputs that `op` declares to change in place."""
    found: list[Tensor] = []
    at = -1
    for yes in op.written:
        at += 1
        if yes:
            x = inputs[at]
            if isinstance(x, Tensor):
                found.append(x)
            elif x:
                found += flat_tensors(x)
    return found


def _check_written(op: Op, changed: list[Tensor]) -> None:
    """RuntimeError where an op that leaves no history would change what has one, or memory shared by
    elements.
    """
    grad = state.grad
    for t in changed:
        if t._conj:
            raise RuntimeError(f"{op.name}(): a conjugate view cannot be written to; resolve_conj() it first")
        if t._vc.inference:
            check_inference(t)
        if 0 in t.strides:
            check_memory(t)
        if grad and t.requires_grad:
            check_target(t)
            raise RuntimeError(f"{op.name}(): a tensor that requires grad can be changed under no_grad only")


def _tracked(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether an input needs a gradient, in a mode that records."""
    if not state.grad:
        return False
    for x in inputs:
        if isinstance(x, Tensor):
            if x._fn is not None or x._requires_grad or (x._base is not None and x.requires_grad):
                return not (x._vc.inference and graph.all_inference(op, inputs))
        elif (type(x) is list or type(x) is tuple) and any(t.requires_grad for t in flat_tensors(x)):
            return not graph.all_inference(op, inputs)
    return False


def _expanded_along(op: Op, target: Tensor, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[int]:
    """The dimensions along which elements of `target` share memory, where the in-place form of `op` may write
    to such a tensor. Conjugates are copied back, as in PyTorch, and no copy goes to shared memory.
    """
    if op.expanded is None or target._conj or target.backend.level or (LEVELS and levels_of(inputs)):
        return []
    along = shared_along(target)
    if along and target.backend.listener is not None:  # a session's own engine would tell nobody
        for text in op.expanded.warnings(*inputs, **attrs):
            warn(text)
    return along


def _execute_inplace(op: Op, backend: Backend, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
    target: Tensor = inputs[0]
    base = op.base
    assert base is not None
    check_inference(target)
    tracked = _tracked(op, inputs)
    if tracked and base.effects.copies and not target.dtype.differentiable:
        tracked = False
    if tracked:
        check_target(target)
        graph.renew(inputs)
    along = _expanded_along(base, target, inputs, attrs)
    if not along:
        check_overlap(base, target, inputs[1:])
    if base.infer is None:
        with_composite = dispatch(base, inputs, attrs)
        return named.copy_(target, with_composite)  # type: ignore[no-any-return]
    meta: Meta = backend.infer(base, inputs, attrs)
    check_result(target, meta)
    node = None
    old: Tensor | None = None
    # One run gives value and tangents: a random op must not draw twice.
    value = dispatch(base, apart(inputs), attrs) if LEVELS and levels_of(inputs) else None
    if tracked:
        node, old = graph.prepare_inplace(op, inputs, attrs)
    if target._conj:
        conjugate.store(backend, base, target, meta, inputs, attrs)
    elif value is not None:
        write(target, value)
    else:
        given = conjugate.resolved(inputs) if conjugate.flagged(inputs) else inputs
        if along and base.expanded is not None:
            backend.run_into(base.expanded.op, target, meta, given, {**attrs, "along": along})
        else:
            backend.run_into(base, target, meta, given, attrs)
    target._vc.n += 1
    if node is not None:
        rebase(target, node, old)
        if value is not None:
            keep(node, target)
    return target
