"""The stand-in refuses what CuPy refuses, and counts what it should."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.backends.graphs import DeviceGraph
from gradd_engine.data.dtypes import float32
from gradd_engine.data.layout import Meta

from tests import standin
from tests.standin.memory import reusing

xp = standin.CUPY


@pytest.fixture(autouse=True)
def no_counts() -> None:
    standin.reset()


@pytest.mark.parametrize(
    "convert", [np.asarray, np.array, lambda a: np.ones(3) + a, lambda a: a * np.ones(3), np.add.reduce]
)
def test_nothing_becomes_numpys_by_itself(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        convert(xp.ones(3))


def test_numpys_functions_and_numbers_are_taken() -> None:
    a = xp.ones(3)
    for found in (np.exp(a), np.concatenate([a, a]), a + np.float64(2), np.float64(2) * a, a + np.array(2.0)):
        assert type(found) is xp.ndarray


def test_single_results_stay_arrays() -> None:
    for found in (xp.ones(3).sum(), xp.ones(3)[0], xp.max(xp.ones(3)), xp.ones(()) + 1):
        assert type(found) is xp.ndarray
        assert found.shape == ()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (NotImplementedError, lambda: xp.multiply.at(xp.ones(2), xp.zeros(1, int), 2)),
        (TypeError, lambda: xp.add.at(xp.ones(2, np.int64), xp.zeros(1, int), 2)),
        (TypeError, lambda: xp.maximum.at(xp.ones(2, np.float16), xp.zeros(1, int), 2)),
        (NotImplementedError, lambda: xp.maximum.accumulate(xp.ones(2))),
        (NotImplementedError, lambda: xp.logical_or.reduce(xp.ones(2))),
        (NotImplementedError, lambda: xp.maximum.reduceat(xp.ones(2), xp.zeros(1, int))),
        (TypeError, lambda: xp.add(xp.ones(2), 1, where=xp.ones(2, bool))),
        (TypeError, lambda: xp.sum(xp.ones(2), initial=3)),
        (TypeError, lambda: xp.concatenate([xp.ones(2), [1.0]])),
        (AttributeError, lambda: xp.errstate(all="ignore")),
        (AttributeError, lambda: xp.ones(2).flags.carray),
        (AttributeError, lambda: xp.linalg.vecdot),
        (ValueError, lambda: operator.setitem(xp.ones(2), slice(None), np.ones(2))),
        (TypeError, lambda: hash(xp.ones(2))),
    ],
)
def test_what_cupy_lacks_raises(error: type[Exception], call: Callable[[], Any]) -> None:
    with pytest.raises(error):
        call()


def test_indices_wrap_around() -> None:
    a = xp.arange(4)
    assert a[xp.asarray([5, -5])].get().tolist() == [1, 3]
    assert xp.take(a, xp.asarray([6])).get().tolist() == [2]
    with pytest.raises(IndexError):
        a[5]


def test_views_stay_within_their_memory() -> None:
    with standin.installed():
        cupy = CupyBackend()
    flat = xp.arange(6, dtype=np.float32)
    inside = cupy.strided(flat, Meta((2, 2), float32, (3, 1), 1))
    assert inside.get().tolist() == [[1, 2], [4, 5]]
    inside[...] = 9
    assert flat.get().tolist() == [0, 9, 9, 3, 9, 9]
    for meta in (Meta((2, 2), float32, (3, 1), 3), Meta((7,), float32), Meta((1,), float32, (1,), -1)):
        with pytest.raises(AssertionError, match="reaches bytes"):
            cupy.strided(flat, meta)
    assert cupy.strided(flat, Meta((0, 9), float32, (9, 1), 99)).shape == (0, 9)


def test_the_device_has_memory_of_its_own() -> None:
    given = np.zeros(3)
    a = xp.asarray(given)
    a += 1
    assert given.tolist() == [0, 0, 0]
    assert xp.asarray(a) is a


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("item", lambda a: a.item(0)),
        ("int", lambda a: int(a[0])),
        ("float", lambda a: float(a[0])),
        ("bool", lambda a: bool(a[0] > 0)),
        ("index", lambda a: [1, 2][xp.arange(2)[1]]),
        ("get", lambda a: xp.asnumpy(a)),
        ("tolist", lambda a: a.tolist()),
        ("nonzero", lambda a: xp.where(a > 0)),
        ("mask", lambda a: a[a > 0]),
        ("unique", lambda a: xp.unique(a)),
        ("synchronize", lambda a: xp.cuda.get_current_stream().synchronize()),
    ],
)
def test_waits_are_counted_by_line(what: str, call: Callable[[Any], Any]) -> None:
    call(xp.ones(3))
    ((seen, line),) = standin.WAITS
    assert seen == what
    assert "test_standin.py:" in line


def test_launches_are_counted_and_views_are_none() -> None:
    a = xp.ones((2, 3))
    standin.reset()
    b = a.T[1:].reshape(2, 2, 1).squeeze()
    assert b.base is a
    assert not standin.LAUNCHES
    b += 1
    b.copy()
    a.astype(np.float32)
    a[...] = 0
    xp.sum(a)
    xp.ascontiguousarray(a.T)
    assert standin.LAUNCHES == {
        "add": 1, "copy": 1, "astype": 1, "put": 1, "sum": 1, "ascontiguousarray": 1,
    }  # fmt: skip
    assert not standin.WAITS


def test_a_capture_refuses_what_waits_within_what_makes_an_array() -> None:
    a, stream = xp.ones(3), xp.cuda.Stream()
    with stream:
        for waits in (lambda: xp.nonzero(a), lambda: a[a > 0], lambda: xp.asarray(np.ones(3))):
            stream.begin_capture()
            with pytest.raises(RuntimeError, match="while a stream is capturing"):
                waits()
            stream.end_capture()


def test_a_capture_leaves_alone_what_is_returned_as_it_was_given() -> None:
    at, kept = xp.asarray(np.array([0, -1])), []

    def work() -> None:
        kept.append(xp.asarray(at.astype(np.int64, copy=False)) + 1)

    graph = DeviceGraph(xp, work, lambda: None)
    assert at.tolist() == [0, -1]
    graph.launch()
    assert kept[0].tolist() == [1, 0]
    assert xp.broadcast_to(array=at, shape=(2, 2)).base is at


def test_a_graph_finds_no_memory_that_was_given_back() -> None:
    given, kept = [xp.ones(3)], []
    graph = DeviceGraph(xp, lambda: kept.append(given[0] + 1), lambda: None)
    graph.launch()
    given.clear()
    with pytest.raises(AssertionError, match="given back"):
        graph.launch()


def test_memory_that_was_given_back_is_where_the_next_array_is() -> None:
    for on in (True, False):
        with reusing(on):
            given, kept = [xp.ones(3), xp.ones(3)], []
            graph = DeviceGraph(xp, lambda given=given, kept=kept: kept.append(given[0] + 1), lambda: None)
            at = given.pop(0).data.ptr
            given.insert(0, xp.zeros(3))
            assert (given[0].data.ptr == at) is on
            assert given[1].tolist() == [1, 1, 1]
            if on:
                graph.launch()
                assert kept[0].tolist() == [1, 1, 1]


def test_memory_of_a_graph_that_nobody_has_is_given_to_others() -> None:
    a, kept, gone = xp.ones(3), [], []

    def work() -> None:
        between = a + 1
        gone.append(between._bare)
        kept.append(between * 3)

    first = DeviceGraph(xp, work, lambda: None)
    second = DeviceGraph(xp, lambda: kept.append(kept[0] + 1), lambda: None, first)
    first.launch()
    second.launch()
    assert [x.tolist() for x in kept] == [[6.0] * 3, [7.0] * 3]
    assert np.isnan(gone[0]).all()
