"""PyTorch's database of operators: its samples of each, and what each refuses."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any


@cache
def op_db() -> list[Any]:
    """Its entries. Each sample would look for the unittest that asks, in the source of every frame
    of the stack: a tenth of a second, to find none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.opinfo import core

    core.extract_test_fn = lambda: None
    return op_db
