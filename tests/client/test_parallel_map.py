"""Calls in several sessions at once: their threads, modes, random numbers, errors."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd import parallel

from tests.client.replicas import connected, current, full
from tests.waiting import PATIENCE


def test_each_call_has_its_session_its_thread_and_its_arguments(sessions: list[Any]) -> None:
    start = threading.Barrier(3)

    def call(session: Any, a: int, b: int) -> tuple[Any, ...]:
        start.wait(PATIENCE)  # all of them at once
        return gradd.current_session() is session, threading.current_thread(), a + b, torch.ones(1)._session

    before = gradd.current_session()
    found = parallel.map(sessions, call, [1, 2, 3], itertools.count(10))
    assert [(own, total) for own, _, total, _ in found] == [(True, 11), (True, 13), (True, 15)]
    assert len({thread for _, thread, *_ in found} | {threading.current_thread()}) == 4
    assert [session for *_, session in found] == sessions
    assert gradd.current_session() is before
    assert parallel.map([], call) == []
    assert parallel.map(iter(sessions), lambda s: s) == sessions


def test_a_call_has_its_callers_modes_and_changes_its_own(sessions: list[Any]) -> None:
    def call(session: Any) -> tuple[bool, ...]:
        found = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")
        torch.set_grad_enabled(not torch.is_grad_enabled())
        return found

    assert parallel.map(sessions, call) == [(True, False, False)] * 3
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert parallel.map(sessions, call) == [(False, False, False)] * 3
        assert not torch.is_grad_enabled()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert parallel.map(sessions, call) == [(True, False, True)] * 3
        made = parallel.map(sessions, lambda s: (torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
        assert made == [torch.bfloat16] * 3
    with torch.inference_mode():
        assert parallel.map(sessions, call)[0][1]


def test_the_default_dtype_is_the_processes(sessions: list[Any]) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert parallel.map(sessions, lambda s: torch.ones(1).dtype) == [torch.float64] * 3
    finally:
        torch.set_default_dtype(torch.float32)


def test_random_numbers_are_of_the_session(sessions: list[Any]) -> None:
    def draw(session: Any, seed: int) -> Any:
        torch.manual_seed(seed)
        return torch.rand(3).tolist()

    same = parallel.map(sessions, draw, [5, 5, 5])
    assert same[0] == same[1] == same[2]
    others = parallel.map(sessions, draw, [5, 6, 7])
    assert others[0] == same[0]
    assert len(set(map(tuple, others))) == 3
    on = parallel.map(sessions, lambda s: torch.rand(3).tolist())
    again = parallel.map(
        sessions, lambda s, v: (torch.manual_seed(v), torch.rand(3), torch.rand(3))[2].tolist(), [5, 6, 7]
    )
    assert on == again


def test_the_first_exception_is_raised_and_the_others_are_noted(sessions: list[Any]) -> None:
    done = []

    def call(session: Any, at: int) -> None:
        if at:
            raise (KeyError, LookupError)[at - 1](f"call {at}")
        done.append(at)

    with pytest.raises(KeyError, match="call 1") as raised:
        parallel.map(sessions, call, range(3))
    assert raised.value.__notes__ == ["raised in sessions[1]", "and in sessions[2]: LookupError: call 2"]
    assert done == [0]
    assert parallel.map(sessions, lambda s: torch.ones(1).item()) == [1.0] * 3


def test_errors_of_the_server_are_raised_with_the_scripts_line(anywhere: list[Any]) -> None:
    def call(session: Any) -> Any:
        return torch.ones(3)[torch.tensor([9])].tolist()

    with pytest.raises(IndexError) as raised:
        parallel.map(anywhere, call)
    assert any("test_parallel_map.py" in note for note in raised.value.__notes__)


def test_calls_go_on_with_what_their_caller_recorded(sessions: list[Any]) -> None:
    made = parallel.map(sessions, full, [1.0, 2.0, 3.0])
    for t in made:
        t.add_(1)
    parallel.map(sessions, lambda s, t: t.mul_(2), made)
    for t in made:
        t.sub_(1)
    assert [len(session.recorders) for session in sessions] == [1, 1, 1]
    assert [t.item() for t in made] == [3.0, 5.0, 7.0]


def test_what_calls_recorded_is_sent(sessions: list[Any]) -> None:
    parallel.map(sessions, lambda s: torch.ones(2) + 1)
    assert [len(s.recorder().building) for s in sessions] == [0, 0, 0]


def test_what_map_refuses(sessions: list[Any]) -> None:
    for iterable in ([1, 2], [1, 2, 3, 4], iter([1, 2])):
        with pytest.raises(ValueError, match=r"iterable 0 has [24] items for 3 sessions"):
            parallel.map(sessions, full, iterable)
    with pytest.raises(ValueError, match=r"sessions\[2\] is sessions\[0\]"):
        parallel.map([*sessions[:2], sessions[0]], full, [1.0] * 3)
    with pytest.raises(TypeError, match=r"sessions\[1\] is a str"):
        parallel.map([sessions[0], "b"], full, [1.0] * 2)  # type: ignore[list-item]
    for function in (lambda s: parallel.map([s], full, [1.0]), lambda s: parallel.all_reduce([]),
                     lambda s: parallel.broadcast([])):  # fmt: skip
        with pytest.raises(RuntimeError, match="not for its calls"):
            parallel.map(sessions, function)


def test_a_closed_session_says_so() -> None:
    group = connected(2)
    group[1].close()
    with pytest.raises(gradd.SessionClosed):
        parallel.map(group, lambda s: torch.ones(1))
    group[0].close()


def test_an_interrupt_stops_what_the_sessions_do(
    sessions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, cancelled, free = threading.Event(), [], threading.Event()
    monkeypatch.setattr(gradd.Session, "cancel", lambda self: (cancelled.append(self), free.set()))
    real = threading.Thread.join

    def join(self: Any, timeout: float | None = None) -> None:
        if not cancelled and self.name == "gradd-parallel":
            assert begun.wait(PATIENCE)
            raise KeyboardInterrupt
        real(self, timeout)

    def call(session: Any) -> None:
        begun.set()
        assert free.wait(PATIENCE)

    monkeypatch.setattr(threading.Thread, "join", join)
    with pytest.raises(KeyboardInterrupt):
        parallel.map(sessions, call)
    assert set(cancelled) <= set(sessions)
    assert cancelled
    assert parallel.map(sessions, lambda s: torch.ones(1).item()) == [1.0] * 3


def test_a_traced_function_has_no_calls_in_threads(sessions: list[Any]) -> None:
    doubled = gradd.function(lambda x: parallel.map(sessions[:1], lambda s: x * 2)[0])
    x = parallel.map(sessions[:1], full, [1.0])[0]
    with current(sessions[0]), pytest.raises(RuntimeError, match="in a traced function"):
        doubled(x)
