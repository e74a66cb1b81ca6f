"""A session's plans."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gradd_engine.tracing import InputSignature, TraceFailed, Unplannable

from ..program import Run, op_failed
from .replay import LooksBehind, Plan, PlanBroken
from .settled import Settled

if TYPE_CHECKING:
    from ..batch import Work
    from ..program import RunContext
    from .graph import PlanGraph
    from .settled import Inputs

#: programs seen once that a session remembers
SIGHTINGS = 1024
#: plans per key, for different values of guards
VARIANTS = 4
#: bytes of plans that a session keeps; the least recently used are dropped
PLAN_BYTES = 64 << 20
#: approximate bytes of a plan's key
ENTRY_BYTES = 8000
#: bytes that the graphs of a session's plans keep beside its memory
GRAPH_BYTES = 256 << 20
#: reasons that are told apart, and the one of all others
REASONS, OTHER = 64, "other reasons"
#: what reasons begin with of batches that ran by a plan
NO_GRAPH = "planned, but by no CUDA graph: "
#: the same where a plan runs in segments
NOT_ONE = "planned, but not as one CUDA graph: "


class Plans:
    """A session's plans. `run` is the executor's `run` with the same result."""

    #: run a key eagerly the first time; tests turn this off to plan everything
    first_eager = True
    #: whether to plan at all; tests compare with this off
    enabled = True
    #: look for the key of what is settled too, and compare; tests turn this on
    checks = False

    def __init__(self) -> None:
        #: by key: plans, or why there are none
        self._known: OrderedDict[Any, list[Plan] | str] = OrderedDict()
        self._seen: OrderedDict[Any, None] = OrderedDict()
        self.counts = {"planned": 0, "eager": 0, "traced": 0, "dropped": 0, "bytes": 0}
        #: the key that the last batch saw for the first time
        self._new: Any = None
        #: the last batch, where it left its inputs as they were and ran by the plan of the one before
        self._settled: Settled | None = None
        self._latest: Plan | None = None
        #: memory that was not there in the midst of the last batch, which no repetition would tell
        self.spoiled: MemoryError | None = None
        #: why the last batch ran eagerly; empty if it was planned
        self.why = ""
        #: why batches ran eagerly, or on a device by no graph, and how many
        self.reasons: Counter[str] = Counter()
        #: the graphs of plans, and what each kept when it was looked at
        self._graphs: WeakKeyDictionary[PlanGraph, int] = WeakKeyDictionary()

    def clear(self) -> None:
        """Forget every plan; `counts` of what was run go on."""
        self._known.clear()
        self._seen.clear()
        self.counts["bytes"] = 0
        self._new = None
        self.unsettle()

    def unsettle(self) -> None:
        """Something else than a batch happens to the session."""
        self._settled = self._latest = None

    def find(self, work: Work, context: RunContext) -> tuple[Plan, InputSignature] | None:
        """The plan for this work and its input signature, or None the first time and if it cannot be planned;
        `why` says which.
        """
        bound = work.bound
        self._new = None
        self.why = "plans are off" if not self.enabled or context.backend.is_meta else bound.unplannable
        if self.why:
            return None
        known = len(bound.deep)
        found = self._find(work, context, self.first_eager)
        while found is None and len(bound.deep) > known:
            # The trace needed the inputs' graphs, which are walked from now on.
            known = len(bound.deep)
            found = self._find(work, context, False)
        return found

    def _find(self, work: Work, context: RunContext, first_eager: bool) -> tuple[Plan, InputSignature] | None:
        bound = work.bound
        try:
            inputs = InputSignature(work.tensors, bound.deep)
        except Unplannable:
            self.why = "hooks, tangents or nodes that a plan cannot hold come in with its inputs"
            return None
        wanted = tuple(sorted({*work.keep, *work.binds, *work.fetched_slots()}))
        key = (bound.id, inputs.key, wanted, tuple([(u.shape, u.dtype) for u in work.uploads]))
        plans = self._known.get(key, [])
        if isinstance(plans, str):
            self.why = plans
            return None
        for plan in plans:
            if not plan.guards or plan.fits(work.values):
                # Their order matters only if one may be dropped soon.
                if self.counts["bytes"] > PLAN_BYTES // 2:
                    self._known.move_to_end(key)
                return plan, inputs
        if first_eager and key not in self._seen:
            self._seen[key] = None
            self._new = key
            if len(self._seen) > SIGHTINGS:
                self._seen.popitem(last=False)
            self.why = "first sighting"
            return None
        if len(plans) >= VARIANTS:
            self._keep(key, "values that its rules look at change from batch to batch")
            self.why = "values that its rules look at change from batch to batch"
            return None
        try:
            plan = Plan(work, context, wanted, inputs)
        except LooksBehind as error:
            bound.deep.update(error.inputs)
            return None
        except Exception as error:
            # The session is unchanged, and the eager run reports any error.
            self.why = str(error) if isinstance(error, TraceFailed) else f"its trace raised: {error}"
            self._keep(key, self.why)
            return None
        self.counts["traced"] += 1
        plan.key = key
        self._keep(key, [*plans, plan])
        return plan, inputs

    def _weigh(self, latest: PlanGraph) -> None:
        """Graphs keep memory that no quota counts, since when they are made depends on addresses: where all
        keep too much, those go that were made first.
        """
        if latest.nbytes == self._graphs.get(latest, 0):
            return
        self._graphs.pop(latest, None)
        self._graphs[latest] = latest.nbytes
        for graph in list(self._graphs):
            if sum(g.nbytes for g in self._graphs) <= GRAPH_BYTES:
                return
            graph.give_up(f"graphs would keep more than {GRAPH_BYTES >> 20} MiB")

    def _because(self, why: str) -> None:
        known = why in self.reasons or len(self.reasons) < REASONS
        self.reasons[why if known else OTHER] += 1

    def failed(self) -> None:
        """The last batch failed eagerly: plan it only after a success, which shows that kernels that no value
        makes raise do not raise for another reason.
        """
        if self._new is not None:
            self._seen.pop(self._new, None)

    def _keep(self, key: Any, plans: list[Plan] | str) -> None:
        counts = self.counts
        counts["bytes"] += _size(plans) - _size(self._known.get(key, ""))
        self._known[key] = plans
        self._known.move_to_end(key)
        while counts["bytes"] > PLAN_BYTES and len(self._known) > 1:
            counts["bytes"] -= _size(self._known.popitem(last=False)[1])
            counts["dropped"] += 1

    def run(self, work: Work, context: RunContext, produced: Any) -> Run | None:
        """Run the work by its plan and report each output; None, with nothing done, if it must run
        eagerly. Raises Halted, with nothing done, if it is asked to stop.
        """
        settled, latest = self._settled, self._latest
        self._settled = self._latest = slots = plan = None
        inputs: InputSignature | Inputs | None = None
        if settled is not None and self.enabled:
            inputs = settled.again(work)
        if settled is not None and inputs is not None:
            plan = settled.plan
            self._new, self.why = None, ""
            if self.checks:
                _compare(plan, inputs, self.find(work, context))
        elif (found := self.find(work, context)) is not None:
            plan, inputs = found
            settled = (
                Settled(plan, work, found[1]) if plan is latest and plan.inert and not work.uploads else None
            )
        if plan is not None and inputs is not None:
            try:
                if context.account.has_room(plan.bytes):
                    before = plan.own_bytes
                    slots = plan.replay(work, context, inputs)
                    if plan.own_bytes != before and plan in list(self._known.get(plan.key, "")):
                        self.counts["bytes"] += plan.own_bytes - before
                else:
                    self.why = "its memory might not suffice"
            except PlanBroken as error:
                self.spoiled = error.__cause__ if isinstance(error.__cause__, MemoryError) else None
                self._keep(plan.key, "a kernel raised that is declared not to")
                return Run({}, problem=op_failed(RuntimeError(str(error)), 0, 0))
            except Exception as error:
                if isinstance(error, MemoryError):
                    # A replay has to run it eagerly too: in the record it is memory that was not there.
                    context.account.refused.append((context.account.asked, 0, 0))
                # Nothing was changed; the eager run raises this again, at the right step.
                self.why = f"a kernel raised: {error}"
        if plan is None or slots is None:
            self.counts["eager"] += 1
            self._because(self.why)
            return None
        self.counts["planned"] += 1
        if plan.graph is not None:
            self._weigh(plan.graph)
            if plan.graph.why:
                self._because(f"{NO_GRAPH}{plan.graph.why}")
            elif plan.graph.parted:
                self._because(f"{NOT_ONE}{plan.graph.parted}")
        self._settled, self._latest = settled, plan
        for s, t in slots.items():
            produced(s, t)
        return Run(slots, plan.applied)


def _compare(plan: Plan, inputs: InputSignature | Inputs, found: tuple[Plan, InputSignature] | None) -> None:
    assert found is not None, "what was settled has no plan"
    assert plan is found[0], "what was settled has another plan"
    same = list(map(id, inputs.tensors)) == list(map(id, found[1].tensors))
    assert same, "what was settled has other inputs"
    assert not found[1].nodes, "what was settled has graphs"


def _size(plans: list[Plan] | str) -> int:
    """Bytes of a cache entry, including its key."""
    return ENTRY_BYTES + (0 if isinstance(plans, str) else sum(p.own_bytes for p in plans))
