"""Limits of what a session has by number: tensors, and nodes of graphs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from gradd_engine.data import Account
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.program import Step, Value
from gradd_runtime.session import Session, perform, replay, tensors

from tests.runtime.peer import FILL, Peer
from tests.runtime.store.scripts import ListStore

pytestmark = pytest.mark.usefixtures("settled")
#: far from anything else that a session may have
FEW = 20


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, FEW)


def limit(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    limits = dataclasses.replace(DEFAULT, session_tensors=count, session_nodes=count)
    monkeypatch.setattr(perform, "DEFAULT", limits)
    monkeypatch.setattr(tensors, "DEFAULT", limits)


def script(peer: Peer) -> list[Any]:
    """Too many tensors by id, by name and by PUT; too many nodes; each is over, then there is room again."""
    found = []
    peer.put("w", np.ones(3, np.float32), True)

    def batch(*steps: Step, **more: Any) -> None:
        found.append(peer.batch(*steps, **more).problem)
        peer.ack = peer.seq

    batch(*[FILL] * 15, first=1, keep=[*range(15)])
    batch(*[FILL] * 5, first=50, keep=[*range(5)])
    batch(*[FILL] * 4, first=60, keep=[*range(4)])
    found.append(getattr(peer.ask(m.PutTensor("more"), [np.ones(1)])[0], "problem", None))
    status, body = peer.json({"steps": [{"op": "ones", "attrs": {"size": [1]}, "outputs": ["more"]}]})
    found.append((status, body.get("what")))
    found.append(getattr(peer.ask(m.PutTensor("w"), [np.ones(3, np.float32)])[0], "problem", None))
    peer.put("w", np.ones(3, np.float32), True)
    batch(free=[f"@1.{n}" for n in range(1, 16)])
    double = [Step("mul", [n, Value("float")]) for n in range(FEW + 5)]
    batch(*double, inputs=["w"], values=[2.0] * len(double), first=80, keep=[len(double)])
    batch(FILL, first=90, keep=[0])
    batch(free=["@1.80"])
    batch(FILL, first=90, keep=[0])
    return found


def test_so_many_and_no_more() -> None:
    peer = Peer(Session("counts"))
    first, fifth, fourth, put, json, again, freed, chain, node, gone, last = script(peer)
    assert [first, fourth, again, freed, chain, gone, last] == [None] * 7
    assert (fifth.slug, fifth.status, fifth.exception) == ("quota-exceeded", 507, "RuntimeError")
    assert (fifth.what, fifth.limit, fifth.used, fifth.requested) == ("tensors", FEW, 16, 5)
    assert fifth.detail == (
        "out of memory: tried to allocate 5 tensors; 16 of the session's 20 tensors are in use"
    )
    assert (put.what, put.used, put.requested, json) == ("tensors", FEW, 1, (507, "tensors"))
    assert (node.what, node.limit, node.requested) == ("graph nodes", FEW, 1)
    assert FEW <= node.used <= FEW + 10


@pytest.mark.parametrize("later", [1, FEW, 1 << 20])
def test_a_record_is_replayed_under_another_limit(monkeypatch: pytest.MonkeyPatch, later: int) -> None:
    store = ListStore()
    peer = Peer(Session("counts", store=store))
    script(peer)
    limit(monkeypatch, later)
    again = Session("counts", store=ListStore())
    assert replay(again, store) == peer.session.entries
    assert [*again.table.ids] == [*peer.session.table.ids]
    assert [*again.table.named] == [*peer.session.table.named]


def test_an_account_knows_its_nodes() -> None:
    account = Account(1 << 20)
    assert account.nodes == 0
    held = [account.graphs] * 7
    assert account.nodes == len(held)


def test_the_limits_are_told() -> None:
    assert DEFAULT.as_dict()["session_tensors"] == 131_072
    assert DEFAULT.as_dict()["session_nodes"] == 4_194_304
