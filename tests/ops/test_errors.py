"""Calls that raise: the class and the message are the oracle's, on numbers and on shapes alone."""

from __future__ import annotations

from typing import Any

import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.data.state import ambient
from gradd_engine.tensor.tensor import Backend

from tests.ops import table
from tests.ops.table import META, Sample
from tests.ops.test_ops import Case

ERRORS = table.collected("ERRORS")
LATE = table.collected("VALUE_ERRORS")


def _cases(found: dict[str, list[Sample]]) -> list[Any]:
    return [pytest.param(k, i, s, id=f"{k}-{i}") for k, some in found.items() for i, s in enumerate(some)]


@pytest.mark.oracle
@pytest.mark.parametrize("backend", [NUMPY, META], ids=["numpy", "meta"])
@pytest.mark.parametrize(("key", "number", "sample"), _cases(ERRORS))
def test_errors_are_the_oracles(torch: Any, key: str, number: int, sample: Sample, backend: Backend) -> None:
    case = Case(key, number, sample)
    with pytest.raises(Exception) as want:  # noqa: PT011 - whatever the oracle raises
        case.theirs(torch, case.their_tensors(torch))
    with pytest.raises(Exception) as got, ambient(backend=backend):  # noqa: PT011 - compared below
        case.ours(case.our_tensors(backend=backend))
    assert issubclass(got.type, want.type), f"{got.value!r} is not the oracle's {want.value!r}"
    if sample.values:
        assert str(got.value) == str(want.value)


@pytest.mark.oracle
@pytest.mark.parametrize(("key", "number", "sample"), _cases(LATE))
def test_errors_of_values_are_the_oracles(torch: Any, key: str, number: int, sample: Sample) -> None:
    test_errors_are_the_oracles(torch, key, number, sample, NUMPY)
    assert Case(key, number, sample).key == key
