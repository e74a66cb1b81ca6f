"""What `nn.functional`'s norms refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd import nn


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    with gradd.connect("local:"):
        yield


ONE, TWO = "must either both be None or neither be None", "eps must be positive during training, but got 0.0"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, m: nn.functional.batch_norm(x, m, None, training=True), ONE),
        (lambda x, m: nn.functional.batch_norm(x, None, m, training=True), ONE),
        (lambda x, m: nn.functional.batch_norm(x, None, None, training=True, eps=0.0), TWO),
        (lambda x, m: nn.functional.batch_norm(x, m, m, eps=-1.0), "eps must be non-negative, but got -1.0"),
        (lambda x, m: nn.functional.instance_norm(x, m, None), ONE),
    ],
)
def test_norms_that_make_no_sense_are_refused(call: Callable[[Any, Any], Any], message: str) -> None:
    """With the messages of PyTorch."""
    with pytest.raises(ValueError, match=message):
        call(gradd.randn(4, 3, 5), gradd.ones(3))
