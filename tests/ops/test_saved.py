"""What ops keep for their backward: a change in place of it is noticed, as the oracle does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gradd_engine.backward.backward_op import backward_op

from tests.ops import table
from tests.ops.table import Sample
from tests.ops.test_ops import Case, each

CHANGED = "inplace"
#: where nodes are drawn otherwise than the oracle's, so that they keep something else
OTHERWISE = {
    "conv_tbc": "a composite of its steps",
    "cov": "weights are kept as they were made into probabilities",
    "getitem": "what a mask covers is kept, not the mask",
    "setitem": "what a mask covers is kept, not the mask",
    "index_put": "what a mask covers is kept, not the mask",
    "linalg.cond": "a composite of other norms",
    "linalg.householder_product": "a composite: its derivatives are those of its steps",
    "linalg.lstsq": "solutions are kept, as residuals come of them",
    "linalg.lu_solve": "a composite: its derivatives are those of its steps",
    "linalg.qr": "wide matrices need the input",
    "lobpcg": "a composite: the derivatives are those of eigh",
    "nn.functional.batch_norm": "the running statistics are not needed once the batch's are known",
    "nn.functional.bilinear": "a composite of its steps",
    "nn.functional.multi_margin_loss": "a composite of its steps",
    "nn.functional.multilabel_margin_loss": "a composite of its steps",
    "nn.functional.scaled_dot_product_attention": "the oracle's blockwise kernels keep inputs and result",
    "nn.functional.soft_margin_loss": "a composite of its steps",
    "ctc_loss": "lengths are kept, and the sums over alignments made again",
    "grid_sampler": "places and weights made of them are kept, they are not",
    "nn.functional.ctc_loss": "lengths are kept, and the sums over alignments made again",
    "nn.functional.embedding_bag": "the bags of rows are kept, not where they begin",
    "nn.functional.grid_sample": "places and weights made of them are kept, they are not",
    "ormqr": "a composite: its derivatives are those of its steps",
    "orgqr": "a composite: its derivatives are those of its steps",
    "prod_others": "not an op of the oracle's",
    "qr": "wide matrices need the input",
    "recurrence": "not an op of the oracle's",
    "remainder": "differentiable for a number on the left, too",
    "istft": "a composite: the envelope is looked at by a step of its own",
    "stft": "a composite: signals are continued by copies of their parts",
    "take_along_dim": "the index is kept as it was given",
    "triangular_solve": "the right-hand side is not needed",
    "vander": "the powers are copied out of a running product",
}


def _tensors(found: Any) -> list[Any]:
    return [t for t in table.flat(found) if hasattr(t, "detach")]


def _change(t: Any) -> None:
    """Count a change in place that history does not see."""
    alias = t.detach()
    if "bool" in str(t.dtype):
        alias.logical_not_()
    else:
        alias.mul_(1)


def _noticed(
    leaves: list[Any], call: Callable[[list[Any]], Any], run: Callable[[Any], None]
) -> list[bool | None]:
    """For each result and each input, whether a pass refuses it changed; None where it cannot be changed."""
    found: list[bool | None] = []
    count = None
    at = 0
    while count is None or at < count:
        given = [t.clone() for t in leaves]
        results = _tensors(call(given))
        count = len(results) + len(given)
        total = None
        for r in results:
            if r.requires_grad:
                one = r.sum().real if r.dtype.is_complex else r.sum()
                total = one if total is None else total + one
        if total is None:
            return []
        found.append(_refused((results + given)[at], lambda total=total: run(total)))
        at += 1
    return found


def _refused(t: Any, run: Callable[[], None]) -> bool | None:
    try:
        _change(t)
    except RuntimeError:
        return None
    try:
        run()
    except RuntimeError as error:
        if CHANGED not in str(error):
            raise
        return True
    return False


@pytest.mark.oracle
@each(lambda key, number, sample: sample.first and not sample.own and key not in OTHERWISE)
def test_changes_are_noticed_as_by_the_oracle(torch: Any, key: str, number: int, sample: Sample) -> None:
    case = Case(key, number, sample)
    theirs = case.their_tensors(torch, grad=True)
    want = _noticed(theirs, lambda given: case.theirs(torch, given), lambda total: total.backward())
    ours = case.our_tensors(grad=True)
    assert _noticed(ours, case.ours, lambda total: backward_op([total])) == want
