"""nn.Buffer: a tensor that a module takes up by assignment."""

from __future__ import annotations

import gradd
import pytest
from gradd import nn


def test_a_buffer_is_taken_up_by_assignment() -> None:
    module = nn.Module()
    module.kept = nn.Buffer(gradd.ones(2))
    module.passing = nn.Buffer(gradd.ones(3), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "passing"]
    assert list(module.state_dict()) == ["kept"]
    assert isinstance(module.kept, nn.Buffer)
    module.passing = gradd.zeros(3)
    assert not isinstance(module.passing, nn.Buffer)
    assert list(module.state_dict()) == ["kept"]
    module.passing = nn.Buffer(module.passing)
    assert list(module.state_dict()) == ["kept", "passing"]
    assert nn.Buffer().shape == (0,)


def test_where_a_buffer_cannot_be_assigned() -> None:
    module = nn.Linear(2, 2)
    module.plain = gradd.ones(2)
    with pytest.raises(KeyError, match="attribute 'plain' already exists"):
        module.plain = nn.Buffer(gradd.ones(2))
    with pytest.raises(TypeError, match=r"cannot assign 'torch\.FloatTensor' as parameter 'weight'"):
        module.weight = nn.Buffer(gradd.ones(2))
