"""Who this process is to a daemon, and where that is: the key that was given, else that of the runtime file
of a local one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gradd_protocol import advice, runtimefile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Credentials:
    """The address of a daemon, or with commas those of its fronts, and the headers for it. `token`: a key;
    None looks for a runtime file. ValueError for addresses with several paths.

    A daemon has another key each time that it starts, so whoever connects calls `refresh` first.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self._bases = advice.addresses(url)
        if len({urlsplit(base).path for base in self._bases}) > 1:
            raise ValueError(f"the addresses of one daemon have one path: {url}")
        self.base = self._bases[0]
        """The address that was tried last."""
        self._token = token
        self._headers: dict[str, str] = {}
        self.refresh()

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, the same mapping for all connections; it changes in place."""
        return self._headers

    @property
    def count(self) -> int:
        """How many addresses there are."""
        return len(self._bases)

    @property
    def whom(self) -> str:
        """All addresses, for people."""
        return " or ".join(self._bases)

    def in_turn(self) -> Iterator[str]:
        """Each address once, `base` first: the one that is tried is `base` from then on, and the headers are
        for it. Raises as `refresh`.
        """
        yield self.base
        for _ in self._bases[1:]:
            self.turn()
            yield self.base

    def turn(self) -> None:
        """Go on to the next address, if there are several: from this one no answer came."""
        if len(self._bases) > 1:
            self.base = self._bases[(self._bases.index(self.base) + 1) % len(self._bases)]
            self.refresh()

    def refresh(self) -> None:
        """Look for the key again. Raises PermissionError for a runtime file that others can get at."""
        token = self._token
        if token is None:
            found = runtimefile.find(self.base)
            if found is None:
                return
            # "localhost" has several addresses; the daemon listens on one, and the key is for no other.
            self._bases[self._bases.index(self.base)] = self.base = found.url
            token = found.key
        self._headers["Authorization"] = f"Bearer {token}"
