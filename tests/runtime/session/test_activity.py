"""How batches ran and why not planned; measuring that ends by itself, and leaves a profile alone."""

from __future__ import annotations

from typing import Any

from gradd_protocol import messages as m
from gradd_protocol.program import Step, Value
from gradd_runtime.plan.cache import OTHER, REASONS

from tests.runtime.peer import FILL, Peer

DOUBLE = Step("mul", [0, Value("float")])


def activity(peer: Peer) -> m.Activity:
    reply, _ = peer.ask(m.GetActivity())
    assert isinstance(reply, m.Activity)
    return reply


def run(peer: Peer, count: int) -> None:
    for _ in range(count):
        assert peer.batch(FILL, DOUBLE, values=[2.0], keep=[1], first=1).problem is None


def test_reasons_are_counted_for_batches_that_ran_eagerly() -> None:
    peer = Peer()
    run(peer, 4)
    peer.batch(Step("manual_seed", [], {"seed": 1}))
    said = activity(peer)
    assert (said.planned, said.traced) == (3, 1)
    assert said.reasons == {"first sighting": 1, "step 0 is manual_seed": 1}
    assert said.eager == sum(said.reasons.values())
    assert not said.measuring
    assert said.profile == m.Profiled()


def test_reasons_are_bounded() -> None:
    peer = Peer()
    for n in range(REASONS):
        peer.session.plans.reasons[f"reason {n}"] = 1
    run(peer, 1)
    assert len(peer.session.plans.reasons) == REASONS + 1
    assert peer.session.plans.reasons[OTHER] == 1


def test_so_many_batches_are_measured_and_no_more() -> None:
    peer = Peer()
    run(peer, 3)
    assert isinstance(peer.ask(m.Measure(3))[0], m.Done)
    run(peer, 2)
    assert activity(peer).measuring
    run(peer, 4)
    said = activity(peer)
    assert not said.measuring
    assert peer.session.profiler is None
    batches = said.profile.batches
    assert [(b.writer, b.seq, b.how) for b in batches] == [(1, seq, "planned") for seq in (4, 5, 6)]
    assert {call.name for call in said.profile.calls} >= {"mul"}
    assert said.profile.planned == 3
    assert said.planned == 8


def test_another_measurement_takes_the_place_of_the_last() -> None:
    peer = Peer()
    for _ in range(2):
        peer.ask(m.Measure(2))
        run(peer, 2)
    assert [b.seq for b in activity(peer).profile.batches] == [3, 4]


def test_a_measurement_is_prolonged_while_it_goes_on() -> None:
    peer = Peer()
    peer.ask(m.Measure(2))
    run(peer, 1)
    peer.ask(m.Measure(3))
    run(peer, 5)
    assert [b.seq for b in activity(peer).profile.batches] == [1, 2, 3, 4]


def test_a_profile_is_left_alone_and_told() -> None:
    peer = Peer()
    peer.ask(m.ProfileSwitch(True))
    run(peer, 2)
    peer.ask(m.Measure(1))
    run(peer, 2)
    said: Any = activity(peer)
    assert said.measuring
    assert len(said.profile.batches) == 4
    report, _ = peer.ask(m.ProfileSwitch(False))
    assert [b.seq for b in report.batches] == [1, 2, 3, 4]
    assert not activity(peer).measuring


def test_json_batches_have_their_numbers() -> None:
    peer = Peer()
    peer.ask(m.Measure(5))
    status, _ = peer.json({"steps": [{"op": "ones", "attrs": {"size": [1]}, "outputs": ["x"]}]})
    assert status == 200
    assert [b.writer for b in activity(peer).profile.batches] == [0]
