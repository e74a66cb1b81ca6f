"""What shows a daemon that a test is of the user who runs it."""

from __future__ import annotations

from gradd_protocol import runtimefile


def bearer(url: str) -> dict[str, str]:
    """The header with the key of the runtime file of the daemon at `url`."""
    found = runtimefile.find(url)
    assert found is not None, f"no runtime file for {url}"
    return {"Authorization": f"Bearer {found.key}"}
