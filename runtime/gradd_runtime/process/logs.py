"""The log of the daemon and its engine processes: a line a record, JSON or text, on standard error or in a
file that all of them append to.
"""

from __future__ import annotations

import json
import logging
import sys
from logging.handlers import WatchedFileHandler
from typing import Any

FORMATS = ("json", "text")


class JsonFormatter(logging.Formatter):
    """One JSON object per line; `extra={"members": {...}}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        said = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        said |= getattr(record, "members", {})
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A line to be read, with the members after the message; a traceback follows in lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z")
        members: dict[str, Any] = getattr(record, "members", {})
        told = "".join(
            f" {name}={json.dumps(value, ensure_ascii=False)}"
            for name, value in members.items()
            if value is not None
        )
        message = record.getMessage().replace("\n", "\\n").replace("\r", "\\r")
        line = f"{moment} {record.levelname.lower()} {record.name}[{record.process}]: {message}{told}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def start_log(level: str, format: str = "json", file: str = "") -> None:
    """Write this process's log from that level (a name of `logging`, in any case) in one of `FORMATS`, and
    nothing else: to `file`, or where it is empty to standard error. A file that is moved away is made again.
    Raises OSError where the file cannot be opened.
    """
    handler = WatchedFileHandler(file, encoding="utf-8") if file else logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if format == "text" else JsonFormatter())
    handler.set_name(json.dumps([level, format, file]))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)


def log_arguments() -> str:
    """What makes another process write the same log, for `start_log_as`."""
    for handler in logging.getLogger().handlers:
        if (handler.name or "").startswith("["):
            return str(handler.name)
    return json.dumps([logging.getLevelName(logging.getLogger().level)])


def start_log_as(arguments: str) -> None:
    """Write this process's log as the one that said `log_arguments`."""
    start_log(*json.loads(arguments))


def announce(message: str, **members: Any) -> None:
    """Write a line whatever the level is."""
    root = logging.getLogger()
    record = logging.LogRecord("gradd", logging.INFO, __file__, 0, message, (), None)
    record.members = members
    for handler in root.handlers:
        handler.handle(record)
