"""Generated requests to a session that runs: the daemon never fails, errors have one shape."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import pytest
from gradd_protocol import dtypes
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.folder_stores import FolderStores
from gradd_server.media import JSON, REQUEST_TYPES
from gradd_server.operations import OPERATIONS
from gradd_server.settings import Settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.conftest import Caller, expect_problem

PIECES = st.sampled_from(
    ["demo", "w", "w.grad", "@1.1", "1", "0", "-1", "1.1", "%25t", "grad", "mul", "op-failed", "..", "%00"]
)
NUMBERS = st.integers(-(1 << 70), 1 << 70) | st.floats() | st.booleans() | st.none()
MEMBERS = ("steps", "op", "inputs", "attrs", "outputs", "fetch", "free", "data", "dtype", "shape", "names")
MEANT = (
    "mul",
    "add",
    "zeros",
    "backward",
    "w",
    "v",
    "y",
    "%q",
    "w.grad",
    "float32",
    "int64",
    "alpha",
    "size",
)
WORDS = st.sampled_from((*MEMBERS, *MEANT))
VALUES = st.recursive(
    NUMBERS | WORDS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
STEPS = st.fixed_dictionaries(
    {"op": st.sampled_from(["mul", "add", "zeros", "backward", "grad", "exp", "reshape", "expand", "cat"])},
    optional={"inputs": VALUES, "attrs": st.dictionaries(WORDS, VALUES, max_size=3), "outputs": VALUES},
)
BATCHES = st.fixed_dictionaries({"steps": st.lists(STEPS, max_size=3)}, optional={"fetch": st.lists(WORDS)})
TENSORS = st.fixed_dictionaries(
    {"data": VALUES, "dtype": st.sampled_from(sorted(dtypes.BY_NAME))},
    optional={"shape": st.lists(st.integers(-1, 1 << 64), max_size=3), "requires_grad": st.booleans()},
)
BODIES = (BATCHES | TENSORS | VALUES).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=64)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "gradd-dtype": st.sampled_from([*sorted(dtypes.BY_NAME), "object", ""]),
        "gradd-shape": st.lists(st.integers(-1, 1 << 64), max_size=3).map(lambda s: ",".join(map(str, s))),
        "gradd-epoch": st.sampled_from(["1", "0", "x"]),
        "gradd-requires-grad": st.sampled_from(["?1", "?0", "yes"]),
        "idempotency-key": st.sampled_from(["a", "b"]),
        "accept": st.sampled_from([*sorted(REQUEST_TYPES), "*/*", "text/html"]),
    },
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    placement = InlinePlacement()
    stores = FolderStores(tmp_path_factory.mktemp("sessions"))
    caller = Caller(create_app(Settings(auth=False), placement, ops(), stores=stores))
    caller.run(caller._gate.front.sessions.restore())
    yield caller
    caller.close()
    placement.shutdown()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    operation=st.sampled_from(sorted(OPERATIONS)),
    pieces=st.lists(PIECES, min_size=3, max_size=3),
    kind=st.sampled_from(sorted(REQUEST_TYPES)) | st.just(JSON),
    headers=HEADERS,
    body=BODIES,
)
def test_noise(
    running: Caller, operation: str, pieces: list[str], kind: str, headers: dict[str, str], body: bytes
) -> None:
    for name in ("w", "v"):
        form = {"data": [1.0, 2.0], "dtype": "float32", "requires_grad": name == "w"}
        running("PUT", "/v1/sessions/demo")
        running("PUT", f"/v1/sessions/demo/tensors/{name}", json=form)
    method, _, path = operation.partition(" ")
    place = defaultdict(lambda: pieces[0], zip(("id", "writer", "seq"), pieces, strict=True))
    place["name"] = "demo"
    content = {} if method in ("GET", "DELETE") else {"content": body}
    answer = running(method, path.format_map(place), headers={"content-type": kind, **headers}, **content)
    assert answer.status_code < 500 or answer.status_code == 507, answer.text
    if answer.status_code >= 400 and answer.headers["content-type"] != "application/vnd.gradd.frame":
        expect_problem(answer, answer.json()["type"].rpartition("/")[2], answer.status_code)
