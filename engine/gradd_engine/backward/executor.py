"""The executor of a backward pass: iterative, resumable between nodes, ordered like PyTorch's.

It counts dependencies, runs ready nodes by descending sequence number (AccumulateGrad first), sums into input
buffers and frees saved values on the way. At a callback it pauses, and its driver answers (`passes.py`).
On a meta backend node bodies that nobody sees are skipped; order, checks and accumulation are the same code.
Source: https://pytorch.org/docs/stable/notes/autograd.html
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data import as_it_is, state
from ..graph import LEVELS, all_shaped, shaped
from ..tensor import (
    ACCUMULATED,
    BODY,
    GRADIENTS,
    POSTHOOKS,
    PREHOOKS,
    SAVED,
    STOPS,
    AccumulateGrad,
    Edge,
    Node,
)  # fmt: skip
from .accumulate import accumulate, retain, summed
from .anomaly import check_gradients
from .hooks import answer, answered

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ..tensor import Backend, Tensor


class Callback(NamedTuple):
    """Where a pass pauses: at `node`, for a callback of kind `at`, which is given `values`."""

    at: str
    node: Node
    values: list[Any]


class GraphTask:
    """One backward pass.

    ``roots``: pairs of edge and gradient. ``captures``: edges whose gradient is to be returned in
    ``captured`` (autograd.grad); with ``targets`` only those edges' leaves accumulate (``inputs=``).
    ``keep``: saved values survive. ``create``: record the pass itself.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Edge, Tensor]],
        *,
        keep: bool,
        create: bool,
        captures: Sequence[Edge | None] | None = None,
        targets: Sequence[Edge] | None = None,
    ) -> None:
        self.keep = keep
        self.create = create
        self.captured: list[Tensor | None] | None = None
        #: ``inputs=`` names where it accumulates
        self.targeted = targets is not None
        self._capture: dict[Node, dict[int, list[int]]] = {}
        self.needed: set[Node] | None = None  # the nodes that lead to what is asked for; None: all
        self._run: set[Node] | None = None
        nodes, order = _reach([e.node for e, _ in roots])
        self._dependencies = nodes
        ends: list[Edge] | None = None
        if captures is not None:
            self.captured = [None] * len(captures)
            for i, e in enumerate(captures):
                if e is not None:
                    self._capture.setdefault(e.node, {}).setdefault(e.nr, []).append(i)
            ends = [e for e in captures if e is not None]
        elif targets is not None:
            ends = list(targets)
        if ends is not None:
            self.needed = _leading_to(order, {e.node for e in ends})
            self._run = _leading_to(order, {e.node for e in ends}, strict=True)
            if targets is not None:
                self._run |= {e.node for e in ends}
        self._buffers: dict[Node, list[Any]] = {}
        self._ready: list[tuple[int, int, Node]] = []
        self._count = 0
        self._backend: Backend | None = None
        #: how many nodes were visited, and the last of them
        self.visited = 0
        self.node: Node | None = None
        #: where a pass driven from elsewhere pauses next: nodes visited by then, and the kind of callback
        self.until: tuple[int, str] | None = None
        #: where it paused for its driver
        self.stopped: Callback | None = None
        self._walk: Generator[Callback, Any, None] | None = None
        #: what the pass returns, made of the finished task
        self.result: Callable[[GraphTask], tuple[Any, ...]] | None = None
        #: queued by callbacks for the end of the pass
        self.callbacks: list[Callable[[], Any]] = []
        #: user callbacks stand in the graph
        self.callables = Node.callables and _callables(order)
        #: gradients are searched for NaN, and the nodes that were run are remembered
        self.anomaly = state.anomaly and state.check_nan
        self.trail: list[Node] = []
        #: an opaque node is in the graph: only the server knows what this pass gives
        self.blind = False
        self.skip = False
        if roots and roots[0][1].backend.is_meta:
            seen = self.captured is not None or self.callables or bool(LEVELS)
            self.skip = not create and not seen and _skippable(order)
            for node in order:
                if node.opaque:
                    self.blind = True
                    node.reached()
        if len(roots) > 1 and self.needed is not None:
            # As in PyTorch, where several roots hang on a node of their own: one that leads nowhere is not
            # visited, while a single root always is (its hooks run).
            roots = [(e, g) for e, g in roots if e.node in self.needed]
        if Node.turned:
            roots = [(e, shaped(e, g, at)) for at, (e, g) in enumerate(roots)]
        for edge, g in roots:
            self._add(edge, g)
        for node in {e.node: None for e, _ in roots}:
            if self._dependencies[node] == 0:
                self._push(node)

    def _push(self, node: Node) -> None:
        self._count += 1
        heappush(self._ready, (-node.priority, self._count, node))

    def _add(self, edge: Edge, g: Any) -> None:
        node, nr = edge.node, edge.nr
        buffer = self._buffers.get(node)
        if buffer is None:
            buffer = self._buffers[node] = [None] * node.width
        if buffer[nr] is None:
            buffer[nr] = g
        elif not self.skip:
            buffer[nr] = summed(buffer[nr], g)

    def finish(self) -> tuple[Any, ...]:
        """What the pass returns."""
        return () if self.result is None else self.result(self)

    @property
    def done(self) -> bool:
        """Whether no node is left to run."""
        return not self._ready

    def will_run(self, node: Node) -> bool:
        """Whether the pass visits this node; RuntimeError for a leaf that `grad` is about."""
        found = node in self._dependencies and (self.needed is None or node in self.needed)
        if found and node.leaf and node in self._capture:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running "
                "autograd.grad(). This is currently not supported."
            )
        return found

    def run(self) -> None:
        """Run every node that is left. An exception leaves the nodes not yet run as they were."""
        if self.callables:
            try:
                stop = self.advance()
                while stop is not None:
                    stop = self.advance(self.respond(stop))
            finally:
                self.leave()
            self.call_back()
            return
        before = (state.grad, state.backend, state.task)
        state.grad, state.task = self.create and state.inference is None, self
        self._backend = None
        try:
            if self.skip and self.needed is None:
                self._skim()
            while self._ready:
                self.step()
        except BaseException as error:
            error.pass_began, error.node = True, self.node  # type: ignore[attr-defined]
            raise
        finally:
            state.grad, state.backend, state.task = before

    def leave(self) -> None:
        """Let go of the graph of a pass that goes no further: it and the paused generator hold each other."""
        if self._walk is not None:
            self._walk.close()

    def call_back(self) -> None:
        """Call what callbacks queued for the end of the pass, and what that queues."""
        while self.callbacks:
            with as_it_is(task=self):
                self.callbacks.pop(0)()

    def respond(self, stop: Callback) -> list[Any]:
        """Call what `stop` waits for; the answer."""
        try:
            with as_it_is(grad=self.create and state.inference is None, task=self):
                return answer(*stop)
        except BaseException as error:
            error.node = self.node  # type: ignore[attr-defined]
            raise

    def advance(self, said: list[Any] | None = None) -> Callback | None:
        """Run to the next callback; None at the end of the pass. `said`: the answer to the last one."""
        if self._walk is None:
            self._walk = self._visits()
        before = (state.grad, state.backend, state.task)
        state.grad, state.task = self.create and state.inference is None, self
        self._backend = None
        try:
            return self._walk.send(said)
        except StopIteration:
            return None
        except BaseException as error:
            error.pass_began, error.node = True, self.node  # type: ignore[attr-defined]
            raise
        finally:
            state.grad, state.backend, state.task = before

    def _skim(self) -> None:
        """Run a pass whose bodies are all skipped: every node gets a gradient, and only where one arrives
        matters. A node that refuses is left to the walk, which says what ran before it.
        """
        try:
            for node in self._dependencies:
                if not node.leaf:
                    node.verify()
        except Exception:
            self._skim_in_order()
            return
        self._ready.clear()
        for node in self._dependencies:
            if node.leaf:
                self._arrive(node)
            elif not self.keep:
                node.release()

    def _skim_in_order(self) -> None:
        """`_skim` in the order of a pass. A leaf whose gradient is complete is not queued: it is next."""
        left = self._dependencies
        while self._ready:
            node = heappop(self._ready)[2]
            if node.leaf:
                self._arrive(node)
                continue
            node.verify()
            if not self.keep:
                node.release()
            for edge in node.edges:
                if edge is not None:
                    left[edge.node] -= 1
                    if not left[edge.node]:
                        (self._arrive if edge.node.leaf else self._push)(edge.node)

    def _arrive(self, node: Any) -> None:
        if node.variable._requires_grad:
            with node.lock:
                accumulate(node.variable, [], True)

    def step(self) -> None:
        """Run the next node of a pass without callbacks."""
        self.node = node = heappop(self._ready)[2]
        self.visited += 1
        grads = self._buffers.pop(node, None) or [None] * node.width
        if not self.skip and (node.retainers or self._capture):
            self._take(node, grads, grads)
        call = self._call if node.leaf or self._run is not None else self._body
        found = call(node, grads)
        if self.anomaly and not self.skip:
            check_gradients(node, found, self.visited)
        self._pass_on(node, found)

    def _pass_on(self, node: Node, found: Sequence[Any]) -> None:
        """Hand a node's gradients to the nodes behind it."""
        buffers = self._buffers
        dependencies, needed = self._dependencies, self.needed
        at = -1
        for edge in node.edges:
            at += 1
            if edge is None:
                continue
            target = edge.node
            left = dependencies[target] = dependencies[target] - 1
            if needed is None or target in needed:
                if found[at] is None:
                    pass  # nothing flows there, and the node was counted all the same
                elif target in buffers or target.width > 1:
                    self._add(edge, found[at])
                else:
                    buffers[target] = [found[at]]
                if left == 0:
                    self._push(target)

    def _stops(self, at: str, node: Node) -> bool:
        return node.waits(at) if self.until is None else self.until == (self.visited, at) or node.waits(at)

    def _visits(self) -> Generator[Callback, Any, None]:
        """Run every node, pausing at callbacks in PyTorch's order."""
        while self._ready:
            self.node = node = heappop(self._ready)[2]
            self.visited += 1
            if self.anomaly:
                self.trail.append(node)
            grads = self._buffers.pop(node, None) or [None] * node.width
            asked = grads
            if self._stops(GRADIENTS, node):
                grads = answered((yield Callback(GRADIENTS, node, grads)), len(grads))
            if self._run is not None and node not in self._run:
                self._take(node, grads, grads)
                self._pass_on(node, [None] * len(node.edges))
                continue
            self._take(node, grads, asked)  # in PyTorch hooks change what is asked for only where a pass ends
            if self._stops(PREHOOKS, node):
                grads = answered((yield Callback(PREHOOKS, node, grads)), len(grads))
            found: Sequence[Any]
            if self._stops(BODY, node):
                found = answered((yield Callback(BODY, node, [*grads, *node.kept()])), len(node.edges))
                if Node.turned and not self.skip:
                    found = all_shaped(node, found)
                if not self.keep:
                    node.release()
            elif isinstance(node, AccumulateGrad):
                counts = node.variable._requires_grad
                box, grads = grads, list(grads)
                found = self._accumulate(node, box)
                if counts and self._stops(ACCUMULATED, node):
                    yield Callback(ACCUMULATED, node, [])
            else:
                if self._stops(SAVED, node):
                    node.fill((yield Callback(SAVED, node, [])))
                found = self._body(node, grads)
            if self._stops(POSTHOOKS, node):
                found = answered((yield Callback(POSTHOOKS, node, [*found, *grads])), len(found))
            if self.anomaly and not self.skip:
                check_gradients(node, found, self.visited)
            self._pass_on(node, found)

    def _take(self, node: Node, grads: list[Any], asked: list[Any]) -> None:
        """Keep the gradients that tensors retain, and those that were asked for."""
        if node.retainers:
            for nr, ref in node.retainers.items():
                t = ref()
                if t is not None and grads[nr] is not None:
                    retain(t, grads[nr])
        if self._capture:
            assert self.captured is not None
            for nr, slots in self._capture.get(node, {}).items():
                for i in slots:
                    self.captured[i] = asked[nr]

    def _call(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        """Run a node, where it leads to what is asked for."""
        if self._run is not None and node not in self._run:
            return [None] * len(node.edges)
        return self._accumulate(node, grads) if isinstance(node, AccumulateGrad) else self._body(node, grads)

    def _accumulate(self, node: AccumulateGrad, grads: list[Any]) -> Sequence[Any]:
        box = [grads.pop()]
        if box[0] is not None and node.variable._requires_grad:
            with node.lock:
                accumulate(node.variable, box, self.skip)
        return ()

    def _body(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        """What a node makes of its gradients; nothing where there are none."""
        for g in grads:
            if g is not None:
                break
        else:
            return [None] * len(node.edges)
        found: Sequence[Any]
        if self.skip:
            node.verify()
            found = [e if e is None else PLACEHOLDER for e in node.edges]
        else:
            if g.backend is not self._backend:
                state.backend = self._backend = g.backend
            found = node.apply(grads)
            if Node.turned:  # what is refused for its shape leaves the node as it was
                found = all_shaped(node, found)
        if not self.keep:
            node.release()
        return found


class _Placeholder:
    """Stands for a gradient whose value nobody reads."""


PLACEHOLDER = _Placeholder()


def _reach(starts: Sequence[Node]) -> tuple[dict[Node, int], list[Node]]:
    """In-degrees of the nodes reachable from `starts`, and the nodes; parents may follow children."""
    counts: dict[Node, int] = dict.fromkeys(starts, 0)
    order = list(counts)
    for node in order:  # which grows
        for e in node.edges:
            if e is not None:
                target = e.node
                if target in counts:
                    counts[target] += 1
                else:
                    counts[target] = 1
                    order.append(target)
    return counts, order


def _leading_to(order: list[Node], ends: set[Node], strict: bool = False) -> set[Node]:
    """Nodes from which a path leads to one of `ends` (themselves included unless `strict`)."""
    children: dict[Node, list[Node]] = {}
    for node in order:
        for e in node.edges:
            if e is not None:
                children.setdefault(e.node, []).append(node)
    reached = set(ends)
    above: set[Node] = set()
    stack = list(ends)
    while stack:
        for parent in children.get(stack.pop(), ()):
            above.add(parent)
            if parent not in reached:
                reached.add(parent)
                stack.append(parent)
    return above if strict else reached


def _skippable(order: list[Node]) -> bool:
    """Whether bodies may be skipped on meta: no retained, shaped or sparse gradient is looked at."""
    if Node.any_sparse and any(node.sparse for node in order):
        return False
    if Node.turned and any(node.shapes for node in order):
        return False
    return not any([node.retainers for node in order])  # noqa: C419 - a generator takes twice the time


def _callables(order: list[Node]) -> bool:
    """Whether a pass over these nodes meets user callbacks."""
    return any(node.waits(at) for node in order for at in STOPS)


def meets_callables(nodes: list[Node]) -> bool:
    """Whether a pass over these nodes meets user callbacks."""
    return Node.callables and _callables(nodes)
