"""The public surface is a list; numbers and devices that scripts ask about."""

from __future__ import annotations

from typing import Any

import gradd
import pytest


def test_every_public_name_exists_and_is_listed() -> None:
    missing = [name for name in gradd.__all__ if not hasattr(gradd, name)]
    assert missing == []
    public = {n for n in vars(gradd) if not n.startswith("_")}
    assert public - set(gradd.__all__) == set()


def test_the_device_is_the_sessions() -> None:
    with gradd.connect("local:"):
        assert gradd.cuda.is_available() is False
        assert gradd.cuda.device_count() == 0
        device = "cuda" if gradd.cuda.is_available() else "cpu"
        assert gradd.ones(2).to(device).tolist() == [1.0, 1.0]


def test_numel() -> None:
    with gradd.connect("local:"):
        assert gradd.numel(gradd.ones(2, 3)) == 6


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_float_limits_are_the_oracles(torch: Any, name: str) -> None:
    ours, theirs = gradd.finfo(getattr(gradd, name)), torch.finfo(getattr(torch, name))
    for field in ("bits", "eps", "max", "min", "tiny", "resolution", "smallest_normal"):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert repr(ours) == repr(theirs)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_integer_limits_are_the_oracles(torch: Any, name: str) -> None:
    ours, theirs = gradd.iinfo(getattr(gradd, name)), torch.iinfo(getattr(torch, name))
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
    assert repr(ours) == repr(theirs)


def test_limits_refuse_the_other_kind() -> None:
    with pytest.raises(TypeError, match="requires a floating point input type"):
        gradd.finfo(gradd.int32)
    with pytest.raises(TypeError, match="requires an integer input type"):
        gradd.iinfo(gradd.float32)
