"""One recurrent layer in one direction as one op, and its gradients as another.

Source: https://pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, state
from ...declare import Joint, kernel
from ...graph import TURN, levels_of
from ...kernels import CELLS, SHAPES, run_layer, run_layer_backward
from . import recurrent_steps as recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

_NODES = {
    "lstm": "MkldnnRnnLayerBackward0",
    "gru": "GruLayerBackward0",
    "rnn_tanh": "RnnTanhLayerBackward0",
    "rnn_relu": "RnnReluLayerBackward0",
}
#: dtypes that kernels compute in
REALS = (dtypes.float32, dtypes.float64)


def takes(kind: str, rows: Any, hx: Sequence[Any], w_hh: Any, b_hh: Any, sizes: Any) -> bool:
    """Whether `recurrent_layer` takes these. The ops of its steps tell what is wrong with others, or take
    them.
    """
    first, dtype = hx[0], w_hh.dtype
    if dtype not in REALS or any(t.dtype is not dtype for t in (rows, *hx)):
        return False
    if first.ndim != 2 or any(t.shape != first.shape for t in hx) or not first.numel():
        return False
    batch, hidden = first.shape
    width = SHAPES[kind].gates * hidden
    if tuple(w_hh.shape) != (width, hidden) or rows.shape[-1] != width or not rows.numel():
        return False
    if b_hh is not None and (b_hh.dtype is not dtype or tuple(b_hh.shape) != (width,)):
        return False
    return sizes is not None or (rows.ndim == 3 and rows.shape[1] == batch)


def keeps(rows: Any, hx: Sequence[Any], w_hh: Any, b_hh: Any) -> bool:
    """Whether something will be differentiated, so that the gates are to be kept."""
    given = [t for t in (rows, *hx, w_hh, b_hh) if t is not None]
    return bool(levels_of(given)) or (state.grad and any(t.requires_grad for t in given))


def check_sizes(sizes: Sequence[int], batch: int) -> None:
    """RuntimeError unless the rows of the steps fall from the batch's to no less than 1."""
    falling = bool(sizes) and sizes[-1] >= 1 and all(a >= b for a, b in pairwise(sizes))
    if not falling or sizes[0] != batch:
        raise RuntimeError(f"batch_sizes must fall from the batch size to 1 or more, but got {list(sizes)}")


def _check_states(name: str, kind: str, hx: Sequence[Tensor], w_hh: Tensor) -> tuple[int, int]:
    """Samples and hidden size; RuntimeError for states and a weight that are none of a layer of this kind."""
    if kind not in SHAPES:
        raise RuntimeError(f"{name}(): no kind of layer is called {kind!r}")
    shape, first = SHAPES[kind], hx[0] if hx else w_hh
    same = all(t.shape == first.shape and t.dtype is w_hh.dtype for t in hx)
    if len(hx) != shape.states or not same or first.ndim != 2 or w_hh.dtype not in REALS:
        raise RuntimeError(
            f"{name}(): expected {shape.states} states [N, hidden] of float32 or float64, as the weight is"
        )
    batch, hidden = first.shape
    if tuple(w_hh.shape) != (shape.gates * hidden, hidden) or not hidden or not batch:
        raise RuntimeError(
            f"{name}(): a weight {list(w_hh.shape)} does not go with states {list(first.shape)}"
        )
    return batch, hidden


def _steps(name: str, rows: Tensor, width: int, batch: int, batch_sizes: Any) -> None:
    """RuntimeError unless `rows` are [L, N, width], or packed [sum(batch_sizes), width]."""
    if batch_sizes is None:
        fits = rows.ndim == 3 and tuple(rows.shape[1:]) == (batch, width) and rows.shape[0] > 0
    else:
        check_sizes(batch_sizes, batch)
        fits = tuple(rows.shape) == (sum(batch_sizes), width)
    if not fits:
        raise RuntimeError(f"{name}(): expected rows of {width} for {batch} samples, got {list(rows.shape)}")


def _sizes(rows: Any, batch_sizes: Any) -> list[int]:
    """How many rows each step has."""
    return [rows.shape[1]] * rows.shape[0] if batch_sizes is None else batch_sizes


def _flat(a: Any) -> Any:
    return None if a is None else a.reshape(-1, a.shape[-1])


def _infer(
    rows: Tensor,
    hx: Sequence[Tensor],
    w_hh: Tensor,
    b_hh: Tensor | None,
    kind: str,
    back: bool,
    kept: bool,
    batch_sizes: Any,
) -> list[Meta]:
    name = "recurrent_layer"
    batch, hidden = _check_states(name, kind, hx, w_hh)
    shape, dtype = SHAPES[kind], w_hh.dtype
    width = shape.gates * hidden
    _steps(name, rows, width, batch, batch_sizes)
    if b_hh is not None and (tuple(b_hh.shape) != (width,) or b_hh.dtype is not dtype):
        raise RuntimeError(f"{name}(): expected a bias of {width} {dtype}, got {list(b_hh.shape)}")
    if rows.dtype is not dtype:
        raise RuntimeError(f"{name}(): expected rows of {dtype}, got {rows.dtype}")
    lead = tuple(rows.shape[:-1])
    reserve = (*lead, shape.kept * hidden) if kept else (0,)
    last = Meta((batch, hidden), dtype)
    return [Meta((*lead, hidden), dtype), last, Meta(reserve, dtype), *[last] * (shape.states - 1)]


def _run(
    xp: Any, rows: Any, hx: Any, w_hh: Any, b_hh: Any, kind: str, back: bool, kept: bool, batch_sizes: Any,
    cells: Any = CELLS,
) -> list[Any]:  # fmt: skip
    sizes = _sizes(rows, batch_sizes)
    out, h, reserve, *more = run_layer(xp, cells, _flat(rows), hx, w_hh, b_hh, kind, back, kept, sizes)
    lead = rows.shape[:-1]
    return [out.reshape(*lead, -1), h, reserve.reshape(*lead, -1) if kept else reserve, *more]


def _cost(
    rows: Tensor, hx: Any, w_hh: Tensor, b_hh: Any, kind: str, back: bool, kept: bool, batch_sizes: Any
) -> tuple[int, int]:
    """Some calls for each step; the sums of one, the states and a copy of the weight."""
    steps = rows.shape[0] if batch_sizes is None else len(batch_sizes)
    batch = hx[0].shape[0]
    kinds = SHAPES[kind] if kind in SHAPES else SHAPES["lstm"]
    room = batch * (w_hh.shape[0] + 2 * kinds.kept * w_hh.shape[-1]) + numel(w_hh.shape)
    return 2 * TURN * steps, room * rows.dtype.itemsize


def _backward_infer(
    grad_output: Tensor | None,
    grad_hn: Tensor | None,
    grad_reserve: Tensor | None,
    grad_cn: Tensor | None,
    hx: Sequence[Tensor],
    w_hh: Tensor,
    reserve: Tensor,
    kind: str,
    back: bool,
    wanted: Sequence[bool],
    batch_sizes: Any,
) -> list[Meta]:
    name = "recurrent_layer_backward"
    batch, hidden = _check_states(name, kind, hx, w_hh)
    shape, dtype = SHAPES[kind], w_hh.dtype
    _steps(name, reserve, shape.kept * hidden, batch, batch_sizes)
    lead = tuple(reserve.shape[:-1])
    ends = (batch, hidden)
    for what, t, size in (
        ("grad_output", grad_output, (*lead, hidden)),
        ("grad_hn", grad_hn, ends),
        ("grad_reserve", grad_reserve, tuple(reserve.shape)),
        ("grad_cn", grad_cn, ends if shape.states > 1 else None),
        ("reserve", reserve, tuple(reserve.shape)),
    ):
        if t is not None and (tuple(t.shape) != size or t.dtype is not dtype):
            raise RuntimeError(f"{name}(): {what} does not fit: {list(t.shape)} of {t.dtype}")
    if len(wanted) != 4:
        raise RuntimeError(f"{name}(): expected four flags in wanted, got {len(wanted)}")
    width = shape.gates * hidden
    states = [Meta(ends, dtype)] * shape.states
    each = ([Meta((*lead, width), dtype)], states, [Meta((width, hidden), dtype)], [Meta((width,), dtype)])
    return [meta for some, yes in zip(each, wanted, strict=True) if yes for meta in some]


def _run_backward(
    xp: Any, grad_output: Any, grad_hn: Any, grad_reserve: Any, grad_cn: Any, hx: Any, w_hh: Any,
    reserve: Any, kind: str, back: bool, wanted: Any, batch_sizes: Any, cells: Any = CELLS,
) -> list[Any]:  # fmt: skip
    grads = [_flat(grad_output), grad_hn, _flat(grad_reserve), grad_cn][: 2 + SHAPES[kind].states]
    sizes = _sizes(reserve, batch_sizes)
    found = run_layer_backward(xp, cells, grads, hx, w_hh, _flat(reserve), kind, back, wanted, sizes)
    if wanted[0]:
        found[0] = found[0].reshape(*reserve.shape[:-1], -1)
    return found


def _backward_cost(*given: Any, kind: str, **how: Any) -> tuple[int, int]:
    """Some calls for each step; the states before each row, what a cell prepares, and the slopes."""
    w_hh, reserve = given[5], given[6]
    batch_sizes = how["batch_sizes"]
    steps = reserve.shape[0] if batch_sizes is None else len(batch_sizes)
    rows = numel(reserve.shape[:-1])
    room = rows * (w_hh.shape[0] + 5 * w_hh.shape[-1]) + 4 * numel(given[4][0].shape)
    return 3 * TURN * steps, room * reserve.dtype.itemsize


recurrent_layer_backward: Op = kernel(
    "recurrent_layer_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_reserve, Tensor? grad_cn, "
    "Tensor[] hx, Tensor w_hh, Tensor reserve, *, str kind, bool back, bool[] wanted, "
    "int[]? batch_sizes=None) -> Tensor[]",
    infer=_backward_infer,
    impl=_run_backward,
    composite=recorded.layer_backward,
    cost=_backward_cost,
    namespace="-",
    outside=True,
    doc="The `wanted` ones among the gradients of recurrent_layer for its rows, hx, w_hh and b_hh.",
    raises=False,
)


def _check_kept(inputs: Any, kind: str, back: bool, kept: bool, batch_sizes: Any) -> None:
    """RuntimeError where nothing was kept to differentiate with."""
    if not kept:
        raise RuntimeError("recurrent_layer(): it has no derivative unless it keeps its gates (kept=True)")


def _gradients(
    grads: Sequence[Any],
    hx: Any,
    w_hh: Any,
    out2: Any,
    needs: Any,
    kind: str,
    back: bool,
    kept: bool,
    batch_sizes: Any,
) -> tuple[Any, ...]:
    _check_kept((), kind, back, kept, batch_sizes)
    wanted = [bool(n) for n in needs]
    of_cell = grads[3] if len(grads) > 3 else None
    found = iter(
        recurrent_layer_backward(
            *grads[:3], of_cell, list(hx), w_hh, out2, kind=kind, back=back, wanted=wanted,
            batch_sizes=batch_sizes,
        )
    )  # fmt: skip
    return (
        next(found) if wanted[0] else None,
        [next(found) for _ in hx] if wanted[1] else None,
        *(next(found) if yes else None for yes in wanted[2:]),
    )


def _tangents(
    rows: Any,
    rows_t: Any,
    hx: Any,
    hx_t: Any,
    w_hh: Any,
    w_hh_t: Any,
    b_hh_t: Any,
    out2: Any,
    kind: str,
    back: bool,
    kept: bool,
    batch_sizes: Any,
) -> list[Any]:
    _check_kept((), kind, back, kept, batch_sizes)
    return recorded.layer_tangent(rows, rows_t, hx, hx_t, w_hh, w_hh_t, b_hh_t, out2, kind, back, batch_sizes)


recurrent_layer: Op = kernel(
    "recurrent_layer(Tensor rows, Tensor[] hx, Tensor w_hh, Tensor? b_hh, *, str kind, bool back, "
    "bool kept, int[]? batch_sizes=None) -> Tensor[]",
    infer=_infer,
    impl=_run,
    composite=recorded.layer,
    vjp=Joint("rows hx w_hh b_hh", _gradients),
    jvp=_tangents,
    check_backward=_check_kept,
    cost=_cost,
    node=lambda attrs: _NODES[attrs["kind"]],
    namespace="-",
    outside=True,
    doc="One layer of `kind` (lstm, gru, rnn_tanh, rnn_relu) in one direction (back: from the last step on), "
    "from states hx [N, hidden] and rows [L, N, gates * hidden], its inputs times their weight; with "
    "batch_sizes rows are packed, so many of each step. Gives the states after each step, the last one, "
    "what is kept for gradients (kept), and an lstm's last cell.",
    raises=False,
)
