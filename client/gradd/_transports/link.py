"""HTTP where bytes are many or requests frequent, by the standard library: a body goes from its own memory
into the socket and from the socket into the memory that it is for. httpx copies both.
"""

from __future__ import annotations

import http.client
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .base import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

_CONNECT_SECONDS = 5.0


class Link:
    """One connection to the daemon at `base`, made when it is needed and kept. For one thread at a time."""

    def __init__(self, base: str, headers: dict[str, str]) -> None:
        self._to = urlsplit(base)
        self._headers = headers
        self._kept: http.client.HTTPConnection | None = None

    def call(
        self, method: str, path: str, body: memoryview | bytes | None = None,
        headers: dict[str, str] | None = None,
        take: Callable[[http.client.HTTPResponse], Any] = http.client.HTTPResponse.read,
    ) -> tuple[http.client.HTTPResponse, Any]:  # fmt: skip
        """One request: the response, and what `take` made of its body, or its bytes where the status is 400
        or more. Dropped where the daemon is away. A kept connection that it has closed since is made again.
        """
        while True:
            kept, self._kept = self._kept, None
            connection = kept or self._connect()
            try:
                with suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # it may have answered before it hung up
                    connection.request(
                        method, self._to.path + path, body, {**self._headers, **(headers or {})}
                    )
                response = connection.getresponse()
                found = take(response) if response.status < 400 else response.read()
                if connection.sock is not None:  # else it ended with this answer
                    self._kept = connection
                return response, found
            except (http.client.HTTPException, OSError) as e:
                if kept is None:
                    raise Dropped(str(e) or type(e).__name__) from e
            finally:
                # After an interrupt as after an error, whose answer would come next cannot be told any more.
                if self._kept is not connection:
                    connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        host = self._to.hostname or ""
        if self._to.scheme == "https":
            import httpx

            context = httpx.create_ssl_context()
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, self._to.port, timeout=_CONNECT_SECONDS, context=context
            )
        else:
            made = http.client.HTTPConnection(host, self._to.port, timeout=_CONNECT_SECONDS)
        try:
            made.connect()
        except OSError as e:
            raise Dropped(str(e)) from e
        made.sock.settimeout(None)
        return made

    def close(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None
