"""A pass gives back what it no longer needs: bytes of a chain of saved activations, counted by an account."""

from __future__ import annotations

import numpy as np
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward import backward_op
from gradd_engine.data.memory import Account
from gradd_engine.data.state import ambient

LENGTH, NBYTES = 50, 4 << 10
assert ops.__all__


def test_activations_are_freed_as_backward_passes() -> None:
    account = Account(1 << 30)
    with ambient(account=account, backend=NUMPY):
        x = NUMPY.from_array(np.ones(NBYTES // 8))
        x.requires_grad = True
        y = x
        for _ in range(LENGTH):
            y = y.sin()
        loss = y.sum()
        del y
        forward = account.used
        backward_op.backward(loss)
        del loss
        # The last activation is freed with the sum's node; then each gradient replaces an activation.
        assert account.peak <= forward + 4 * NBYTES
        assert account.used == 2 * NBYTES
