"""Content-Type and Accept."""

from __future__ import annotations

import pytest
from gradd_server.media import JSON, NPY, OCTETS, choose, media_type

OFFERED = (JSON, OCTETS, NPY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("application/json", (JSON, None)),
        ("Application/JSON ; Charset=UTF-8", (JSON, "utf-8")),
        ('application/json;charset="utf-8"', (JSON, "utf-8")),
        ("application/json; x=y", (JSON, None)),
        ("", ("", None)),
    ],
)
def test_media_type(text: str, expected: tuple[str, str | None]) -> None:
    assert media_type(text) == expected


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/x-npy", NPY),
        ("application/json;q=0.5, application/x-npy", NPY),
        ("application/json;q=0, */*", OCTETS),
        ("*/*;q=0.1, application/x-npy;q=0.2", NPY),
        ("text/html", None),
        ("application/json;q=0", None),
        ("application/json;q=nonsense", None),
        (",,", None),
    ],
)
def test_accept(accept: str | None, expected: str | None) -> None:
    assert choose(accept, OFFERED) == expected
