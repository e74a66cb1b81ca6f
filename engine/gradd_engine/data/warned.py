"""Warnings at the line of the user's script."""

from __future__ import annotations

import os
import sys
import warnings

#: where the functions lie that are written as text; modules go by their names
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_OURS = ("gradd", "gradd_engine", "gradd_protocol", "gradd_runtime")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is not gradd's, however many of its functions stand between."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and (
        str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS
        or frame.f_code.co_filename.startswith(_HERE)
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
