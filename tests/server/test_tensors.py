"""Tensors over HTTP: every form in and out, lengths before memory, uploads and results."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gradd_protocol import dtypes
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_server.app import create_app
from gradd_server.media import JSON, NPY, OCTETS, SAFETENSORS
from gradd_server.settings import Settings
from safetensors import deserialize
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save as save_safetensors

from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement

W = "/v1/sessions/demo/tensors/w"
VALUES = np.array([[0, 1, 2], [3, 4, 5]])


@pytest.fixture(autouse=True)
def session(call: Caller) -> None:
    assert call("PUT", "/v1/sessions/demo").status_code == 201


def array_of(name: str) -> np.ndarray[Any, Any]:
    return VALUES.astype(dtypes.BY_NAME[name].numpy)


def npy(array: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=array.dtype.hasobject)
    return file.getvalue()


def put(call: Caller, kind: str, content: bytes, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return call("PUT", W, content=content, headers={"content-type": kind, **named})


@pytest.mark.parametrize("name", dtypes.BY_NAME)
def test_octets_there_and_back(call: Caller, placement: FakePlacement, name: str) -> None:
    array = array_of(name)
    made = put(call, OCTETS, array.tobytes(), gradd_dtype=name, gradd_shape="2,3")
    assert made.status_code == 201
    assert placement.sessions["demo"].tensors["w"].dtype == array.dtype
    got = call("GET", W, headers={"accept": OCTETS})
    assert got.headers["content-type"] == OCTETS
    assert (got.headers["gradd-dtype"], got.headers["gradd-shape"]) == (name, "2,3")
    assert got.content == array.tobytes()
    assert put(call, OCTETS, array.tobytes(), gradd_dtype=name, gradd_shape="3, 2").status_code == 200


@pytest.mark.parametrize("name", [name for name in dtypes.BY_NAME if name != "bfloat16"])
def test_npy_there_and_back(call: Caller, name: str) -> None:
    array = array_of(name)
    assert put(call, NPY, npy(array)).status_code == 201
    got = call("GET", W, headers={"accept": NPY})
    back = np.load(io.BytesIO(got.content), allow_pickle=False)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_npy_has_no_bfloat16(call: Caller, problem: Expect) -> None:
    put(call, OCTETS, bytes(2), gradd_dtype="bfloat16", gradd_shape="1")
    refused = problem(call("GET", W, headers={"accept": NPY}), "not-acceptable", 406)
    assert NPY not in refused["supported"]


@pytest.mark.parametrize("name", [name for name in dtypes.BY_NAME if name != "complex128"])
def test_safetensors_there_and_back(call: Caller, name: str) -> None:
    array = array_of(name)
    assert put(call, SAFETENSORS, save_safetensors({"any": array})).status_code == 201
    got = call("GET", W, headers={"accept": SAFETENSORS})
    ((name, back),) = deserialize(got.content)
    assert (name, back["dtype"], back["shape"]) == ("w", dtypes.of(array.dtype).code, [2, 3])
    assert bytes(back["data"]) == array.tobytes()


def test_safetensors_carries_complex128_as_pairs(call: Caller) -> None:
    array = array_of("complex128") * 1j
    pairs = array.view(np.float64).reshape(2, 3, 2)
    body = save_safetensors({"w": pairs}, {"gradd.complex128": "w"})
    assert put(call, SAFETENSORS, body).status_code == 201
    assert call("GET", W, headers={"accept": OCTETS}).headers["gradd-dtype"] == "complex128"
    got = call("GET", W, headers={"accept": SAFETENSORS}).content
    assert np.array_equal(load_safetensors(got)["w"], pairs)
    assert put(call, SAFETENSORS, got).status_code == 200


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(VALUES.astype("f4")),
        VALUES.astype(">f4"),
        np.asfortranarray(VALUES.astype(">c16")),
        np.float32(7).reshape(()),
        np.empty((0, 3), "f4"),
        np.ones(3, "?"),
    ],
    ids=["fortran", "big-endian", "both", "0-d", "empty", "bool"],
)
def test_npy_of_any_order(call: Caller, placement: FakePlacement, array: np.ndarray[Any, Any]) -> None:
    assert put(call, NPY, npy(array)).status_code == 201
    stored = placement.sessions["demo"].tensors["w"]
    assert stored.shape == array.shape
    assert np.array_equal(stored, array)
    assert stored.dtype.byteorder in "=|"


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(call: Caller, version: tuple[int, int]) -> None:
    file = io.BytesIO()
    np.lib.format.write_array(file, VALUES, version)
    assert put(call, NPY, file.getvalue()).status_code == 201


def test_json_there_and_back(call: Caller) -> None:
    form = {"data": [[1.0, "NaN"]], "dtype": "float16", "requires_grad": True}
    assert call("PUT", W, json=form).status_code == 201
    got = call("GET", W)
    assert got.headers["content-type"] == JSON
    assert got.json() == {"dtype": "float16", "shape": [1, 2], "data": [[1.0, "NaN"]]}


def test_a_number_and_an_empty_tensor(call: Caller) -> None:
    assert (
        put(call, OCTETS, np.float64(3).tobytes(), gradd_dtype="float64", gradd_shape="").status_code == 201
    )
    assert call("GET", W).json() == {"dtype": "float64", "shape": [], "data": 3.0}
    assert put(call, OCTETS, b"", gradd_dtype="float64", gradd_shape="2,0").status_code == 200
    assert call("GET", W, headers={"accept": NPY}).status_code == 200
    assert call("GET", W).json()["shape"] == [2, 0]


def test_head_is_get_without_the_body(call: Caller) -> None:
    put(call, OCTETS, bytes(8), gradd_dtype="float32", gradd_shape="2")
    head = call("HEAD", W, headers={"accept": OCTETS})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == "8"
    assert head.headers["gradd-shape"] == "2"


def test_an_unknown_form_is_not_acceptable(call: Caller, problem: Expect) -> None:
    call("PUT", W, json={"data": 1, "dtype": "float32"})
    problem(call("GET", W, headers={"accept": "text/html"}), "not-acceptable", 406)


def test_too_much_json_is_not_acceptable(call: Caller, problem: Expect, placement: FakePlacement) -> None:
    placement.sessions["demo"].tensors["w"] = np.zeros(LIMITS.json_bytes // 2 + 1, np.int8)
    problem(call("GET", W), "not-acceptable", 406)
    problem(call("POST", "/v1/sessions/demo/tensors:fetch", json={"names": ["w"]}), "not-acceptable", 406)
    assert call("GET", W, headers={"accept": OCTETS}).status_code == 200


def header(text: str) -> bytes:
    """A safetensors header of that JSON text."""
    return len(text).to_bytes(8, "little") + text.encode()


def npy_header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


F32 = {"gradd_dtype": "float32", "gradd_shape": "2"}
HUGE = {"gradd_dtype": "float32", "gradd_shape": f"{1 << 32},{1 << 32}"}
ENTRY = '{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}'
BAD_BODIES: dict[str, tuple[str, bytes, dict[str, str], str, int]] = {
    "octets, short": (OCTETS, bytes(7), F32, "invalid-data", 422),
    "octets, long": (OCTETS, bytes(9), F32, "invalid-data", 422),
    "octets, no dtype": (OCTETS, bytes(8), {"gradd_shape": "2"}, "bad-request", 400),
    "octets, no shape": (OCTETS, bytes(8), {"gradd_dtype": "float32"}, "bad-request", 400),
    "octets, unknown dtype": (OCTETS, bytes(8), {**F32, "gradd_dtype": "object"}, "invalid-data", 422),
    "octets, negative size": (OCTETS, bytes(8), {**F32, "gradd_shape": "-2"}, "bad-request", 400),
    "octets, size of no number": (OCTETS, bytes(8), {**F32, "gradd_shape": "2,,3"}, "bad-request", 400),
    "octets, size beyond 2^63": (OCTETS, bytes(8), {**F32, "gradd_shape": str(1 << 63)}, "invalid-data", 422),
    "octets, product beyond": (OCTETS, bytes(8), HUGE, "body-too-large", 413),
    "octets, 65 sizes": (OCTETS, bytes(4), {**F32, "gradd_shape": ",".join("1" * 65)}, "invalid-data", 422),
    "octets, no bool": (OCTETS, b"\x02", {"gradd_dtype": "bool", "gradd_shape": "1"}, "invalid-data", 422),
    "octets, bad flag": (OCTETS, bytes(8), {**F32, "gradd_requires_grad": "true"}, "bad-request", 400),
    "npy, empty": (NPY, b"", {}, "invalid-data", 422),
    "npy, magic": (NPY, b"PK\x03\x04" * 10, {}, "invalid-data", 422),
    "npy, version": (NPY, b"\x93NUMPY\x09\x00" + bytes(100), {}, "invalid-data", 422),
    "npy, header cut": (NPY, npy(VALUES)[:20], {}, "invalid-data", 422),
    "npy, data cut": (NPY, npy(VALUES)[:-1], {}, "invalid-data", 422),
    "npy, data over": (NPY, npy(VALUES) + b"x", {}, "invalid-data", 422),
    "npy, pickle": (NPY, npy(np.array([{}], object)), {}, "invalid-data", 422),
    "npy, structured": (NPY, npy(np.zeros(1, "i4,i4")), {}, "invalid-data", 422),
    "npy, strings": (NPY, npy(np.array(["a"])), {}, "invalid-data", 422),
    "npy, dates": (NPY, npy(np.zeros(1, "M8[s]")), {}, "invalid-data", 422),
    "npy, float128": (NPY, npy(np.zeros(1, "f16")), {}, "invalid-data", 422),
    "npy, code": (NPY, npy_header("__import__('os').abort()"), {}, "invalid-data", 422),
    "npy, negative": (
        NPY, npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), {}, "invalid-data", 422,
    ),
    "npy, deep": (NPY, npy_header("(" * 5000), {}, "invalid-data", 422),
    "npy, long header": (NPY, b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + bytes(100), {}, "invalid-data", 422),
    "safetensors, empty": (SAFETENSORS, b"", {}, "invalid-data", 422),
    "safetensors, long header": (SAFETENSORS, b"\xff" * 8 + bytes(100), {}, "invalid-data", 422),
    "safetensors, no JSON": (SAFETENSORS, header("{"), {}, "invalid-data", 422),
    "safetensors, list": (SAFETENSORS, header("[]"), {}, "invalid-data", 422),
    "safetensors, deep": (SAFETENSORS, header("[" * 5000), {}, "invalid-data", 422),
    "safetensors, no tensor": (SAFETENSORS, header("{}"), {}, "invalid-data", 422),
    "safetensors, two": (
        SAFETENSORS, save_safetensors({"a": VALUES, "b": VALUES}), {}, "invalid-data", 422,
    ),
    "safetensors, name twice": (
        SAFETENSORS, header(ENTRY + "," + ENTRY[1:] + "}") + bytes(4), {}, "invalid-data", 422,
    ),
    "safetensors, offsets": (
        SAFETENSORS, header(ENTRY.replace("[0, 4]", "[0, 8]") + "}") + bytes(8), {}, "invalid-data", 422,
    ),
    "safetensors, dtype": (SAFETENSORS, header(ENTRY.replace("F32", "F8") + "}"), {}, "invalid-data", 422),
    "safetensors, no pairs": (
        SAFETENSORS,
        header('{"__metadata__": {"gradd.complex128": "a"}, ' + ENTRY[1:] + "}") + bytes(4),
        {},
        "invalid-data",
        422,
    ),
    "safetensors, data cut": (SAFETENSORS, header(ENTRY + "}") + bytes(3), {}, "invalid-data", 422),
    "json, none": (JSON, b"", {}, "unsupported-media-type", 415),
    "json, no JSON": (JSON, b"{", {}, "invalid-json", 400),
    "json, ragged": (JSON, b'{"data": [[1], [1, 2]], "dtype": "float32"}', {}, "invalid-data", 422),
    "frame": ("application/vnd.gradd.frame", bytes(8), {}, "unsupported-media-type", 415),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_BODIES.values(), ids=BAD_BODIES)
def test_bad_bodies(
    call: Caller,
    problem: Expect,
    placement: FakePlacement,
    case: tuple[str, bytes, dict[str, str], str, int],
) -> None:
    kind, content, headers, slug, status = case
    if slug == "unsupported-media-type" and not content:
        kind = "text/plain"
    problem(put(call, kind, content, **headers), slug, status)
    assert placement.sessions["demo"].tensors == {}


def test_a_length_must_be_said(call: Caller, problem: Expect) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield bytes(8)

    headers = {"content-type": OCTETS, "gradd-dtype": "float32", "gradd-shape": "2"}
    problem(call("PUT", W, content=chunks(), headers=headers), "length-required", 411)
    json_headers = {"content-type": JSON}
    problem(call("PUT", W, content=chunks(), headers=json_headers), "length-required", 411)


def test_too_long_is_refused_before_a_byte_is_read(call: Caller, problem: Expect) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    def headers(kind: str, length: int) -> dict[str, str]:
        return {
            "content-type": kind,
            "content-length": str(length),
            "gradd-dtype": "uint8",
            "gradd-shape": "1",
        }

    for kind, limit in ((OCTETS, LIMITS.upload_bytes + (1 << 20)), (JSON, LIMITS.json_bytes)):
        refused = call("PUT", W, content=unread(), headers=headers(kind, limit + 1))
        problem(refused, "body-too-large", 413)
    problem(call("PUT", W, content=unread(), headers=headers(OCTETS, 2)), "invalid-data", 422)


def test_a_body_that_ends_early(call: Caller, problem: Expect) -> None:
    headers = {"content-type": OCTETS, "content-length": "8", "gradd-dtype": "float32", "gradd-shape": "2"}
    problem(call("PUT", W, content=b"1234", headers=headers), "bad-request", 400)


def test_a_body_that_comes_too_slowly(placement: FakePlacement, problem: Expect) -> None:
    async def never() -> AsyncIterator[bytes]:
        import asyncio

        await asyncio.Event().wait()
        yield b""

    caller = Caller(create_app(Settings(auth=False, body_timeout=0), placement, OPS))
    caller("PUT", "/v1/sessions/other")
    headers = {"content-type": OCTETS, "content-length": "1", "gradd-dtype": "uint8", "gradd-shape": "1"}
    refused = caller("PUT", "/v1/sessions/other/tensors/w", content=never(), headers=headers)
    problem(refused, "request-timeout", 408)
    assert refused.headers["connection"] == "close"
    caller.close()


@pytest.mark.parametrize(
    "name", ["1a", "a%20b", "a" * 130, "@1", "@-1.2", "@1.2.3", "a%00", "grad", "%25t.grad.grad"]
)
def test_bad_tensor_names(call: Caller, problem: Expect, name: str) -> None:
    problem(call("GET", f"/v1/sessions/demo/tensors/{name}"), "invalid-name", 400)


@pytest.mark.parametrize("name", ["w", "@1.5", "w.grad", "a.b-c_d", "@0.1.grad"])
def test_good_tensor_names(call: Caller, problem: Expect, name: str) -> None:
    problem(call("GET", f"/v1/sessions/demo/tensors/{name}"), "tensor-not-found", 404)


def test_list_and_delete(call: Caller, problem: Expect) -> None:
    call("PUT", W, json={"data": [1, 2], "dtype": "int64"})
    (info,) = call("GET", "/v1/sessions/demo/tensors").json()["tensors"]
    assert (info["name"], info["shape"], info["strides"], info["dtype"]) == ("w", [2], [1], "int64")
    assert call("DELETE", W).status_code == 204
    problem(call("DELETE", W), "tensor-not-found", 404)


def test_fetch_many_at_one_moment(call: Caller, problem: Expect) -> None:
    for name, value in (("a", 1.5), ("b", 2.5)):
        call("PUT", f"/v1/sessions/demo/tensors/{name}", json={"data": value, "dtype": "float64"})
    got = call("POST", "/v1/sessions/demo/tensors:fetch", json={"names": ["b", "a", "a.grad"]}).json()
    assert {name: value and value["data"] for name, value in got["results"].items()} == {
        "b": 2.5, "a": 1.5, "a.grad": None,
    }  # fmt: skip
    missing = call("POST", "/v1/sessions/demo/tensors:fetch", json={"names": ["a", "c"]})
    problem(missing, "tensor-not-found", 404)
    problem(call("POST", "/v1/sessions/demo/tensors:fetch", json={"name": "a"}), "invalid-json", 400)
    problem(call("POST", "/v1/sessions/demo/tensors:fetch", json={"names": ["1"]}), "invalid-name", 400)


def test_backward(call: Caller, problem: Expect) -> None:
    call("PUT", W, json={"data": 1, "dtype": "float32"})
    assert call("POST", f"{W}:backward").json() == {"seq": 1, "position": 1}
    assert call("POST", f"{W}:backward", json={"retain_graph": True}).status_code == 200
    problem(call("POST", "/v1/sessions/demo/tensors/v:backward"), "tensor-not-found", 404)


def test_an_upload_is_staged_and_a_result_is_read(call: Caller, problem: Expect) -> None:
    headers = {"content-type": OCTETS, "gradd-dtype": "float32", "gradd-shape": "2"}
    content = np.array([1, 2], "f4").tobytes()
    path = "/v1/sessions/demo/uploads/1.7"
    assert call("PUT", path, content=content, headers=headers).status_code == 201
    assert call("PUT", path, content=content, headers=headers).status_code == 200
    assert call("GET", "/v1/sessions/demo/results/1.7").json()["data"] == [1.0, 2.0]
    problem(call("GET", "/v1/sessions/demo/results/1.8"), "result-not-found", 404)
    problem(call("PUT", path, content=b"{}", headers={"content-type": JSON}), "unsupported-media-type", 415)


def test_bfloat16_is_ml_dtypes(call: Caller, placement: FakePlacement) -> None:
    put(call, OCTETS, bytes(2), gradd_dtype="bfloat16", gradd_shape="1")
    assert placement.sessions["demo"].tensors["w"].dtype == np.dtype(ml_dtypes.bfloat16)
    assert json.loads(call("GET", W).content)["dtype"] == "bfloat16"
