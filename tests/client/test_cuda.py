"""CUDA queries: without a GPU as PyTorch, and, with a session that says it is on one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd import cuda

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        if module().cuda.is_available():
            pytest.skip("there is a GPU")
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def test_without_a_gpu(T: Any) -> None:
    assert not T.cuda.is_available()
    assert not T.cuda.is_initialized()
    assert not T.cuda.is_bf16_supported()
    assert T.cuda.device_count() == T.cuda.memory_allocated() == 0
    T.cuda.empty_cache()
    T.manual_seed(1)
    first = T.rand(2).tolist()
    T.manual_seed(1)
    T.cuda.manual_seed_all(2)
    T.cuda.manual_seed(3)
    assert T.rand(2).tolist() == first  # another device's stream
    for ask in (T.cuda.current_device, T.cuda.synchronize):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            ask()


def test_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    with gradd.connect("local:") as session:
        assert cuda.current_device() == 0
        assert cuda.device_count() == 1
        assert cuda.is_bf16_supported()
        assert not cuda.is_bf16_supported(including_emulation=False)
        for own in (0, "cuda", "cuda:0", gradd.device("cuda"), gradd.device("cuda", 0)):
            cuda.set_device(own)
        for other in (1, "cuda:1"):
            with pytest.raises(RuntimeError, match="invalid device ordinal"):
                cuda.set_device(other)
        with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
            cuda.set_device("cpu")
        cuda.manual_seed_all(3)
        first = gradd.rand(2).tolist()
        gradd.manual_seed(3)
        assert gradd.rand(2).tolist() == first
        kept = gradd.ones(1000)
        before = session.wire.seq
        cuda.synchronize()
        assert session.wire.answered == session.wire.seq == before + 1
        assert cuda.memory_allocated() >= kept.nbytes
