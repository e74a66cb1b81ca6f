"""Optimizer steps on the device: one launch over many parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .launch import dense, kind, launch
from .packs import ROWS, distinct, groups, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

THREADS = 256
#: parameters by value, and as which dtype their gradients come: 16 bits are made float32 on the way
PAIRS = {"f": "f", "d": "d", "e": "f", "E": "f"}


def _fits(arrays: Sequence[Any]) -> bool:
    """Whether a parameter, its gradient and what a step holds can be taken as vectors."""
    p, g, *state = arrays
    return (
        PAIRS.get(kind(p)) == kind(g)
        and all(a.dtype == p.dtype for a in state)
        and all(a.flags.c_contiguous for a in (p, *state))
    )


def _step(
    name: str, rows: Sequence[int | None], counted: int | None, numbers: Callable[..., Any]
) -> Callable[..., Any]:
    """For a step whose lists of tensors after the gradients go to `rows` of a pack, but that of its counts.

    `numbers` makes what a kernel is given beside arrays.
    """

    def native(plain: Any) -> Any:
        def kernel(xp: Any, params: Any, grads: Any, *more: Any, **options: Any) -> list[Any]:
            *lists, found_inf = more
            columns, rest = [], []
            for i, (p, g) in enumerate(zip(params, grads, strict=True)):
                held = [each[i] if each else None for each in lists]
                state = [a for k, a in enumerate(held) if a is not None and k != counted]
                if not _fits([p, g, *state]):
                    rest.append(i)
                    continue
                column: list[Any] = [p, dense(xp, g), *[None] * (ROWS - 2)]
                for k, a in enumerate(held):
                    row = ROWS - 1 if k == counted else rows[k]
                    if row is not None:
                        column[row] = a
                columns.append(column)
            if not distinct(a for c in columns for k, a in enumerate(c) if k != 1):
                return plain(xp, params, grads, *more, **options)  # type: ignore[no-any-return]
            given = numbers(*lists, **options)
            for types, some in groups(columns, 2):
                packed = pack(some)
                if counted is not None:
                    launch(xp, "count_steps", "f", (1,), 64, packed, found_inf, len(some))
                chunks = int(packed["chunk"][0, -1])
                if chunks:
                    launch(xp, name, types, (chunks,), THREADS, packed, found_inf, *given)
            for i in rest:
                own = [each[i : i + 1] for each in lists]
                plain(xp, params[i : i + 1], grads[i : i + 1], *own, found_inf, **options)
            return []

        return kernel

    return native


def _sgd_numbers(
    buffers: Any, lr: float, momentum: float, dampening: float, weight_decay: float, nesterov: bool,
    maximize: bool, first: bool,
) -> list[Any]:  # fmt: skip
    flags = (bool(buffers), nesterov, maximize, first)
    return [*map(float, (lr, momentum, dampening, weight_decay)), *map(int, flags)]


def _adam_numbers(
    *_: Any, lr: float, beta1: float, beta2: float, eps: float, weight_decay: float, amsgrad: bool,
    maximize: bool, decoupled: bool,
) -> list[Any]:  # fmt: skip
    return [*map(float, (lr, beta1, beta2, eps, weight_decay)), *map(int, (amsgrad, maximize, decoupled))]


def _rmsprop_numbers(
    squares: Any, steps: Any, buffers: Any, means: Any, lr: float, alpha: float, eps: float,
    weight_decay: float, momentum: float, maximize: bool,
) -> list[Any]:  # fmt: skip
    flags = (bool(buffers), bool(means), maximize)
    return [*map(float, (lr, alpha, eps, weight_decay, momentum)), *map(int, flags)]


NATIVE = {
    "adam_step": _step("adam", [2, 3, None, 4], 2, _adam_numbers),
    "rmsprop_step": _step("rmsprop", [2, None, 3, 4], 1, _rmsprop_numbers),
    "sgd_step": _step("sgd", [2], None, _sgd_numbers),
}
