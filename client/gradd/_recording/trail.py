"""The trail of a script: answers for the ops of a program that it repeats, which then need no mirror.

Where a batch records a program that was recorded before, what each op does to the mirror is known: the same
op, on tensors of the same slots and geometry, gives results like those that it gave (`lessons`, `matching`).
They are made here, with nodes that wait until somebody asks for them (`pending`). Step, values and line are
those that recording would leave, so that what comes next may be anything. What is not quite the same runs on
the mirror.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from gradd_engine.backends.meta import MetaStorage
from gradd_engine.backward import accumulate
from gradd_engine.data.state import state
from gradd_engine.declare import flat_tensors, written
from gradd_engine.graph import LEVELS
from gradd_engine.schema import Pass
from gradd_engine.tensor import ROOM, Node, next_priority
from gradd_protocol.limits import DEFAULT

from .._mirror import STEP, BatchState, Event, MirrorState, StepState, after
from .lessons import Draft, Lesson, Lessons
from .matching import Matching, alone, began, fine, in_slots, like
from .pending import PendingGraph, PendingNode
from .repeats import OutputForm, Repeat, placed
from .sites import repeated_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.schema import Op

    from .._exceptions import Site
    from .._program import Builder, Recorded

#: how many ops have their nodes in one graph, which has numbers for `ROOM` nodes
_LONGEST = ROOM >> 6

_AGREES, _NONE, _HALF, _FREED = MirrorState.AGREES, StepState.NONE, StepState.HALF, BatchState.FREED
_BEGUN, _ENDED = after(Event.BEGIN, STEP), after(Event.END, STEP)
#: what of a thread's state ops are not answered under
_ELSEWHERE = ("watcher", "packing", "casting", "vmaps", "transform", "anomaly", "function", "depth")


class TrailHost(Protocol):
    """What a trail needs of its recorder."""

    session: Any
    building: Builder
    batch: BatchState
    step: StepState
    tape: Any
    ahead: Any

    def flush(self) -> Any:
        """Send what is recorded."""

    def cut(self) -> None:
        """Send what one batch holds."""

    def widen(self, op: Op) -> None:
        """Note whether the step of an op touches more than the storages of its arguments."""

    def acted(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], site: Site
    ) -> None:
        """Note what the op of the step that was just added did besides making its outputs."""

    def drew(self, op: Op, attrs: dict[str, Any], outs: tuple[Any, ...], steps: int) -> None:
        """The op of the step that was just added drew from the random stream."""


class Trail:
    """Of one recorder; called by the functions of ops (`state.trail`)."""

    #: whether ops are answered
    on: ClassVar[bool] = True

    def __init__(self, recorder: TrailHost) -> None:
        self._recorder, self._session = recorder, recorder.session
        self._backend = recorder.session.backend
        self.follow()
        self._lessons = Lessons()
        #: nodes of the batch that are not made
        self._graphs: list[PendingGraph] = []
        #: the next node begins another graph
        self._interrupted = False
        # The batch that is answered: by which lesson, whether it missed one, and whether it has none.
        self._batch: Builder | None = None
        self._chosen: Lesson | None = None
        self._missed = self._off = False
        self._matching = Matching(recorder, self._backend, recorder.building)
        #: the lesson that is being taken
        self._draft: Draft | None = None
        #: before the nodes of the op that runs, and what its inputs are, if it may change that
        self._began = 0
        self._given: list[Any] = []
        #: the op that runs asked for values
        self.peeked = False
        #: how many ops it answered
        self.answered = 0

    def follow(self) -> None:
        """Answer in this thread from now on; its state is looked at so since that takes half of the time."""
        self._own = vars(state)

    def __call__(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What `op` gives, recorded; NotImplemented where it has to run."""
        recorder = self._recorder
        if recorder.batch is _FREED and self._turns(op, inputs, attrs):
            recorder.flush()
        building = recorder.building
        if self._batch is not building:
            self._batch, self._chosen, self._missed, self._off = building, None, False, False
            self._matching = Matching(recorder, self._backend, building)
        at = len(building.steps)
        lesson = self._chosen
        if lesson is not None:
            repeat = lesson.repeat(at, op) if building.known is lesson.known else None
            if repeat is None:
                return NotImplemented
            return self._answer(lesson, repeat, building, inputs, attrs, at)
        if self._off:
            return NotImplemented
        programs = self._lessons.beginning(op)
        if at:
            programs = [] if building.known is None else [building.known]
        missed = False
        for known in programs:
            for lesson in self._lessons.of(known):
                repeat = lesson.repeat(at, op)
                if repeat is not None:
                    found = self._answer(lesson, repeat, building, inputs, attrs, at)
                    if found is not NotImplemented:
                        self._chosen = lesson
                        return found
                    missed = True
        if missed:
            self._missed, self._off = True, at > 0
        return NotImplemented

    def _answer(
        self, lesson: Lesson, repeat: Repeat, building: Builder, inputs: tuple[Any, ...],
        attrs: dict[str, Any], at: int,
    ) -> Any:  # fmt: skip
        """What an op gives if it is called as it was."""
        recorder, matching, op = self._recorder, self._matching, repeat.op
        if not self._ready(recorder, lesson, repeat):
            return NotImplemented
        with self._session.lock:
            values, entered = len(building.values), len(building.inputs)
            if not at:
                if self._session.habit(repeat.step) is not lesson.known:
                    return NotImplemented
                building.begin(lesson.known)
            recorder.step = _BEGUN[recorder.step]
            same = matching.takes(repeat, repeat.args, inputs, repeat.geometry)
            same = same and matching.told(repeat, attrs)
            same = same and (op.check_values is None or fine(op, inputs, attrs))
            found = NotImplemented
            if same and op.effects.backward_pass is Pass.BACKWARD:
                found = self._pass(repeat, building, inputs, attrs, lesson, at)
            elif same:
                found = self._give(repeat, building, inputs, attrs, lesson, at)
            if found is NotImplemented:
                del building.values[values:]
                for id in building.inputs[entered:]:
                    matching.sure.discard(building.slots.pop(id))
                del building.inputs[entered:], building.tensors[entered:]
                if not at:
                    building.known = None
            else:
                self.answered += 1
            recorder.step = _ENDED[recorder.step]
            return found

    def _turns(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """Whether this op, which makes a node after a pass that freed its graph, begins a batch as before."""
        recorder = self._recorder
        if not recorder.building.steps:
            return False
        for known in self._lessons.beginning(op):
            for lesson in self._lessons.of(known):
                repeat = lesson.repeats[0]
                if (
                    repeat is not None
                    and repeat.op is op
                    and repeat.tracked
                    and like(repeat, inputs)
                    and all(each.again(attrs[each.name], repeat.exact) for each in repeat.attrs)
                ):
                    before, recorder.batch = recorder.batch, BatchState.NARROW
                    ready = self._ready(recorder, lesson, repeat)
                    recorder.batch = before
                    return ready
        return False

    def _ready(self, recorder: TrailHost, lesson: Lesson, repeat: Repeat) -> bool:
        """Whether nothing is in the way of answering."""
        own, session = self._own, self._session
        grad = own.get("grad", True) or (False if own.get("inference") is None else "inference")
        return not (
            grad != repeat.mode
            or recorder.step is not _NONE
            or session.knowledge.state is not _AGREES
            or (repeat.tracked and recorder.batch is _FREED)
            or recorder.tape is not None
            or len(session.recorders) > 1
            or session.away
            or (recorder.ahead is not None and recorder.ahead.making)
            or LEVELS
            or any(map(own.get, _ELSEWHERE))
            or state.dtype is not lesson.known.dtype
            or state.tf32 is not lesson.known.tf32
        )

    def _give(
        self, repeat: Repeat, building: Builder, inputs: tuple[Any, ...], attrs: dict[str, Any],
        lesson: Lesson, at: int,
    ) -> Any:  # fmt: skip
        """Make the results, and add the step."""
        recorder, op = self._recorder, repeat.op
        if repeat.number is not None and (Node.callables or self._whole(repeat) is None):
            return NotImplemented
        if op.base is not None and not alone(inputs):
            return NotImplemented
        if repeat.writes and self._keep([inputs[at] for at in repeat.writes]):
            return NotImplemented
        start = None
        if op.effects.window and repeat.results[0] is not None:
            start = began(op, inputs, attrs, repeat.results[0])
            if start is None:
                return NotImplemented
        first = slot = len(building.outputs)
        graph = self._graph(building) if repeat.tracked else None
        outs: list[Any] = []
        refs: list[Any] = []
        for result in repeat.results:
            slot = first + len(refs)
            if result is None:
                outs.append(None)
                refs.append(None)
                continue
            source: Any = None
            if result.source is not None:
                place, nr = result.source
                source = inputs[place] if nr < 0 else inputs[place][nr]
                if result.same:
                    outs.append(source)
                    refs.append(None)
                    continue
                storage = source._storage
            else:
                storage = MetaStorage(result.nbytes, recorder)
            t: Any = self._backend.made(
                self._backend, storage, result.shape, result.strides,
                result.offset + (0 if source is None else source.offset) if start is None else start,
                result.dtype, None,
                source._vc if result.versions else None,
            )  # fmt: skip
            if result.based:
                if result.base is None:
                    t._base = source if source._base is None else source._base
                else:
                    t._base = self._inner(result.base, t, graph, slot)
                t._view_version = t._vc.n
                t._creation = result.creation
            if result.tracked:
                t._fn = PendingNode(graph, slot, result.name)  # type: ignore[arg-type]
                t._nr = result.nr
            t._out = (building, slot)
            self._matching.sure.add(slot)
            outs.append(t)
            refs.append(weakref.ref(t))
        building.outputs += refs
        site = repeated_site(lesson.hints, at, 3)
        building.sites.append(site)
        if graph is not None:
            graph.add(repeat, inputs, attrs, tuple(outs), first, site)
        building.steps.append(repeat.step)
        if repeat.leaves is not None:
            self._graphs.pop().free(in_slots(repeat.leaves, building))
            lesson.vain = 0
        if op.acts:
            recorder.widen(op)
            for at in repeat.writes:
                inputs[at]._vc.n += 1
            recorder.acted(op, inputs, attrs, tuple(outs), site)
        if repeat.draws:
            recorder.drew(op, attrs, tuple(outs), repeat.draws)
        if len(building.steps) >= DEFAULT.batch_steps:
            recorder.cut()
        return tuple(outs) if repeat.many else outs[0]

    def _inner(self, result: OutputForm, view: Any, graph: PendingGraph | None, slot: int) -> Any:
        """What a result is a view of, where the op made it and gives the view alone."""
        t: Any = self._backend.made(
            self._backend,
            view._storage,
            result.shape,
            result.strides,
            result.offset,
            result.dtype,
            None,
            view._vc,
        )
        if result.tracked:
            t._fn = PendingNode(graph, ~slot, result.name)  # type: ignore[arg-type]
            t._nr = result.nr
        return t

    def _graph(self, building: Builder) -> PendingGraph:
        graphs = self._graphs
        if not graphs or self._interrupted or not graphs[-1].stands or len(graphs[-1].calls) >= _LONGEST:
            self._interrupted = False
            graphs.append(PendingGraph(self._backend, building))
        return graphs[-1]

    def _whole(self, repeat: Repeat) -> PendingGraph | None:
        """The graph that a pass goes through, if none of its nodes are made."""
        if len(self._graphs) != 1 or Node.turned or Node.any_sparse:
            return None
        graph = self._graphs[0]
        return graph if graph.stands and len(graph.calls) == repeat.number else None

    def _keep(self, changed: Sequence[Any]) -> bool:
        """Whether nodes that are not made keep what is about to change."""
        return any(graph.stands and graph.keeps(changed) for graph in self._graphs)

    def _pass(
        self, repeat: Repeat, building: Builder, inputs: tuple[Any, ...], attrs: dict[str, Any],
        lesson: Lesson, at: int,
    ) -> Any:  # fmt: skip
        """Run a pass that reaches all nodes of the batch, none of which are made."""
        recorder = self._recorder
        graph = self._whole(repeat)
        leaves = in_slots(repeat.leaves or (), building)
        if (
            graph is None
            or None in leaves.values()
            or (Node.callables and any(map(_called, leaves.values())))
            or not all(root._fn.__class__ is PendingNode and root._fn.graph is graph for root in inputs[0])
        ):
            return NotImplemented
        own = self._own
        before = own.get("grad", True)
        own.update(grad=False, depth=1, trail=None)
        try:
            for leaf in leaves.values():
                accumulate(leaf, [], True)
        finally:
            own.update(grad=before, depth=0, trail=self)
        graph.free(leaves)
        self._graphs.clear()
        lesson.vain = 0
        site = repeated_site(lesson.hints, at, 3)
        building.sites.append(site)
        building.steps.append(repeat.step)
        recorder.widen(repeat.op)
        recorder.acted(repeat.op, inputs, attrs, (), site)
        return None

    # -- what runs on the mirror -----------------------------------------------------------------------

    def before(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """An op is about to run on the mirror, whose own ops are not answered."""
        self._own["trail"] = None
        self.peeked = False
        self._began = next_priority()
        self._given = []
        if op.acts:
            # It may change what it was not called with: what a view is of, and all views of that.
            self._matching.sure.clear()
            self._given = placed(inputs)
        others = self._session.recorders
        if len(others) > 1:
            for other in others:
                if other is not self._recorder:
                    other.trail.settle()
        if self._graphs and op.acts:
            changed = inputs[:1] if op.base is not None else written(op, inputs)
            spared = not op.stateful
            if op.effects.spares_nodes:
                spared = True
                changed = [t._grad for t in flat_tensors(inputs) if t._grad is not None]
            if not spared or (changed and self._keep(changed)):
                self.settle()

    def leave(self) -> None:
        """Answer nothing more."""
        self._own["trail"] = None

    def settle(self) -> None:
        """Make all nodes that are not made: something is about to change what they depend on, or looks at
        what they keep alive.
        """
        graphs, self._graphs = self._graphs, []
        for graph in graphs:
            if graph.stands:
                graph.make()
        if graphs and self._chosen is not None and self._batch is self._recorder.building:
            self._chosen.vain += 1

    def ran(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], many: bool,
        at: int, step: Recorded, slot: int,
    ) -> None:  # fmt: skip
        """An op ran on the mirror, and its step is recorded: remember it where the program is known."""
        building = self._recorder.building
        known = building.known
        if known is None and not self._graphs:
            return
        tracked = any(o is not None and o._fn is not None for o in outs)
        if tracked:
            self._interrupted = True
        if known is None or at >= len(known.steps):
            return
        if not at:
            more = self._lessons.begun(op, known)
            self._draft = Draft(building, known, self._began) if more else None
        draft = self._draft
        chosen = self._batch is building and self._chosen is not None
        if draft is not None and draft.building is building and not chosen:
            usual = not (self.peeked or LEVELS or any(map(self._own.get, _ELSEWHERE)))
            usual = usual and (not op.acts or placed(inputs) == self._given)
            draft.add(op, inputs, attrs, outs, many, at, step, usual, self._backend.drawn)
        if self.on and vars(state) is self._own:
            self._own["trail"] = self

    def end(self, built: Builder) -> None:
        """A batch ends: its nodes are made, and a lesson of it is complete."""
        self.settle()
        draft, self._draft = self._draft, None
        if draft is None or draft.building is not built or built.known is not draft.lesson.known:
            return
        mine = self._batch is built
        if len(built.steps) < len(draft.lesson.repeats) or (mine and self._chosen is not None):
            return
        if (mine and self._missed) or not self._lessons.of(draft.lesson.known):
            self._lessons.take(draft.lesson)


def _called(leaf: Any) -> bool:
    """Whether user callbacks stand at a leaf."""
    node = leaf._acc() if leaf._acc is not None else None
    return bool(leaf._hooks or leaf._post_hooks or (node is not None and (node.pre_hooks or node.post_hooks)))
