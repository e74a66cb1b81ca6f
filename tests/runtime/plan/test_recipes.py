"""What of a kernel is known after it was watched, and what NumPy's loops are given for such a kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_runtime.plan import rows
from gradd_runtime.plan.recipes import UfuncCall, UfuncOperand, recipe

LOOPS: Any = NUMPY.kernels.loops
SINGLE = np.dtype(np.float32)
FOUR = ((4,), SINGLE)


def learned(kernel: Callable[..., Any], inputs: int = 1, result: Any = FOUR, **attrs: Any) -> Any:
    """The recipe of a kernel over arrays of four elements."""
    return recipe(kernel, np, [FOUR] * inputs, attrs, result)


def test_operators_functions_and_numbers_are_calls() -> None:
    found = learned(lambda xp, a, b: xp.multiply(a, 1 - b * b), 2)
    assert [(c.ufunc.__name__, c.kinds, c.operands) for c in found] == [
        ("multiply", "ff->f", (UfuncOperand(1), UfuncOperand(1))),
        ("subtract", "ff->f", (UfuncOperand(0, np.float32(1).tobytes()), UfuncOperand(2))),
        ("multiply", "ff->f", (UfuncOperand(0), UfuncOperand(3))),
    ]
    assert learned(lambda xp, a, by: a * a.dtype.type(by), by=0.5) != learned(
        lambda xp, a, by: a * by, by=2.0
    )
    assert [c.kinds for c in learned(lambda xp, a: a < 0, result=((4,), np.dtype(bool)))] == ["ff->?"]


def test_a_choice_and_a_cast_are_calls() -> None:
    found = learned(lambda xp, a: xp.where(a > 0, a, 2.0))
    assert [(c.ufunc.__name__, c.kinds) for c in found] == [("greater", "ff->?"), ("where", "?ff->f")]
    assert found[1].operands == (UfuncOperand(1), UfuncOperand(0), UfuncOperand(0, np.float32(2).tobytes()))
    wide = learned(lambda xp, a: a.astype(np.float64) * 2, result=((4,), np.dtype(float)))
    assert [(c.ufunc.__name__, c.kinds) for c in wide] == [("astype", "f->d"), ("multiply", "dd->d")]
    assert learned(lambda xp, a: xp.where(a > 0, a, np.float64(2))) is None


OTHERS: dict[str, Callable[..., Any]] = {
    "a reduction": lambda xp, a: a - a.sum(),
    "a function": lambda xp, a: xp.clip(a, 0, 1),
    "a keyword": lambda xp, a: xp.add(a, a, dtype=np.float32),
    "where to": lambda xp, a: xp.add(a, a, a),
    "in place": lambda xp, a: a.__iadd__(1),
    "a cast": lambda xp, a: (a + np.float64(1)).astype(np.float32),
    "a cast on the way": lambda xp, a: xp.multiply(a, np.float64(1)),
    "a view": lambda xp, a: a[::-1] + a,
    "a reshaped result": lambda xp, a: (a + a).reshape(2, 2).reshape(4),
    "a value": lambda xp, a: a * 2 if a[0] > 0 else a,
    "truth": lambda xp, a: a * 2 if (a > 0).any() else a,
    "numbers": lambda xp, a: a * float(np.asarray(a)[0]),
    "memory": lambda xp, a: a + np.frombuffer(memoryview(a), np.float32)[0],
    "a table": lambda xp, a: a + np.ones(4, np.float32),
    "its input": lambda xp, a: a,
    "an array from elsewhere": lambda xp, a: np.ones(4, np.float32),
    "two results": lambda xp, a: xp.divmod(a, a)[0],
    "an error": lambda xp, a: a.nothing,
    "what comes before the last": lambda xp, a: (a + 1, a + 2)[0],
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_kernel_that_does_anything_else_has_none(name: str) -> None:
    assert learned(OTHERS[name]) is None


def test_a_result_of_another_geometry_or_a_parameter_that_may_change_has_none() -> None:
    assert learned(lambda xp, a: a + a, result=((4,), np.dtype(np.float64))) is None
    assert learned(lambda xp, a: a + a, result=((2, 2), SINGLE)) is None
    assert learned(lambda xp, a, by: a + a, by=[1]) is None
    # Between two calls a scalar, for which Python's operators take another way.
    bare = ((), SINGLE)
    assert recipe(lambda xp, a: a * a + a, np, [bare], {}, bare) is None
    assert recipe(lambda xp, a: a * a, np, [bare], {}, bare) is not None


# -- what NumPy gives its loops ----------------------------------------------------------------------------

_Loop = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ssize_t), ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.c_void_p,
)  # fmt: skip


class Spy:
    """A ufunc whose loop notes the counts and strides that it is given."""

    def __init__(self, inputs: int) -> None:
        self.told: list[tuple[int, tuple[int, ...]]] = []

        def loop(places: Any, counts: Any, strides: Any, data: Any) -> None:
            self.told.append((counts[0], tuple(strides[k] for k in range(inputs + 1))))

        self._loop = _Loop(loop)
        self._loops = (ctypes.c_void_p * 1)(ctypes.cast(self._loop, ctypes.c_void_p).value)
        self._data = (ctypes.c_void_p * 1)(None)
        self._kinds = bytes([SINGLE.num] * (inputs + 1))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        functions = pointer(np._core._multiarray_umath._UFUNC_API, None)  # type: ignore[attr-defined]
        make = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
            ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
        )(ctypes.cast(functions, ctypes.POINTER(ctypes.c_void_p))[1])  # fmt: skip
        loops, data = ctypes.addressof(self._loops), ctypes.addressof(self._data)
        self.call = make(loops, data, self._kinds, 1, inputs, 1, -1, b"spy", b"", 0)


def _arrays() -> list[Any]:
    of = [(), (1,), (4,), (1, 1), (3, 1), (1, 4), (3, 4), (2, 3, 4), (2, 1, 1), (2, 1, 4), (1, 3, 1), (3,)]
    found = [np.ones(shape, np.float32) for shape in of]
    found += [np.broadcast_to(np.float32(1), shape) for shape in ((4,), (3, 4), (1,), (3, 1))]
    found += [np.ones((4, 3), np.float32).T, np.ones(8, np.float32)[::2], np.ones(4, np.float32)[::-1]]
    return [*found, np.ones((3, 8), np.float32)[:, :4], np.ones((4, 1), np.float32)[::2]]


@pytest.mark.skipif(LOOPS is None, reason="nothing is compiled here")
def test_rows_have_the_counts_and_strides_of_numpy() -> None:
    unary, binary = Spy(1), Spy(2)
    found = 0
    for given in [[a] for a in _arrays()] + [[a, b] for a in _arrays() for b in _arrays()]:
        try:
            shape = np.broadcast_shapes(*[a.shape for a in given])
        except ValueError:
            continue
        spy, ufunc = (unary, np.negative) if len(given) == 1 else (binary, np.add)
        spy.told.clear()
        result = spy.call(*given)
        if isinstance(result, np.ndarray) and not result.flags.c_contiguous:
            continue  # no sweep takes in what is not row-major
        operands = tuple(UfuncOperand(n) for n in range(len(given)))
        kinds = "f" * len(given) + "->f"
        for made in ((False,) * len(given), tuple(a.base is None for a in given)):
            found_rows = rows._made_of((UfuncCall(ufunc, kinds, operands, shape),), LOOPS, given, made)
            if found_rows is None:
                continue
            found += 1
            (row,) = found_rows
            strides = (*[o.stride for o in row.operands], SINGLE.itemsize)
            assert spy.told == [(prod(shape), strides)], [(a.shape, a.strides) for a in given]
    assert found > 100
