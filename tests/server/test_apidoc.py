"""The OpenAPI document: not stale, whole, with an example for each operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from gradd_server import apidoc, openapi
from gradd_server.app import http_routes
from gradd_server.operations import OPERATIONS

from tests.server.conftest import Caller

COMMITTED = Path(__file__).parents[2] / "openapi.yaml"


NOTHING_TO_SHOW = {"GET /openapi.yaml"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(openapi.text())
    return parsed


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_committed_file_is_not_stale() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == openapi.text(), "stale: make openapi"


def test_it_is_served_octet_for_octet(call: Caller) -> None:
    served = call("GET", "/openapi.yaml")
    assert served.status_code == 200
    assert served.headers["content-type"].startswith("application/yaml")
    assert served.content == COMMITTED.read_bytes()


def test_every_route_is_in_it_and_nothing_else(document: dict[str, Any]) -> None:
    routes = {f"{method} {route.path}" for method, route in apidoc.operations(http_routes())}
    assert set(operations(document)) == routes == set(OPERATIONS)


def test_every_operation_has_an_example_and_words(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        said = [operation.get("parameters", []), operation.get("requestBody"), operation["responses"]]
        assert "example" in str(said) or name in NOTHING_TO_SHOW, name
        assert operation["summary"].endswith("."), name


def test_every_json_body_has_an_example(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        said = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (body.get("content", {}) for body in said):
            for kind, body in content.items():
                assert "example" in body or "json" not in kind, (name, kind)


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for operation in operations(document).values()]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return own + [found for value in node.values() for found in references(value)]
        return [found for value in node for found in references(value)] if isinstance(node, list) else []

    found = references(document)
    assert found
    for reference in found:
        target = document
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
        assert target
