"""Samples of what acts on autograd's own state."""

from __future__ import annotations

from tests.ops.table import I, S, T

SAMPLES = {
    "detach_": [S(T(2, 3, grad=False)), S(I(3, 9))],
}
