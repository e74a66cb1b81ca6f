"""After every batch the SDK's mirror says of every tensor what the server says."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradd
import msgspec
import pytest
from gradd._session import agreement
from gradd_engine.backward import executor as engine_backward

from tests.congruence.programs import Elsewhere, Script

PROGRAMS = 500
BATCHES = 4


@pytest.fixture(autouse=True)
def _no_surprise_collection() -> Iterator[None]:
    """Cycles (tracebacks) may hold tensors; they must not die between two looks at the session."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def compare(writers: list[Any]) -> None:
    """What the server lists is what the mirrors of all its writers say."""
    mirrors = [row for w in writers for row in w.mirror()]
    server = writers[0].tensors()
    want = {row.id: msgspec.structs.asdict(row) for row in server if row.id.startswith("@")}
    have = {row.id: msgspec.structs.asdict(row) for row in mirrors}
    differ = {i: (want.get(i), have.get(i)) for i in want.keys() | have.keys() if want.get(i) != have.get(i)}
    assert not differ, "\n".join(f"{i}:\n  server {a}\n  mirror {b}" for i, (a, b) in sorted(differ.items()))


def run(seed: int, url: str) -> None:
    """One program: four batches or more, one of which may fail with three behind it."""
    session = gradd.connect(url, session=f"congruence-{seed}")
    writers = [session]
    if seed % 3 == 0:
        writers.append(gradd.connect(url, session=session.name))
    script = Script(seed, session, writers[-1] if len(writers) > 1 else None)
    try:
        with Elsewhere(session):
            for batch in range(BATCHES):
                if seed % 2 == 0 and batch == 2:
                    script.fail()
                else:
                    script.run(14)
                script.settle()
                for w in writers:
                    # A reply tells a writer that others were here.
                    with Elsewhere(w):
                        gradd.zeros(1)
                        w.flush()
                compare(writers)
            assert session.info().batches == sum(w.wire.seq for w in writers)
    except AssertionError as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(script.log))
        raise
    finally:
        script.held.clear()
        session.wire.transport.delete()
        for w in writers:
            w.wire.transport.close()
            w._closed = True


@pytest.mark.parametrize("part", range(10))
def test_the_mirror_says_what_the_server_says(part: int) -> None:
    for seed in range(part, PROGRAMS, 10):
        run(seed, "local:")
        if seed % 50 == part:
            gc.collect()


def test_the_mirror_says_what_the_server_says_over_the_stream(daemon: str) -> None:
    for seed in range(60):
        run(seed, daemon)


def run_some() -> None:
    """A few programs: enough to trip over a planted fault."""
    for seed in range(20):
        run(seed, "local:")


def test_a_mirror_that_forgets_versions_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = agreement.rows
    forget = partial(msgspec.structs.replace, version=0)
    monkeypatch.setattr(agreement, "rows", lambda session: map(forget, real(session)))
    with pytest.raises(AssertionError, match="version"):
        run_some()


def test_a_mirror_that_forgets_gradients_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = engine_backward.accumulate

    def planted(leaf: Any, box: list[Any], skip: bool) -> None:
        if not (skip and leaf.ndim == 2):
            real(leaf, box, skip)

    monkeypatch.setattr(engine_backward, "accumulate", planted)
    with pytest.raises(AssertionError, match="has_grad"):
        run_some()
