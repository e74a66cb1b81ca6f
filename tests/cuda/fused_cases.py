"""Fused kernels for tests: every expression over every type, and parts of many shapes and strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from gradd_engine.kernels.cuda import FusedArray, FusedKernel, FusedLine, FusedPart, cast, ufunc
from gradd_engine.kernels.cuda.expressions import HELD
from ml_dtypes import bfloat16

#: by a dtype's character; the ones that values are computed in first
DTYPES = {
    "f": np.float32, "d": np.float64, "q": np.int64, "i": np.int32, "h": np.int16, "b": np.int8,
    "B": np.uint8, "?": np.bool_, "e": np.float16, "E": bfloat16,
}  # fmt: skip
#: how many last places functions of two libraries may differ by
NEAR = 4
#: runs a kernel over arrays, and returns what they are then
Run = Callable[[FusedKernel, list[Any]], list[Any]]
_ONE = (
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos",
    "cosh", "exp", "exp2", "expm1", "fabs", "floor", "invert", "isfinite", "isinf", "isnan", "log",
    "log10", "log1p", "log2", "logical_not", "negative", "positive", "reciprocal", "rint", "sign",
    "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
_TWO = (
    "add", "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor", "copysign", "divide", "equal",
    "fmax", "fmin", "greater", "greater_equal", "hypot", "less", "less_equal", "logical_and",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "not_equal", "power", "subtract",
)  # fmt: skip


class Computed(NamedTuple):
    """A kernel over three vectors of a type, and the function that each result is."""

    kernel: FusedKernel
    functions: list[str]
    kinds: list[str]


def computed(kind: str) -> Computed:
    """Every ufunc that has an expression for a type."""
    functions, lines = [], []
    for name in (*_ONE, *_TWO):
        given = kind * (1 if name in _ONE else 2)
        for made in dict.fromkeys((kind, "?")):
            text = ufunc(name, f"{given}->{made}", ["x0", "x1"])
            if text is not None:
                functions.append(name)
                lines.append(FusedLine(text, made))
    text = ufunc("where", f"?{kind}{kind}->{kind}", ["x2", "x0", "x1"])
    assert text is not None
    functions.append("where")
    lines.append(FusedLine(text, kind))
    kinds = [kind, kind, "?", *[line.kind for line in lines]]
    stores = tuple((f"v{n}", FusedArray(3 + n, (1,))) for n in range(len(lines)))
    loads = tuple(FusedArray(n, (1,)) for n in range(3))
    part = FusedPart((len(values(kind, 0)),), loads, tuple(lines), stores)
    return Computed(FusedKernel(kinds, [part]), functions, [line.kind for line in lines])


def values(kind: str, turn: int) -> Any:
    """Numbers of a type, what is special of it among them; each turn pairs them in another way."""
    if kind == "?":
        found: Any = np.array([False, True, True, False])
    elif kind in "fdeE":
        found = np.array([0.0, -0.0, 0.5, -0.25, 1, -1, 3.5, -2.5, 80, np.inf, -np.inf, np.nan, 1e-3])
    else:
        found = np.array([0, 1, 2, 3, 7, 100, 127, 200 if kind == "B" else -128, 5])
    rolled = np.concatenate([np.roll(found, turn * k) for k in range(1, 6)])
    with np.errstate(all="ignore"):
        return rolled.astype(DTYPES[kind])


def expression_faults(kind: str, turn: int, run: Run, near: float = NEAR) -> list[str]:
    """The functions whose results for a type are not those of NumPy's ufuncs."""
    kernel, functions, kinds = computed(kind)
    x, y = values(kind, 0), values(kind, 1 + turn)
    which = values("?", 1)[:4].repeat(20)[: len(x)]
    given = [x, y, which]
    found = run(kernel, [*given, *(np.zeros(len(x), DTYPES[k]) for k in kinds)])[3:]
    assert len(functions) > (10 if kind == "?" else 20)
    bad = []
    for name, got in zip(functions, found, strict=True):
        function = getattr(np, name)
        with np.errstate(all="ignore"):
            want = function(which, x, y) if name == "where" else function(*given[: function.nin])
        if got.dtype != want.dtype or not _alike(got, want, near):
            bad.append(f"{name}: {got} instead of {want}")
    return bad


def _alike(got: Any, want: Any, near: float) -> bool:
    if got.dtype.kind != "f":
        return np.array_equal(got, want)
    zero = want == 0
    close = {"rtol": near * np.finfo(got.dtype).eps, "atol": 1e-12}
    signs = np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
    return signs and np.allclose(got, want, equal_nan=True, **close)


def cast_faults(run: Run) -> list[str]:
    """The types to which numbers are not cast as NumPy casts them."""
    numbers = np.arange(40) % 4
    given = [numbers.astype(d) for d in DTYPES.values()]
    outs = [np.zeros(40, d) for k, d in DTYPES.items() if k != "?"]
    want = sum(a.astype(np.int64) for a in given)
    found = run(casts(), [*given, *outs])[len(given) :]
    return [str(got.dtype) for got in found if not np.array_equal(got.astype(np.int64), want)]


def casts() -> FusedKernel:
    """From every type to every other."""
    kinds, lines, stores = [*DTYPES], [], []
    for before in DTYPES:
        for after in DTYPES:
            text = cast(f"x{kinds.index(before)}", before, after)
            assert text is not None
            lines.append(FusedLine(text, after))
    # Arrays of a launch are few: the sums of what rows are cast to, of small numbers that all types have.
    for n, after in enumerate(DTYPES):
        if after == "?":
            continue
        total = " + ".join(f"v{k * len(DTYPES) + n}" for k in range(len(DTYPES)))
        text = cast(f"(({HELD[after]})({total}))", after, after)
        assert text is not None
        lines.append(FusedLine(text, after))
        stores.append((f"v{len(lines) - 1}", FusedArray(len(kinds), (1,))))
        kinds.append(after)
    loads = tuple(FusedArray(n, (1,)) for n in range(len(DTYPES)))
    return FusedKernel(kinds, [FusedPart((40,), loads, tuple(lines), tuple(stores))])


class Shaped(NamedTuple):
    """A kernel of several parts, what it is called with, and what each part stores: where, and the values."""

    kernel: FusedKernel
    arrays: list[Any]
    wanted: list[tuple[int, Any]]

    def faults(self, run: Run) -> list[int]:
        """The arrays in which a run leaves something else."""
        found = run(self.kernel, self.arrays)
        return [n for n, want in self.wanted if not np.array_equal(found[n], want)]


def shaped(seed: int) -> Shaped:
    """Random parts: each adds and multiplies what it loads, by strides and repeated."""
    rng = np.random.default_rng(seed)
    arrays: list[Any] = []
    wanted, parts = [], []
    for _ in range(int(rng.integers(1, 4))):
        shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 40], int(rng.integers(0, 5))))
        loads, text, found = [], "0", np.zeros(shape, np.float64)
        for k in range(int(rng.integers(1, 4))):
            a = _one_of(rng, shape)
            strides = np.broadcast_to(a, shape).strides
            loads.append(FusedArray(len(arrays), tuple(s // a.itemsize for s in strides)))
            arrays.append(a)
            text, found = f"({text}) * 2 + x{k}", found * 2 + a
        out = np.zeros(shape)
        if rng.random() < 0.4:
            out = np.zeros(shape[::-1]).T
        store = FusedArray(len(arrays), tuple(s // 8 for s in out.strides))
        arrays.append(out)
        wanted.append((len(arrays) - 1, found))
        parts.append(FusedPart(shape, tuple(loads), (FusedLine(f"(double)({text})", "d"),), (("v0", store),)))
    return Shaped(FusedKernel(["d"] * len(arrays), parts), arrays, wanted)


def _one_of(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """An operand: dense, turned, every second element, or with dimensions that are repeated."""
    how = int(rng.integers(4))
    if how == 0:
        return np.asarray(rng.integers(0, 9, shape), float)
    if how == 1:
        return np.asarray(rng.integers(0, 9, shape[::-1]), float).T
    if how == 2:
        every = np.asarray(rng.integers(0, 9, [2 * n for n in shape]), float)
        return every[(..., *[slice(None, None, 2)] * len(shape))]
    kept = [n if rng.random() < 0.5 else 1 for n in shape]
    return np.asarray(rng.integers(0, 9, kept[int(rng.integers(0, len(kept) + 1)) :]), float)


def sources() -> Iterator[str]:
    """What is compiled for a device: every expression, every cast, some geometries."""
    for kind in "fdqihbB?":
        yield computed(kind).kernel.source
    yield casts().source
    for seed in range(12):
        yield shaped(seed).kernel.source
