"""Heads of frames, and room for uploads."""

from __future__ import annotations

import numpy as np
import pytest
from gradd_protocol import dtypes, frames
from gradd_protocol.messages import Batch, BatchReply, JsonReply, Message, ProblemReply, Stage
from gradd_protocol.problems import Malformed, problem
from gradd_protocol.program import Program, Step
from gradd_server.wire import header_for, may_be, message_head, wrapped


def frame(message: Message) -> bytes:
    return frames.join(frames.encode(message))


def test_the_head_of_a_batch() -> None:
    steps = [Step("sin", [0]) for _ in range(100)]
    said = message_head(
        frame(Batch(writer=3, epoch=2, seq=7, ack=6, program="x", definition=Program(1, steps)))
    )
    assert (said.type, said.writer, said.epoch, said.seq) == ("batch", 3, 2, 7)


def test_the_status_of_replies() -> None:
    failed = problem("op-failed", "no", applied=2)
    assert message_head(frame(BatchReply(seq=1, position=1))).status == 200
    assert message_head(frame(BatchReply(seq=1, position=1, problem=failed, replayed=True))).status == 422
    assert message_head(frame(BatchReply(seq=1, position=1, replayed=True))).replayed
    assert message_head(frame(ProblemReply(problem("session-not-found")))).status == 404
    assert message_head(frame(JsonReply(201))).type == "json-reply"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        bytes(8),
        b"\xff" * 8,
        (1 << 62).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (14).to_bytes(8, "little") + b'{"message": 1}',
        (100_000).to_bytes(8, "little") + b"[" * 100_000,
        (120_012).to_bytes(8, "little") + b'{"message":{' + b'"a":{' * 24_000,
        (2).to_bytes(8, "little") + b"\xff\xfe",
    ],
    ids=range(11),
)
def test_what_is_no_frame(data: bytes) -> None:
    with pytest.raises(Malformed):
        message_head(data)


def test_a_slug_is_looked_for_in_the_header_alone() -> None:
    assert may_be(frame(ProblemReply(problem("upload-missing"))), "upload-missing")
    assert not may_be(frame(BatchReply(seq=1, position=1)), "upload-missing")
    assert not may_be(bytes(wrapped(JsonReply(), b"upload-missing")), "upload-missing")
    assert not may_be(b"", "upload-missing")


@pytest.mark.parametrize("name", dtypes.BY_NAME)
@pytest.mark.parametrize("shape", [(2, 3), (), (0,), (2, 0, 3)])
def test_a_header_begins_a_frame_of_that_tensor(name: str, shape: tuple[int, ...]) -> None:
    row = dtypes.BY_NAME[name]
    expected = np.ones(shape, row.numpy)
    frame = bytes(header_for(Stage("1.1"), row, shape)) + expected.tobytes()
    message, (array,) = frames.decode_request(frame)
    assert message == Stage("1.1")
    assert np.array_equal(array, expected)
