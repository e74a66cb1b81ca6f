"""The executor of a backward pass: iterative, resumable between nodes, ordered as PyTorch's.

It counts dependencies, runs ready nodes by descending sequence number (latest created first; AccumulateGrad
before all), sums into input buffers and frees saved values as it passes. `GraphTask.step` runs one node and
keeps everything in the task, so a pass can be left between two nodes and taken up again. On a meta backend
the bodies of nodes are skipped where nobody can see them: the order, the checks and the accumulation are the
same code. Source: https://pytorch.org/docs/stable/notes/autograd.html
"""

from __future__ import annotations

import sys
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from .fitting import cast_gradient
from .gradients import check_layout, contract_strides
from .hooks import run_post_accumulate, run_post_hooks, run_pre_hooks, run_tensor_hooks
from .layout import Meta, contiguous_strides, is_dense
from .nodes import AccumulateGrad, Edge, Node
from .registry import named
from .state import state
from .tensor import Tensor, detached, new_counter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .backends import Backend
    from .dtypes import DType
    from .layout import Size


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
        self._capture: dict[Node, dict[int, list[int]]] = {}
        self._needed: set[Node] | None = None
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
            self._needed = _leading_to(order, {e.node for e in ends})
            self._run = _leading_to(order, {e.node for e in ends}, strict=True)
            if targets is not None:
                self._run |= {e.node for e in ends}
        self._buffers: dict[Node, list[Any]] = {}
        self._ready: list[tuple[int, int, Node]] = []
        self._count = 0
        self._backend: Backend | None = None
        #: an opaque node is in the graph: what this pass gives is known elsewhere
        self.blind = False
        self.skip = False
        if roots and roots[0][1].backend.is_meta:
            self.skip = not create and self.captured is None and _skippable(order)
            for node in order:
                if node.opaque:
                    self.blind = True
                    node.reached()
        if len(roots) > 1 and self._needed is not None:
            # As in PyTorch, where several roots hang on a node of their own: one that leads nowhere is not
            # visited, while a single root always is (its hooks run).
            roots = [(e, g) for e, g in roots if e.node in self._needed]
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
            buffer[nr] = named.add(buffer[nr], g)

    @property
    def done(self) -> bool:
        """Whether no node is left to run."""
        return not self._ready

    def run(self) -> None:
        """Run every node that is left. An exception leaves the nodes not yet run as they were."""
        before = (state.grad, state.backend)
        state.grad = self.create and state.inference is None
        self._backend = None
        try:
            if self.skip and self._needed is None:
                self._skim()
            while self._ready:
                self.step()
        except BaseException as error:
            error.pass_began = True  # type: ignore[attr-defined]
            raise
        finally:
            state.grad, state.backend = before

    def _skim(self) -> None:
        """Run every node of a pass whose bodies are skipped: all that counts is where gradients come by.

        A leaf whose gradient is complete does not wait in line: it would be next.
        """
        ready, dependencies, keep = self._ready, self._dependencies, self.keep
        given = set(self._buffers)

        def arrive(node: Any) -> None:
            if node.variable._requires_grad:
                with node.lock:
                    accumulate(node.variable, [], True)

        while ready:
            node = heappop(ready)[2]
            some = node in given
            if some:
                if node.leaf:
                    arrive(node)
                    continue
                node.verify()
                if not keep:
                    node.release()
            for edge in node.edges:
                if edge is None:
                    continue
                target = edge.node
                if some:
                    given.add(target)
                left = dependencies[target] = dependencies[target] - 1
                if left:
                    continue
                if not target.leaf:
                    self._push(target)
                elif target in given:
                    arrive(target)

    def step(self) -> None:
        """Run the next node."""
        node = heappop(self._ready)[2]
        buffers = self._buffers
        grads = buffers.pop(node, None) or [None] * node.width
        if not self.skip:
            if node.leaf or node.tensor_hooks or node.retainers:
                self._tensor_hooks(node, grads)
            if self._capture:
                self._take(node, grads)
        if node.leaf or node.pre_hooks or node.post_hooks or self._run is not None:
            found = self._call(node, grads)
        else:
            found = self._body(node, grads)
        dependencies, needed = self._dependencies, self._needed
        at = -1
        for edge in node.edges:
            at += 1
            if edge is None:
                continue
            target = edge.node
            left = dependencies[target] = dependencies[target] - 1
            if needed is None or target in needed:
                if found[at] is None:
                    pass
                elif target in buffers or target.width > 1:
                    self._add(edge, found[at])
                else:
                    buffers[target] = [found[at]]
                if left == 0:
                    self._push(target)

    def _take(self, node: Node, grads: list[Any]) -> None:
        """Keep the gradients that were asked for."""
        assert self.captured is not None
        for nr, slots in self._capture.get(node, {}).items():
            for i in slots:
                self.captured[i] = grads[nr]

    def _tensor_hooks(self, node: Node, grads: list[Any]) -> None:
        if isinstance(node, AccumulateGrad):
            if node.variable._hooks and grads[0] is not None:
                grads[0] = run_tensor_hooks(node.variable._hooks, grads[0])
            return
        if node.tensor_hooks:
            for nr, hooks in node.tensor_hooks.items():
                if grads[nr] is not None:
                    grads[nr] = run_tensor_hooks(hooks, grads[nr])
        if node.retainers:
            for nr, ref in node.retainers.items():
                t = ref()
                if t is not None and grads[nr] is not None:
                    _retain(t, grads[nr])

    def _call(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        """Run a node and its hooks, where it leads to what is asked for."""
        if self._run is not None and node not in self._run:
            return [None] * len(node.edges)
        if not self.skip and node.pre_hooks:
            grads = run_pre_hooks(node.pre_hooks, grads)
        found: Sequence[Any] = ()
        if isinstance(node, AccumulateGrad):
            box = [grads.pop()]
            if box[0] is not None and node.variable._requires_grad:
                with node.lock:
                    accumulate(node.variable, box, self.skip)
                if node.variable._post_hooks and not self.skip:
                    run_post_accumulate(node.variable._post_hooks, node.variable)
        else:
            found = self._body(node, grads)
        if not self.skip and node.post_hooks:
            found = run_post_hooks(node.post_hooks, found, grads)
        return found

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
        if not self.keep:
            node.release()
        return found


class _Placeholder:
    """Stands for a gradient that exists and that nobody will look at."""


PLACEHOLDER = _Placeholder()


def _reach(starts: Sequence[Node]) -> tuple[dict[Node, int], list[Node]]:
    """In-degree of every node reachable from `starts`, and the nodes in an order where parents may follow
    children.
    """
    counts: dict[Node, int] = dict.fromkeys(starts, 0)
    stack = list(counts)
    order: list[Node] = []
    while stack:
        node = stack.pop()
        order.append(node)
        for e in node.edges:
            if e is None:
                continue
            target = e.node
            if target in counts:
                counts[target] += 1
            else:
                counts[target] = 1
                stack.append(target)
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
    """Whether bodies may be skipped on meta: no hook, retained or shaped gradient is looked at."""
    for node in order:
        if node.pre_hooks or node.post_hooks or node.tensor_hooks or node.retainers:
            return False
        if node.leaf and (node.variable._hooks or node.variable._post_hooks):  # type: ignore[attr-defined]
            return False
    return True


def _retain(t: Tensor, g: Tensor) -> None:

    if t._grad is None:
        t._grad = fresh(g) if not state.grad else g
    else:
        t._grad = named.add(t._grad, g)


def fresh(g: Tensor) -> Tensor:
    """A copy of a gradient that shares nothing."""

    out: Tensor = named.clone(g)
    return detached(out, new_counter())


@lru_cache(1024)
def _unseen(shape: Size, strides: tuple[int, ...], dtype: DType) -> Meta:
    """Geometry of a new .grad that nobody computes."""
    return Meta(shape, dtype, strides if is_dense(shape, strides) else contiguous_strides(shape))


def _held() -> tuple[int, int]:
    """What getrefcount says of a local that nobody else holds, and of an attribute of it.

    Measured, because it is not the same in every Python: 3.14 does not count the call's own reference.
    """
    box = [_Holder()]
    held = box.pop()
    return sys.getrefcount(held), sys.getrefcount(held.inside)


class _Holder:
    def __init__(self) -> None:
        self.inside = _Placeholder()


_ALONE, _ALONE_INSIDE = _held()


def accumulate(leaf: Tensor, box: list[Any], skip: bool) -> None:
    """Add the gradient in `box` to ``leaf.grad``: in place without create_graph, out of place with it.

    A first gradient whose memory nobody else holds is taken over; otherwise it is copied, in the leaf's
    layout. `skip`: nobody computes the gradient, or looks into `box`.
    """
    dtype = leaf._grad_dtype
    if skip:
        kind = leaf.dtype if dtype is ... or dtype is None else dtype
        g = leaf.backend.empty(_unseen(leaf.shape, tuple(leaf.strides), kind))
        if leaf._grad is None:
            leaf._grad = g
        else:
            check_layout(leaf, leaf._grad)
            named.add_(leaf._grad, g)
        return
    if dtype not in (..., None) and box[0].dtype is not dtype:
        box = [cast_gradient(box.pop(), dtype)]
    old = leaf._grad
    if old is None:
        g = box.pop()
        strides = contract_strides(leaf)
        if state.grad:
            # PyTorch's graph: copied into new memory, so CopyBackwards with the target's empty edge first.
            leaf._grad = named.copy_(leaf.backend.empty(Meta(tuple(leaf.shape), g.dtype, strides)), g)
        elif (
            g.strides == strides
            and g._base is None
            and g.offset == 0
            and sys.getrefcount(g) <= _ALONE
            and sys.getrefcount(g.storage) <= _ALONE_INSIDE
        ):
            leaf._grad = detached(g, new_counter())
        else:
            target = leaf.backend.empty(Meta(tuple(leaf.shape), g.dtype, strides))
            leaf.backend.copy_into(target, g)
            leaf._grad = target
        return
    check_layout(leaf, old)
    if state.grad:
        leaf._grad = named.add(old, box[0])
        return

    named.add_(old, box[0])
