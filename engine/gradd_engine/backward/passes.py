"""Passes that stop for callables of the user, as steps that a client records.

The client's mirror and the server run the same pass. Where a callable stands, both stop; the gradients there
are outputs of the step that got so far, the client calls the callable on them and records what it does, and
the next step goes on with what came of it. So a server never runs code of the user, and everything happens
once, in PyTorch's order. A pass under way lives in a token tensor: it ends with it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..data import Meta, ambient, elsewhere, uint8
from ..data.state import state
from ..declare import backend_of, op, shown
from ..schema import Op, named
from ..tensor import Tensor
from . import anomaly
from .autograd import NeedsCallbacks, backward, backward_task, grad, grad_task
from .executor import Callback, GraphTask

if TYPE_CHECKING:
    from collections.abc import Sequence


#: so many passes within passes share a thread
_A_THREAD = 16


def _token(task: GraphTask, like: Tensor, check_nan: bool) -> Tensor:
    token: Tensor = like.backend.empty(Meta((0,), uint8))
    task.anomaly = check_nan
    token._holds = task
    weakref.finalize(token, _leave, weakref.ref(task)).atexit = False
    return token


def _leave(task: weakref.ref[GraphTask]) -> None:
    left = task()
    if left is not None:
        left.leave()


def _begin_backward(
    tensors: Sequence[Tensor],
    gradient: Sequence[Tensor | None] | None,
    inputs: Sequence[Tensor] | None,
    check_nan: bool,
    **options: Any,
) -> Tensor:
    if not tensors:
        raise RuntimeError("begin_backward(): a pass begins at one tensor at least")
    return _token(backward_task(tensors, gradient, inputs, **options), tensors[0], check_nan)


def _begin_grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None,
    check_nan: bool,
    **options: Any,
) -> Tensor:
    if not outputs:
        raise RuntimeError("begin_grad(): a pass begins at one tensor at least")
    return _token(grad_task(outputs, inputs, grad_outputs, **options), outputs[0], check_nan)


begin_backward = op(
    "begin_backward(Tensor[] tensors, Tensor?[] gradient=None, Tensor[] inputs=None, *, "
    "bool? retain_graph=None, bool create_graph=False, bool check_nan=False)",
    composite=_begin_backward,
    traced=False,
    namespace="-",
    outside=True,
    doc="A pass of `backward` that was begun and has not run yet: a token for `resume_pass`.",
    stateful=True,
)

begin_grad = op(
    "begin_grad(Tensor[] outputs, Tensor[] inputs, Tensor?[] grad_outputs=None, *, bool? retain_graph=None, "
    "bool create_graph=False, bool? allow_unused=None, bool materialize_grads=False, bool check_nan=False)",
    composite=_begin_grad,
    traced=False,
    namespace="-",
    outside=True,
    doc="A pass of `grad` that was begun and has not run yet: a token for `resume_pass`.",
    stateful=True,
)


def _also_here(task: GraphTask, answer: Sequence[Any] | None) -> list[Any] | None:
    """What a client answers where the pass stopped, after the callables that stand there on this side as well
    (hooks declared over REST).
    """
    stop, task.stopped = task.stopped, None
    if stop is None or not stop.node.waits(stop.at):
        return None if answer is None else list(answer)
    said = list(answer or ())
    return task.respond(Callback(stop.at, stop.node, [*said, *stop.values[len(said) :]]))


def _resume(
    token: Tensor, answer: Sequence[Any] | None, nodes: int, at: str, node: str
) -> tuple[Tensor | None, ...]:
    task = token._holds
    if not isinstance(task, GraphTask):
        raise RuntimeError("this pass is through, or was never begun")
    task.until = (task.visited + nodes, at)
    stop = task.advance(_also_here(task, answer))
    while stop is not None and task.until != (task.visited, stop.at):
        stop = task.advance(task.respond(stop))
    if stop is None:
        token._holds = None
        if at:
            raise RuntimeError(f"the pass ended before it came to {at} of {node}")
        return task.finish()
    task.stopped = stop
    if stop.node.name() != node:
        raise RuntimeError(f"the pass is at {stop.node.name()}, not at {node}")
    return tuple(stop.values)


resume_pass = op(
    "resume_pass(Tensor token, Tensor?[] answer=None, *, int nodes=0, str at='', str node='')",
    composite=_resume,
    many=True,
    traced=False,
    namespace="-",
    outside=True,
    doc="""Run a pass on: `answer` is what goes on from where it stopped; it stops again once `nodes` more
    nodes were taken up, at the kind of callable `at` of the `node` of that name, and gives the gradients
    there. Without `at` it runs to its end and gives what the pass returns.
    """,
    stateful=True,
)


def drive(begin: Op, *given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    """Run a pass whose tensors are recorded, and call the callables that stand on its way."""
    token: Tensor = begin.call(*given, **options)
    task: GraphTask = token._holds
    listener = token.backend.listener
    assert listener is not None
    if task.blind:
        raise RuntimeError(
            "this graph was lost sight of when an operation failed, and hooks may stand in it: "
            "run the forward again"
        )
    try:
        return _nested(listener, task, token)
    except BaseException as error:
        number = getattr(error, "visited", None)
        if number is not None and 0 < number <= len(task.trail):
            # What a pass further out says of the error is about a node of its own.
            error.node, error.visited = task.trail[number - 1], None  # type: ignore[attr-defined]
        raise


def _nested(listener: Any, task: GraphTask, token: Tensor) -> tuple[Tensor | None, ...]:
    """`_drive`, with a stack that does not end however many passes are within others: every so many of them
    go on in a thread of their own, as in PyTorch.
    """
    with ambient(passes=state.passes + 1):
        if state.passes % _A_THREAD:
            return _drive(listener, task, token)
        return elsewhere(lambda: _drive(listener, task, token), listener.lend())


def _drive(listener: Any, task: GraphTask, token: Tensor) -> tuple[Tensor | None, ...]:
    answer: list[Any] | None = None
    while True:
        where: dict[str, Any] = {"nodes": 0, "at": "", "node": ""}
        stops: list[Any] = []

        def go_on(answer: Any = answer, where: dict[str, Any] = where, stops: list[Any] = stops) -> Any:
            before = task.visited
            stop = task.advance(answer)
            stops.append(stop)
            if stop is None:
                return task.finish()
            where.update(nodes=task.visited - before, at=stop.at, node=stop.node.name())
            return tuple(stop.values)

        found: tuple[Tensor | None, ...] = shown(listener, resume_pass, (token, answer), where, go_on)
        if stops[0] is None:
            break
        answer = task.respond(stops[0])
        backend_of(resume_pass, (token, answer))  # what others are sent has to be theirs
    task.call_back()
    if task.anomaly:
        # In this mode a pass waits for what it gives.
        listener.flush()
    return found


def run_backward(*given: Any, **options: Any) -> None:
    """`backward` as one step, or stop by stop where callables of the user stand in the pass and it is
    recorded.
    """
    _run(backward, begin_backward, given, options)


def run_grad(*given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    """`grad` as one step, or stop by stop where callables of the user stand in the pass and it is
    recorded.
    """
    found: tuple[Tensor | None, ...] = _run(grad, begin_grad, given, options)
    return found


def _run(whole: Op, begin: Op, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        try:
            return whole.call(*given, **options)
        except NeedsCallbacks:
            options["check_nan"] = state.anomaly and state.check_nan
        if options.pop("is_grads_batched", False):
            return _one_by_one(begin, given, options)
        return drive(begin, *given, **options)
    except BaseException as error:
        if state.anomaly:
            anomaly.tell_forward(getattr(error, "node", None))
        raise


def _one_by_one(begin: Op, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A pass over a batch of cotangents that meets callables: a pass for each, so that they see one
    sample.
    """
    outputs, inputs, batch = given
    count = batch[0].shape[0]
    keep = options.pop("retain_graph")
    keep = options["create_graph"] if keep is None else keep
    found = [
        drive(begin, outputs, inputs, [g[i] for g in batch], retain_graph=keep or i < count - 1, **options)
        for i in range(count)
    ]
    return tuple(None if slot[0] is None else named.stack(list(slot)) for slot in zip(*found, strict=True))
