"""The OpenAPI document: paths and words of the routes, schemas of the protocol, examples of `examples`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import yaml
from gradd_protocol import problems
from gradd_protocol.messages import Attach, SessionInfo, TensorInfo
from gradd_protocol.problems import Problem
from gradd_protocol.version import VERSION
from starlette.convertors import Convertor
from starlette.routing import BaseRoute, Route, compile_path

from gradd_server.examples import OPERATIONS, PATH_PARAMETERS, Body, Operation
from gradd_server.media import JSON, PROBLEM

INFO = """PyTorch's autograd on someone else's machine: named graph sessions, their tensors, batches of steps.

The JSON form is here; frames (`application/vnd.gradd.frame`) are what SDKs send. A WebSocket at
`/v1/sessions/{name}/stream` with the subprotocol `gradd.v1` carries the same frames, one reply each.
Every error is `application/problem+json`. The daemon listens on loopback and has no authentication yet.
"""


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of `routes`. KeyError for a route that `examples` does not have."""
    paths: dict[str, dict[str, Any]] = {}
    for method, route in sorted(operations(routes), key=lambda pair: (pair[1].path, pair[0])):
        said = OPERATIONS[f"{method} {route.path}"]
        paths.setdefault(route.path, {})[method.lower()] = _operation(route, said)
    _, schemas = msgspec.json.schema_components(
        [SessionInfo, TensorInfo, Problem, Attach], ref_template="#/components/schemas/{name}"
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gradd",
            "version": VERSION,
            "description": INFO,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:4733"}],
        "paths": paths,
        "components": {
            "schemas": {name: _schema(schema) for name, schema in sorted(schemas.items())},
            "responses": {"Problem": _problem_response()},
        },
    }


def operations(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, Route]]:
    """Method and route of every operation; HEAD goes with its GET."""
    for route in routes:
        if isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route


def as_yaml(document: dict[str, Any]) -> str:
    """`document` as YAML, always the same text for the same document."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, and what is said twice written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_Dumper.add_representer(str, _Dumper.represent_str)


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A Struct's schema with its docstring as a docstring is read."""
    if "description" in schema:
        return {**schema, "description": inspect.cleandoc(schema["description"])}
    return schema


def _operation(route: Route, said: Operation) -> dict[str, Any]:
    summary, _, more = (inspect.getdoc(route.endpoint) or "").partition("\n\n")
    convertors: dict[str, Convertor[Any]] = compile_path(route.path)[2]
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "example": PATH_PARAMETERS[name],
        }
        for name in convertors
    ]
    parameters += [
        {
            "name": parameter.name,
            "in": parameter.place,
            "required": parameter.required,
            "description": parameter.description,
            "schema": {"type": "string"},
            "example": parameter.example,
        }
        for parameter in said.parameters
    ]
    operation: dict[str, Any] = {
        "tags": [said.tag],
        "operationId": route.name,
        "summary": " ".join(summary.split()),
    }
    if more:
        operation["description"] = " ".join(more.split())
    if parameters:
        operation["parameters"] = parameters
    if said.request:
        operation["requestBody"] = {
            "required": said.request_required,
            "content": {body.media_type: _content(body) for body in said.request},
        }
    operation["responses"] = {
        str(status): _response(status, bodies) for status, bodies in said.responses.items()
    }
    operation["responses"]["default"] = {"$ref": "#/components/responses/Problem"}
    return operation


def _response(status: int, bodies: tuple[Body, ...]) -> dict[str, Any]:
    words = {200: "Done", 201: "Made", 204: "Done, nothing to say", 501: "Not there yet"}
    response: dict[str, Any] = {"description": words[status]}
    if bodies:
        response["content"] = {body.media_type: _content(body) for body in bodies}
    return response


def _content(body: Body) -> dict[str, Any]:
    if body.media_type not in (JSON, PROBLEM):
        example = {} if body.example is None else {"example": body.example}
        return {"schema": {"type": "string", "contentMediaType": body.media_type}, **example}
    schema = {"$ref": f"#/components/schemas/{body.schema}"} if body.schema else {"type": "object"}
    return {"schema": schema, "example": body.example}


def _problem_response() -> dict[str, Any]:
    example = problems.problem("session-not-found", "no session is named 'demo'")
    body = Body(PROBLEM, msgspec.to_builtins(example), "Problem")
    return {
        "description": "Refused or failed; the status is the problem's",
        "content": {PROBLEM: _content(body)},
    }
