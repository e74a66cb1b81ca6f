"""TLS between fronts and hosts, by the certificates that Ray's own traffic has, where it has any.

An engine process talks over a socket that it is given. So TLS ends in the process of the host, and of the
front, which hand on what comes over a connection within the machine.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Mapping
from functools import cache

import uvloop

from gradd_server.fronts.relay import End

HANDSHAKE_SECONDS = 3.0
"""Longest wait for a handshake."""

#: Ray's own, https://docs.ray.io/en/latest/ray-core/configure.html#tls-authentication
USES, CERTIFICATE, KEY, AUTHORITY = (
    "RAY_USE_TLS", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT",
)  # fmt: skip


class Tls:
    """Both ends show a certificate that the `authority` signed; whose it is they do not look at, as Ray does
    not. Raises OSError for files that do not load.
    """

    def __init__(self, certificate: str, key: str, authority: str) -> None:
        self._contexts = {}
        for purpose in (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH):
            context = ssl.create_default_context(purpose, cafile=authority)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_REQUIRED
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.load_cert_chain(certificate, key)
            self._contexts[purpose] = context

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Tls | None:
        """Where Ray uses TLS, the same. Raises OSError, and RuntimeError for what is not said."""
        if environ.get(USES, "0").lower() not in ("1", "true"):
            return None
        missing = [name for name in (CERTIFICATE, KEY, AUTHORITY) if not environ.get(name)]
        if missing:
            raise RuntimeError(f"{USES} is set, and {', '.join(missing)} is not")
        return cls(environ[CERTIFICATE], environ[KEY], environ[AUTHORITY])

    def taken(self, sock: socket.socket) -> socket.socket:
        """In the place of a connection that came, what is sent and received by TLS. Raises OSError; `sock` is
        not the caller's any more.
        """
        return _pump().seal(sock, self._contexts[ssl.Purpose.CLIENT_AUTH], came=True)

    def opened(self, sock: socket.socket) -> socket.socket:
        """The same for a connection that was opened here."""
        return _pump().seal(sock, self._contexts[ssl.Purpose.SERVER_AUTH], came=False)


class TlsPump:
    """Carries octets between TLS and connections within the machine, on a thread of its own for as long as
    the process lives.
    """

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="gradd-tls", daemon=True).start()

    def seal(self, sock: socket.socket, context: ssl.SSLContext, came: bool) -> socket.socket:
        """See Tls."""
        ours, theirs = _pair()
        sock.setblocking(False)
        theirs.setblocking(False)
        try:
            asyncio.run_coroutine_threadsafe(self._join(sock, theirs, context, came), self._loop).result()
        except BaseException:
            for each in (sock, ours, theirs):
                each.close()
            raise
        return ours

    async def _join(
        self, sock: socket.socket, theirs: socket.socket, context: ssl.SSLContext, came: bool
    ) -> None:
        near, far = End(), End()
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                if came:
                    await self._loop.connect_accepted_socket(lambda: far, sock, ssl=context)
                else:
                    await self._loop.create_connection(
                        lambda: far, sock=sock, ssl=context, server_hostname=""
                    )
        except TimeoutError:
            raise ConnectionError("the other end speaks no TLS, as it seems") from None
        await self._loop.create_connection(lambda: near, sock=theirs)
        near.join(far)


def _pair() -> tuple[socket.socket, socket.socket]:
    """A connection's ends. It is TCP, for over a Unix socket the engine process would give files."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        while True:
            theirs, peer = listener.accept()
            if peer == ours.getsockname():
                break
            theirs.close()  # somebody else was faster
    for each in (ours, theirs):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs


@cache
def _pump() -> TlsPump:
    return TlsPump()
