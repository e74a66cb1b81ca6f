"""A session's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import RandomStream, collect
from msgspec import UNSET, UnsetType

from ..plan import Plans
from ..program import Admitted, RunContext
from ..store import MemoryStore
from ..tensors import Pins, TensorTable
from .change import Change
from .memory import MemoryHistory
from .orders import Orders
from .programs import Programs
from .ration import Ration
from .series import Curves
from .staged import StagedUploads
from .writers import Writers

if TYPE_CHECKING:
    from gradd_engine.tensor import Backend
    from gradd_protocol.messages import Restored
    from gradd_protocol.problems import Problem

    from ..program import Profiler
    from ..store import Store

#: approximate bytes of a table entry or an admitted program (measured with tracemalloc)
ENTRY_BYTES = 120


class SessionState(RunContext):
    """Tensors, programs, writers, plans, and their bytes. `limit`: bytes of tensors."""

    def __init__(
        self, name: str, seed: int, limit: int, store: Store | None, backend: Backend, epoch: int = 1
    ) -> None:
        device: Any = backend
        super().__init__(backend, device.account(limit), RandomStream(seed))
        self.name = name
        #: position of the last event
        self.position = 0
        self.table = TensorTable()
        self.store: Store = store or MemoryStore()
        #: in the session's record
        self.entries = 0
        #: what the request that runs does
        self.change = Change()
        #: why nothing is answered any more: what was done last could not be recorded
        self.fenced: Problem | None = None
        #: what became of it when other kernels made it again
        self.restored: Restored | UnsetType = UNSET
        self.programs = Programs(self.account)
        self.writers = Writers(self.account, epoch)
        self.staged = StagedUploads(self.account)
        self.pins = Pins(self.account)
        self.admitted = Admitted()
        self.plans = Plans()
        self.ration = Ration()
        #: what its scripts log
        self.curves = Curves()
        #: what it held in the course of its batches
        self.memory = MemoryHistory()
        #: the latest measurement that ended by itself
        self.measured: Profiler | None = None
        self.obey(Orders())
        self.counts = {"messages": 0, "batches": 0, "round_trips": 0, "steps": 0}
        #: batches that came to something else than what they ask for; of no consequence for the session
        self.outcomes = {"failed": 0, "replayed": 0, "refused": 0}
        #: bytes counted for tables and plans, as of the last `settle`
        self._settled = 0

    def close(self) -> None:
        """Drop everything at once, including tensors in a cycle (a gradient whose graph leads back to its
        leaf).
        """
        for held in (self.table, self.programs, self.writers, self.staged, self.pins, self.admitted):
            held.clear()
        self.account.other = self._settled = 0
        self.orders.to(None)
        self.plans = Plans()
        if self.account.used:
            collect()

    @property
    def profiled(self) -> bool:
        """Whether somebody profiles it, who is to be told of what was measured."""
        return self.profiler is not None and self.profiler.left is None

    def obey(self, orders: Orders) -> None:
        """Take orders from there."""
        self.orders = orders
        orders.to(self.account)

    def forget(self) -> None:
        """Be as a session that was thawed: without plans and admissions. What is asked of the account, and so
        how an entry numbers what was refused, depends on them.
        """
        self.admitted.clear()
        self.plans.clear()
        self.settle()

    def settle(self, more: int = 0) -> None:
        """Charge the current bytes of tables and plans, and `more`."""
        beside = ENTRY_BYTES * (len(self.table) + len(self.admitted)) + self.plans.counts["bytes"]
        self.account.charge(beside - self._settled + more)
        self._settled = beside
