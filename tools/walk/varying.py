"""All that varies from run to run of a walk: what is told as something else, and what is not compared."""

from __future__ import annotations

import math
import re

PORT, HOME = "4733", "/home/me"
"""The port and the home that pages tell, whichever a walk had."""

#: what is never told as it is
_SECRET = (
    (re.compile(r"gradd_[0-9a-f]{72}"), "gradd_..."),  # an API key
)
#: what is told as it was in the run that was written down, and differs in others
_DIFFERS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*",  # a moment
        r"\d+:\d\d:\d\d",  # how long a daemon is up
        r"\b[\d.]+ ?(?:s|ms|µs|us|%|KiB|MiB)(?![\w])",  # a time, a share of one, memory of a process
        r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])",  # a version, but no address
        r"(?<=extras: )\S.*",  # what is installed beside it
        r"\bk[0-9a-f]{10}\b",  # the id of a key
        r"(?<=gradd\[)\d+|^\d+(?= +(?:ready|computing) )",  # the id of a process
        r"(?<=  )\d+\.\d+$",  # seconds in the last column of a table
    )
)
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def told(printed: str, port: int, home: str) -> str:
    """What a page tells of what a command printed."""
    text = re.sub(rf"\b{port}\b", PORT, printed).replace(home, HOME)
    for secret, shown in _SECRET:
        text = secret.sub(shown, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def alike(one: str, other: str) -> bool:
    """Whether two runs say the same. Decimals may differ by 2 % or one in the last place: other kernels round
    otherwise. Columns may have other widths.
    """
    left, right = (_compared(text) for text in (one, other))
    if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
        return False
    return all(map(_near, _NUMBER.findall(left), _NUMBER.findall(right)))


def same_words(one: str, other: str) -> bool:
    """Whether two pictures say the same but for numbers."""
    left, right = (
        [word for word in re.findall(r">([^<]+)</text>", svg) if not re.fullmatch(r"[-+.\de]+", word)]
        for svg in (one, other)
    )
    return left == right


def _compared(text: str) -> str:
    for pattern in _DIFFERS:
        text = pattern.sub("…", text)
    return re.sub(r"[ ─-]{2,}", "  ", text)


def _near(one: str, other: str) -> bool:
    digits = len(one.partition("e")[0].partition(".")[2])
    last = 0.0 if "e" in one else 1.01 * 10.0**-digits
    return math.isclose(float(one), float(other), rel_tol=0.02, abs_tol=last)
