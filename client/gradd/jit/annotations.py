"""Types that annotations of scripted functions name: those of `typing`, and lists that one number may fill.

As https://github.com/pytorch/pytorch/blob/v2.13.0/torch/jit/annotations.py.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - they are imported from here

__all__ = ["Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional"]
__all__ += ["Tuple", "Union"]


class _Broadcasting:
    """``BroadcastingList2[int]``: None, as in PyTorch; to its compiler, a number or a list of so many."""

    def __getitem__(self, kind: Any) -> None:
        return None


BroadcastingList1 = _Broadcasting()
BroadcastingList2 = _Broadcasting()
BroadcastingList3 = _Broadcasting()
