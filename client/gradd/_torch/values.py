"""Values of PyTorch's tensors to a session and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_protocol.limits import DEFAULT

from .._surface import namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import DType

    from .._session import Session
    from .._tensor import Tensor

_cat = namespace("")["cat"]


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
    leaf: Any = session.backend.leaf(_array(t), dtype_of(t.dtype), requires_grad)
    return leaf  # type: ignore[no-any-return]


def all_sent(tensors: Sequence[Any], session: Session) -> list[Tensor]:
    """A leaf for each of PyTorch's tensors, which requires gradients if that does.

    Many bytes of one dtype are one upload, of which the leaves are parts.
    """
    found: dict[int, Any] = {}
    for places in _together(tensors, DEFAULT.inline_upload_bytes):
        if len(places) == 1:
            found[places[0]] = sent(tensors[places[0]], session, tensors[places[0]].requires_grad)
            continue
        of = [tensors[i] for i in places]
        flat: Any = session.backend.leaf(
            np.concatenate([_array(t).ravel() for t in of]), dtype_of(of[0].dtype)
        )
        for i, t, part in zip(places, of, flat.split([t.numel() for t in of]), strict=True):
            found[i] = part.view(t.shape).detach().requires_grad_(t.requires_grad)
    return [found[i] for i in range(len(tensors))]


def all_fetched(tensors: Sequence[Any], session: Session) -> list[Any]:
    """PyTorch's tensors with the values of gradd's, which come with one reply. Many bytes of one dtype are
    one result.
    """
    groups = _together(tensors, DEFAULT.inline_result_bytes)
    with no_grad():
        results = [
            tensors[places[0]] if len(places) == 1 else _cat([tensors[i].reshape(-1) for i in places])
            for places in groups
        ]
    session.ask_for(results)
    found: dict[int, Any] = {}
    for places, result in zip(groups, results, strict=True):
        array, at = session.read(result).reshape(-1), 0
        for i in places:
            count = tensors[i].numel()
            found[i] = _here(array[at : at + count].reshape(tensors[i].shape), result.dtype)
            at += count
    return [found[i] for i in range(len(tensors))]


def _together(tensors: Sequence[Any], few: int) -> list[list[int]]:
    """The places of the tensors that travel together: those of a dtype that have more than `few` bytes."""
    by_dtype: dict[Any, list[int]] = {}
    for i, t in enumerate(tensors):
        by_dtype.setdefault(t.dtype, []).append(i)
    groups: list[list[int]] = []
    for places in by_dtype.values():
        many = sum(tensors[i].nbytes for i in places) > few
        groups += [places] if many else [[i] for i in places]
    return groups


def _array(t: Any) -> np.ndarray[Any, Any]:
    """The values of one of PyTorch's tensors, in its own memory where that is possible."""
    if t.layout is not torch.strided or t.is_quantized or t.is_meta:
        kind = "quantized" if t.is_quantized else "meta" if t.is_meta else t.layout
        raise TypeError(f"gradd takes over dense tensors with values, not one that is {kind}")
    dtype = dtype_of(t.dtype)
    plain = t.detach().resolve_conj().resolve_neg().cpu().contiguous()
    # NumPy knows no bfloat16: its bits travel as integers.
    array = plain.view(torch.int16).numpy().view(dtype.np) if t.dtype is torch.bfloat16 else plain.numpy()
    found: np.ndarray[Any, Any] = array
    return found


def _here(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    own = np.array(array, order="C")
    if dtype is dtypes.bfloat16:
        return torch.from_numpy(own.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(own)
