"""Samples of another shape for the tensor itself."""

from __future__ import annotations

from tests.ops.table import S, Sample, T


def _to(*size: int) -> Sample:
    """No more elements than there are: what more of them hold is left open."""
    return S(T(2, 3, grad=False), *size).no_grad().no_layouts()


SAMPLES = {
    "Tensor.resize_": [_to(3, 2), _to(6), _to(2, 2), _to(0)],
    "Tensor.resize_as_": [S(T(2, 3, grad=False), T(3, 2, grad=False)).no_grad().no_layouts()],
    "resize_as_": [S(T(2, 3, grad=False), T(3, 2, grad=False)).no_grad().no_layouts()],
}
