"""Ufunc methods for both array libraries: NumPy's own, and elsewhere what gives the same without them.

CuPy's `at` exists where the hardware has atomics, and only sums and products accumulate. The replacements
take steps in the logarithm of the size, never wait for the device, and are deterministic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: dtypes that CuPy adds at indices, as characters
_ADDED = "iefdILQ"


def accumulate(xp: Any, name: str, a: Any, axis: int) -> Any:
    """``ufunc.accumulate`` of an associative ufunc that keeps the dtype."""
    if xp is np:
        return getattr(np, name).accumulate(a, axis=axis)
    out = xp.moveaxis(a, axis, 0).copy()
    fn, step = getattr(xp, name), 1
    while step < out.shape[0]:
        out[step:] = fn(out[:-step], out[step:])
        step *= 2
    return xp.moveaxis(out, 0, axis)


def apply_at(xp: Any, name: str, out: Any, at: Any, values: Any) -> None:
    """``ufunc.at``: `values` applied to ``out[at]`` in place, repeated indices included.

    The indices are within bounds. `name` is add, multiply, maximum, minimum or logical_or.
    """
    if xp is np:
        getattr(np, name).at(out, at, values)
    elif name == "add" and out.dtype.char in _ADDED:
        xp.add.at(out, at, values)
    elif name == "add" and out.dtype.kind == "c":
        values = xp.asarray(values, dtype=out.dtype)
        xp.add.at(out.real, at, values.real)
        xp.add.at(out.imag, at, values.imag)
    elif name == "add" and out.dtype == np.int64:
        # sums modulo 2**64 are the same with and without a sign
        xp.add.at(out.view(np.uint64), at, xp.asarray(values, dtype=out.dtype).astype(np.uint64))
    else:
        _in_runs(xp, name, out, at, values)


def _in_runs(xp: Any, name: str, out: Any, at: Any, values: Any) -> None:
    """The same by sorting: equal indices become neighbours, and their values one value by doubling steps."""
    places = xp.arange(out.size).reshape(out.shape)[at]
    if not places.size:
        return
    values = xp.broadcast_to(xp.asarray(values, dtype=out.dtype), places.shape).reshape(-1)
    places = places.reshape(-1)
    order = xp.argsort(places, kind="stable")
    places, values = places[order], values[order]
    fn, step = getattr(xp, name), 1
    while step < places.size:
        # the last of a run comes to have the whole of it
        same = places[step:] == places[:-step]
        values[step:] = xp.where(same, fn(values[:-step], values[step:]), values[step:])
        step *= 2
    last = xp.ones(places.size, bool)
    last[:-1] = places[1:] != places[:-1]
    # all others are written past the end
    result = xp.zeros(out.size + 1, out.dtype)
    result[xp.where(last, places, out.size)] = values
    touched = xp.zeros(out.size + 1, bool)
    touched[places] = True
    result, touched = result[:-1].reshape(out.shape), touched[:-1].reshape(out.shape)
    out[...] = xp.where(touched, fn(out, result), out)
