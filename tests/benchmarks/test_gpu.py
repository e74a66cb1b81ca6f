"""The benchmarks on GPUs as far as they run without one: on the stand-in, and with gradd in torch's place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import gradd
import numpy as np
import pytest

from benchmarks import gpu
from benchmarks.gpu_works import TINY, WORKS, Sizes
from benchmarks.gpu_works import gpt as made_gpt
from tests.cuda import host
from tests.standin.sessions import sessions_there


class ReplayedGraph:
    """A CUDA graph: what is started while it is captured is counted, not kept."""

    replays = 0

    def replay(self) -> None:
        """Once more."""
        ReplayedGraph.replays += 1


class LikeTorch:
    """gradd with as much of torch's own as the peers ask for."""

    #: where models go
    home = ""

    def __init__(self, available: bool) -> None:
        stream = SimpleNamespace(wait_stream=lambda other: None)

        @contextmanager
        def within(what: Any) -> Iterator[None]:
            yield

        self.cuda = SimpleNamespace(
            is_available=lambda: available, Stream=lambda: stream, current_stream=lambda: stream,
            stream=within, graph=within, CUDAGraph=ReplayedGraph,
        )  # fmt: skip
        self.compiler = SimpleNamespace(reset=lambda: None)

    def __getattr__(self, name: str) -> Any:
        return getattr(gradd, name)

    def compile(self, model: Any) -> Any:
        """No compiler is here."""
        raise RuntimeError("no\ncompiler")


@pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))
def test_a_work_is_measured_on_the_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_URL", "local:")
    with sessions_there():
        found = gpu.measure("tiny", None, 0.0, TINY)
    assert len(found["seconds"]["gradd"]) == gpu.FEWEST_ROUNDS
    assert (found["work"], found["notes"]) == (TINY.title, ["torch is not installed"])
    assert json.loads(json.dumps(found)) == found


def test_sides_are_measured_in_turn_and_one_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_URL", "local:")
    found = gpu.measure("tiny", LikeTorch(True), 0.0, TINY)
    assert {name: len(seconds) for name, seconds in found["seconds"].items()} == {
        "gradd": 3, "torch eager": 3, "torch, CUDA graph": 3
    }  # fmt: skip
    assert found["notes"] == ["torch.compile left out: RuntimeError: no compiler"]
    assert ReplayedGraph.replays == (gpu.WARM + 3) * TINY.steps


def test_fetching_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_URL", "local:")
    found = gpu.measure("fetch", LikeTorch(False), 0.0)
    assert [*found["seconds"]] == ["gradd", "torch eager"]
    assert found["work"] == gpu.FETCHED


def test_every_side_begins_a_round_and_time_ends_them() -> None:
    calls: list[str] = []
    found: dict[str, gpu.Round] = {name: partial(calls.append, name) for name in "abc"}
    taken = gpu.rounds(found, 2, 1e6)
    assert {len(seconds) for seconds in taken.values()} == {gpu.MOST_ROUNDS}
    begun = calls[3 * gpu.WARM :: 3]
    assert begun[:4] == ["a", "b", "c", "a"]


def test_a_loss_that_is_not_torchs_is_no_figure() -> None:
    class OtherBatches(LikeTorch):
        """Whose batches are others."""

        def from_numpy(self, array: Any) -> Any:
            """Turned about."""
            return gradd.from_numpy(np.ascontiguousarray(array[::-1]))

    with gradd.connect("local:"), pytest.raises(SystemExit, match="the losses of gradd are"):
        gpu.compare(WORKS["mlp"], OtherBatches(False))


def test_batches_go_by_over_and_over() -> None:
    with gradd.connect("local:"):
        side = gpu.Trained(gradd, TINY)
        first, again, other = side.batch(0)[0], side.batch(16)[0], side.batch(1)[0]
        assert first.tolist() == again.tolist() != other.tolist()
        inputs, targets = TINY.batches()
        assert inputs.ravel()[1:].tolist() == targets.ravel()[:-1].tolist()


def test_the_gpt_has_the_parameters_that_it_is_called_by() -> None:
    def count(s: Sizes) -> int:
        block = 12 * s.width**2 + 13 * s.width
        return (s.symbols + s.length + 2) * s.width + s.layers * block

    with gradd.connect("local:"):
        sizes = Sizes(2, 16, 2, 40, 8, 2)
        model = made_gpt(gradd, sizes)
        assert sum(p.numel() for p in model.parameters()) == count(sizes)
        assert {p.dtype for p in model.parameters()} == {gradd.bfloat16}
        assert model.scores.weight is model.symbol.weight
    assert round(count(Sizes()) / 1e6) == 124


def test_torch_makes_its_arrays_on_the_device() -> None:
    def made(*size: int, device: str) -> tuple[tuple[int, ...], str]:
        return size, device

    moved = SimpleNamespace(to=lambda device: ("array", device))
    lib = gpu.on_device(SimpleNamespace(from_numpy=lambda a: moved, arange=made, ones=made, nn="nn"), "cuda")
    assert lib.from_numpy(np.zeros(1)) == ("array", "cuda")
    assert lib.arange(3) == ((3,), "cuda")
    assert lib.ones(2, 3) == ((2, 3), "cuda")
    assert (lib.nn, lib.home) == ("nn", "cuda")


def test_a_model_goes_where_its_library_is() -> None:
    lib = LikeTorch(False)
    with gradd.connect("local:"):
        seen: list[str] = []
        lib.home = "cuda"
        model = TINY.model(gradd)

        def moved(home: str) -> Any:
            seen.append(home)
            return model

        model.to = moved
        gpu.Trained(lib, replace(TINY, model=lambda lib: model))
        assert seen == ["cuda"]
