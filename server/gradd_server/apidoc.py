"""The OpenAPI document, from the routes, `operations` and `schemas`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import yaml
from gradd_protocol import problems
from gradd_protocol.problems import Problem
from gradd_protocol.version import VERSION
from starlette.routing import BaseRoute, Route, compile_path

from gradd_server import examples, schemas
from gradd_server.media import DOT, EVENTS, HTML, PROBLEM
from gradd_server.operations import ALWAYS, OPERATIONS, PATH_PARAMETERS, TAGS, Content, Operation
from gradd_server.schemas import Schema

INFO = """PyTorch's autograd on someone else's machine: named graph sessions, their tensors, batches of steps.

The JSON form is here, and of the binary forms what generated clients can send; docs/rest.md has the rest.
Frames (`application/vnd.gradd.frame`) are what SDKs send. A WebSocket at
`/v1/sessions/{name}/stream` with the subprotocol `gradd.v1` carries the same frames, one reply each.
Every error is `application/problem+json`. All but the probes want an API key: `Authorization: Bearer KEY`.
"""


KEY = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "gradd_ and 72 hexadecimal digits",
    "description": "An API key: `gradd keys create` makes one, `gradd keys local` prints the local user's.",
}
ANY_PROBLEM = Content(PROBLEM, examples.FAILED, Problem)


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of `routes`. KeyError for a route missing from `operations`."""
    paths: dict[str, dict[str, Any]] = {}
    for method, route in sorted(operations(routes), key=lambda pair: (pair[1].path, pair[0])):
        said = OPERATIONS[f"{method} {route.path}"]
        paths.setdefault(route.path, {})[method.lower()] = _operation(route, said)
    statuses = sorted({status for said in OPERATIONS.values() for status in _statuses(said)})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gradd",
            "version": VERSION,
            "description": INFO,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:4733"}],
        "security": [{"key": []}],
        "tags": [{"name": name, "description": words} for name, words in TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": KEY},
            "schemas": _schemas() | {f"Problem{status}": _problem_schema(status) for status in statuses},
            "responses": {
                "Problem": _response("Refused or failed; the status is the problem's", [ANY_PROBLEM]),
                **{f"Problem{status}": _problem_response(status) for status in statuses},
            },
        },
    }


def operations(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, Route]]:
    """Method and route of every operation; HEAD is left to GET."""
    for route in routes:
        if isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route


def as_yaml(document: dict[str, Any]) -> str:
    """`document` as YAML; deterministic."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    """Writes multi-line text as a block, and repeats instead of using aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_Dumper.add_representer(str, _Dumper.represent_str)


def _schemas() -> dict[str, Schema]:
    """The schemas of all bodies, with examples."""
    said = OPERATIONS.values()
    asked = _types(body for operation in said for body in operation.request)
    answered = _types(
        body for operation in said for bodies in operation.responses.values() for body in bodies
    )
    made = schemas.components(asked, answered | {Problem})
    return {name: {**schema, "examples": [examples.SCHEMAS[name]]} for name, schema in made.items()}


def _types(bodies: Iterable[Content]) -> set[type]:
    return {body.type for body in bodies if body.type is not None}


def _operation(route: Route, said: Operation) -> dict[str, Any]:
    summary, _, more = (inspect.getdoc(route.endpoint) or "").partition("\n\n")
    operation: dict[str, Any] = {
        "tags": [said.tag],
        "operationId": route.name,
        "summary": " ".join(summary.split()),
        "description": " ".join((more or summary).split()),
    }
    if parameters := [*_path_parameters(route), *_other_parameters(said)]:
        operation["parameters"] = parameters
    if said.request:
        operation["requestBody"] = {"required": said.request_required, "content": _content(said.request)}
    words = {200: "Done", 201: "Made", 204: "Done, nothing to say"}
    operation["responses"] = {
        str(status): _response(words[status], bodies) for status, bodies in said.responses.items()
    }
    for status in _statuses(said):
        operation["responses"][str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    if said.is_open:
        operation["security"] = []
    operation["responses"]["default"] = {"$ref": "#/components/responses/Problem"}
    return operation


def _statuses(said: Operation) -> list[int]:
    """The statuses of an operation's problems."""
    slugs = (*ALWAYS, *said.problems) if said.is_open else (*ALWAYS, "unauthenticated", *said.problems)
    return sorted({problems.TABLE[slug].status for slug in slugs})


def _path_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in compile_path(route.path)[2]:
        schema, example = PATH_PARAMETERS[name]
        yield {"name": name, "in": "path", "required": True, "schema": schema, "example": example}


def _other_parameters(said: Operation) -> Iterator[dict[str, Any]]:
    for parameter in said.parameters:
        yield {
            "name": parameter.name,
            "in": parameter.place,
            "required": parameter.required,
            "description": parameter.description,
            "schema": parameter.schema,
            "example": parameter.example,
        }


def _response(description: str, bodies: Iterable[Content]) -> dict[str, Any]:
    content = _content(bodies)
    return {"description": description, **({"content": content} if content else {})}


def _content(bodies: Iterable[Content]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for body in bodies:
        if body.type is not None:
            schema = schemas.ref(schemas.name_of(body.type))
        else:
            plain = body.media_type in (DOT, EVENTS, HTML)
            schema = {"type": "string"} if plain else {"type": "string", "format": "binary"}
        content[body.media_type] = {"schema": schema}
        if body.example is not None:
            content[body.media_type]["example"] = body.example
    return content


def _problem_schema(status: int) -> Schema:
    return {**schemas.by_status(status), "examples": [_problem_example(status)]}


def _problem_response(status: int) -> dict[str, Any]:
    titles = ". ".join(kind.title for kind in _problem_kinds(status))
    content = {"schema": schemas.ref(f"Problem{status}"), "example": _problem_example(status)}
    return {"description": titles, "content": {PROBLEM: content}}


def _problem_example(status: int) -> dict[str, Any]:
    kind = _problem_kinds(status)[0]
    return {"type": problems.PREFIX + kind.slug, "title": kind.title, "status": status}


def _problem_kinds(status: int) -> list[problems.Kind]:
    return [kind for kind in problems.TABLE.values() if kind.status == status]
