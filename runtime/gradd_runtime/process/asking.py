"""A session as a process has it: made by its options, and asked so that a bug ends nothing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from gradd_engine.data import SEED
from gradd_protocol import names
from gradd_protocol.problems import ProtocolError

from ..session import Session
from .refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradd_protocol.frames import Bytes, Part

    from ..store import Store

_log = logging.getLogger("gradd.runtime")


def open_session(name: str, options: Mapping[str, Any], backend: Any, store: Store | None = None) -> Session:
    """A new session; options as in Placement.open."""
    limit = {"limit": options["quota_bytes"]} if "quota_bytes" in options else {}
    seed, epoch = options.get("seed", SEED), options.get("epoch", 1)
    return Session(names.own(name), seed=seed, backend=backend, store=store, epoch=epoch, **limit)


def answer(session: Session, frame: Bytes) -> list[Part]:
    """The session's reply frame, as from `Session.answer`; if the engine has a bug, a problem without
    details.
    """
    try:
        return session.answer(frame)
    except Exception:
        _log.exception(
            "session %s failed on a frame", session.name, extra={"members": {"session": session.name}}
        )
        return [refusal(ProtocolError.of("internal", "the engine failed on this request"))]
