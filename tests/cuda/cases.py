"""Calls of ops that have a device kernel, and what else they are checked for."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from gradd_engine.data import Meta, from_numpy
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.kernels.cuda import NATIVE

from tests import standin
from tests.standin.raw import ORDER

Make = Callable[[np.random.Generator, Any], tuple[list[Any], dict[str, Any]]]


class Case(NamedTuple):
    """A call of an op."""

    op: str
    #: makes arguments and attributes for a dtype
    make: Make
    name: str = ""
    #: how far from NumPy's the results may be, in units of the dtype's last place
    ulps: float = 32.0

    def __str__(self) -> str:
        return f"{self.op}-{self.name}" if self.name else self.op


def meta(shape: Any, dtype: Any) -> Meta:
    """The geometry of a dense result."""
    return Meta(tuple(shape), from_numpy(np.dtype(dtype)))


def _moved(x: Any, xp: Any) -> Any:
    if isinstance(x, np.ndarray):
        return xp.asarray(x)
    return [_moved(e, xp) for e in x] if isinstance(x, (list, tuple)) and not isinstance(x, Meta) else x


def _back(x: Any, xp: Any = np) -> Iterator[Any]:
    if isinstance(x, (list, tuple)):
        for e in x:
            yield from _back(e, xp)
    elif isinstance(x, (np.ndarray, np.generic)):
        yield np.asarray(x)
    elif isinstance(x, xp.ndarray):
        yield xp.asnumpy(x)


@contextmanager
def backwards() -> Iterator[None]:
    """Blocks and threads run from the last to the first."""
    ORDER["turned"] = True
    try:
        yield
    finally:
        ORDER["turned"] = False


def refuse(*_: Any, **__: Any) -> Any:
    """In place of a kernel over CuPy's functions, where the device kernel must be taken."""
    raise AssertionError("there is no device kernel for this")


def outcome(case: Case, dtype: str, xp: Any) -> list[Any]:
    """Results, then what the arguments are afterwards: of NumPy's kernel, or of the device's."""
    rng = np.random.default_rng(zlib.crc32(f"{case} {dtype}".encode()))
    given, attrs = case.make(rng, np.dtype(dtype).type)
    impl = REGISTRY[case.op].impl
    with np.errstate(all="ignore"):
        if xp is np:
            return list(_back([impl(np, *given, **attrs), given]))
        given = [_moved(x, xp) for x in given]
        return list(_back([NATIVE[case.op](refuse)(xp, *given, **attrs), given], xp))


def complaint(case: Case, dtype: str, xp: Any = standin.CUPY) -> str | None:
    """What is wrong with a device kernel's results; None if nothing. On a GPU the second run, which goes
    backwards on the stand-in, is one more.
    """
    want, got = outcome(case, dtype, np), outcome(case, dtype, xp)
    with backwards():
        turned = outcome(case, dtype, xp)
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for i, (g, w, t) in enumerate(zip(got, want, turned, strict=True)):
        if g.shape != w.shape:
            return f"result {i} has shape {g.shape} instead of {w.shape}"
        if g.tobytes() != t.tobytes():
            return f"result {i} depends on the order of threads"
        if w.dtype.kind not in "fV":
            # flags are made in the result's dtype at once
            if not np.array_equal(g, w):
                return f"result {i}: other values"
            continue
        # of 16-bit numbers all but the last place is to be the same
        near = case.ulps * float(np.finfo(w.dtype).eps) if w.itemsize > 2 else 2.0**-7
        g, w = g.astype(np.float64), w.astype(np.float64)
        finite = w[np.isfinite(w)]
        usual = float(np.abs(finite).mean()) if finite.size else 0.0
        if not np.allclose(g, w, rtol=near, atol=near * usual, equal_nan=True):
            return f"result {i} is off by {float(np.nanmax(np.abs(g - w)))}"
    return None


def share() -> bool:
    """Whether only a share of the cases runs."""
    return os.environ.get("GRADD_CUDA", "") != "all"


def half_complaint(case: Case, xp: Any = standin.CUPY) -> str | None:
    """What is wrong with a device kernel for float16, beside NumPy's in float32; None if nothing."""
    rng = np.random.default_rng(zlib.crc32(f"{case} half".encode()))
    given, attrs = case.make(rng, np.float16)
    whole = [x.astype(np.float32) if getattr(x, "dtype", None) == np.float16 else x for x in given]
    with np.errstate(all="ignore"):
        want = list(_back(REGISTRY[case.op].impl(np, *whole, **attrs)))
        got = list(_back(NATIVE[case.op](refuse)(xp, *[_moved(x, xp) for x in given], **attrs), xp))
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            if w.dtype.kind != "f":
                if not np.array_equal(g.astype(w.dtype), w):
                    return f"result {i}: other values"
                continue
            if g.dtype != np.float16:
                return f"result {i} is {g.dtype}"
            far = np.abs(g.astype(np.float64) - w.astype(np.float16).astype(np.float64))
            usual = float(np.nanmean(np.abs(w[np.isfinite(w)]))) if np.isfinite(w).any() else 0.0
            if not np.all((far <= 4e-3 * (np.abs(w) + usual)) | (g == w.astype(np.float16)) | np.isnan(w)):
                return f"result {i} is off by {float(np.nanmax(far))}"
    return None
