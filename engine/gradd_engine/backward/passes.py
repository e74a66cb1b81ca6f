"""Passes that pause at user callbacks, as steps that a client records.

The client's mirror and the server run the same pass, and both pause at a callback. The gradients there are
outputs of the step so far; the client calls the callback on them and records what it does; the next step
resumes with the answer. So a server never runs user code, and everything happens once, in PyTorch's order. A
pass under way lives in a token tensor and ends with it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..data import Meta, ambient, elsewhere, state, uint8
from ..declare import backend_of, shown, stateful
from ..schema import Op, Pass, named
from ..tensor import Tensor
from .executor import Callback, GraphTask

if TYPE_CHECKING:
    from collections.abc import Sequence


#: nested passes that share a thread
_A_THREAD = 16


def token_of(task: GraphTask, like: Tensor, check_nan: bool) -> Tensor:
    """The tensor that holds a pass under way, on the backend of `like`."""
    token: Tensor = like.backend.empty(Meta((0,), uint8))
    task.anomaly = check_nan
    token._holds = task
    weakref.finalize(token, _leave, weakref.ref(task)).atexit = False
    return token


def _leave(task: weakref.ref[GraphTask]) -> None:
    left = task()
    if left is not None:
        left.leave()


def _also_here(task: GraphTask, answer: Sequence[Any] | None) -> list[Any] | None:
    """The client's answer, after the callbacks that stand on this side as well (hooks declared over REST)."""
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


resume_pass = stateful(
    "resume_pass(Tensor token, Tensor?[] answer=None, *, int nodes=0, str at='', str node='') -> Tensor?[]",
    body=_resume,
    traced=False,
    doc="""Run a pass on: `answer` is what goes on from where it stopped; it stops again once `nodes` more
    nodes were taken up, at the kind of callable `at` of the `node` of that name, and gives the gradients
    there. Without `at` it runs to its end and gives what the pass returns.
    """,
    backward_pass=Pass.RESUME,
)


def drive(begin: Op, *given: Any, **options: Any) -> tuple[Tensor | None, ...]:
    """Run a pass whose tensors are recorded, and call the callbacks on its way."""
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
            # An outer pass speaks of a node of its own.
            error.node, error.visited = task.trail[number - 1], None  # type: ignore[attr-defined]
        raise


def _nested(listener: Any, task: GraphTask, token: Tensor) -> tuple[Tensor | None, ...]:
    """`_drive` without a limit on nesting: every so many nested passes go on in a thread of their own, as in
    PyTorch.
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
        backend_of(resume_pass, (token, answer))  # raises where an answer is of another session
    task.call_back()
    if task.anomaly:
        # In anomaly mode a pass waits for its results.
        listener.flush()
    return found


def one_by_one(begin: Op, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A pass over a batch of cotangents that meets callbacks: one pass per sample, which is all they see."""
    outputs, inputs, batch = given
    count = batch[0].shape[0]
    keep = options.pop("retain_graph")
    keep = options["create_graph"] if keep is None else keep
    found = [
        drive(begin, outputs, inputs, [g[i] for g in batch], retain_graph=keep or i < count - 1, **options)
        for i in range(count)
    ]
    return tuple(None if slot[0] is None else named.stack(list(slot)) for slot in zip(*found, strict=True))
