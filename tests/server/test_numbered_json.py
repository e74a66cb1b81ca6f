"""A writer that numbers its own batches in the JSON form (rest-by-hand, rule 10), over the real runtime."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.bearer import bearer

AT = "/v1/sessions/numbered"


@pytest.fixture
def session(daemon: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=daemon, headers=bearer(daemon), trust_env=False) as client:
        client.put(AT)
        client.put(f"{AT}/tensors/w", json={"data": [1.0, 2.0], "dtype": "float32"})
        yield client
        client.delete(AT)


def put(client: httpx.Client, writer: int, epoch: int, seq: int, body: Any, **headers: str) -> httpx.Response:
    return client.put(
        f"{AT}/writers/{writer}/batches/{seq}",
        content=json.dumps(body),
        headers={"Content-Type": "application/json", "Gradd-Epoch": str(epoch), **headers},
    )


ADD = {"steps": [{"op": "add_", "inputs": ["w", 1.0]}], "fetch": ["w"]}
BAD = {"steps": [{"op": "backward", "inputs": ["w"]}]}


def test_a_batch_sent_twice_is_applied_once(session: httpx.Client) -> None:
    attached = session.post(f"{AT}:attach").json()
    writer, epoch = attached["writer"], attached["epoch"]
    first, again = put(session, writer, epoch, 1, ADD), put(session, writer, epoch, 1, ADD)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert first.json()["results"]["w"]["data"] == [2.0, 3.0]
    assert "gradd-replayed" not in first.headers
    assert again.headers["gradd-replayed"] == "?1"


def test_gaps_other_bodies_and_old_epochs_are_refused(session: httpx.Client) -> None:
    attached = session.post(f"{AT}:attach").json()
    writer, epoch = attached["writer"], attached["epoch"]
    gap = put(session, writer, epoch, 3, ADD)
    assert (gap.status_code, gap.json()["type"]) == (409, "/problems/sequence-gap")
    assert gap.json()["expected_seq"] == 1
    put(session, writer, epoch, 1, ADD)
    other = put(session, writer, epoch, 1, BAD)
    assert (other.status_code, other.json()["type"]) == (409, "/problems/sequence-conflict")
    fenced = put(session, writer, epoch + 1, 2, ADD)
    assert (fenced.status_code, fenced.json()["type"]) == (409, "/problems/writer-fenced")


def test_after_a_failure_batches_sent_before_it_was_read_are_skipped(session: httpx.Client) -> None:
    attached = session.post(f"{AT}:attach").json()
    writer, epoch = attached["writer"], attached["epoch"]
    failed = put(session, writer, epoch, 1, BAD)
    assert failed.status_code == 422
    skipped = put(session, writer, epoch, 2, ADD, **{"Gradd-Ack": "0"})
    assert (skipped.status_code, skipped.json()["type"]) == (424, "/problems/skipped")
    runs = put(session, writer, epoch, 3, ADD, **{"Gradd-Ack": "2"})
    assert runs.status_code == 200
