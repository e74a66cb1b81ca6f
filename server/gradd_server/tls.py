"""The certificate that the daemon shows, which may be replaced while it runs."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

logger = logging.getLogger("gradd.server")


class Certificate:
    """A certificate chain and its private key (PEM). Raises OSError (as ssl.SSLError) where they do not load.

    `context` is for uvicorn, which gets the same one for its whole life: connections made after a change see
    the new certificate.
    """

    def __init__(self, chain: Path, key: Path) -> None:
        self._files = chain, key
        self._stamp = self._look()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.load_cert_chain(chain, key)

    def refresh(self, force: bool = False) -> None:
        """Load the files again if they were changed. Where they cannot be, the old certificate stays."""
        stamp = self._look()
        if stamp == self._stamp and not force:
            return
        self._stamp = stamp
        try:
            # Into a context of its own first: one that fails half-way would serve neither.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*self._files)
            self.context.load_cert_chain(*self._files)
        except OSError as refused:
            logger.error("the certificate stays as it was: %s: %s", self._files[0], refused)
        else:
            logger.info("the certificate was loaded: %s", self._files[0])

    def _look(self) -> list[tuple[int, int] | None]:
        return [_stamp(path) for path in self._files]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
