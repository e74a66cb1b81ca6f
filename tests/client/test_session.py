"""Sessions by name, what is in them, and how they end."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest


@pytest.fixture(params=["local", "stream", "http"])
def connect(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Connects to one named session over each transport; it is deleted afterwards."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    name = f"shared-{request.node.name.partition('[')[0]}"
    made: list[Any] = []

    def connect() -> Any:
        made.append(
            gradd.connect(url, session=name, transport="http" if request.param == "http" else "stream")
        )
        return made[-1]

    yield connect
    for s in made:
        s.close()
    last = gradd.connect(url, session=name)
    last.wire.transport.delete()
    last.close()


def test_names_are_shared(connect: Any) -> None:
    one, two = connect(), connect()
    with one:
        w = torch.ones(2, requires_grad=True)
        one["w"] = w
        with two:
            seen = two["w"]
            assert (seen.shape, seen.requires_grad, seen.is_leaf) == ((2,), True, True)
            (seen * 3).sum().backward()
            assert seen.grad.tolist() == [3.0, 3.0]
        assert w.grad is None  # nothing said so yet
        assert (w * 2).tolist() == [2.0, 2.0]
        assert w.grad.tolist() == [3.0, 3.0]


def test_a_name_gives_the_tensor_that_is_held(connect: Any) -> None:
    session = connect()
    with session:
        x = torch.ones(2)
        session["x"] = x
        assert session["x"] is x
        session["again"] = x
        assert session["again"] is x
        g = (x.requires_grad_(True) * 2).sum()
        g.backward()
        session["g"] = x.grad
        assert session["g"] is x.grad


def test_a_name_outlives_its_tensor_here(connect: Any) -> None:
    with connect() as first:
        first["x"] = torch.arange(3)
        with pytest.raises(KeyError, match="y"):
            first["y"]
    with connect() as session:
        assert session["x"].tolist() == [0, 1, 2]
        del session["x"]
        with pytest.raises(KeyError):
            session["x"]
        del session["x"]


def test_closing_a_named_session_frees_what_has_no_name(connect: Any) -> None:
    with connect() as first:
        kept, dropped = torch.ones(2), torch.ones(3)
        first["kept"] = kept
        assert len(first.tensors()) == 2
    assert dropped.shape == (3,)
    with connect() as session:
        assert [(row.id, row.name) for row in session.tensors()] == [("kept", "kept")]


def test_what_another_writer_changes_is_learnt_with_the_next_reply(connect: Any) -> None:
    one, two = connect(), connect()
    with one:
        x = torch.ones(2)
        one["x"] = x
        with two, torch.no_grad():
            two["x"].add_(1)
            two.flush()
        torch.ones(1).item()
        x * 1
        assert x._version == 1
        assert x.tolist() == [2.0, 2.0]


def test_gradients_over_another_writers_graph(connect: Any) -> None:
    one, two = connect(), connect()
    with one:
        w = torch.full((2,), 3.0, requires_grad=True)
        one["w"], one["loss"] = w, (w * w).sum()
        with two:
            loss, seen = two["loss"], two["w"]
            assert not loss.is_leaf
            (g,) = torch.autograd.grad(loss, [seen], retain_graph=True)
            assert g.tolist() == [6.0, 6.0]
            other = torch.ones(1, requires_grad=True)
            assert torch.autograd.grad(loss, [other], allow_unused=True, retain_graph=True) == (None,)
            with pytest.raises(RuntimeError, match="appears to not have been used"):
                torch.autograd.grad(loss, [other], retain_graph=True)
            loss.backward()
            assert seen.grad.tolist() == [6.0, 6.0]
            (loss * 1).backward()
            with pytest.raises(RuntimeError, match="second time"):
                two.flush()


def test_dead_tensors_are_freed(connect: Any) -> None:
    session = connect()
    with session:
        keep = torch.ones(2)
        for _ in range(5):
            torch.ones(100).tolist()
        gc.collect()
        assert [row.id for row in session.tensors()] == [keep._id]
        assert session.info().bytes == keep.nbytes


def test_clear_drops_everything_and_goes_on(connect: Any) -> None:
    session = connect()
    with session:
        x, seen = torch.ones(2), torch.ones(2)
        assert seen.tolist() == [1.0, 1.0]
        session.clear()
        assert session.tensors() == []
        for gone in (x, seen):
            with pytest.raises(gradd.GraddError, match="cleared"):
                gone.tolist()
        assert torch.ones(1).tolist() == [1.0]


def test_anonymous_sessions_end_with_close() -> None:
    from gradd._transports import local

    session = gradd.connect("local:")
    assert session.name.startswith("anon-")
    assert session.name in local._inline()._sessions
    session.close()
    assert session.name not in local._inline()._sessions


def test_a_session_name_is_checked() -> None:
    for name in ("../x", "a/b", "x" * 4096, ".hidden", "a..b"):
        with pytest.raises(Exception, match="is not the name of a session"):
            gradd.connect("local:", session=name)


def test_bytes_are_taken_before_tensor_returns() -> None:
    with gradd.connect("local:"):
        data = np.ones(3)
        x, y = torch.from_numpy(data), torch.tensor(data)
        data[:] = 7
        with pytest.warns(gradd.LostWriteWarning):
            assert x.tolist() == y.tolist() == [1.0, 1.0, 1.0]


def test_numpy_gives_a_read_only_copy() -> None:
    with gradd.connect("local:"):
        x = torch.ones(3)
        out = x.numpy()
        with pytest.raises(ValueError, match="read-only"):
            out[0] = 5
        with pytest.warns(gradd.LostWriteWarning):
            x.add_(1)
        assert out.tolist() == [1.0, 1.0, 1.0]
