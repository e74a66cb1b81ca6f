"""Names, run-time values, and the tables: problems, limits, dtypes."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_protocol import dtypes, names, problems, values
from gradd_protocol.limits import DEFAULT, Limits
from gradd_protocol.names import Ref
from gradd_protocol.problems import Malformed, ProtocolError, problem
from gradd_protocol.version import VERSION, WIRE
from hypothesis import given
from hypothesis import strategies as st

HOSTILE_NAMES = [
    "",
    "a/b",
    "a\\b",
    "a b",
    "a\n",
    "\n",
    "a\0",
    "../a",
    "a%2fb",
    "é",
    "\u0430dmin",
    "a" * 129,
    "a" * 4096,
    "~a",
]


@pytest.mark.parametrize("name", ["demo", "0", "a.b-c_d", "CON", "anon-0123", "a" * 128])
def test_session_names(name: str) -> None:
    assert names.session(name) == name


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "..", "a..b", ".a", "-a", "_a", "@a"])
def test_session_names_refused(name: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        names.session(name)
    assert (caught.value.problem.status, caught.value.problem.slug) == (400, "invalid-name")
    assert len(caught.value.problem.detail) < 600


@pytest.mark.parametrize(
    "name", ["w", "_", "a.b-c", "layer.0.weight", "grad.x", "gradient", "a.grads", "a" * 128]
)
def test_tensor_names(name: str) -> None:
    assert names.tensor(name) == names.output(name) == name
    assert names.reference(name) == Ref(name)
    assert names.reference(name + ".grad") == Ref(name, True)


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "0a", ".a", "-a", "@1.2", "grad", "a.grad", "%d", "a.grad.grad"]
)
def test_tensor_names_refused(name: str) -> None:
    with pytest.raises(ProtocolError, match="is not a name"):
        names.tensor(name)


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("a.b.grad", Ref("a.b", True)),
        ("@1.2", Ref("@1.2")),
        ("@4294967295.0.grad", Ref("@4294967295.0", True)),
        ("%0", Ref("%0")),
        ("%d.grad", Ref("%d", True)),
    ],
)
def test_references(name: str, ref: Ref) -> None:
    assert names.reference(name) == ref
    assert str(ref) == name
    assert names.is_temporary(name) == name.startswith("%")


@pytest.mark.parametrize(
    "name",
    [*HOSTILE_NAMES, "grad", ".grad", "a.grad.grad", "@", "@1", "@01.2", "@1.2.3", "@-1.2", "@1.٢", "@1.2\n",
     "%", "%.grad.grad", "%a b"],
)  # fmt: skip
def test_references_refused(name: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        names.reference(name)
    assert caught.value.problem.slug == "invalid-name"


def test_ids() -> None:
    assert names.parse_id("@7.19") == (7, 19)
    assert names.parse_id("w") is None
    assert names.parse_id("@7.19.grad") is None


_numbers = st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.complex_numbers()


@given(_numbers)
def test_run_time_values_come_back(value: Any) -> None:
    kind = values.kind_of(value)
    said = msgspec.json.decode(msgspec.json.encode(values.encode_scalar(value)))
    again = values.decode_scalar(said, kind)
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_an_integer_is_a_float_where_one_is_due() -> None:
    assert repr(values.decode_scalar(1, "float")) == "1.0"
    assert repr(values.decode_scalar(1, "complex")) == "(1+0j)"
    assert repr(values.decode_scalar(0.5, "complex")) == "(0.5+0j)"
    assert values.decode_scalar("Infinity", "float") == math.inf


@pytest.mark.parametrize(
    ("scalar", "kind"),
    [(1, "bool"), (True, "int"), (True, "float"), (1.0, "int"), ([1.0, 2.0], "float"), ([1.0, 2.0], "int"),
     ("NaN", "int"), ("NaN", "bool"), (0.5, "bool"), (1 << 64, "int"), (10**400, "float"), (True, "complex")],
)  # fmt: skip
def test_run_time_values_refused(scalar: Any, kind: Any) -> None:
    with pytest.raises(Malformed, match=r"not of kind|64 bits"):
        values.decode_scalar(scalar, kind)


def test_every_problem_has_a_page() -> None:
    assert len(problems.TABLE) > 35
    for slug, row in problems.TABLE.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", slug)
        assert 400 <= row.status < 600
        assert row.title
        assert row.description.endswith(".")


@pytest.mark.parametrize(
    ("slug", "status"),
    [
        ("malformed-frame", 400),
        ("invalid-json", 400),
        ("invalid-name", 400),
        ("origin-refused", 403),
        ("session-not-found", 404),
        ("tensor-not-found", 404),
        ("op-not-found", 404),
        ("method-not-allowed", 405),
        ("not-acceptable", 406),
        ("sequence-gap", 409),
        ("sequence-conflict", 409),
        ("writer-fenced", 409),
        ("writer-unknown", 409),
        ("program-unknown", 409),
        ("upload-missing", 409),
        ("idempotency-conflict", 409),
        ("reply-expired", 410),
        ("length-required", 411),
        ("body-too-large", 413),
        ("unsupported-media-type", 415),
        ("host-refused", 421),
        ("invalid-op", 422),
        ("op-not-callable", 422),
        ("op-failed", 422),
        ("internal", 500),
        ("draining", 503),
        ("quota-exceeded", 507),
    ],
)
def test_statuses(slug: str, status: int) -> None:
    assert problems.TABLE[slug].status == status


def test_a_problem_as_json() -> None:
    made = problem("sequence-gap", "3 is not next", expected_seq=2)
    assert json.loads(msgspec.json.encode(made)) == {
        "type": "/problems/sequence-gap",
        "title": "Sequence gap",
        "status": 409,
        "detail": "3 is not next",
        "expected_seq": 2,
    }
    assert made.slug == "sequence-gap"
    assert msgspec.json.decode(msgspec.json.encode(made), type=problems.Problem) == made


def test_a_problem_as_an_exception() -> None:
    error = ProtocolError.of("op-failed", "boom", step=1)
    assert str(error) == "boom"
    assert error.problem.step == 1
    assert str(ProtocolError.of("draining")) == "Draining"
    with pytest.raises(KeyError):
        problem("no-such-slug")


def test_limits() -> None:
    said = DEFAULT.as_dict()
    assert list(said) == [field.name for field in dataclasses.fields(Limits)]
    assert all(type(value) is int and value > 0 for value in said.values())
    assert (said["json_bytes"], said["client_message_bytes"], said["server_message_bytes"]) == (
        1 << 24,
        1 << 20,
        1 << 21,
    )
    assert (said["upload_bytes"], said["staged_bytes"], said["session_bytes"]) == (1 << 30, 2 << 30, 8 << 30)
    assert (said["batch_steps"], said["window_batches"], said["window_bytes"], said["dims"]) == (
        4096,
        256,
        1 << 25,
        64,
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT.dims = 65  # type: ignore[misc]


def test_dtypes() -> None:
    assert len(dtypes.BY_NAME) == len(dtypes.BY_CODE) == len(dtypes.BY_NUMPY) == len(dtypes.TABLE) == 15
    for row in dtypes.TABLE:
        assert row.numpy.name == row.name
        assert row.numpy.itemsize == row.itemsize
        assert dtypes.of(row.numpy) is dtypes.of(row.numpy.newbyteorder(">")) is row
    with pytest.raises(TypeError, match="float128 does not cross"):
        dtypes.of(np.dtype("float128"))


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert WIRE == "gradd.v1"
