"""The log of the daemon and its engine processes: JSON objects on standard error, one per line."""

from __future__ import annotations

import json
import logging
import sys


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


def log_to_stderr(level: str) -> None:
    """Write this process's log from that level (a name of `logging`, in any case), and nothing else."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
