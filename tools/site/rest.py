"""The page of REST: paths, bodies and answers of openapi.yaml, and the types that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tools.typescript import written

from .commands import table
from .pages import ROOT

_METHODS = ("get", "put", "post", "delete")


def page() -> str:
    """The page."""
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    parts = [
        "# REST paths\n",
        "Written from [openapi.yaml](../files/openapi.yaml), which a daemon serves at `/openapi.yaml`. "
        "[REST](../rest.md) has the rules. All but the probes and the page for browsers want an API key, "
        "`Authorization: Bearer KEY`.\n",
    ]
    for tag in document["tags"]:
        parts.append(f"## {tag['name'].capitalize()}\n")
        parts.append(f"{tag['description']}\n")
        for path, operations in document["paths"].items():
            for method in _METHODS:
                if tag["name"] in operations.get(method, {}).get("tags", ()):
                    parts += _operation(method, path, operations[method])
    parts.append("## Types\n")
    for name, schema in document["components"]["schemas"].items():
        parts += _schema(name, schema)
    return "\n".join(parts)


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {method.upper()} {path}\n"
    yield operation["summary"] + "\n"
    if (said := _said(operation)) != operation["summary"]:
        yield said + "\n"
    parameters = [
        (f"`{p['name']}`", p["in"], _type(p["schema"]), _said(p)) for p in operation.get("parameters", ())
    ]
    if parameters:
        yield from table("parameter", "in", "type", "means", rows=parameters)
    body = operation.get("requestBody")
    if body:
        yield from table("body", "type", rows=[_content(*each) for each in body["content"].items()])
        yield from _example(body["content"])
    answers, problems = [], []
    for status, answer in operation["responses"].items():
        if "$ref" in answer:
            problems.append(status)
            continue
        for content in answer.get("content", {"": {}}).items():
            answers.append((status, answer["description"], *_content(*content)))
    yield from table("status", "means", "answer", "type", rows=answers)
    if numbers := [status for status in problems if status != "default"]:
        yield f"Problems: {', '.join(f'[{number}](#problem{number})' for number in numbers)}.\n"


def _content(media: str, content: dict[str, Any]) -> tuple[str, str]:
    return (f"`{media}`", _type(content.get("schema", {}))) if media else ("", "")


def _example(contents: dict[str, Any]) -> Iterator[str]:
    for content in contents.values():
        if isinstance(example := content.get("example"), (dict, list)):
            yield f"```json\n{json.dumps(example)}\n```\n"


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if said := _said(schema):
        yield said + "\n"
    if slugs := [slug for part in schema.get("allOf", ()) for slug in _slugs(part)]:
        yield f"A [Problem](#problem) whose `type` is {', '.join(f'`{slug}`' for slug in slugs)}.\n"
        return
    if not schema.get("properties"):
        yield _type(schema) + "\n"
        return
    required = schema.get("required", ())
    yield from table(
        "member", "type", "means",
        rows=[
            (f"`{member}`{'' if member in required else ' (optional)'}", _type(each), _said(each))
            for member, each in schema["properties"].items()
        ],
    )  # fmt: skip


def _slugs(schema: dict[str, Any]) -> list[str]:
    slugs: list[str] = schema.get("properties", {}).get("type", {}).get("enum", [])
    return slugs


def _type(schema: dict[str, Any]) -> str:
    """A type as TypeScript writes it; the names in it lead to their sections."""
    text = " ".join(re.sub(r"/\*\*.*?\*/", "", written(schema), flags=re.DOTALL).split())
    if "$ref" in schema:
        return f"[{text}](#{text.lower()})"
    return f"`{text}`"


def _said(described: dict[str, Any]) -> str:
    return " ".join(described.get("description", "").split())
