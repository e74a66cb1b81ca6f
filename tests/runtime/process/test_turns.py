"""Whose turn it is: a simulated process, whose clock goes as far as each frame takes."""

from __future__ import annotations

import random
from collections import deque

import pytest
from gradd_runtime.process.turns import Shares, Turns


class Process:
    """An engine process, as `Worker` runs one: frames that arrive during a turn wait before it is counted."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.queues: dict[tuple[str, int], deque[float]] = {}
        self.coming: list[tuple[float, str, int, float]] = []
        self.now = 0.0
        self.used: dict[str, float] = {}
        #: tenant, session, when it was answered
        self.answered: list[tuple[str, int, float]] = []

    def send(self, tenant: str, session: int, *takes: float) -> None:
        queue = self.queues.setdefault((tenant, session), deque())
        if not queue:
            self.turns.wait(tenant, session)
        queue += takes

    def later(self, at: float, tenant: str, session: int, takes: float) -> None:
        self.coming.append((at, tenant, session, takes))

    def _arrive(self) -> None:
        for entry in [e for e in self.coming if e[0] <= self.now]:
            self.coming.remove(entry)
            self.send(*entry[1:])

    def turn(self) -> tuple[str, int]:
        number = self.turns.take()
        (where,) = [w for w, queue in self.queues.items() if w[1] == number and queue]
        takes = self.queues[where].popleft()
        self.now += takes
        self.used[where[0]] = self.used.get(where[0], 0.0) + takes
        self.answered.append((*where, self.now))
        self._arrive()
        self.turns.spent(takes, bool(self.queues[where]))
        return where

    def run(self) -> None:
        while self.turns:
            self.turn()


def longest_wait(process: Process, hostile: int, other: int) -> float:
    """The longest time from a request of the tenant `other` to its reply, who asks for one after another."""
    waits = []
    for _ in range(200):
        asked = process.now
        process.send("other", other, 0.0001)
        while process.turn() != ("other", other):
            """Others have their turns."""
        waits.append(process.now - asked)
        process.turn()  # the script thinks
    assert process.used["hostile"] > 0.9 * process.now, "the process idled, or the hostile one was starved"
    return max(waits)


def test_a_small_request_waits_for_one_turn_of_a_stranger_with_a_hundred_queues() -> None:
    process = Process()
    for session in range(100):
        process.send("hostile", session, *[0.01] * 20)
    assert longest_wait(process, 100, 1000) <= 0.0102


def test_a_request_that_arrives_during_a_turn_is_next() -> None:
    process = Process()
    process.send("hostile", 1, *[5.0] * 10)
    process.send("hostile", 2, *[5.0] * 10)
    process.later(1.0, "other", 3, 0.001)
    process.turn()
    assert process.turn() == ("other", 3)


def test_tenants_with_queues_share_the_time_however_many_sessions_they_have() -> None:
    process = Process()
    for session in range(100):
        process.send("many", session, *[0.003] * 100)
    process.send("one", 1000, *[0.001] * 3000)
    while process.now < 3.0:
        process.turn()
    assert process.used["one"] == pytest.approx(1.5, abs=0.01)


def test_the_sessions_of_a_tenant_share_its_time() -> None:
    process = Process()
    process.send("t", 1, *[0.010] * 1000)
    process.send("t", 2, *[0.001] * 1000)
    while process.now < 1.0:
        process.turn()
    at = {n: sum(1 for _, session, _ in process.answered if session == n) for n in (1, 2)}
    assert 0.010 * at[1] == pytest.approx(0.001 * at[2], abs=0.011)


def test_the_requests_of_a_session_are_answered_in_order_and_none_is_left() -> None:
    process = Process()
    for session in range(5):
        process.send(f"t{session % 2}", session, *[0.001 * (session + 1)] * 7)
    process.run()
    assert len(process.answered) == 35
    assert not any(process.queues.values())


def test_who_was_alone_is_not_made_to_pay_for_it() -> None:
    process = Process()
    process.send("early", 1, *[1.0] * 100)
    for _ in range(99):
        process.turn()
    process.send("early", 1, *[1.0] * 5)
    process.send("late", 2, *[1.0] * 5)
    turns = [process.turn()[0] for _ in range(6)]
    assert turns.count("late") == turns.count("early") == 3


def test_being_away_saves_up_nothing() -> None:
    process = Process()
    process.send("steady", 1, *[1.0] * 100)
    process.send("away", 2, 1.0)
    for _ in range(50):
        process.turn()
    process.send("away", 2, *[1.0] * 50)
    turns = [process.turn()[0] for _ in range(10)]
    assert turns.count("steady") == 5


def test_a_session_that_is_deleted_is_not_waited_for() -> None:
    turns = Turns()
    turns.wait("a", 1)
    turns.wait("a", 2)
    turns.wait("b", 3)
    turns.leave("a", 1)
    turns.leave("b", 3)
    assert turns.take() == 2
    turns.leave("a", 2)  # during its own turn
    turns.spent(1.0, more=False)
    assert not turns


def test_who_comes_during_its_own_turn_is_queued_once() -> None:
    turns = Turns()
    turns.wait("a", 1)
    turns.take()
    turns.wait("a", 1)
    turns.wait("a", 2)
    turns.spent(1.0, more=True)
    assert {turns.take(), _spent(turns)} == {1, 2}
    turns.spent(1.0, more=False)
    assert not turns


def _spent(turns: Turns) -> int:
    turns.spent(0.1, more=False)
    return turns.take()


def test_equals_go_in_the_order_in_which_they_came() -> None:
    shares: Shares[str] = Shares()
    for name in "abc":
        shares.wait(name)
    assert [shares.take() for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(IndexError):
        shares.take()


class Among(Turns):
    """Who waits has a place among others, also where there are none."""

    def wait(self, tenant: str, number: int) -> None:
        if (tenant, number) != self._turn:
            self._wait(tenant, number)


@pytest.mark.parametrize("seed", range(40))
def test_who_waits_alone_has_its_turn_as_if_among_others(seed: int) -> None:
    draw = random.Random(seed)
    few = draw.randint(1, 4)  # so that now and then nobody waits
    coming = [
        (draw.random(), f"t{draw.randrange(3)}", draw.randrange(few), draw.random() / 40) for _ in range(60)
    ]
    answered = []
    for turns in (Turns(), Among()):
        process = Process()
        process.turns = turns
        process.coming = [(at, tenant, 10 * int(tenant[1]) + n, takes) for at, tenant, n, takes in coming]
        while process.coming:
            process.run()
            if process.coming:
                process.now = max(process.now, min(entry[0] for entry in process.coming))
                process._arrive()
        process.run()
        answered.append(process.answered)
    assert len(answered[0]) == len(coming)
    assert answered[0] == answered[1]


def test_what_a_turn_took_may_be_said_later() -> None:
    process = Process()
    process.send("slow", 1, *[0.001] * 20)
    process.send("quick", 2, *[0.001] * 20)
    assert process.turn() == ("slow", 1)
    process.turns.owe("slow", 1, 0.0045)
    assert [process.turn()[0] for _ in range(7)] == ["quick"] * 6 + ["slow"]
    process.turns.owe("quick", 2, 0.002)
    process.turns.owe("quick", 2, -0.002)
    process.run()
    assert [tenant for tenant, _, _ in process.answered].count("slow") == 20


def test_what_was_too_much_is_given_back_to_who_waits() -> None:
    process = Process()
    process.send("a", 1, *[0.1, 0.001, 0.001])
    process.send("b", 2, *[0.001] * 9)
    assert process.turn() == ("a", 1)
    process.turns.owe("a", 1, -0.0995)
    assert [process.turn()[0] for _ in range(3)] == ["b", "a", "b"]


def test_what_was_forgotten_is_not_owed() -> None:
    shares: Shares[str] = Shares()
    shares.wait("a")
    shares.spent(shares.take(), 1.0)
    shares.owe("a", 100.0)
    shares.wait("a")
    shares.wait("b")
    assert shares.take() == "a"


def test_the_sessions_of_a_tenant_owe_as_tenants_do() -> None:
    process = Process()
    for session in (1, 2):
        process.send("a", session, *[0.001] * 8)
    assert process.turn() == ("a", 1)
    process.turns.owe("a", 1, 0.0045)
    assert [process.turn()[1] for _ in range(7)] == [2] * 6 + [1]
