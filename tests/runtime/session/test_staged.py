"""Uploads: in the frame, or staged ahead; taken once, whatever becomes of their batch."""

from __future__ import annotations

import numpy as np
import pytest
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.program import Step
from gradd_runtime.session import Session

from tests.runtime.peer import Peer


def upload(n: int, **more: object) -> Step:
    return Step("upload", [], {"dtype": "float32", "shape": [n], **more})  # type: ignore[dict-item]


DATA = np.arange(3, dtype=np.float32)


def test_in_the_frame() -> None:
    peer = Peer()
    reply = peer.batch(
        upload(3, requires_grad=True), buffers=[DATA], uploads=[0], keep=[0], first=1, state=["@1.1"]
    )
    assert (reply.state[0].requires_grad, peer.get("@1.1").tolist()) == (True, [0.0, 1.0, 2.0])


def test_staged() -> None:
    peer = Peer()
    done, _ = peer.ask(m.Stage("1.1"), [DATA])
    assert done.created
    assert peer.session.staged.bytes == 12
    again, _ = peer.ask(m.Stage("1.1"), [DATA * 2])
    assert not again.created
    assert peer.session.staged.bytes == 12
    peer.batch(upload(3), uploads=["1.1"], keep=[0], first=1)
    assert peer.get("@1.1").tolist() == [0.0, 2.0, 4.0]
    assert (len(peer.session.staged), peer.session.staged.bytes) == (0, 0)


def test_one_that_has_not_come_leaves_the_number_unused() -> None:
    peer = Peer()
    reply = peer.batch(upload(3), uploads=["1.1"])
    assert reply.problem.slug == "upload-missing"
    peer.ask(m.Stage("1.1"), [DATA])
    assert peer.batch(upload(3), uploads=["1.1"]).seq == 1


def test_batches_that_do_not_run_take_theirs_along() -> None:
    peer = Peer()
    peer.ask(m.Stage("1.1"), [DATA])
    assert peer.batch(upload(3), Step("no_such_op", []), uploads=["1.1"]).problem.slug == "op-not-found"
    peer.ask(m.Stage("1.2"), [DATA])
    assert peer.batch(upload(3), uploads=["1.2"], ack=0).skipped
    assert (len(peer.session.staged), peer.session.staged.bytes) == (0, 0)


@pytest.mark.parametrize("uploads", [[], [0, 0], [1], [0, 1]])
def test_wrong_counts_and_places(uploads: list[int]) -> None:
    peer = Peer()
    reply = peer.batch(upload(3), buffers=[DATA], uploads=uploads)
    assert reply.problem.slug == "malformed-frame"


def test_an_upload_must_fit_its_step() -> None:
    peer = Peer()
    wrong_shape = peer.batch(upload(4), buffers=[DATA], uploads=[0])
    wrong_dtype = peer.batch(upload(3), buffers=[DATA.astype(np.float64)], uploads=[0])
    for reply in (wrong_shape, wrong_dtype):
        assert reply.problem is not None
        assert reply.problem.status in (400, 422)


def test_keys_are_a_writers_own() -> None:
    peer = Peer()
    for key in ("7.1", "x.1", "1", "1.x", ""):
        reply, _ = peer.ask(m.Stage(key), [DATA])
        assert reply.problem.slug == "writer-unknown"


def test_staged_bytes_are_capped() -> None:
    peer = Peer()
    peer.session.staged.bytes = DEFAULT.staged_bytes - 4
    reply, _ = peer.ask(m.Stage("1.1"), [DATA])
    assert (reply.problem.slug, reply.problem.status, reply.problem.requested) == ("quota-exceeded", 507, 12)
    assert reply.problem.exception == "RuntimeError"


def test_an_upload_sent_again_takes_its_own_place() -> None:
    large = np.ones(1 << 20, np.float32)
    peer = Peer(Session("small", limit=3 << 20))
    for _ in range(3):
        reply, _ = peer.ask(m.Stage("1.1"), [large])
        assert isinstance(reply, m.Done), reply
    assert peer.session.staged.bytes == large.nbytes
