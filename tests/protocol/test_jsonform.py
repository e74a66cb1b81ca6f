"""The JSON form of batches: rules 2 to 6 of docs/rest.md."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from gradd_protocol.jsonform import (
    BackwardForm,
    BatchForm,
    NumberForm,
    StepForm,
    decode_backward,
    decode_batch,
    decode_float,
)
from gradd_protocol.limits import DEFAULT
from gradd_protocol.names import Ref
from gradd_protocol.problems import ProtocolError


def read(body: Any) -> BatchForm:
    return decode_batch(json.dumps(body).encode())


def read_input(value: Any) -> Any:
    """What one value among the inputs is read as."""
    inputs = read({"steps": [{"op": "f", "inputs": [value]}]}).steps[0].inputs
    assert isinstance(inputs, list)
    return inputs[0]


def test_the_example() -> None:
    batch = read(
        {
            "steps": [
                {"op": "matmul", "inputs": ["x", "w"], "outputs": ["h"]},
                {"op": "sub", "inputs": ["h", "t"], "outputs": ["%d"]},
                {"op": "pow", "inputs": ["%d", 2], "outputs": ["%q"]},
                {"op": "sum", "inputs": ["%q"], "outputs": ["y"]},
                {"op": "backward", "inputs": ["y"]},
            ],
            "fetch": ["y", "w.grad"],
        }
    )
    assert batch.steps[0] == StepForm("matmul", [Ref("x"), Ref("w")], {}, ["h"])
    assert batch.steps[2].inputs == [Ref("%d"), NumberForm(2)]
    assert batch.steps[4] == StepForm("backward", [Ref("y")], {}, None)
    assert batch.fetch == [Ref("y"), Ref("w", grad=True)]
    assert batch.free == []


def test_an_empty_batch() -> None:
    assert read({}) == BatchForm([], [], [])


def test_inputs_by_parameter() -> None:
    step = {"op": "cat", "inputs": {"tensors": ["a", "@1.5.grad"]}, "attrs": {"dim": 0}, "grad": False}
    assert read({"steps": [step], "free": ["a", "@1.5"]}) == BatchForm(
        [StepForm("cat", {"tensors": [Ref("a"), Ref("@1.5", True)]}, {"dim": 0}, None, grad=False)],
        [],
        ["a", "@1.5"],
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("w", Ref("w")),
        ("a.b.grad", Ref("a.b", True)),
        ("@3.14", Ref("@3.14")),
        ("%d", Ref("%d")),
        ("%d.grad", Ref("%d", True)),
        (2, NumberForm(2)),
        (2.0, NumberForm(2.0)),
        (True, NumberForm(True)),
        (None, None),
        (["a", None, 1], [Ref("a"), None, NumberForm(1)]),
        ([], []),
        ({"scalar": 2}, NumberForm(2)),
        ({"scalar": "Infinity"}, NumberForm(math.inf)),
        ({"scalar": [1, "-Infinity"]}, NumberForm(complex(1, -math.inf))),
        ({"scalar": 2, "dtype": "float64"}, NumberForm(2.0, "float64")),
        ({"scalar": 0.1, "dtype": "bfloat16"}, NumberForm(0.10009765625, "bfloat16")),
        ({"scalar": [1, 2], "dtype": "complex64"}, NumberForm(1 + 2j, "complex64")),
        ({"scalar": "9007199254740993", "dtype": "int64"}, NumberForm(2**53 + 1, "int64")),
        ({"scalar": True, "dtype": "bool"}, NumberForm(True, "bool")),
    ],
)
def test_values_in_inputs(value: Any, expected: Any) -> None:
    got = read_input(value)
    assert got == expected
    if isinstance(got, NumberForm) and isinstance(expected, NumberForm):
        assert type(got.value) is type(expected.value)


def test_nan_among_the_inputs() -> None:
    assert math.isnan(read_input({"scalar": "NaN"}).value)


REFUSED: dict[str, tuple[Any, int, str]] = {
    "an array": ([], 400, "Expected `object`"),
    "unknown member": ({"step": []}, 400, "unknown field `step`"),
    "steps null": ({"steps": None}, 400, "Expected `array`"),
    "step without op": ({"steps": [{}]}, 400, "missing required field `op`"),
    "empty op": ({"steps": [{"op": ""}]}, 400, "length >= 1"),
    "op of 65": ({"steps": [{"op": "a" * 65}]}, 400, "length <= 64"),
    "unknown member of a step": ({"steps": [{"op": "f", "args": []}]}, 400, "unknown field `args`"),
    "inputs a name": ({"steps": [{"op": "f", "inputs": "x"}]}, 400, "got `str`"),
    "attrs a list": ({"steps": [{"op": "f", "attrs": []}]}, 400, "Expected `object`"),
    "outputs a name": ({"steps": [{"op": "f", "outputs": "y"}]}, 400, "got `str`"),
    "grad 1": ({"steps": [{"op": "f", "grad": 1}]}, 400, "Expected `bool | str`"),
    "too many steps": ({"steps": [{"op": "f"}] * 4097}, 400, "length <= 4096"),
    "lists of lists": ({"steps": [{"op": "f", "inputs": [[["a"]]]}]}, 400, "got `array`"),
    "an unknown object": ({"steps": [{"op": "f", "inputs": [{"tensor": "a"}]}]}, 400, "`tensor`"),
    "scalar null": ({"steps": [{"op": "f", "inputs": [{"scalar": None}]}]}, 400, "got `null`"),
    "scalar of three": ({"steps": [{"op": "f", "inputs": [{"scalar": [1, 2, 3]}]}]}, 400, "length <= 2"),
    "deep attrs": ({"steps": [{"op": "f", "attrs": {"x": [[[[[1]]]]]}}]}, 400, "got `array`"),
    "bad input name": ({"steps": [{"op": "f"}, {"op": "f", "inputs": ["a/b"]}]}, 400, "'a/b' is not a name"),
    "empty name": ({"steps": [{"op": "f", "inputs": [""]}]}, 400, "'' is not a name"),
    "data as a string": (
        {"steps": [{"op": "einsum", "inputs": ["ij,jk->ik"]}]},
        400,
        "'ij,jk->ik' is not a name",
    ),
    "name of 129": ({"steps": [{"op": "f", "inputs": ["a" * 129]}]}, 400, "is not a name"),
    "name of 4 KiB": ({"fetch": ["a" * 4096]}, 400, "is not the name"),
    "output an id": ({"steps": [{"op": "f", "outputs": ["@1.2"]}]}, 400, "'@1.2' is not a name"),
    "output a gradient": ({"steps": [{"op": "f", "outputs": ["w.grad"]}]}, 400, "'w.grad' is not a name"),
    "output twice": ({"steps": [{"op": "f", "outputs": ["y", "y"]}]}, 422, "same name"),
    "free a gradient": ({"free": ["w.grad"]}, 400, "cleared, not freed"),
    "int beyond int64": ({"steps": [{"op": "f", "inputs": [1 << 63]}]}, 422, "does not fit int64"),
    "int of 400 digits": ({"steps": [{"op": "f", "inputs": [10**400]}]}, 422, "does not fit int64"),
    "scalar a word": ({"steps": [{"op": "f", "inputs": [{"scalar": "two"}]}]}, 422, "'two' is not a number"),
    "part a bool": ({"steps": [{"op": "f", "inputs": [{"scalar": [1, True]}]}]}, 422, "True is not a number"),
    "part past float64": (
        {"steps": [{"op": "f", "inputs": [{"scalar": [1, 10**400]}]}]},
        422,
        "beyond float64",
    ),
    "scalar out of range": (
        {"steps": [{"op": "f", "inputs": [{"scalar": 256, "dtype": "uint8"}]}]},
        422,
        "uint8 goes from 0 to 255",
    ),
    "scalar of no dtype": (
        {"steps": [{"op": "f", "inputs": [{"scalar": 1, "dtype": "int"}]}]},
        422,
        "unknown dtype 'int'",
    ),
    "scalar of another kind": (
        {"steps": [{"op": "f", "inputs": [{"scalar": 1.5, "dtype": "int64"}]}]},
        422,
        "integers expected",
    ),
}


@pytest.mark.parametrize(("body", "status", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(body: Any, status: int, reason: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read(body)
    assert caught.value.problem.status == status
    assert reason in caught.value.problem.detail
    assert len(caught.value.problem.detail) < 300


def test_the_step_is_named() -> None:
    with pytest.raises(ProtocolError) as caught:
        read({"steps": [{"op": "f"}, {"op": "f", "inputs": ["a b"]}]})
    assert (caught.value.problem.step, caught.value.problem.slug) == (1, "invalid-name")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xef\xbb\xbf{}",
        b'{"steps":[],"steps":[]}',
        b'{"steps":[{"op":"f","op":"g"}]}',
        b'{"steps":[{"op":"f","attrs":{"dim":0,"dim":1}}]}',
        b'{"steps":[{"op":"f","inputs":{"a":"x","\\u0061":"y"}}]}',
        b'{"steps":[{"op":"f","inputs":[NaN]}]}',
        b'{"steps":[{"op":"f","inputs":[1e400]}]}',
        b'{"steps":' + b"[" * 100_000,
        b'{"steps":[{"op":"f","attrs":{"x":' + b'{"a":' * 100_000,
        b'{"steps":[{"op":"f","inputs":["\\udc00"]}]}',
        b" " * (DEFAULT.json_bytes + 1),
    ],
    ids=range(13),
)
def test_not_the_json_it_should_be(text: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_batch(text)
    assert (caught.value.problem.status, caught.value.problem.slug) == (400, "invalid-json")


def test_backward() -> None:
    text = b'{"gradient": "g", "retain_graph": true, "create_graph": false, "inputs": ["w", "@1.2"]}'
    assert decode_backward(text) == BackwardForm(Ref("g"), True, False, [Ref("w"), Ref("@1.2")])


@pytest.mark.parametrize("text", [b"", b" \n", b"{}"])
def test_backward_with_its_defaults(text: bytes) -> None:
    assert decode_backward(text) == BackwardForm(None, None, False, None)


@pytest.mark.parametrize("text", [b"[]", b'{"gradient": 1}', b'{"tensors": []}', b'{"inputs": ["a/b"]}'])
def test_backward_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_backward(text)
    assert caught.value.problem.status == 400


def test_floats_in_attrs() -> None:
    assert [decode_float(attr) for attr in (1, 0.5, "inf", "-inf")] == [1.0, 0.5, math.inf, -math.inf]
    assert math.isnan(decode_float("nan"))


@pytest.mark.parametrize("attr", [None, True, "Infinity", "NaN", "1", [], {}, 10**400])
def test_floats_in_attrs_refused(attr: Any) -> None:
    with pytest.raises(ValueError, match=r"number|expected"):
        decode_float(attr)
