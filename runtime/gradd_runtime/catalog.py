"""The op catalogue for other languages, built from the declarations."""

from __future__ import annotations

from typing import Any

import gradd_engine.assembly  # noqa: F401 - declares every op
from gradd_engine.declare import REGISTRY
from gradd_engine.schema import REQUIRED, Op, Param

_JSON: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"}, "float": {"type": ["number", "string"]}, "bool": {"type": "boolean"},
    "str": {"type": "string"}, "dtype": {"type": "string"},
    "Number": {"type": ["number", "boolean", "string", "object"]},
    "index": {"type": "array"}, "any": {},
}  # fmt: skip


def _attr(p: Param) -> dict[str, Any]:
    kind = p.kind.removesuffix("[]")
    schema: dict[str, Any] = dict(_JSON[kind])
    if p.kind.endswith("[]"):
        schema = {"type": "array", "items": schema}
    out: dict[str, Any] = {"name": p.name, "schema": schema, "run_time": p.value, "nullable": p.optional}
    if p.default is not REQUIRED:
        out["default"] = (
            repr(p.default) if isinstance(p.default, float) and p.default in (float("inf"),) else p.default
        )
    return out


def describe(op: Op) -> dict[str, Any]:
    """An op's catalogue entry: inputs and attributes in order, documentation, properties."""
    return {
        "name": op.name,
        "signature": str(op.schema),
        "doc": op.surface.doc,
        "inputs": [
            {"name": p.name, "kind": p.kind, "optional": p.kind.endswith("?") or p.default is None}
            for p in op.schema.tensors
        ],
        "attrs": [_attr(p) for p in op.schema.attrs],
        "differentiable": bool(op.rules) or op.composite is not None,
        "in_place": op.base is not None or bool(op.writes),
        "view": op.view,
        "random": op.random,
    }


def ops() -> dict[str, dict[str, Any]]:
    """Every op that a step may call, sorted by name."""
    return {name: describe(op) for name, op in sorted(REGISTRY.items()) if op.surface.outside}
