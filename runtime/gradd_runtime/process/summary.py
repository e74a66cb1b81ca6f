"""What is told of a session that sleeps, without waking it: a file beside its record, for as long as that is
whole. It is deleted before the record is opened, so it never speaks of an earlier state.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
from gradd_protocol.messages import SessionInfo

SUFFIX = ".asleep"
_log = logging.getLogger("gradd.runtime")


class Summary(msgspec.Struct, frozen=True):
    """A session as it was when it fell asleep, after so many `entries`."""

    entries: int
    session: SessionInfo


_decode = msgspec.json.Decoder(Summary).decode


def write(record: Path, summary: Summary) -> None:
    """Keep the summary of the session with that record. Without one, the session has to be woken."""
    path = _beside(record)
    new = path.with_suffix(".new")
    try:
        new.write_bytes(msgspec.json.encode(summary))
        new.rename(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        _log.info("no summary is kept at %s: %s", path, error)


def read(record: Path) -> Summary | None:
    """The summary of a session that sleeps, if there is one."""
    try:
        return _decode(_beside(record).read_bytes())
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def drop(record: Path) -> None:
    """The session is about to change. Raises OSError where the summary would stay."""
    _beside(record).unlink(missing_ok=True)


def _beside(record: Path) -> Path:
    return record.with_suffix(SUFFIX)
