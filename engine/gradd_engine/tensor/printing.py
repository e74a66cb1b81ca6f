"""How tensors print: the text PyTorch would print, from values alone.

Source: the observed output of torch 2.13; options after
https://pytorch.org/docs/stable/generated/torch.set_printoptions.html
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import dtypes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..data import DType


@dataclasses.dataclass
class PrintOptions:
    """Digits after the point, elements before summarising, items at an edge, characters a line, sci mode."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; see torch.set_printoptions. ``sci_mode`` None chooses by the values."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    chosen.update({name: value for name, value in given.items() if value is not None})
    for name, value in chosen.items():
        setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


class _Column:
    """One style and one width for all elements shown: whole numbers, fixed point, scientific, or as is."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.spec: str | None = None
        self.whole = False
        self.width = 1
        flat = values.reshape(-1)
        if values.dtype.kind != "f":
            self.width = max([1, *(len(str(v)) for v in flat.tolist())])
            return
        self.spec, self.whole = ".0f", True
        seen = flat[np.isfinite(flat) & (flat != 0)]
        if not seen.size:
            return
        sizes = np.abs(seen).astype(np.float64)
        low, high = float(sizes.min()), float(sizes.max())
        self.whole = bool((seen == np.ceil(seen)).all())
        scientific = high / low > 1000.0 or high > 1e8 or low < 1e-4
        if scientific if OPTIONS.sci_mode is None else OPTIONS.sci_mode:
            self.spec, self.whole = f".{OPTIONS.precision}e", False
        elif not self.whole:
            self.spec = f".{OPTIONS.precision}f"
        self.width = max(1, *(len(format(v, self.spec)) + self.whole for v in seen.tolist()))

    def __call__(self, value: Any) -> str:
        if self.spec is None:
            text = str(value)
        else:
            text = format(value, self.spec) + ("." if self.whole and math.isfinite(value) else "")
        return text.rjust(self.width)


class _Pair:
    """Complex elements: a column for each part."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.real, self.imag = _Column(values.real), _Column(values.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: Any) -> str:
        imag = self.imag(value.imag).lstrip() + "j"
        return self.real(value.real) + ("" if imag[0] in "+-" else "+") + imag


def edges(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements a summary shows: along each long axis, the first and the last few."""
    keep = OPTIONS.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * keep:
            array = np.take(array, [*range(keep), *range(size - keep, size)], axis=axis)
    return array


def _rows(array: np.ndarray[Any, Any], indent: int, cut: bool, cell: Callable[[Any], str], width: int) -> str:
    if array.ndim == 0:
        return cell(array.item())
    keep = OPTIONS.edgeitems
    heads: Any = array
    tails: Any = ()
    if cut and len(array) > 2 * keep:
        heads, tails = array[:keep], array[len(array) - keep :]
    if array.ndim == 1:
        line = max(1, (OPTIONS.linewidth - indent) // (width + 2))
        cells = [cell(v) for v in np.asarray(heads).tolist()]
        if len(tails):
            cells += [" ...", *(cell(v) for v in np.asarray(tails).tolist())]
        lines = [", ".join(cells[i : i + line]) for i in range(0, len(cells), line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [_rows(a, indent + 1, cut, cell, width) for a in heads]
    if len(tails):
        parts += ["...", *(_rows(a, indent + 1, cut, cell, width) for a in tails)]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


#: rows and columns of a table
_CELLS = 20


def cells(array: np.ndarray[Any, Any], dtype: DType) -> list[list[str]]:
    """The elements of a row or a matrix, as `format_tensor` writes them. Of one that is summarised there, or
    has many rows or columns, the edges, and `...` between.
    """
    matrix = np.atleast_2d(array.astype(np.float32) if dtype.is_half else array)
    cut = matrix.size > OPTIONS.threshold or max(matrix.shape) > _CELLS
    seen = edges(matrix) if cut else matrix
    style = _Pair(seen) if seen.dtype.kind == "c" else _Column(seen)
    rows = [[style(v).strip() for v in row] for row in seen.tolist()]
    for n, size in enumerate(matrix.shape):
        if cut and size > 2 * OPTIONS.edgeitems:
            if n:
                rows = [[*row[: OPTIONS.edgeitems], "...", *row[OPTIONS.edgeitems :]] for row in rows]
            else:
                rows.insert(OPTIONS.edgeitems, ["..."] * seen.shape[1])
    return rows


def _body(array: np.ndarray[Any, Any], indent: int) -> str:
    cut = array.size > OPTIONS.threshold
    shown = edges(array) if cut else array
    style = _Pair(shown) if array.dtype.kind == "c" else _Column(shown)
    return _rows(array, indent, cut, style, style.width)


def _is_default(dtype: DType) -> bool:
    """Whether PyTorch leaves the dtype out."""
    default = dtypes.default_dtype()
    return dtype in (default, dtypes.to_complex(default), dtypes.int64, dtypes.bool_)


def format_tensor(
    array: np.ndarray[Any, Any],
    dtype: DType,
    *,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    device: str | None = None,
    prefix: str = "tensor(",
    tangent: str | None = None,
) -> str:
    """The text of a tensor with these values, as torch 2.13 prints it.

    ``array`` holds the values (any shape; 16-bit floats in any float dtype), ``dtype`` is what to call them.
    ``device`` is named only when given: None for a CPU. A ``grad_fn_name`` hides ``requires_grad``;
    ``tangent`` is the text of a forward-mode tangent.
    """
    if dtype.is_half:
        array = array.astype(np.float32)
    notes: list[str] = []
    if device is not None:
        notes.append(f"device='{device}'")
    if array.size:
        body = _body(array, len(prefix))
        if not _is_default(dtype):
            notes.append(f"dtype={dtype}")
    else:
        body = "[]"
        if array.ndim != 1:
            notes.append(f"size={tuple(array.shape)}")
        if dtype is not dtypes.default_dtype():
            notes.append(f"dtype={dtype}")
    if grad_fn_name is not None:
        notes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        notes.append("requires_grad=True")
    if tangent is not None:
        notes.append(f"tangent={tangent}")
    return _with_notes(prefix + body, notes, len(prefix))


def _with_notes(text: str, notes: Sequence[str], indent: int) -> str:
    """Append the notes, each on the last line where it fits, else on a line of its own."""
    parts = [text]
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * indent + note)
            used = indent + len(note)
        else:
            parts.append(", " + note)
            used += len(note) + 2
    return "".join(parts) + ")"
