"""Between the stand-in's arrays and NumPy's: what may be an argument, and what a result becomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .array import Array
from .machine import MACHINE


def bare(x: Any) -> Any:
    """The NumPy array below an argument, alone or in a sequence; TypeError for one that is not ours.

    Like CuPy, takes NumPy's scalars and 0-d arrays as numbers.
    """
    if isinstance(x, Array):
        if x._mem.device_id != MACHINE.current:
            raise ValueError(
                f"Array device must be same as the current device: array device = {x._mem.device_id} while "
                f"current = {MACHINE.current}"
            )
        return x._bare
    if isinstance(x, np.ndarray):
        if x.ndim:
            raise TypeError(f"Unsupported type {type(x)}")
        return x[()]
    if isinstance(x, (list, tuple)):
        return type(x)(*map(bare, x)) if hasattr(x, "_fields") else type(x)(map(bare, x))
    return x


def _shares(found: Any, given: Sequence[Any]) -> Array | None:
    """Whose memory a result lies in."""
    for x in given:
        if isinstance(x, (list, tuple)):
            if (owner := _shares(found, x)) is not None:
                return owner
        elif isinstance(x, Array) and found.size and np.may_share_memory(found, x._bare):
            return x
    return None


def dressed(found: Any, given: Sequence[Any] = ()) -> Any:
    """A result as the stand-in's: 0-d results stay arrays, and views know what they are of."""
    if isinstance(found, (np.ndarray, np.generic)):
        a = np.asarray(found)
        return Array._of(a, _shares(a, given))
    if isinstance(found, (list, tuple)):
        parts = [dressed(x, given) for x in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found


def is_view(found: Any) -> bool:
    """Whether a result is made of views alone: no work for the device."""
    if isinstance(found, (list, tuple)):
        return all(map(is_view, found))
    return not isinstance(found, Array) or found.base is not None
