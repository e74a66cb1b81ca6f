"""Writes the types of the TypeScript client from openapi.yaml: ``python -m tools.typescript [--check]``.

What JSON Schema can say beyond them (lengths, patterns, ranges) the daemon checks.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "clients" / "typescript" / "src" / "schema.ts"
HEAD = "// Generated from openapi.yaml by `make openapi`: edit neither.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def written(schema: dict[str, Any], indent: str = "") -> str:
    """A schema as a TypeScript type."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(written(each, indent) for each in alternatives))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_PLAIN[each] for each in kind)
    if kind == "array":
        item = written(schema.get("items", {}), indent)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        return _object(schema, indent)
    return _PLAIN[kind] if kind else "unknown"


def _object(schema: dict[str, Any], indent: str) -> str:
    more = schema.get("additionalProperties")
    if "properties" not in schema:
        return f"Record<string, {written(more, indent) if isinstance(more, dict) else 'unknown'}>"
    inner = indent + "  "
    lines = []
    for name, each in schema["properties"].items():
        lines += _comment(each.get("description"), inner)
        optional = "" if name in schema.get("required", ()) else "?"
        lines.append(f"{inner}{name}{optional}: {written(each, inner)};")
    if isinstance(more, dict):
        lines.append(f"{inner}[name: string]: unknown;")
    return "\n".join(["{", *lines, indent + "}"])


def _comment(text: str | None, indent: str) -> list[str]:
    if not text:
        return []
    lines = textwrap.wrap(" ".join(text.split()).replace("*/", "* /"), 106 - len(indent))
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def schema_ts(document: dict[str, Any]) -> str:
    """The types of all schemas of an OpenAPI document."""
    parts = [HEAD]
    for name, schema in document["components"]["schemas"].items():
        kind = written(schema)
        made = f"export interface {name} {kind}" if kind.startswith("{") else f"export type {name} = {kind};"
        parts.append("\n".join([*_comment(schema.get("description"), ""), made]) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Write the types, or with ``--check`` exit 1 where they are stale."""
    made = schema_ts(yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8")))
    if "--check" not in sys.argv:
        SCHEMA.write_text(made, encoding="utf-8")
    elif not SCHEMA.exists() or SCHEMA.read_text(encoding="utf-8") != made:
        raise SystemExit(f"{SCHEMA.relative_to(ROOT)} is stale: make openapi")


if __name__ == "__main__":
    main()
