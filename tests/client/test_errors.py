"""What the SDK raises, when, and what stands afterwards (docs/design.md, section 6)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd_protocol import messages as m

from tests.waiting import PATIENCE


@pytest.fixture(params=["local", "stream", "http"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session over each transport, left open by tests that fail it on purpose."""
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    s = gradd.connect(url, transport="http" if request.param == "http" else "stream")
    yield s
    s.wire.unseen = None
    s.close()


def wrong(table: Any) -> Any:
    """A step that only the server can refuse."""
    return table[torch.tensor([1, 99])]


MESSAGE = "index 99 is out of bounds for dimension 0 with size 3"


def test_an_error_of_the_server_has_pytorchs_class_and_message_and_the_recorded_line(session: Any) -> None:
    table = torch.ones(3)
    bad = wrong(table)
    good = table + 1
    with pytest.raises(IndexError, match=MESSAGE) as caught:
        good.tolist()
    cause = caught.value.__cause__
    assert isinstance(cause, gradd.RecordedHere)
    assert __file__ in str(cause)
    assert "return table[torch.tensor([1, 99])]" in str(cause)
    assert bad.shape == (2,)


def test_an_error_is_told_once(session: Any) -> None:
    table = torch.ones(3)
    wrong(table)
    with pytest.raises(IndexError):
        session.flush()
    session.flush()
    assert table.tolist() == [1.0, 1.0, 1.0]
    assert (table * 2).tolist() == [2.0, 2.0, 2.0]


def test_a_note_on_an_error_is_of_that_one_alone(session: Any) -> None:
    table = torch.ones(3)
    bad = wrong(table)
    for _ in range(2):
        with pytest.raises(IndexError, match=MESSAGE) as caught:
            bad.tolist()
        assert len(caught.value.__notes__) == 1  # where it was recorded
        caught.value.add_note("seen")


def test_what_never_came_to_be_raises_the_first_error(session: Any) -> None:
    table = torch.ones(3)
    before = table + 1
    bad = wrong(table)
    after = table + 2
    with pytest.raises(IndexError) as caught:
        session.flush()
    for lost in (bad, after):
        for use in (lost.tolist, lambda t=lost: t * 2, lambda t=lost: table.add_(t[0])):
            with pytest.raises(IndexError) as again:
                use()
            assert str(again.value) == str(caught.value)
            assert again.value.__notes__ == caught.value.__notes__
            assert again.value.__cause__ is caught.value.__cause__
    assert before.tolist() == [2.0, 2.0, 2.0]
    assert table.tolist() == [1.0, 1.0, 1.0]


def test_batches_in_flight_behind_a_failure_are_skipped(session: Any) -> None:
    table, w = torch.ones(3), torch.ones(2, requires_grad=True)
    session.flush()
    wrong(table)
    session.step_done()
    for _ in range(3):
        (w * w).sum().backward()
        with torch.no_grad():
            w.add_(1)
        session.step_done()
    later = w * 2
    with pytest.raises(IndexError, match=MESSAGE):
        later.tolist()
    assert (w._version, w.grad, w.tolist()) == (0, None, [1.0, 1.0])
    (w * w).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]
    assert session.tensors() == session.mirror()


def test_a_failure_that_nobody_sees_for_more_batches_than_the_window_has(session: Any) -> None:
    table, w = torch.ones(3), torch.zeros(2)
    session.flush()
    held = len(session.tensors())
    wrong(table)
    for _ in range(3 * session.wire.window):
        w.add_(1)
        session.step_done()
    # Of what is sent ahead of such a batch nothing stays.
    more = torch.ones(1 << 18, dtype=torch.float64) + torch.tensor(np.ones(1 << 18))
    session.step_done()
    with pytest.raises(IndexError, match=MESSAGE):
        w.tolist()
    with pytest.raises(IndexError, match=MESSAGE):
        more.tolist()
    assert (w + 1).tolist() == [1.0, 1.0]
    assert session.tensors() == session.mirror()
    assert len(session.tensors()) == held


def test_a_value_that_came_before_the_failure_can_still_be_read(session: Any) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        loss.item()
    optimizer.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    optimizer.step()
    wrong(w.detach())
    session.step_done()
    assert loss.item() == 0.0
    with pytest.raises(IndexError):
        session.flush()


def test_a_step_that_gets_no_memory_stops_its_batch(session: Any) -> None:
    x = torch.ones(2)
    torch.zeros(10**14)
    with pytest.raises(RuntimeError, match="out of memory"):
        (x + 1).tolist()
    assert (x + 1).tolist() == [2.0, 2.0]
    assert session.tensors() == session.mirror()


def test_a_triangle_takes_the_memory_of_its_indices_alone(session: Any) -> None:
    n = 2**40
    assert torch.tril_indices(n, n, 1 - n).tolist() == [[n - 1], [0]]
    assert torch.triu_indices(n, n, n - 1).tolist() == [[0], [n - 1]]
    assert torch.tril_indices(n, 3).shape == (2, 3 * n - 3)
    with pytest.raises(RuntimeError, match="out of memory"):
        session.flush()


def test_the_mirror_raises_at_the_line_without_a_round_trip(session: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    y = (w * w).sum()
    y.backward()
    before = session.stats()["batches"]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        (w * 2).backward()
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        w + torch.ones(3)
    assert session.stats()["batches"] <= before + 1
    assert w.grad.tolist() == [2.0, 2.0]


def test_a_pass_that_the_mirror_saw_raise_has_the_same_effect_on_the_server(session: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    early = (a * a).sum()
    early.backward()
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.backward([(b * 2).sum(), early])
    assert session.tensors() == session.mirror()
    assert b.grad.tolist() == [2.0, 2.0]


def test_close_raises_what_nobody_saw(daemon: str) -> None:
    for url in ("local:", daemon):
        session = gradd.connect(url)
        wrong(torch.ones(3))
        with pytest.raises(IndexError, match=MESSAGE):
            session.close()
        session.close()
        with pytest.raises(gradd.SessionClosed):
            torch.zeros(1, dtype=torch.float64) if gradd.current_session() is session else session.flush()


def test_leaving_a_with_block_by_an_error_keeps_that_error(capsys: pytest.CaptureFixture[str]) -> None:
    def script() -> None:
        with gradd.connect("local:"):
            wrong(torch.ones(3))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        script()
    assert MESSAGE in capsys.readouterr().err


def test_an_error_nobody_saw_is_reported_at_exit() -> None:
    script = "import gradd as torch\nx = torch.ones(3)\ny = x[torch.tensor([99])]\nprint('done')\n"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert found.stdout == "done\n"
    assert found.returncode == 0
    assert "IndexError: index 99 is out of bounds" in found.stderr
    assert "<string>:3" in found.stderr


def test_a_writer_that_was_fenced_has_lost_the_session() -> None:
    session = gradd.connect("local:", session="fenced")
    x = torch.ones(2)
    session.flush()
    session.wire.transport.request(m.Acquire())
    with pytest.raises(gradd.SessionLost, match="epoch"):
        (x + 1).tolist()
    for use in (lambda: x * 2, x.tolist, session.flush):
        with pytest.raises(gradd.SessionLost):
            use()
    session.close()
    fresh = gradd.connect("local:", session="fenced")
    assert torch.ones(1).tolist() == [1.0]
    fresh.close()
    fresh.wire.transport.delete()


def test_a_session_that_was_deleted_is_lost() -> None:
    session = gradd.connect("local:", session="deleted")
    x = torch.ones(2)
    session.flush()
    session.wire.transport.delete()
    with pytest.raises(gradd.SessionLost):
        (x + 1).tolist()
    session.close()


def test_tensors_of_two_sessions_do_not_mix() -> None:
    with gradd.connect("local:") as one:
        x = torch.ones(2)
        with gradd.connect("local:"):
            y = torch.ones(2)
            with pytest.raises(RuntimeError, match="same session"):
                x + y
            with pytest.raises(RuntimeError, match="another session"):
                one["y"] = y


def test_a_hook_that_answers_with_a_tensor_of_another_session_changes_nothing() -> None:
    with gradd.connect("local:"):
        # As many as the other session has: none of these stands for what the hook gives.
        others = [torch.full((2,), 9.0) for _ in range(20)]
        with gradd.connect("local:") as one:
            x = torch.ones(2, requires_grad=True)
            y = x * 2
            handle = y.register_hook(lambda g: others[5])
            z = y.sum()
            with pytest.raises(RuntimeError, match="same session"):
                z.backward(retain_graph=True)
            one.flush()
            assert x.grad is None
            handle.remove()
            z.backward()
            assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda t: t.add(1, alpha="a"), TypeError, r"add\(\): argument 'alpha' must be Number, not str"),
        (lambda t: t.add(1, alpha=[1]), TypeError, r"add\(\): argument 'alpha' must be Number, not list"),
        (lambda t: t.add(1, alpha=None), TypeError, r"argument 'alpha' must be Number, not NoneType"),
        (lambda t: t.unsqueeze("a"), TypeError, r"argument 'dim' \(position 1\) must be int, not str"),
        (lambda t: t.unsqueeze(1.5), TypeError, r"must be int, not float"),
        (lambda t: t.sum("a"), TypeError, r"argument 'dim' \(position 1\) must be tuple of ints, not str"),
        (lambda t: torch.sum(t, 0, keepdim="a"), TypeError, r"must be bool, not str"),
        (lambda t: t.softmax(0, dtype="a"), TypeError, r"must be torch.dtype, not str"),
        (lambda t: t.view(1.5), TypeError, r"view\(\): argument 'size' \(position 1\) must be tuple of ints"),
        (lambda t: t.expand("a"), TypeError, r"must be tuple of ints, not str"),
        (
            lambda t: t.reshape((2, None)),
            TypeError,
            r"'shape' \(position 1\) must be tuple of ints, not None",
        ),
        (lambda t: t.repeat(1.5), TypeError, r"'repeats' \(position 1\) must be tuple of ints, not float"),
        (lambda t: t.permute("a"), TypeError, r"'dims' \(position 1\) must be tuple of ints, not str"),
        (lambda t: t.flip("a"), TypeError, r"'dims' \(position 1\) must be tuple of ints, not str"),
        (lambda t: t.roll(1.5), TypeError, r"'shifts' \(position 1\) must be tuple of ints, not float"),
        (lambda t: t.add_(2**70), OverflowError, "int too big to convert"),
        (
            lambda t: t.mvlgamma(2**62),
            RuntimeError,
            "mvlgamma: p has to be at most 4096, but got 4611686018427387904",
        ),
        (lambda t: t + 2**70, OverflowError, "int too big to convert"),
        (lambda t: t.add(1, alpha=2**70), OverflowError, "int too big to convert"),
        (lambda t: torch.full((2,), 2**70), OverflowError, "int too big to convert"),
        (lambda t: t.roll(2**70), OverflowError, "int too big to convert"),
        (lambda t: t.roll([0, 2**70], [0, 0]), OverflowError, "int too big to convert"),
        (lambda t: t.new_ones(-(2**70)), OverflowError, "int too big to convert"),
        (
            lambda t: torch.nn.functional.avg_pool1d(t[None], 2, stride=2**70),
            OverflowError,
            "int too big to convert",
        ),
        (lambda t: t[None].expand(2, 2).matrix_power(float("inf")), TypeError, "must be int, not float"),
        (lambda t: t.long().bincount(minlength=1.5), TypeError, "must be int, not float"),
        (
            lambda t: torch.nn.functional.conv1d(t[None], t[None, None], padding=torch.ones(1, 2)),
            TypeError,
            "expected an int or a tuple of ints for 1 dimensions, not ",
        ),
        (lambda t: torch.numel("a"), TypeError, r"numel\(\): argument 'input' \(position 1\) must be Tensor"),
        (lambda t: torch.equal(t, "a"), TypeError, r"'other' \(position 2\) must be Tensor, not str"),
        (lambda t: torch.promote_types(t.dtype, 1), TypeError, r"'type2' \(position 2\) must be torch.dtype"),
        (lambda t: torch.can_cast("a", t.dtype), TypeError, r"'from_' \(position 1\) must be torch.dtype"),
        (lambda t: torch.finfo("a"), TypeError, r"'type' \(position 1\) must be torch.dtype, not str"),
        (lambda t: torch.set_default_dtype("a"), TypeError, "invalid dtype object"),
        (lambda t: torch.broadcast_tensors(t, "a"), TypeError, "expected Tensor as element 1 in argument 0"),
        (lambda t: torch.atleast_2d(3), TypeError, "expected Tensor as element 0"),
        (
            lambda t: torch.vmap(torch.sin, randomness=3)(t),
            RuntimeError,
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got 3",
        ),
        (lambda t: torch.linalg.qr(t[None], mode=3), TypeError, "must be str, not int"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_where_it_is_given(
    session: Any, call: Any, kind: Any, message: str
) -> None:
    t = torch.ones(2)
    with pytest.raises(kind, match=message):
        call(t)
    assert (t + 1).tolist() == [2.0, 2.0]


def test_what_stands_for_a_number_is_one(session: Any) -> None:
    t = torch.ones(2)
    assert (t * 2**63).tolist() == [2.0**63] * 2
    assert t.unsqueeze(torch.tensor(0)).shape == (1, 2)
    assert t.unsqueeze(np.int64(0)).shape == (1, 2)
    assert t.add(1, alpha=torch.tensor(2.0)).tolist() == [3.0, 3.0]
    assert t.add(1, alpha=np.float32(2)).tolist() == [3.0, 3.0]
    made = torch.add(1, 2)
    assert isinstance(made, torch.Tensor)
    assert (made.item(), made.dtype) == (3, torch.int64)
