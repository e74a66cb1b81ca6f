"""Programs: identity, order of run-time values, validation."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import Malformed
from gradd_protocol.program import (
    Complex,
    GradOf,
    Program,
    Special,
    Step,
    Value,
    static_float,
    static_number,
    validate,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.samples import PROGRAM

ADD = Step("add", [0, 1], {"alpha": Value("float")})


def test_canonical_bytes_are_pinned() -> None:
    """Journals and other writers keep ids: neither the bytes nor the digest may drift."""
    program = Program(2, [ADD, Step("sum", [2, None, [0, GradOf(1)]], {"keepdim": False, "dim": [0, -1.5]})])
    assert program.canonical() == (
        b'{"inputs":2,"steps":['
        b'{"attrs":{"alpha":{"kind":"float","t":"v"}},"grad":true,"inputs":[0,1],"op":"add","outputs":1,'
        b'"raises":false},'
        b'{"attrs":{"dim":[0,-1.5],"keepdim":false},"grad":true,"inputs":[2,null,[0,{"of":1,"t":"g"}]],'
        b'"op":"sum","outputs":1,"raises":false}]}'
    )
    assert program.id() == "92fef7e635833d7a42b02fe9dca6ad9f"


def test_a_step_in_inference_mode_says_so() -> None:
    inside = Program(2, [msgspec.structs.replace(ADD, grad="inference")])
    assert b'"grad":"inference"' in inside.canonical()
    assert msgspec.json.decode(inside.canonical(), type=Program) == inside
    modes = [Program(2, [msgspec.structs.replace(ADD, grad=g)]).id() for g in (True, False)]
    assert inside.id() not in modes
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(inside.canonical().replace(b"inference", b"other"), type=Program)


def test_canonical_bytes_are_the_sorted_json_of_any_language() -> None:
    said = json.loads(PROGRAM.canonical())
    assert json.dumps(said, sort_keys=True, separators=(",", ":")).encode() == PROGRAM.canonical()
    assert msgspec.json.decode(PROGRAM.canonical(), type=Program) == PROGRAM


def test_order_of_attrs_is_not_identity() -> None:
    one = Program(1, [Step("sum", [0], {"dim": 0, "keepdim": True})])
    two = Program(1, [Step("sum", [0], {"keepdim": True, "dim": 0})])
    assert one.id() == two.id()


DIFFERENT = [
    Program(1, []),
    Program(2, []),
    *(
        Program(2, [step])
        for step in (
            ADD,
            Step("sub", [0, 1], {"alpha": Value("float")}),
            Step("add", [1, 0], {"alpha": Value("float")}),
            Step("add", [[0, 1]], {"alpha": Value("float")}),
            Step("add", [0, None], {"alpha": Value("float")}),
            Step("add", [0, GradOf(1)], {"alpha": Value("float")}),
            Step("add", [0, GradOf(0)], {"alpha": Value("float")}),
            Step("add", [0, Value("int")], {"alpha": Value("float")}),
            Step("add", [0, 1], {"alpha": Value("int")}),
            Step("add", [0, 1], {"alpha": Value("bool")}),
            Step("add", [0, 1], {"alpha": Value("complex")}),
            Step("add", [0, 1], {"beta": Value("float")}),
            Step("add", [0, 1], {"alpha": 1}),
            Step("add", [0, 1], {"alpha": 1.0}),
            Step("add", [0, 1], {"alpha": True}),
            Step("add", [0, 1], {"alpha": "1"}),
            Step("add", [0, 1], {"alpha": None}),
            Step("add", [0, 1], {"alpha": [1]}),
            Step("add", [0, 1], {"alpha": [[1]]}),
            Step("add", [0, 1], {"alpha": 0.0}),
            Step("add", [0, 1], {"alpha": -0.0}),
            Step("add", [0, 1], {"alpha": 0}),
            Step("add", [0, 1], {"alpha": False}),
            Step("add", [0, 1], {"alpha": Special("inf")}),
            Step("add", [0, 1], {"alpha": Special("nan")}),
            Step("add", [0, 1], {"alpha": "nan"}),
            Step("add", [0, 1]),
            Step("add", [0, 1], {"alpha": Value("float")}, outputs=2),
            Step("add", [0, 1], {"alpha": Value("float")}, grad=False),
            Step("add", [0, 1], {"alpha": Value("float")}, raises=True),
        )
    ),
    Program(2, [ADD, ADD]),
    Program(3, [ADD]),
]


def test_ids_differ_when_anything_differs() -> None:
    assert len({program.id() for program in DIFFERENT}) == len(DIFFERENT)
    assert {len(program.id()) for program in DIFFERENT} == {32}


_leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.floats().map(static_float),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
_attrs = st.dictionaries(
    st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True),
    st.one_of(_leaves, st.lists(st.lists(_leaves, max_size=2), max_size=2), st.just(Value("float"))),
    max_size=3,
)
_args: st.SearchStrategy[Any] = st.sampled_from(
    [0, 1, 2, None, Value("int"), GradOf(0), [0, None], [GradOf(1)], []]
)
_steps = st.builds(
    Step, st.sampled_from(["a", "b.c"]), st.lists(_args, max_size=3), _attrs, st.just(1), st.booleans()
)
_programs = st.builds(Program, st.just(3), st.lists(_steps, max_size=3))


@given(_programs)
def test_round_trip(program: Program) -> None:
    validate(program)
    again = msgspec.json.decode(program.canonical(), type=Program)
    assert again.canonical() == program.canonical()
    assert again.id() == program.id()


@given(_programs, _programs)
def test_equal_ids_are_equal_programs(one: Program, two: Program) -> None:
    assert (one.id() == two.id()) == (repr(_sorted(one)) == repr(_sorted(two)))


def _sorted(program: Program) -> Program:
    steps = [msgspec.structs.replace(step, attrs=dict(sorted(step.attrs.items()))) for step in program.steps]
    return Program(program.inputs, steps)


def test_order_of_run_time_values() -> None:
    """Step by step; inputs first, left to right, lists included; then attrs by sorted name."""
    kinds: list[Any] = ["bool", "int", "float", "complex"]
    one = Step("a", [Value("bool"), [0, Value("int")]], {"z": Value("complex"), "b": Value("float"), "c": 1})
    two = Step("b", [Value("complex")])
    assert [value.kind for value in Program(1, [one, two]).values()] == [*kinds, "complex"]


def test_counts() -> None:
    assert PROGRAM.slots() == 2 + 1 + 1 + 1 + 2 + 0
    assert PROGRAM.uploads() == 1


def test_floats_json_cannot_say() -> None:
    assert static_float(0.5) == 0.5
    said = [static_float(float(word)) for word in ("inf", "-inf", "nan")]
    assert said == [Special("inf"), Special("-inf"), Special("nan")]
    assert str([item.number() for item in said if isinstance(item, Special)]) == "[inf, -inf, nan]"


@pytest.mark.parametrize("attr", [float("nan"), [1, [float("inf")]]])
def test_they_never_become_null(attr: Any) -> None:
    program = Program(0, [Step("a", [], {"x": attr})])
    with pytest.raises(Malformed, match="use Special"):
        program.canonical()
    with pytest.raises(Malformed, match="use Special"):
        validate(program)


def test_validate_accepts() -> None:
    validate(PROGRAM)
    validate(Program(0, []))
    validate(Program(0, [Step("a", [], outputs=0)] * DEFAULT.batch_steps))


REFUSED = {
    "slot ahead": (Program(1, [Step("a", [1])]), "step 0: slot 1 has no value yet"),
    "slot of its own output": (Program(0, [Step("a", [], outputs=2), Step("a", [2])]), "step 1: slot 2"),
    "slot ahead in a list": (Program(1, [Step("a", [[0, 9]])]), "slot 9"),
    "gradient of a slot ahead": (Program(1, [Step("a", [GradOf(1)])]), "slot 1"),
    "negative slot": (Program(1, [Step("a", [-1])]), "slot -1"),
    "negative inputs": (Program(-1, []), "inputs, not -1"),
    "many inputs": (Program(1 << 62, []), "inputs, not"),
    "many steps": (Program(0, [Step("a", [])] * (DEFAULT.batch_steps + 1)), "at most 4096 steps"),
    "negative outputs": (Program(0, [Step("a", [], outputs=-1)]), "-1 outputs"),
    "many outputs": (Program(0, [Step("a", [], outputs=1 << 62)]), "slots"),
    "many args": (Program(1, [Step("a", [0] * 65537)]), "too many inputs"),
    "many args in a list": (Program(1, [Step("a", [[0] * 65537])]), "too many inputs in a list"),
    "many items": (Program(1, [Step("a", [], {"x": [0] * 65537})]), "too many items"),
    "empty op": (Program(0, [Step("", [])]), "not the name of an op"),
    "op with a newline": (Program(0, [Step("add\n", [])]), "not the name of an op"),
    "op with a dash": (Program(0, [Step("a-b", [])]), "not the name of an op"),
    "op of 65": (Program(0, [Step("a" * 65, [])]), "not the name of an op"),
    "op look-alike": (Program(0, [Step("\u0430dd", [])]), "not the name of an op"),
    "attr of digits": (Program(0, [Step("a", [], {"1": 1})]), "not the name of an attribute"),
    "int of 65 bits": (Program(0, [Step("a", [], {"x": 1 << 64})]), "64 bits"),
    "int of 64 bits and a sign": (Program(0, [Step("a", [], {"x": [-(1 << 63) - 1]})]), "64 bits"),
    "nested": (Program(0, [Step("a", [], {"x": [[[[[1]]]]]})]), "at most 4 deep"),
}


@pytest.mark.parametrize(("program", "reason"), REFUSED.values(), ids=REFUSED)
def test_validate_refuses(program: Program, reason: str) -> None:
    with pytest.raises(Malformed) as caught:
        validate(program)
    assert reason in str(caught.value)


def test_complex_static_numbers() -> None:
    said = [static_number(v) for v in (1.5 - 2j, complex("inf"), 0.25)]
    assert said == [Complex(1.5, -2.0), Complex(Special("inf"), 0.0), 0.25]
    assert [v.number() for v in said if isinstance(v, Complex)] == [1.5 - 2j, complex("inf")]
    program = Program(2, [Step("addmm", [0, 1, 1], {"alpha": Complex(1.0, 2.0)})])
    validate(program)
    other = Program(2, [Step("addmm", [0, 1, 1], {"alpha": Complex(1.0, 3.0)})])
    assert program.id() != other.id()
    with pytest.raises(Malformed, match="use Special"):
        validate(Program(2, [Step("add", [0, 1], {"alpha": Complex(float("nan"), 0.0)})]))
