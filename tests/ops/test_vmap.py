"""`vmap` of every op against a loop over samples, for each choice of what is mapped."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.numpy import NUMPY
from gradd_engine.registry import named
from gradd_engine.tensor import Tensor
from gradd_engine.transforms.vmap import vmap

from tests.ops import table
from tests.ops.table import Sample
from tests.ops.test_ops import Case

CASES = {
    key: [(i, s) for i, s in enumerate(some) if not s.is_dynamic and s.values]
    for key, some in table.samples().items()
}
#: what cannot be mapped over, and why
UNMAPPED = {
    "allclose": "a Python bool: one answer for all samples is not what each sample has",
    "equal": "a Python bool: one answer for all samples is not what each sample has",
}
#: what writes to its inputs
WRITING = ("setitem", "nn.functional.batch_norm")


def _variants(a: Any) -> list[Any]:
    """Two arrays of the same shape, range and kind."""
    return [a, np.flip(a).copy()]


def _patterns(count: int) -> list[tuple[bool, ...]]:
    """Which of the tensors are mapped: all, the first, all but the first."""
    found = [(True,) * count]
    if count > 1:
        found += [(True, *(False,) * (count - 1)), (False, *(True,) * (count - 1))]
    return found


def _tensors(found: Any) -> list[Tensor]:
    return [t for t in table.flat(found) if isinstance(t, Tensor)]


def check(case: Case, mapped: tuple[bool, ...]) -> None:
    """One sample of the table, with these tensors mapped."""
    pairs = [_variants(a) for a in case.arrays]

    def run(*tensors: Tensor) -> Any:
        return _tensors(case.ours(list(tensors)))

    def alone(i: int) -> list[Tensor]:
        return run(*(table.ours(p[i if m else 0]) for p, m in zip(pairs, mapped, strict=True)))

    batch = [table.ours(np.stack(p) if m else p[0]) for p, m in zip(pairs, mapped, strict=True)]
    whole = vmap(run, in_dims=tuple(0 if m else None for m in mapped))
    try:
        want = [alone(0), alone(1)]
    except Exception as error:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class is compared below
            whole(*batch)
        assert type(caught.value) is type(error), (error, caught.value)
        return
    try:
        got = whole(*batch)
    except RuntimeError as error:
        # What is the same for every sample cannot be written to by each.
        assert not all(mapped)
        assert case.key in WRITING
        assert str(error).startswith(("Batch norm got a batched tensor", "vmap: inplace arithmetic"))
        return
    assert len(got) == len(want[0])
    tolerance = max(case.sample.tolerance, 1e-9)
    for g, *w in zip(got, *want, strict=True):
        assert tuple(g.shape[1:]) == tuple(w[0].shape)
        assert g.dtype is w[0].dtype
        expected = np.stack([table.to_numpy(one) for one in w])
        np.testing.assert_allclose(table.to_numpy(g), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("key", [k for k, some in CASES.items() if some and k not in UNMAPPED])
def test_is_a_loop_over_samples(key: str) -> None:
    for number, sample in CASES[key]:
        case = Case(key, number, sample)
        if not case.arrays:
            continue
        for mapped in _patterns(len(case.arrays)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(case, mapped)
