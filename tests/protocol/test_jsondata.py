"""Tensor data as JSON: rules 8 and 9 of docs/rest.md."""

from __future__ import annotations

import json
import math
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from gradd_protocol import dtypes
from gradd_protocol.jsonform import TensorForm, decode_data, decode_tensor, encode_data, encode_results
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError
from gradd_protocol.values import encode_real
from hypothesis import given
from hypothesis import strategies as st

NAN, INF = math.nan, math.inf


def read(data: Any, dtype: str, shape: list[int] | None = None) -> npt.NDArray[Any]:
    """The array of a body with these members, through its JSON text."""
    members = {"data": data, "dtype": dtype} | ({} if shape is None else {"shape": shape})
    return decode_data(decode_tensor(json.dumps(members).encode()))


def write(array: npt.NDArray[Any]) -> str:
    """The `data` member as JSON text."""
    return msgspec.json.encode(encode_data(array)["data"]).decode()


GOOD: list[tuple[Any, str, list[int] | None, npt.NDArray[Any]]] = [
    (5, "float32", None, np.float32(5)),
    (5, "float32", [], np.float32(5)),
    ([5], "float32", [], np.float32(5)),
    ([[1.0], [2.0]], "float32", None, np.float32([[1], [2]])),
    ([1, 2, 3, 4], "float32", [2, 2], np.float32([[1, 2], [3, 4]])),
    ([[1, 2], [3, 4]], "float32", [2, 2], np.float32([[1, 2], [3, 4]])),
    ([1, 2], "int64", [2, 1], np.int64([[1], [2]])),
    ([], "float64", [0], np.zeros(0)),
    ([], "float64", [3, 0, 2], np.zeros((3, 0, 2))),
    ([[], []], "float64", [2, 0], np.zeros((2, 0))),
    ([], "complex64", [0], np.zeros(0, np.complex64)),
    ([[], []], "complex64", [2, 0], np.zeros((2, 0), np.complex64)),
    (["NaN", "Infinity", "-Infinity", -0.0], "float64", None, np.array([NAN, INF, -INF, -0.0])),
    (["NaN", "Infinity"], "bfloat16", None, np.array([NAN, INF], ml_dtypes.bfloat16)),
    (["9007199254740993", "-9223372036854775808", 7], "int64", None, np.array([2**53 + 1, -(2**63), 7])),
    (9007199254740993, "int64", None, np.int64(2**53 + 1)),
    ([0, 255], "uint8", None, np.uint8([0, 255])),
    ([-128, "127"], "int8", None, np.int8([-128, 127])),
    ([0, "18446744073709551615"], "uint64", None, np.uint64([0, 2**64 - 1])),
    ([0, 65535], "uint16", None, np.uint16([0, 65535])),
    (True, "bool", None, np.bool_(True)),
    ([[True, False]], "bool", None, np.array([[True, False]])),
    ([1, 2], "complex64", None, np.complex64(1 + 2j)),
    ([[1, 2], ["NaN", 0.5]], "complex128", None, np.array([1 + 2j, complex(NAN, 0.5)])),
    ([[1, 2], [3, 4]], "complex64", [2, 1], np.complex64([[1 + 2j], [3 + 4j]])),
    ([[[1, 2]], [[3, 4]]], "complex64", [2, 1], np.complex64([[1 + 2j], [3 + 4j]])),
    ([1, 2], "complex64", [], np.complex64(1 + 2j)),
    (1e39, "float32", None, np.float32(INF)),
    (65520, "float16", None, np.float16(INF)),
    (65519, "float16", None, np.float16(65504)),
    (10**300, "float64", None, np.float64(1e300)),
]


@pytest.mark.parametrize(("data", "dtype", "shape", "expected"), GOOD)
def test_data_in(data: Any, dtype: str, shape: list[int] | None, expected: npt.NDArray[Any]) -> None:
    array = read(data, dtype, shape)
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    assert array.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (1 + 2**-8, "bfloat16", 1.0),  # a tie goes to even
        (1 + 3 * 2**-8, "bfloat16", 1 + 2**-6),
        (1 + 2**-8 + 2**-40, "bfloat16", 1 + 2**-7),  # rounding first to float32 would make it a tie
        (-1 - 2**-8 - 2**-40, "bfloat16", -1 - 2**-7),
        (1 + 3 * 2**-8 - 2**-40, "bfloat16", 1 + 2**-7),
        (3.4e38, "bfloat16", INF),
        (1e-45, "bfloat16", 0.0),
        (1e-40, "bfloat16", 2.0**-133),
        (1 + 2**-11, "float16", 1.0),
        (1 + 3 * 2**-11, "float16", 1 + 2**-9),
        (1 + 2**-11 + 2**-50, "float16", 1 + 2**-10),
        (1 + 2**-24, "float32", 1.0),
        (1 + 2**-24 + 2**-50, "float32", 1 + 2**-23),
        (2**53 + 1, "float64", 2.0**53),
    ],
)
def test_rounding_is_to_nearest_even_and_once(data: Any, dtype: str, expected: float) -> None:
    array = read(data, dtype)
    assert float(array.astype(np.float64)) == float(
        np.float64(expected).astype(array.dtype).astype(np.float64)
    )
    assert float(array) == pytest.approx(expected, rel=1e-3, abs=0)


BAD: dict[str, tuple[Any, str, list[int] | None, str, str]] = {
    "unknown dtype": (1, "float8", None, "unknown dtype 'float8'", "/dtype"),
    "torch's spelling": (1, "torch.float32", None, "unknown dtype", "/dtype"),
    "big-endian": (1, ">f4", None, "unknown dtype", "/dtype"),
    "ragged": ([[1, 2], [3]], "float32", None, "different lengths", "/data"),
    "ragged in depth": ([[1, 2], 3], "float32", None, "different lengths", "/data"),
    "ragged the other way": ([1, [2]], "float32", None, "a list beside numbers", "/data"),
    "ragged empty": ([[], [1]], "float32", None, "different lengths", "/data"),
    "wrong count": ([1, 2, 3], "float32", [2], "data of shape [3] for a tensor of shape [2]", "/data"),
    "wrong nesting": ([[1, 2], [3, 4]], "float32", [4], "data of shape [2, 2]", "/data"),
    "number for a vector": (1, "float32", [1], "data of shape []", "/data"),
    "nothing for something": ([], "float32", [2], "data of shape [0]", "/data"),
    "empty without shape": ([], "float32", None, "needs its shape", "/shape"),
    "empty rows without shape": ([[], []], "float32", None, "needs its shape", "/shape"),
    "negative size": ([], "float32", [-1], "neither negative", "/shape"),
    "two negative sizes": ([1, 2], "float32", [-1, -2], "neither negative", "/shape"),
    "size 2^63": ([], "float32", [0, 1 << 63], "beyond 2^63", "/shape"),
    "overflow of the product": ([], "float32", [1 << 32, 1 << 32], "data of shape [0]", "/data"),
    "empty beyond what there is": ([], "float64", [0, 1 << 62, 1 << 62], "no tensor has the shape", "/shape"),
    "65 dimensions": ([1], "float32", [1] * 65, "at most 64 dimensions", "/shape"),
    "null": (None, "float32", None, "numbers expected, not null", "/data"),
    "null among numbers": ([1.0, None], "float32", None, "not null", "/data"),
    "object": ({"a": 1}, "float32", None, "not an object", "/data"),
    "bool for float": ([True], "float32", None, "not bool", "/data"),
    "number for bool": ([1], "bool", None, "true or false expected, not int", "/data"),
    "word for bool": (["true"], "bool", None, "not a string", "/data"),
    "bool for int": ([True], "int64", None, "not bool", "/data"),
    "float for int": ([1.0], "int64", None, "integers expected, not float", "/data"),
    "NaN for int": (["NaN"], "int64", None, "'NaN' is not an integer", "/data"),
    "inf": (["inf"], "float32", None, "'inf' is not a number", "/data"),
    "nan": (["nan"], "float32", None, "'nan' is not a number", "/data"),
    "digits for float": (["1.5"], "float32", None, "'1.5' is not a number", "/data"),
    "int8 above": ([128], "int8", None, "int8 goes from -128 to 127", "/data"),
    "int8 below": ([-129], "int8", None, "int8 goes from", "/data"),
    "uint8 below": ([-1], "uint8", None, "uint8 goes from 0", "/data"),
    "int64 above": ([1 << 63], "int64", None, "int64 goes from", "/data"),
    "int64 above, as text": (["9223372036854775808"], "int64", None, "int64 goes from", "/data"),
    "uint32 above": ([1 << 32], "uint32", None, "uint32 goes from 0 to 4294967295", "/data"),
    "uint64 below": ([-1], "uint64", None, "uint64 goes from 0", "/data"),
    "int with a plus": (["+1"], "int64", None, "is not an integer", "/data"),
    "int with spaces": ([" 1"], "int64", None, "is not an integer", "/data"),
    "int with an underscore": (["1_0"], "int64", None, "is not an integer", "/data"),
    "int of other digits": (["٣"], "int64", None, "is not an integer", "/data"),
    "int of 4,000 digits": (["1" * 4000], "int64", None, "is not an integer", "/data"),
    "float past float64": ([10**400], "float64", None, "beyond float64", "/data"),
    "real for complex": (1.0, "complex64", None, "[re, im]", "/data"),
    "reals for complex": ([1.0, 2.0, 3.0], "complex64", None, "[re, im]", "/data"),
    "triples for complex": ([[1.0, 2.0, 3.0]], "complex64", None, "[re, im]", "/data"),
    "word for complex": ("1+2j", "complex64", None, "[re, im]", "/data"),
}


@pytest.mark.parametrize(("data", "dtype", "shape", "reason", "pointer"), BAD.values(), ids=BAD)
def test_data_that_do_not_fit(data: Any, dtype: str, shape: Any, reason: str, pointer: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read(data, dtype, shape)
    problem = caught.value.problem
    assert reason in problem.detail
    assert (problem.status, problem.slug) == (422, "invalid-data")
    assert problem.errors == [{"detail": problem.detail, "pointer": pointer}]
    assert len(problem.detail) < 300


NOT_JSON = {
    "empty": (b"", "truncated"),
    "no dtype": (b'{"data": 1}', "missing required field `dtype`"),
    "no data": (b'{"dtype": "float32"}', "missing required field `data`"),
    "unknown member": (b'{"data": 1, "dtype": "float32", "device": "cpu"}', "unknown field `device`"),
    "member twice": (b'{"data": 1, "data": 2, "dtype": "float32"}', "'data' stands twice"),
    "member twice inside": (b'{"data": {"a": 1, "a": 1}, "dtype": "float32"}', "'a' stands twice"),
    "dtype null": (b'{"data": 1, "dtype": null}', "Expected `str`"),
    "shape of floats": (b'{"data": [1], "dtype": "float32", "shape": [1.0]}', "Expected `int`"),
    "requires_grad 1": (b'{"data": 1, "dtype": "float32", "requires_grad": 1}', "Expected `bool`"),
    "NaN": (b'{"data": NaN, "dtype": "float32"}', "malformed"),
    "1e400": (b'{"data": 1e400, "dtype": "float32"}', "out of range"),
    "5,000 digits": (b'{"data": ' + b"1" * 5000 + b', "dtype": "float32"}', "out of range"),
    "trailing comma": (b'{"data": [1,], "dtype": "float32"}', "malformed"),
    "cut": (b'{"data": [1', "truncated"),
    "lone surrogate": (b'{"data": "\\ud800", "dtype": "float32"}', "surrogate"),
    "deep": (b'{"data": ' + b"[" * 100_000, "nested too deep"),
    "deep and closed": (
        b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b', "dtype": "float32"}',
        "nested too deep",
    ),
    "many lists": (b'{"data": [' + b"[]," * DEFAULT.json_containers, "arrays and objects"),
    "too long": (b" " * (DEFAULT.json_bytes + 1), "at most"),
}


@pytest.mark.parametrize(("text", "reason"), NOT_JSON.values(), ids=NOT_JSON)
def test_bodies_that_are_not_the_form(text: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_tensor(text)
    assert reason in caught.value.problem.detail
    assert (caught.value.problem.status, caught.value.problem.slug) == (400, "invalid-json")


def test_depth_without_a_stack() -> None:
    """As deep as the text allows and deeper than dimensions go: refused, not crashed."""
    with pytest.raises(ProtocolError, match="at most 64 dimensions"):
        read(json.loads("[" * 300 + "1" + "]" * 300), "float32")


def test_the_other_members() -> None:
    form = decode_tensor(b' { "requires_grad" : true, "dtype":"float32", "data":[ 1 ] } ')
    assert form == TensorForm([1], "float32", None, True)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float64(0.1), "0.1"),
        (np.float64(np.float32(0.1)), "0.10000000149011612"),
        (np.float32([[1, 2], [3, 4.5]]), "[[1.0,2.0],[3.0,4.5]]"),
        (np.float32(16777216), "16777216.0"),
        (np.array([NAN, INF, -INF]), '["NaN","Infinity","-Infinity"]'),
        (np.float32([NAN, -0.0]), '["NaN",-0.0]'),
        (np.float16([0.1, 65504]), "[0.1,65500.0]"),
        (np.array([0.1, 1, NAN], ml_dtypes.bfloat16), '[0.1,1.0,"NaN"]'),
        (
            np.int64([2**53, 2**53 + 1, -(2**53) - 1]),
            '[9007199254740992,"9007199254740993","-9007199254740993"]',
        ),
        (np.int64(2**62), '"4611686018427387904"'),
        (np.int64(-(2**63)), '"-9223372036854775808"'),
        (np.uint64([1, 2**64 - 1]), '[1,"18446744073709551615"]'),
        (np.uint32([2**32 - 1]), "[4294967295]"),
        (np.uint8(255), "255"),
        (np.array([True, False]), "[true,false]"),
        (np.complex64(1 + 0.1j), "[1.0,0.1]"),
        (np.array([[1j], [complex(NAN, -INF)]]), '[[[0.0,1.0]],[["NaN","-Infinity"]]]'),
        (np.zeros((2, 0)), "[[],[]]"),
        (np.zeros((0, 2), np.complex64), "[]"),
        (np.arange(6).reshape(2, 3).T, "[[0,3],[1,4],[2,5]]"),
        (np.complex64([[1, 2j], [3, 4]]).T, "[[[1.0,0.0],[3.0,0.0]],[[0.0,2.0],[4.0,0.0]]]"),
    ],
)
def test_data_out(array: npt.NDArray[Any], text: str) -> None:
    assert write(np.asarray(array)) == text


@pytest.mark.parametrize("row", dtypes.TABLE, ids=lambda row: row.name)
def test_members_out(row: dtypes.WireType) -> None:
    said = encode_data(np.ones((2, 1), row.numpy))
    assert (said["dtype"], said["shape"]) == (row.name, [2, 1])


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_half_comes_back(name: str) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(dtypes.BY_NAME[name].numpy)
    again = read(json.loads(write(values)), name)
    with np.errstate(invalid="ignore"):  # some are signalling
        plain = ~np.isnan(values)
    assert (again.view(np.uint16) == values.view(np.uint16))[plain].all()
    assert np.isnan(again[~plain]).all()


@pytest.mark.parametrize(("name", "digits"), [("float16", 5), ("bfloat16", 4)])
def test_no_half_has_a_shorter_decimal(name: str, digits: int) -> None:
    dtype = dtypes.BY_NAME[name].numpy
    values = np.arange(0, 1 << 15, 37, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        values = values[np.isfinite(values)]
    for value, said in zip(values, json.loads(write(values)), strict=True):
        used = len(np.format_float_scientific(said, trim="-").partition("e")[0].replace(".", ""))
        assert used <= digits
        with np.errstate(over="ignore"):
            shorter = [np.float64(f"{float(value):.{n}e}").astype(dtype) for n in range(used - 1)]
        assert value not in shorter


_bits = st.integers(0, (1 << 32) - 1)


@given(st.lists(_bits, max_size=20))
def test_float32_comes_back(bits: list[int]) -> None:
    values = np.array(bits, np.uint32).view(np.float32)
    again = read(json.loads(write(values)), "float32", [len(bits)])
    plain = ~np.isnan(values)
    assert (again.view(np.uint32) == values.view(np.uint32))[plain].all()
    assert np.isnan(again[~plain]).all()


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=9))
def test_int64_comes_back_from_a_reader_with_doubles_only(values: list[int]) -> None:
    said = json.loads(write(np.array(values, np.int64)), parse_int=float)
    plain = [int(item) if isinstance(item, float) else item for item in said]
    assert read(plain, "int64", [len(values)]).tolist() == values


@given(st.floats(width=64))
def test_bfloat16_rounds_once(value: float) -> None:
    """Against exact arithmetic: no bfloat16 is nearer than the one chosen."""
    got = read(encode_real(value), "bfloat16")
    if math.isnan(value):
        assert np.isnan(got)
        return
    near = np.array([got], ml_dtypes.bfloat16)
    steps = [near, *(np.nextafter(near, np.array([to], ml_dtypes.bfloat16)) for to in (-INF, INF))]
    errors = [abs(float(step[0]) - value) for step in steps if math.isfinite(float(step[0]))]
    if math.isfinite(float(got)):
        assert abs(float(got) - value) == min(errors)


def test_results_of_a_batch() -> None:
    said = encode_results(1, 3, {"y": np.array(5, np.float32), "w.grad": None})
    assert json.loads(said) == {
        "seq": 1,
        "position": 3,
        "results": {"y": {"dtype": "float32", "shape": [], "data": 5.0}, "w.grad": None},
    }


def test_too_large_for_json() -> None:
    """Refused before the text is made where the count alone says so, else when it is made."""
    huge = np.broadcast_to(np.float64(0), (1 << 40,))
    for refused in (lambda: encode_data(huge), lambda: encode_results(1, 1, {"y": huge})):
        with pytest.raises(ProtocolError) as caught:
            refused()
        assert (caught.value.problem.status, caught.value.problem.limit) == (406, DEFAULT.json_bytes)
    long = np.full(DEFAULT.json_bytes // 16, -1e-300 / 3)
    with pytest.raises(ProtocolError, match="binary form"):
        encode_results(1, 1, {"y": long})
