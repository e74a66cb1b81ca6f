"""What is done with a session that no batch does: where it is made, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_protocol import names

from .. import _transports
from .._transports import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._transports import Transport


def manage(url: str, session: str, token: str | None, do: Callable[[Transport], object]) -> None:
    """Do it with the session of that name. Raises ConnectionFailed if no daemon answers."""
    transport = _transports.make(url, names.session(session), "http", token)
    try:
        do(transport)
    except Dropped as e:
        raise _transports.unreachable(url, e) from e
    finally:
        transport.close()
