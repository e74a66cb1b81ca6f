"""The schemas of openapi.yaml, from the Structs of bodies.

In addition to msgspec's schemas, types with a title get a name, attributes get their docstrings, and answers
declare which members are always present.
"""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Iterable, Iterator
from inspect import cleandoc, getsource
from typing import Any, TypeAlias

import msgspec
from gradd_protocol import problems
from gradd_protocol.jsonform import (
    BackwardBody,
    BatchBody,
    HookBody,
    PointBody,
    ScalarBody,
    StepBody,
    TensorForm,
)
from msgspec import inspect

Schema: TypeAlias = dict[str, Any]

REF = "#/components/schemas/{name}"

INTEGER: Schema = {"type": "integer", "format": "int64"}
NUMBER: Schema = {"type": "number", "format": "double"}
"""Without a format, generators for Go, Java and Rust take 32 bits."""
_NULL: Schema = {"type": "null"}
_NUMERIC = {said["type"]: said for said in (INTEGER, NUMBER)}

NAMES: dict[type, str] = {
    BackwardBody: "Backward",
    BatchBody: "Batch",
    HookBody: "Hook",
    PointBody: "Point",
    ScalarBody: "Scalar",
    StepBody: "Step",
    TensorForm: "TensorJson",
}
"""Names of schemas that differ from the type's."""

_INDEX_ENTRIES: list[Schema] = [
    {
        "type": "object",
        "title": "IndexSlice",
        "description": "An entry of an index: `start:stop:step`.",
        "properties": {
            "slice": {
                "type": "array",
                "items": {"anyOf": [INTEGER, _NULL]},
                "minItems": 3,
                "maxItems": 3,
            }
        },
        "required": ["slice"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "title": "IndexInput",
        "description": "An entry of an index that is a tensor: the step's k-th input after the indexed one.",
        "properties": {"input": {**INTEGER, "minimum": 1}},
        "required": ["input"],
        "additionalProperties": False,
    },
]
_SIMPLE: list[Schema] = [
    {"type": "boolean"},
    INTEGER,
    NUMBER,
    {"type": "string"},
    _NULL,
]


def _problem_types(slugs: Iterable[str]) -> Schema:
    slugs = list(slugs)
    types = [problems.PREFIX + slug for slug in slugs]
    return {"type": "string", "enum": types, "x-enum-varnames": [slug.replace("-", "_") for slug in slugs]}


WRITTEN: dict[str, Schema] = {
    "Attr": {
        "description": "A parameter that takes no tensors: dtypes by NumPy's name, sizes as a list, the"
        ' entries of an index as a list, `"inf"`, `"-inf"` and `"nan"` for a float.',
        "anyOf": [
            *_SIMPLE,
            {"$ref": REF.format(name="Scalar")},
            {
                "type": "array",
                "items": {"anyOf": [*_SIMPLE, {"type": "array", "items": {}}, *_INDEX_ENTRIES]},
            },
        ],
    },
    "ProblemType": {
        "description": "What went wrong. A GET of it says more.",
        **_problem_types(problems.TABLE),
    },
}
"""Named types that the parser knows only in part; the op or a table decides the rest."""


_RENAMED = {REF.format(name=class_.__name__): REF.format(name=name) for class_, name in NAMES.items()}


def name_of(class_: type) -> str:
    """The name of a class's schema."""
    return NAMES.get(class_, class_.__name__)


def ref(name: str) -> Schema:
    """A reference to the schema of that name."""
    return {"$ref": REF.format(name=name)}


def components(bodies: Iterable[type], answers: Iterable[type]) -> dict[str, Schema]:
    """The schemas of Structs and of all types in them, by name.

    In `bodies`, members with a default are optional; in `answers`, only those that the daemon omits.
    """
    asked = set(_classes(bodies))
    classes = asked | set(_classes(answers))
    _, found = msgspec.json.schema_components(classes, ref_template=REF)
    made: dict[str, Schema] = {}
    titled: dict[str, Schema] = {}
    for class_ in classes:
        schema = found[class_.__name__]
        del schema["title"]
        schema = _described(class_, _plain(schema, titled))
        made[name_of(class_)] = _body(class_, schema) if class_ in asked else _answer(class_, schema)
    titled |= {name: _plain(schema, titled) for name, schema in WRITTEN.items()}
    return dict(sorted((titled | made).items()))


def by_status(status: int) -> Schema:
    """The schema of the problems with that status."""
    slugs = [kind.slug for kind in problems.TABLE.values() if kind.status == status]
    narrowed = {"type": _problem_types(slugs), "status": {**INTEGER, "enum": [status]}}
    return {"allOf": [ref("Problem"), {"type": "object", "properties": narrowed}]}


def _without(schema: Schema, key: str) -> Schema:
    """`schema` without a key."""
    return {name: part for name, part in schema.items() if name != key}


def _classes(types: Iterable[type]) -> Iterator[type]:
    """The Structs and dataclasses among `types` and all types in them."""
    seen: set[type] = set()
    todo: list[Any] = list(inspect.multi_type_info(types))
    while todo:
        info = todo.pop()
        if isinstance(info, inspect.StructType | inspect.DataclassType):
            if info.cls in seen:
                continue
            seen.add(info.cls)
            yield info.cls
        if isinstance(info, inspect.Type | inspect.Field):
            todo += [getattr(info, name) for name in info.__struct_fields__]
        elif isinstance(info, tuple):
            todo += info


def _described(class_: type, schema: Schema) -> Schema:
    """The schema of a class with the docstrings of the class and of its attributes."""
    properties = {name: dict(member) for name, member in schema.get("properties", {}).items()}
    for holder in reversed(class_.__mro__):
        if holder.__module__.startswith("gradd"):
            for name, words in _attribute_words(holder):
                if name in properties:
                    properties[name]["description"] = words
    words = " ".join(cleandoc(schema.get("description", "")).split())
    return schema | {"description": words} | ({"properties": properties} if "properties" in schema else {})


def _attribute_words(class_: type) -> Iterator[tuple[str, str]]:
    """The attributes of a class that have a docstring, with it."""
    (tree,) = ast.parse(textwrap.dedent(getsource(class_))).body
    assert isinstance(tree, ast.ClassDef)
    for said, below in itertools.pairwise(tree.body):
        match said, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, " ".join(words.split())


def _body(class_: type, schema: Schema) -> Schema:
    """In a body, the tag of a message is optional: no other message is possible."""
    for member in msgspec.structs.fields(class_):
        if isinstance(member.default, bool | str) and member.default != "":
            said = schema["properties"][member.encode_name]
            default = f"Default: `{msgspec.json.encode(member.default).decode()}`."
            said["description"] = f"{said.get('description', '')} {default}".strip()
    required = [name for name in schema["required"] if name != _tag_field(class_)]
    return {**schema, "required": required} if required else _without(schema, "required")


def _answer(class_: type, schema: Schema) -> Schema:
    """Members always present are required; those omitted when None are never null; there is no tag."""
    if schema["type"] == "array":
        return schema
    absent = set(_left_out(class_))
    properties = {}
    for name, member in schema["properties"].items():
        if name == _tag_field(class_):
            continue
        kinds = [kind for kind in member.get("anyOf", ()) if kind != _NULL]
        if name in absent and len(kinds) == 1:
            member = {**_without(member, "anyOf"), **kinds[0]}
        properties[name] = member
    required = [name for name in properties if name not in absent]
    return {**schema, "properties": properties, "required": required}


def _tag_field(class_: type) -> str | None:
    return class_.__struct_config__.tag_field if issubclass(class_, msgspec.Struct) else None


def _left_out(class_: type) -> Iterator[str]:
    """The members of an answer that may be absent. Messages are sent with all members."""
    if issubclass(class_, msgspec.Struct):
        omits = class_.__struct_config__.omit_defaults and _tag_field(class_) is None
        for member in msgspec.structs.fields(class_):
            if member.default is msgspec.UNSET or (omits and not member.required):
                yield member.encode_name


def _union(kinds: list[Schema]) -> Schema:
    """Alternatives, each of a JSON type of its own.

    Where all six types are there, generators for Go, Java and Rust take any value: then integers are apart,
    so that they are written as such, and null is no alternative of its own. Elsewhere Rust's needs `oneOf`,
    where a number may be an integer.
    """
    some = [kind for kind in kinds if kind != _NULL]
    if len(some) == 6:
        nullable: Schema = {"type": ["boolean", "null"]} if len(kinds) > len(some) else {"type": "boolean"}
        return {"anyOf": [nullable if kind == {"type": "boolean"} else kind for kind in some]}
    alternatives = [kind for kind in kinds if not (kind == INTEGER and NUMBER in kinds)]
    return {"oneOf" if len(some) > 1 else "anyOf": alternatives}


def _plain(schema: Schema, titled: dict[str, Schema]) -> Schema:
    """`schema` for client generators. Parts with a title move to `titled` and are referenced."""
    # Generators assume that a member with a default is always present.
    schema = _without(schema, "default")
    if "$ref" in schema:
        return {"$ref": _RENAMED.get(schema["$ref"], schema["$ref"])}
    title = schema.pop("title", None)
    if title is not None and not schema:
        return ref(title)  # a title alone refers to another schema
    kind = "string" if all(isinstance(value, str) for value in schema.get("enum", [0])) else None
    plain: Schema = {"type": schema.pop("type", kind)}
    plain |= _NUMERIC.get(plain["type"], {})
    if kind and len(schema["enum"]) == 1:
        (plain["const"],) = schema.pop("enum")
    for key, part in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(member, titled) for name, member in part.items()}
        elif key == "anyOf":
            plain |= _union([_plain(kind, titled) for kind in part])
        else:
            plain[key] = _plain(part, titled) if isinstance(part, dict) else part
    if plain["type"] == "array":
        plain.setdefault("items", {})
    if plain["type"] is None:
        del plain["type"]
    if title is None:
        return plain
    titled[title] = plain
    return ref(title)
