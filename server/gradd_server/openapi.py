"""`python -m gradd_server.openapi` prints the OpenAPI document that `/openapi.yaml` serves."""

from __future__ import annotations

import sys

from gradd_server import apidoc
from gradd_server.app import http_routes


def text() -> str:
    """The document as YAML."""
    return apidoc.as_yaml(apidoc.document(http_routes()))


if __name__ == "__main__":
    sys.stdout.write(text())
