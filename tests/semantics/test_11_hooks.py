"""§11: over a session hooks say that they are not yet there; the engine's tests have what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

REGISTRATIONS: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda x: (x * 2).register_hook(lambda gradient: None),
    "post_accumulate": lambda x: x.register_post_accumulate_grad_hook(lambda tensor: None),
    "node_prehook": lambda x: (x * 2).grad_fn.register_prehook(lambda gradients: None),
    "node_hook": lambda x: (x * 2).grad_fn.register_hook(lambda inputs, outputs: None),
}


@pytest.mark.parametrize("name", REGISTRATIONS)
def test_11_hooks_are_not_yet_offered(leaf: Any, raises: Any, differs: Any, name: str) -> None:
    register = REGISTRATIONS[name]
    if differs("11"):
        with raises(NotImplementedError, "…not yet…"):
            register(leaf())
        return
    handle = register(leaf())
    handle.remove()
    assert handle.remove() is None
