"""Values of PyTorch's tensors to a session and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gradd_engine.data import dtypes

if TYPE_CHECKING:
    from gradd_engine.data import DType

    from .._session import Session
    from .._tensor import Tensor


def dtype_of(dtype: Any) -> DType:
    """The dtype of PyTorch's that has the same name. TypeError if gradd does not have it."""
    name = str(dtype).removeprefix("torch.")
    found = getattr(dtypes, "bool_" if name == "bool" else name, None)
    if not isinstance(found, dtypes.DType):
        raise TypeError(f"gradd has no tensors of {dtype}")
    return found


def sent(t: Any, session: Session, requires_grad: bool) -> Tensor:
    """A leaf in the session with the values of one of PyTorch's tensors, whose bytes are taken now.

    TypeError for a tensor that is not strided, or has no values.
    """
    if t.layout is not torch.strided or t.is_quantized or t.is_meta:
        kind = "quantized" if t.is_quantized else "meta" if t.is_meta else t.layout
        raise TypeError(f"gradd takes over dense tensors with values, not one that is {kind}")
    dtype = dtype_of(t.dtype)
    plain = t.detach().resolve_conj().resolve_neg().cpu().contiguous()
    # NumPy knows no bfloat16: its bits travel as integers.
    array = plain.view(torch.int16).numpy().view(dtype.np) if t.dtype is torch.bfloat16 else plain.numpy()
    leaf: Any = session.backend.leaf(array, dtype, requires_grad)
    return leaf  # type: ignore[no-any-return]


def fetched(tensors: list[Any], session: Session) -> list[Any]:
    """PyTorch's tensors with the values of gradd's, which come in one reply."""
    session.ask_for(tensors)
    return [_here(t) for t in tensors]


def _here(t: Tensor) -> Any:
    array = np.array(t.numpy(force=True), order="C")
    if t.dtype is dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
