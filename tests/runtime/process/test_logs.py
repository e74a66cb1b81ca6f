"""The daemon's log and its engine processes' are one: JSON objects, one a line."""

from __future__ import annotations

import json
import logging
import os

from gradd_runtime.process import JsonFormatter


def test_a_record_is_one_line_of_json() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        record = logging.LogRecord(
            "gradd.runtime",
            logging.ERROR,
            __file__,
            1,
            "session %s failed",
            ("ä",),
            (ValueError, error, None),
        )
    line = JsonFormatter().format(record)
    assert "\n" not in line
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("error", "gradd.runtime", "session ä failed")
    assert said["process"] == os.getpid()
    assert "two\nlines" in said["exception"]
