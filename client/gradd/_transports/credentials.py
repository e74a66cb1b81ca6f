"""Who this process is to a daemon: the key that was given, else that of the runtime file of a local one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_protocol import runtimefile

if TYPE_CHECKING:
    from collections.abc import Mapping


class Credentials:
    """The address of a daemon and the headers for it. `token`: a key; None looks for a runtime file.

    A daemon has another key each time that it starts, so whoever connects calls `refresh` first.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self.base = url.rstrip("/")
        self._token = token
        self._headers: dict[str, str] = {}
        self.refresh()

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, the same mapping for all connections; it changes in place."""
        return self._headers

    def refresh(self) -> None:
        """Look for the key again. Raises PermissionError for a runtime file that others can get at."""
        token = self._token
        if token is None:
            found = runtimefile.find(self.base)
            if found is None:
                return
            # "localhost" has several addresses; the daemon listens on one, and the key is for no other.
            self.base, token = found.url, found.key
        self._headers["Authorization"] = f"Bearer {token}"
