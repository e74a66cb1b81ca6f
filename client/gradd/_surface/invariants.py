"""Whether what makes a sparse tensor is looked at (torch.sparse.check_sparse_tensor_invariants).

Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.check_sparse_tensor_invariants.html
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, ClassVar


class check_sparse_tensor_invariants:
    """Within it, or in a function that it decorates, constructors of sparse tensors look at their indices,
    which waits for them. RuntimeError for what cannot be.
    """

    _on: ClassVar[bool] = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self._before: list[bool] = []

    @staticmethod
    def is_enabled() -> bool:
        """Whether indices are looked at."""
        return check_sparse_tensor_invariants._on

    @staticmethod
    def enable() -> None:
        """Look at indices from now on."""
        check_sparse_tensor_invariants._on = True

    @staticmethod
    def disable() -> None:
        """Do not look at indices any more."""
        check_sparse_tensor_invariants._on = False

    def __enter__(self) -> None:
        self._before.append(self.is_enabled())
        check_sparse_tensor_invariants._on = self.state

    def __exit__(self, *_: object) -> None:
        check_sparse_tensor_invariants._on = self._before.pop()

    def __call__(self, mth: Callable[..., Any]) -> Callable[..., Any]:
        """`mth`, with indices looked at."""

        @functools.wraps(mth)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **kwargs)

        return checked


def checking(asked: bool | None) -> bool:
    """Whether a constructor looks at its indices."""
    return check_sparse_tensor_invariants.is_enabled() if asked is None else asked


def wrong_indices(places: Any, size: Any) -> None:
    """RuntimeError where indices of a tensor in coordinate format are not in its size."""
    for dim, row in enumerate(places.tolist()):
        if row and min(row) < 0:
            raise RuntimeError(f"found negative index {min(row)} for dim {dim}")
        if row and max(row) >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found index "
                f"{max(row)}"
            )


def wrong_compressed(starts: Any, others: Any, names: tuple[str, str], count: int) -> None:
    """RuntimeError where indices of a compressed tensor are not what they have to be; `count`: how many
    columns (or rows) a value may be in.
    """
    first, second = names
    limit = "ncols" if second == "col_indices" else "nrows"
    begins, places = starts.numpy(), others.numpy()
    steps = begins[..., 1:] - begins[..., :-1]
    for holds, said in (
        ((begins[..., 0] == 0).all(), f"`{first}[..., 0] == 0` is not satisfied."),
        ((begins[..., -1] == places.shape[-1]).all(), f"`{first}[..., -1] == nnz` is not satisfied."),
        (
            ((steps >= 0) & (steps <= count)).all(),
            f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= {limit}` is not satisfied.",
        ),
        (((places >= 0) & (places < count)).all(), f"`0 <= {second} < {limit}` is not satisfied."),
    ):
        if not holds:
            raise RuntimeError(said)
    for row, held in zip(
        begins.reshape(-1, begins.shape[-1]), places.reshape(-1, places.shape[-1]), strict=True
    ):
        for begin, end in itertools.pairwise(row.tolist()):
            part = held[begin:end].tolist()
            if any(a >= b for a, b in itertools.pairwise(part)):
                rows = "nrows" if limit == "ncols" else "ncols"
                raise RuntimeError(
                    f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., {rows} are "
                    "sorted and distinct along the last dimension values` is not satisfied."
                )
