"""What is no tensor, in the place of an operation's first one, is refused in words of its caller's."""

from __future__ import annotations

import pytest

from tests.ops.table import Spec, arrays, lookup, ours, samples, swap

#: what PyTorch writes in Python looks at its arguments as they come
PYTHON = ("nn.functional.", "tensordot")
FOUND = {
    key: some[0]
    for key, some in samples().items()
    if some[0].args and isinstance(some[0].args[0], Spec) and some[0].fn is None
    if not key.startswith(PYTHON)
}


@pytest.mark.parametrize("key", FOUND)
def test_it_is_told_what_it_should_be(key: str) -> None:
    sample = FOUND[key]
    tensors = iter([ours(a) for a in arrays(key, 0, sample)])
    args, attrs = swap((list(sample.args), dict(sample.attrs)), tensors)
    for wrong in (None, "x", [1]):
        args[0] = wrong
        with pytest.raises((TypeError, RuntimeError)) as caught:
            lookup(key)(*args, **attrs)
        assert caught.type is TypeError or "Tensor" in str(caught.value), f"{key}({wrong!r}): {caught.value}"
