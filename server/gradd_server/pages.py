"""The files of the dashboard, by the paths at which they are served. They are public: no data is in them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "page"

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The page runs its own files, asks its own daemon, and stands in nobody's frame."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the dashboard."""

    body: bytes
    media_type: str
    tag: str
    """Its ETag."""


def _read(path: Path) -> PageFile:
    body = path.read_bytes()
    return PageFile(body, KINDS[path.suffix], f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"')


FILES = {path.name: _read(path) for path in sorted(FOLDER.iterdir()) if path.suffix in KINDS}
"""By name; `index.html` is the page."""

PATHS = frozenset({"/", *(f"/dashboard/{name}" for name in FILES)})
"""What is answered without a key."""
