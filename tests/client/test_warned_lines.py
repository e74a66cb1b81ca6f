"""Every warning names the line of the script, however many of gradd's functions stand between."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd.nn import functional as F

CALLS: dict[str, Callable[[Any], Any]] = {
    "dropout2d of rows": lambda x: F.dropout2d(x),
    "dropout3d of rows": lambda x: F.dropout3d(x),
    "grid_sample's corners": lambda x: F.grid_sample(gradd.ones(1, 1, 2, 2), gradd.zeros(1, 2, 2, 2)),
    "a target of another size": lambda x: F.mse_loss(gradd.ones(2), gradd.ones(2, 1)),
    "size_average": lambda x: F.l1_loss(x, x, size_average=True),
    "elementwise_mean": lambda x: F.mse_loss(x, x, reduction="elementwise_mean"),
    "kl_div's mean": lambda x: F.kl_div(x, x),
    "cov of one": lambda x: gradd.cov(gradd.ones(1, 1)),
    "var of one": lambda x: gradd.var(gradd.ones(1)),
    "std of one": lambda x: gradd.ones(1).std(),
    "softmax without dim": lambda x: F.softmax(x),
    "softmin without dim": lambda x: F.softmin(x),
    "gumbel_softmax's eps": lambda x: F.gumbel_softmax(x, eps=1.0),
    "upsample": lambda x: F.upsample(gradd.ones(1, 1, 2, 2), scale_factor=2),
    "smooth_l1_loss of another size": lambda x: F.smooth_l1_loss(gradd.ones(2), gradd.ones(2, 1)),
    "range": lambda x: gradd.range(0, 3),
    "out of another shape": lambda x: gradd.add(x, x, out=gradd.ones(3)),
    "nll_loss with reduce": lambda x: F.nll_loss(x, gradd.tensor([0, 1]), reduce=False),
    "a tensor of a tensor": lambda x: gradd.tensor(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_is_of_the_scripts_line(name: str) -> None:
    with gradd.connect("local:"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        CALLS[name](gradd.ones(2, 3))
    assert told
    line = CALLS[name].__code__.co_firstlineno
    assert {(w.filename, w.lineno) for w in told} == {(__file__, line)}
