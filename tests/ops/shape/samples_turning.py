"""Samples of tensors that take the geometry of a view of themselves."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "as_strided_": [S(T(3, 4, grad=False), [2, 2], [4, 1]).no_layouts().no_grad()],
}
