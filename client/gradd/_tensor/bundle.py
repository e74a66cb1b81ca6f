"""What a notebook shows of a tensor: what is known of it, and its values as a table or as they print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.tensor import cells
from gradd_protocol.limits import DEFAULT

from .. import _notebook
from .._exceptions import GraddError

if TYPE_CHECKING:
    from .tensor import Tensor


def bundle(t: Tensor) -> dict[str, str]:
    """The tensor by media type. Its values are read once, as `repr` does, and what prevents that is shown:
    whoever displays a tensor would ask for its other forms, and wait for each.
    """
    kind = type(t).__name__
    title = "tensor" if kind == "Tensor" else kind
    try:
        said = repr(t)
    except GraddError as error:
        said = f"{title}: {type(error).__name__}: {error}"
        return {"text/plain": said, "text/html": _notebook.text(said)}
    try:
        facts = _facts(t)
    except RuntimeError:  # a parameter that is not initialized, or a view that is not to be used any more
        return {"text/plain": said, "text/html": _notebook.text(said)}
    return {"text/plain": said, "text/html": _notebook.shown(title, facts, _values(t, said))}


def _facts(t: Tensor) -> dict[str, object]:
    facts: dict[str, object] = {"shape": tuple(t.shape), "dtype": t.dtype, "device": t.device}
    if t.requires_grad:
        facts["requires_grad"] = True
    fn = t.grad_fn
    if fn is not None:
        facts["grad_fn"] = fn.name()
    return facts


def _values(t: Tensor, said: str) -> str:
    """Rows of a small tensor that is here; else its text."""
    dense: Any = t
    tabular = str(dense.layout) == "torch.strided" and t.ndim in (1, 2) and bool(t.numel())
    if tabular and t.nbytes <= DEFAULT.inline_result_bytes and t._session.has(t):
        return _notebook.table(cells(t._values(), t.dtype))
    return _notebook.text(said)
