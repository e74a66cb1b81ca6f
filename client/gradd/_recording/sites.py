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
#: file name -> whether it is ours (not by code object, whose hash takes all its bytes)
_ours: dict[str, bool] = {}


def call_site(depth: int = 2) -> Site:
    """The innermost line that is not ours, skipping the `depth` innermost frames."""
    frame = sys._getframe(depth)
    while True:
        code = frame.f_code
        file = code.co_filename
        ours = _ours.get(file)
        if ours is None:
            if len(_ours) >= 1 << 14:  # a program that generates code must not fill the memory
                _ours.clear()
            ours = _ours[file] = file.startswith(_OURS)
        if not ours:
            return code, frame.f_lasti
        outer = frame.f_back
        if outer is None:
            return code, frame.f_lasti
        frame = outer


def user_frame() -> FrameType:
    """The innermost frame that is not ours; for what happens rarely."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame
