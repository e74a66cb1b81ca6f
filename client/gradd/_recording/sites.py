"""Call sites: the innermost line of the user's code when an op is recorded."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import gradd_engine
import gradd_protocol

if TYPE_CHECKING:
    from types import FrameType

    from .._exceptions import Site

_SDK = os.path.dirname(os.path.dirname(__file__))
_OURS = (
    _SDK + os.sep,
    *(os.path.dirname(str(package.__file__)) + os.sep for package in (gradd_engine, gradd_protocol)),
)


class _Ours(dict[str, bool]):
    """File name -> whether it is ours."""

    def __missing__(self, file: str) -> bool:
        if len(self) >= 1 << 14:  # a program that generates code must not fill the memory
            self.clear()
        found = self[file] = file.startswith(_OURS)
        return found


# Not by code object, whose hash takes all its bytes.
_ours = _Ours()


def call_site(depth: int = 2) -> Site:
    """The innermost line that is not ours, skipping the `depth` innermost frames."""
    frame = sys._getframe(depth)
    while _ours[frame.f_code.co_filename]:
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    return frame.f_code, frame.f_lasti


def repeated_site(hints: list[tuple[int, Site] | None], at: int, skip: int = 5) -> Site:
    """`call_site(skip)` of a caller whose step `at` is recorded again. It walks once, and leaves in `hints`
    how deep the line was. Where that instruction is as deep again, it is taken to have come the same way: a
    loop that calls now one object of ours, now one of the user's as many calls deep, is told by the outer
    line.
    """
    hint = hints[at]
    if hint is not None:
        try:
            frame = sys._getframe(hint[0])
        except ValueError:
            pass  # so deep it is not this time
        else:
            site = hint[1]
            if frame.f_lasti == site[1] and frame.f_code is site[0]:
                return site
    depth, frame = skip, sys._getframe(skip)
    while _ours[frame.f_code.co_filename] and frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    site = frame.f_code, frame.f_lasti
    hints[at] = depth, site
    return site


def user_frame() -> FrameType:
    """The innermost frame that is not ours; for what happens rarely."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame
