"""The JSON form of a batch (rest-by-hand rules 2 to 6): strict structs, and small types the runtime binds.

This module knows no ops. The catalogue decides which parameter an input binds to, whether an attr exists and
how many outputs there are.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from . import dtypes, names, strictjson, values
from .dtypes import DTypeName
from .fields import CurveName, CurveStep
from .jsondata import (
    Array,
    NumberText,
    TensorForm,
    decode_data,
    decode_tensor,
    encode_data,
    invalid_json,
    least_text,
    too_large,
)
from .limits import DEFAULT
from .names import HeldName, OutputName, Ref, Reference, TemporaryName
from .problems import ProtocolError
from .values import Number

__all__ = [
    "BackwardBody",
    "BackwardForm",
    "BatchBody",
    "BatchForm",
    "HookBody",
    "HookForm",
    "Input",
    "NumberForm",
    "PointBody",
    "PointForm",
    "Ref",
    "ScalarBody",
    "StepBody",
    "StepForm",
    "TensorForm",
    "decode_backward",
    "decode_batch",
    "decode_data",
    "decode_float",
    "decode_hook",
    "decode_tensor",
    "encode_data",
    "encode_results",
]

_LIST: Final = Meta(max_length=DEFAULT.batch_ids)
_PAIR: Final = Meta(min_length=2, max_length=2, title="ComplexPair")
_INT_MIN, _INT_MAX = -(1 << 63), (1 << 63) - 1

_Part: TypeAlias = bool | int | float | NumberText


class ScalarBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number that plain JSON cannot express: with a dtype, complex (`[re, im]`), or not finite."""

    scalar: Annotated[_Part | Annotated[list[_Part], _PAIR], Meta(title="ScalarValue")]
    dtype: DTypeName | None = None
    """If absent, a Python number, which does not determine a result's dtype."""


HookKind: TypeAlias = Annotated[
    Literal["tensor", "post_accumulate", "prehook", "posthook"], Meta(title="HookKind")
]
"""When a hook runs: `register_hook` and `register_post_accumulate_grad_hook` of a tensor,
`register_prehook` and `register_hook` of its node."""

_Item: TypeAlias = Annotated[
    Reference | bool | int | float | ScalarBody | None,
    Meta(title="InputItem", description="A tensor, a number, or an optional that is absent."),
]
_Input: TypeAlias = Annotated[
    Reference | bool | int | float | ScalarBody | Annotated[list[_Item], _LIST] | None,
    Meta(title="Input", description="One input of a step: an item, or a list of items."),
]

_Inputs: TypeAlias = Annotated[
    Annotated[list[_Input], _LIST, Meta(title="InputList")]
    | Annotated[dict[str, _Input], _LIST, Meta(title="InputMap")],
    Meta(title="Inputs"),
]
_Attr0: TypeAlias = bool | int | float | str | None
_Attr1: TypeAlias = bool | int | float | str | list[_Attr0] | dict[str, _Attr0] | None
_Attr2: TypeAlias = bool | int | float | str | list[_Attr1] | dict[str, _Attr1] | None
_Attr3: TypeAlias = bool | int | float | str | list[_Attr2] | dict[str, _Attr2] | None
JsonAttr: TypeAlias = bool | int | float | str | list[_Attr3] | dict[str, _Attr3] | None
"""An attr in JSON, with bounded depth."""


class NumberForm(msgspec.Struct, frozen=True):
    """A number as an input: a Python scalar, or with `dtype` a 0-d value of that dtype."""

    value: Number
    dtype: str | None = None


Simple: TypeAlias = Ref | NumberForm | None
Input: TypeAlias = Ref | NumberForm | list[Simple] | None
"""One input of a step: a tensor (or its gradient), a number, an absent optional, or a list of these."""


class StepBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One op call."""

    op: Annotated[str, Meta(min_length=1, max_length=DEFAULT.op_name_chars)]
    inputs: _Inputs = []
    """In the order of the op's parameters that take tensors, or by parameter name."""
    attrs: dict[str, Annotated[JsonAttr, Meta(title="Attr")]] = {}
    """The other parameters, by name."""
    outputs: Annotated[list[OutputName | None], _LIST] | None = None
    """A name for each result, null to drop it. If absent, all are dropped."""
    grad: bool | Literal["inference"] = True
    """Whether the op is recorded for backward; false is PyTorch's `no_grad`, "inference" its
    `inference_mode`.
    """


class PointBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point of a curve."""

    name: CurveName
    value: Reference | int | float | ScalarBody
    """A tensor with one element, as it is after the last step, or a number."""
    step: CurveStep | None = None
    """Its place; null: its number in the curve."""


class BatchBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps to run in order."""

    steps: Annotated[list[StepBody], Meta(max_length=DEFAULT.batch_steps)] = []
    fetch: Annotated[list[Reference], _LIST] = []
    """The values to return, as of after the last step."""
    free: Annotated[list[HeldName], _LIST] = []
    """The names to release after the last step."""
    log: Annotated[list[PointBody], _LIST] = []
    """Points to add to curves, if no step fails."""


class BackwardBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of PyTorch's `backward`."""

    gradient: Reference | None = None
    """The gradient of the root, of the same shape. Optional for a root with one element."""
    retain_graph: bool | None = None
    """Whether the graph can be used again; null: same as `create_graph`."""
    create_graph: bool = False
    """Whether to record the pass, so that the gradients can be differentiated."""
    inputs: Annotated[list[Reference], _LIST] | None = None
    """The tensors that accumulate gradients; null: all leaves."""


class HookBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps that a pass runs when it reaches a tensor or its node."""

    tensor: Reference
    """The tensor it is registered on."""
    kind: HookKind = "tensor"
    """When it runs."""
    inputs: Annotated[list[TemporaryName | None], _LIST] | None = None
    """Names for what the hook receives; null: `%g`."""
    steps: Annotated[list[StepBody], Meta(max_length=DEFAULT.hook_steps)] = []
    outputs: Annotated[list[Reference | None], _LIST] | None = None
    """Names of the replacements; null: none."""


class StepForm(msgspec.Struct, frozen=True):
    """One step. `inputs` are positional or by parameter. `outputs`: None drops all, a None in it drops
    one.
    """

    op: str
    inputs: list[Input] | dict[str, Input]
    attrs: dict[str, JsonAttr]
    outputs: list[str | None] | None
    grad: bool | Literal["inference"] = True


class PointForm(msgspec.Struct, frozen=True):
    """A point of a curve: a tensor's value or a number."""

    name: str
    value: Ref | float
    step: int | None = None


class BatchForm(msgspec.Struct, frozen=True):
    """A batch: steps, then what to fetch, names to free, and what to log."""

    steps: list[StepForm]
    fetch: list[Ref]
    free: list[str]
    log: list[PointForm] = []


class BackwardForm(msgspec.Struct, frozen=True):
    """The body of `POST .../tensors/{name}:backward`: the arguments of PyTorch's `backward`, all optional."""

    gradient: Ref | None
    retain_graph: bool | None
    create_graph: bool
    inputs: list[Ref] | None


class HookForm(msgspec.Struct, frozen=True):
    """A hook: when it runs, names for what it receives, its steps, and names of the replacements (or
    None).
    """

    tensor: Ref
    kind: HookKind
    inputs: list[str | None]
    steps: list[StepForm]
    outputs: list[Ref | None] | None


_batch: Final = msgspec.json.Decoder(BatchBody)
_backward: Final = msgspec.json.Decoder(BackwardBody)
_hook: Final = msgspec.json.Decoder(HookBody)


def decode_batch(text: bytes) -> BatchForm:
    """The batch in a JSON body. invalid-json or invalid-name (400); invalid-op (422) for a number that fits
    nothing."""
    raw = strictjson.decode(_batch, text, invalid_json)
    return BatchForm(
        [_at(index, step) for index, step in enumerate(raw.steps)],
        [names.reference(name) for name in raw.fetch],
        [_freed(name) for name in raw.free],
        [_point(point) for point in raw.log],
    )


def decode_backward(text: bytes) -> BackwardForm:
    """The arguments of `:backward`; an empty body means PyTorch's defaults. invalid-json, invalid-name
    (400).
    """
    raw = strictjson.decode(_backward, text, invalid_json) if text.strip() else BackwardBody()
    return BackwardForm(
        names.reference(raw.gradient) if raw.gradient is not None else None,
        raw.retain_graph,
        raw.create_graph,
        [names.reference(name) for name in raw.inputs] if raw.inputs is not None else None,
    )


def decode_hook(text: bytes) -> HookForm:
    """The hook in a JSON body. invalid-json, invalid-name (400), invalid-op (422)."""
    raw = strictjson.decode(_hook, text, invalid_json)
    inputs: list[str | None] = ["%g"] if raw.inputs is None else raw.inputs
    given = [name for name in inputs if name is not None]
    for name in given:
        if not names.is_temporary(names.output(name)):
            raise _invalid(f"what a hook is given goes by a name with %, as '%g', not {name!r}")
    if len(set(given)) != len(given):
        raise _invalid("two inputs of a hook have the same name")
    return HookForm(
        names.reference(raw.tensor),
        raw.kind,
        inputs,
        [_at(index, step) for index, step in enumerate(raw.steps)],
        None if raw.outputs is None else [None if n is None else names.reference(n) for n in raw.outputs],
    )


def _freed(name: str) -> str:
    ref = names.reference(name)
    if ref.grad:
        raise ProtocolError.of("invalid-name", f"{name!r} is a gradient: it is cleared, not freed")
    return ref.name


def _point(raw: PointBody) -> PointForm:
    value = _simple(raw.value)
    if isinstance(value, NumberForm):
        if isinstance(value.value, complex):
            raise _invalid(f"a point of {raw.name!r}: a complex number is in no curve")
        return PointForm(raw.name, float(value.value), raw.step)
    assert value is not None
    return PointForm(raw.name, value, raw.step)


def _at(index: int, raw: StepBody) -> StepForm:
    try:
        return _step(raw)
    except ProtocolError as error:
        raise ProtocolError(msgspec.structs.replace(error.problem, step=index)) from None


def _step(raw: StepBody) -> StepForm:
    inputs: list[Input] | dict[str, Input]
    if isinstance(raw.inputs, dict):
        inputs = {name: _input(item) for name, item in raw.inputs.items()}
    else:
        inputs = [_input(item) for item in raw.inputs]
    outputs = raw.outputs
    if outputs is not None:
        given = [names.output(name) for name in outputs if name is not None]
        if len(set(given)) != len(given):
            raise _invalid("two outputs of one step have the same name")
    return StepForm(raw.op, inputs, raw.attrs, outputs, raw.grad)


def _input(raw: _Input) -> Input:
    if isinstance(raw, list):
        return [_simple(item) for item in raw]
    return _simple(raw)


def _simple(raw: _Item) -> Simple:
    if raw is None:
        return None
    if isinstance(raw, str):
        return names.reference(raw)
    if isinstance(raw, ScalarBody):
        return _number(raw)
    return NumberForm(_fits(raw))


def _number(raw: ScalarBody) -> NumberForm:
    if raw.dtype is None:
        if isinstance(raw.scalar, list):
            re, im = (_real(part) for part in raw.scalar)
            return NumberForm(complex(re, im))
        return NumberForm(_real(raw.scalar) if isinstance(raw.scalar, str) else _fits(raw.scalar))
    try:
        array = decode_data(TensorForm(raw.scalar, raw.dtype, []))
    except ProtocolError as error:
        raise _invalid(f"a scalar: {error.problem.detail}") from None
    value: Number = array.astype("float32").item() if raw.dtype == "bfloat16" else array.item()
    return NumberForm(value, raw.dtype)


def _real(part: _Part) -> float:
    try:
        return values.read_real(part)
    except ValueError as error:
        raise _invalid(f"a scalar: {error}") from None


def _fits(value: bool | int | float) -> bool | int | float:
    if type(value) is int and not _INT_MIN <= value <= _INT_MAX:
        raise _invalid("an integer does not fit int64")
    return value


def _invalid(detail: str) -> ProtocolError:
    return ProtocolError.of("invalid-op", detail)


_WORDS: Final = ("inf", "-inf", "nan")


def decode_float(attr: JsonAttr) -> float:
    """An attr declared as a float (rule 4): a number, `"inf"`, `"-inf"` or `"nan"`; otherwise ValueError."""
    if isinstance(attr, str) and attr in _WORDS:
        return float(attr)
    if isinstance(attr, int | float):
        return values.read_real(attr)
    raise ValueError('a number, "inf", "-inf" or "nan" expected')


def decode_number(attr: JsonAttr) -> Number:
    """An attr declared as a number: as in `decode_float`, a bool, or `{"scalar": ...}` as in inputs, which
    allows `[re, im]`; otherwise ValueError.
    """
    if isinstance(attr, bool | int | float):
        return attr
    if not isinstance(attr, dict):
        return decode_float(attr)
    try:
        return _number(msgspec.convert(attr, ScalarBody)).value
    except (msgspec.ValidationError, ProtocolError):
        raise ValueError("the scalar is a number or [re, im], its dtype one that holds it") from None


_encoder: Final = msgspec.json.Encoder()


def encode_results(seq: int, position: int, results: Mapping[str, Array | None]) -> bytes:
    """The JSON answer to a batch; a fetched value of None is null. 406 if it would be too large."""
    some = [array for array in results.values() if array is not None]
    if sum(least_text(dtypes.of(array.dtype).name, array.size) for array in some) > DEFAULT.json_bytes:
        raise too_large()
    said = {name: None if array is None else encode_data(array) for name, array in results.items()}
    text = _encoder.encode({"seq": seq, "position": position, "results": said})
    if len(text) > DEFAULT.json_bytes:
        raise too_large()
    return text
