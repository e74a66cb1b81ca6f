"""A method that a path does not know is answered 405, and Allow lists those it knows."""

from __future__ import annotations

import pytest
from gradd_server.apidoc import operations
from gradd_server.app import http_routes
from gradd_server.operations import PATH_PARAMETERS

from tests.server.conftest import Caller, Expect

METHODS: dict[str, set[str]] = {}
for _method, _route in operations(http_routes()):
    METHODS.setdefault(_route.path, set()).add(_method)


@pytest.mark.parametrize("path", sorted(METHODS))
def test_allow_lists_every_method_of_the_path(call: Caller, problem: Expect, path: str) -> None:
    known = METHODS[path]
    asked = path.format(**{name: example for name, (_, example) in PATH_PARAMETERS.items()})
    # A path with a verb, `demo:attach`, fits `{name}` too: there a GET is of a session with no possible name.
    methods = {"PATCH", "OPTIONS"} if ":" in path else {"PATCH", "OPTIONS", "GET", "PUT", "POST", "DELETE"}
    for method in methods - known:
        refused = call(method, asked)
        problem(refused, "method-not-allowed", 405)
        allowed = set(refused.headers["allow"].split(", "))
        assert allowed - {"HEAD"} == known, method
        assert "HEAD" not in allowed or "GET" in known


def test_the_paths_are_all() -> None:
    assert len(METHODS) > 20
    assert {"GET", "PUT", "DELETE"} == METHODS["/v1/sessions/{name}"]
