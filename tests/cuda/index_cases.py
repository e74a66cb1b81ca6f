"""Calls of attention, and of what reads and adds by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _attend(
    q: tuple[int, ...], keys: int, outs: int, mask: str, causal: bool, back: bool, scale: float = 0.3
) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        lead, n = q[:-2], q[-1]
        shapes = [q, (*lead, keys, n), (*lead, keys, outs)]
        arrays = [rng.normal(0, 1, s).astype(t) for s in shapes]
        hides: Any = None
        if mask == "bool":
            hides = rng.random((q[-2], keys)) < 0.7
            hides[0] = False
        elif mask == "term":
            hides = rng.normal(0, 1, (*lead[:1], *[1] * (len(lead) - 1), q[-2], keys)).astype(t)
        elif mask == "row":
            hides = rng.normal(0, 1, (*lead, 1, keys)).astype(t)
        slope = [rng.normal(0, 1, (*q[:-1], outs)).astype(t)] if back else []
        return [*slope, *arrays, hides], {"causal": causal, "scale": scale}

    return make


_ATTENDED: tuple[tuple[Any, ...], ...] = (
    ((5, 4), 5, 4, "", False), ((2, 3, 33, 8), 20, 5, "", False), ((2, 2, 35, 16), 35, 16, "", True),
    ((2, 3, 17, 8), 40, 8, "bool", False), ((2, 3, 9, 8), 16, 8, "term", False),
    ((2, 7, 60), 18, 64, "row", False),
    ((1, 20, 8), 50, 3, "", True), ((1, 50, 8), 20, 3, "", True),
)  # fmt: skip


def _slices(shape: tuple[int, ...], many: int, dim: int, kind: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        index = rng.integers(0, shape[dim], many).astype(kind)
        return [rng.normal(0, 1, shape).astype(t), index], {"dim": dim}

    return make


def _gather(shape: tuple[int, ...], many: int, dim: int, kind: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        size = tuple(many if d == dim % len(shape) else n for d, n in enumerate(shape))
        index = rng.integers(0, shape[dim], size).astype(kind)
        return [rng.normal(0, 1, shape).astype(t), index], {"dim": dim}

    return make


def _table(index: tuple[int, ...], rows: int, width: int, kind: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        attrs = {"padding_idx": None, "scale_grad_by_freq": False, "sparse": False}
        return [rng.integers(0, rows, index).astype(kind), rng.normal(0, 1, (rows, width)).astype(t)], attrs

    return make


def _rows(
    index: tuple[int, ...], rows: int, width: int, padding: int | None, scaled: bool, kind: str
) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        at = rng.integers(0, rows, index).astype(kind)
        attrs = {"rows": rows, "padding_idx": padding, "scale_grad_by_freq": scaled}
        return [rng.normal(0, 1, (*index, width)).astype(t), at], attrs

    return make


def _index(rng: np.random.Generator, n: int, shape: Any, kind: str, low: int = 0) -> Any:
    return np.asarray(rng.integers(low, n, shape)).astype(kind)


def _added(
    shape: tuple[int, ...], many: int, dim: int, kind: str, alpha: float = 1, zeros: bool = False
) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        size = tuple(many if d == dim % len(shape) else n for d, n in enumerate(shape))
        a = np.broadcast_to(t(0), shape) if zeros else rng.normal(0, 1, shape).astype(t)
        index = _index(rng, shape[dim], many, kind)
        return [a, index, rng.normal(0, 1, size).astype(t)], {"dim": dim, "alpha": alpha}

    return make


def _put_added(size: tuple[int, ...], dim: int, index: tuple[int, ...]) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        at = _index(rng, size[dim], index, "int64", -size[dim])
        g = rng.normal(0, 1, (*size[:dim], *index, *size[dim + 1 :])).astype(t)
        return [g, [None] * dim + [at]], {"size": list(size)}

    return make


def _index_put(shape: tuple[int, ...], dim: int, index: tuple[int, ...], accumulate: bool, one: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        at = _index(rng, shape[dim], index, "int64", -shape[dim])
        size = () if one else (*shape[:dim], *index, *shape[dim + 1 :])
        a, values = (np.asarray(rng.normal(0, 1, s)).astype(t) for s in (shape, size))
        return [a, [None] * dim + [at], values], {"accumulate": accumulate}

    return make


def _copied(shape: tuple[int, ...], many: int, dim: int) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        (a, index, source), _ = _added(shape, many, dim, "int64")(rng, t)
        return [a, index - shape[dim] // 2, source], {"dim": dim}

    return make


def _put(shape: tuple[int, ...], many: int, accumulate: bool = True) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        n = int(np.prod(shape))
        a, source = (rng.normal(0, 1, s).astype(t) for s in (shape, many))
        return [a, _index(rng, n, many, "int64", -n), source], {"accumulate": accumulate}

    return make


def _scattered(shape: tuple[int, ...], many: int, dim: int, kind: str, src: Any = 0) -> Make:
    """`src` is a number, or how many more elements than the index a source has along `dim`."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        d = dim % len(shape)
        size = tuple(many if k == d else n for k, n in enumerate(shape))
        a = rng.normal(0, 1, shape).astype(t)
        more = tuple(n + src if k == d else n for k, n in enumerate(size)) if isinstance(src, int) else ()
        source = rng.normal(0, 1, more).astype(t) if more else src
        return [a, _index(rng, shape[d], size, kind), source], {"dim": dim}

    return make


def _indexed(shape: tuple[int, ...], dim: int, index: tuple[int, ...], kind: str) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        at = _index(rng, shape[dim], index, kind, -shape[dim])
        return [rng.normal(0, 1, shape).astype(t), [None] * dim + [at]], {}

    return make


def _picked(shape: tuple[int, ...], dim: int, keepdim: bool, back: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        d = dim % len(shape)
        kept = [*shape[:d], *([1] if keepdim else []), *shape[d + 1 :]]
        attrs: dict[str, Any] = {"dim": dim, "keepdim": keepdim, **({"size": list(shape)} if back else {})}
        return [
            rng.normal(0, 1, kept if back else shape).astype(t),
            _index(rng, shape[d], kept, "int64"),
        ], attrs

    return make


_SCATTERED: tuple[tuple[Any, ...], ...] = (
    ((4, 5, 6), 9, 1, "int32"), ((3, 50), 7, -1, "int64"), ((2, 2100), 300, 1, "int64"),
    ((40, 70), 5, 0, "int64", 2), ((1, 9, 3), 1, 1, "int64"),
)  # fmt: skip

CASES = [
    *(Case("attend", _attend(*how, False), str(how), 64) for how in _ATTENDED),
    *(Case("attend_backward", _attend(*how, True), str(how), 128) for how in _ATTENDED),
    Case("attend", _attend((4, 4), 4, 4, "", False, False, -0.5), "negative", 64),
    Case("attend_backward", _attend((4, 4), 4, 4, "", False, True, -0.5), "negative", 128),
    *(
        Case(op, make(shape, many, dim, kind), f"{shape}-{many}-{dim}-{kind}", 0)
        for op, make in (("index_select", _slices), ("gather", _gather))
        for shape, many, dim, kind in (
            ((5,), 3, 0, "int64"), ((4, 5, 6), 9, 1, "int32"), ((3, 50), 7, -1, "int64"),
        )
    ),
    Case("embedding", _table((3, 4), 11, 5, "int64"), "", 0),
    Case("embedding", _table((), 11, 40, "int32"), "one", 0),
    Case("embedding_backward", _rows((3, 40), 11, 5, None, False, "int64")),
    Case("embedding_backward", _rows((60,), 7, 33, 2, True, "int32"), "scaled"),
    Case("embedding_backward", _rows((1,), 2, 3, None, False, "int64"), "one"),
    Case("embedding_backward", _rows((300,), 50, 130, None, False, "int64"), "wide"),
    *(
        Case("index_add", _added(*how), str(how))
        for how in (
            ((5,), 9, 0, "int64"), ((4, 5, 6), 9, 1, "int32", 0.5), ((5000, 3), 200, 0, "int64"),
            ((3, 50), 7, -1, "int64", -2, True),
        )
    ),
    Case("index_put_add", _put_added((30, 5), 0, (4, 10))),
    Case("index_put_add", _put_added((3, 30, 5), 1, (11,)), "middle"),
    Case("index_put_add", _put_added((7,), 0, ()), "one"),
    Case("index", _indexed((30, 5), 0, (4, 10), "int64"), "", 0),
    Case("index", _indexed((3, 30, 5), 1, (11,), "int32"), "middle", 0),
    *(
        Case(op, _picked(shape, dim, keepdim, op == "place"), f"{shape}-{dim}-{keepdim}", 0)
        for op in ("pick", "place")
        for shape, dim, keepdim in (((4, 5, 6), 1, True), ((3, 50), -1, False), ((7,), 0, False))
    ),
    *(
        Case("index_write", _index_put(*how), str(how), 32 if how[3] else 0)
        for how in (
            ((30, 5), 0, (4, 10), False, False), ((3, 30, 5), 1, (11,), False, True),
            ((3, 30), 1, (50,), True, False), ((9,), 0, (), True, True),
        )
    ),
    Case("index_copy", _copied((9, 5), 30, 0), "", 0),
    Case("index_copy", _copied((3, 2100), 70, -1), "long", 0),
    Case("put", _put((7, 9), 40)),
    Case("put", _put((7, 9), 40, False), "written", 0),
    Case("put", _put((5000,), 300), "long"),
    *(
        Case(op, _scattered(*how), str(how), 0 if op == "scatter" else 32)
        for op in ("scatter", "scatter_add")
        for how in _SCATTERED
    ),
    Case("scatter_add", _scattered((9,), 400, 0, "int32"), "vector"),
    Case("scatter", _scattered((9,), 40, 0, "int32"), "vector", 0),
    Case("scatter", _scattered((4, 9), 3, 1, "int64", 2.5), "number", 0),
]  # fmt: skip
