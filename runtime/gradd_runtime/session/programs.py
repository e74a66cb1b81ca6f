"""The programs that a session knows, bound to ops; the least recently used are dropped."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from gradd_engine.data import OutOfQuota
from gradd_protocol import frames
from gradd_protocol.problems import Problem, ProtocolError
from gradd_protocol.program import validate

from ..program import bind_program, over_quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gradd_engine.data import Account
    from gradd_protocol import messages as m
    from gradd_protocol.program import Program, Sites

    from ..program import Bound, Profiler

PROGRAMS = 1024
#: bytes of programs that a session keeps
PROGRAM_BYTES = 64 << 20
#: approximate bytes of a bound program: per step, per byte of its JSON, and without steps (measured with
#: tracemalloc)
STEP_BYTES, OCTET_BYTES, EMPTY_BYTES = 400, 4, 120


class Programs:
    """Bound programs by id, charged to the account."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._bound: OrderedDict[str, Bound] = OrderedDict()
        self._bytes: dict[str, int] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._bound

    def clear(self) -> None:
        """Forget all, without changing the account."""
        self._bound.clear()
        self._bytes.clear()

    def items(self) -> Iterator[tuple[Program, int]]:
        """The definitions and the bytes that they count for, the least recently used first."""
        for bound in self._bound.values():
            yield bound.definition, self._bytes[bound.id]

    def sites(self) -> dict[str, Sites]:
        """The lines of the steps of those programs of which somebody told them."""
        return {bound.id: bound.sites for bound in self._bound.values() if bound.sites is not None}

    def restore(self, rows: Iterable[tuple[Program, int]], sites: Mapping[str, Sites]) -> None:
        """Know programs again that `items` and `sites` gave."""
        for definition, nbytes in rows:
            id = definition.id()
            bound = bind_program(definition, id, sites.get(id))
            self._bound[bound.id], self._bytes[bound.id] = bound, nbytes
            self._account.charge(nbytes)

    def expect(self, batch: m.Batch) -> None:
        """Raises ProtocolError: program-unknown (which is not consumed)."""
        if batch.definition is None and batch.program not in self._bound:
            raise ProtocolError.of("program-unknown", f"the session does not know program {batch.program!r}")

    def find(
        self, batch: m.Batch, frame: frames.Bytes, profiler: Profiler | None
    ) -> tuple[Bound | None, Problem | None]:
        """The batch's program, or the problem if it is refused. See `expect`."""
        bound = self._bound.get(batch.program)
        if bound is not None:
            self._bound.move_to_end(batch.program)
            if profiler is not None and bound.steps:
                profiler.known(bound.id, bound.definition)
            return bound, None
        assert batch.definition is not None
        try:
            validate(batch.definition)
            if batch.definition.id() != batch.program:
                raise ProtocolError.of(
                    "malformed-frame", "the program's id is not the digest of its definition"
                )
            nbytes = _bytes_of(batch.definition, frame)
            bound = bind_program(batch.definition, batch.program, batch.sites)
            if bound.steps:
                self._account.admit(nbytes)
            else:
                self._account.charge(nbytes)  # freeing and reading must work even if there is no room left
        except ProtocolError as error:
            return None, error.problem
        except OutOfQuota as error:
            return None, over_quota(error)
        self._bound[bound.id] = bound
        self._bytes[bound.id] = nbytes
        if profiler is not None and bound.steps:
            profiler.new(bound.id, bound.definition)
        self._trim()
        return bound, None

    def _trim(self) -> None:
        held = sum(self._bytes.values())
        while len(self._bound) > PROGRAMS or (held > PROGRAM_BYTES and len(self._bound) > 1):
            nbytes = self._bytes.pop(self._bound.popitem(last=False)[0])
            self._account.charge(-nbytes)
            held -= nbytes


def _bytes_of(program: Program, frame: frames.Bytes) -> int:
    """A bound program's approximate bytes, from the JSON header of its frame (constant without steps)."""
    steps = len(program.steps)
    return STEP_BYTES * steps + OCTET_BYTES * frames.header_bytes(frame) if steps else EMPTY_BYTES
