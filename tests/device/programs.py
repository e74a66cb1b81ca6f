"""Random programs on the stand-in: planned as unplanned, to the bit where nothing is fused, and in numbers as
on NumPy.

``python -m tests.device.programs 2000`` runs so many in this process, beside a NumPy session; prints the
seeds where something differs.
"""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from gradd._transports.local import _inline
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.kernels import KernelTable
from gradd_runtime.plan.cache import NO_GRAPH
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import Session

from tests.runtime.plan.test_plans import assert_alike, random_program, replay, told
from tests.standin.sessions import AtOnce, device

_RUNS = itertools.count()
#: relative and absolute, as NumPy names them
Close = dict[str, Any]
#: what sums in another order may differ by
CLOSE: Close = {"rtol": 1e-4, "atol": 1e-5}


@contextmanager
def frames_sent() -> Iterator[dict[str, list[bytes]]]:
    """The frames that sessions of this process are sent in the block, by session."""
    frames: dict[str, list[bytes]] = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        frames.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    InlinePlacement._run = run  # type: ignore[method-assign]
    try:
        yield frames
    finally:
        InlinePlacement._run = real  # type: ignore[method-assign]


def assert_close(got: Any, want: Any, where: str, close: Close = CLOSE) -> None:
    """Two arrays of one shape and dtype have nearly the same numbers."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype), where
    wide = got.dtype if got.dtype.kind in "biuc" else np.dtype(float)
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), **close, err_msg=where)


def compare(frames: list[bytes], on: CupyBackend, close: Close = CLOSE, exact: bool = True) -> dict[str, int]:
    """AssertionError where the runs differ; the counts of the planned one. `exact`: the device adds up in
    the same order each time.
    """
    _inline().submit("", b"").result()
    eager = replay(frames, enabled=False, backend=on)
    with mock.patch.object(KernelTable, "fusing", None):
        plain = replay(frames, enabled=True, backend=on)
    if exact:
        assert_alike(frames, eager, plain)
    else:
        assert_near(eager, plain, close)
    # C's exponentials are not NumPy's to the last bit
    planned = replay(frames, enabled=True, backend=on)
    assert_near(eager, planned, close)
    fused, bare = (
        {why: n for why, n in run[1].plans.reasons.items() if not why.startswith(NO_GRAPH)}
        for run in (planned, plain)
    )
    assert fused == bare, "what is fused raised"
    # NumPy stops at an index that is out of range
    at_once = replay(frames, enabled=False, backend=on, doubts=AtOnce())
    assert_near(replay(frames, enabled=False), at_once, close)
    counts: dict[str, int] = planned[1].plans.counts
    return counts


def assert_near(
    wanted: tuple[list[bytes], Session], run: tuple[list[bytes], Session], close: Close = CLOSE
) -> None:
    """Two runs answer alike and end alike, but for the last places of numbers."""
    for n, (a, b) in enumerate(zip(run[0], wanted[0], strict=True)):
        (message, arrays), (other, others) = told(a), told(b)
        assert message == other, f"frame {n}"
        for (dtype, shape, got), (_, _, want) in zip(arrays, others, strict=True):
            assert_close(_of(got, dtype, shape), _of(want, dtype, shape), f"frame {n}", close)
    for name, t in wanted[1].table.ids.items():
        found = run[1].table.ids[name]
        assert_close(found.backend.to_numpy(found), t.backend.to_numpy(t), name, close)


def _of(octets: bytes, dtype: Any, shape: Any) -> Any:
    return np.frombuffer(octets, dtype).reshape(shape)


def run(seeds: range, on: CupyBackend, close: Close = CLOSE, exact: bool = True) -> tuple[int, list[str]]:
    """Run the programs of these seeds: planned batches, and what differed."""
    planned, bad = 0, []
    with frames_sent() as frames:
        for seed in seeds:
            # a session of a name that was used is of another epoch, and its frames are for no fresh one
            name, script = random_program(seed, f"device-{next(_RUNS)}")
            try:
                planned += compare(frames.pop(name), on, close, exact)["planned"]
            except Exception:
                bad.append(f"seed {seed}: {traceback.format_exc(limit=-3)[-1500:]} {script.log}")
    return planned, bad


def main(programs: int, first: int = 0) -> int:
    """Run so many, from a seed on; how many differ."""
    planned, bad = run(range(first, first + programs), device())
    print(*bad, sep="\n")
    print(f"{programs} random programs on the stand-in, {planned} planned batches, {len(bad)} differ")
    return len(bad)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
