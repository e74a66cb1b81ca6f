"""Entries of PyTorch's own operator database (its ``op_db``), each with our callable of that name; tensors of
the same values on both sides. Needs torch and expecttest.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradd
import ml_dtypes
import numpy as np

from tests.ops.database import op_db

#: relative tolerance of values and of derivatives, by dtype
CLOSE = {
    "float64": (1e-8, 1e-6),
    "complex128": (1e-8, 1e-6),
    "float32": (2e-4, 2e-3),
    "complex64": (2e-4, 2e-3),
    "bfloat16": (2e-2, 6e-2),
    "float16": (4e-3, 2e-2),
}
#: a tolerance that asks for dtypes and shapes alone
NO_VALUES = -1.0
#: ops whose samples say nothing about values: they draw, or give memory as it is
WITHOUT_VALUES = frozenset(
    {
        "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential",
        "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided", "normal", "pca_lowrank",
        "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "resize_",
        "svd_lowrank", "uniform", "nn.functional.alpha_dropout", "nn.functional.dropout",
        "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout",
        "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "nn.functional.rrelu",
    }
)  # fmt: skip


class Differs(AssertionError):
    """The two sides do not agree; `unsupported` where ours says that it has no such thing."""

    unsupported = False


@dataclass(frozen=True)
class Peer:
    """An entry of ``op_db`` with our callable of that name."""

    info: Any
    fn: Callable[..., Any]

    @property
    def name(self) -> str:
        """The entry's name and variant."""
        variant = self.info.variant_test_name
        return f"{self.info.name} {variant}" if variant else str(self.info.name)

    @property
    def draws(self) -> bool:
        """Whether its samples say nothing about values."""
        return self.info.name in WITHOUT_VALUES


def swapped(fn: Any) -> Any:
    """A function of the samples' file that says ``torch`` and means gradd."""
    if not isinstance(fn, types.FunctionType) or "torch" not in fn.__globals__:
        return fn
    made = types.FunctionType(
        fn.__code__, {**fn.__globals__, "torch": gradd}, fn.__name__, fn.__defaults__, fn.__closure__
    )
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def _slice(x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def ours(info: Any) -> Callable[..., Any] | None:
    """Our callable for an entry; None where there is none."""
    if info.name == "slice":  # PyTorch's has no name of its own
        return _slice
    fn = info.op
    if isinstance(fn, types.FunctionType) and fn.__module__.startswith("torch.testing"):
        return swapped(fn)  # type: ignore[no-any-return]
    found: Any = gradd
    for part in info.name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else getattr(gradd.Tensor, info.name, None)


def drawn(sample: Any) -> bool:
    """Whether what a sample computes is partly drawn, so that its values say nothing."""
    dropping = sample.kwargs.get("training") and "use_separate_proj_weight" in sample.kwargs
    return bool(sample.kwargs.get("dropout_p") or dropping)


def peers(names: Sequence[str] = ()) -> Iterator[Peer]:
    """The entries with an op here whose samples say something about values, by name."""
    for info in op_db():
        if (names and info.name not in names) or info.name in WITHOUT_VALUES:
            continue
        fn = ours(info)
        if fn is not None and info.variant_test_name != "partial_views":
            yield Peer(info, fn)


# -- tensors of both sides ---------------------------------------------------------------------------------


def mirror(x: Any) -> Any:
    """Arguments as ours: tensors of the same values, strides and flags, dtypes by name."""
    import torch

    if isinstance(x, torch.Tensor):
        return _mirrored(x)
    if isinstance(x, torch.Size):
        return tuple(x)
    if isinstance(x, (list, tuple)):
        return type(x)(map(mirror, x)) if not hasattr(x, "_fields") else type(x)(*map(mirror, x))
    if isinstance(x, dict):
        return {k: mirror(v) for k, v in x.items()}
    if isinstance(x, (torch.dtype, torch.memory_format)):
        return getattr(gradd, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return str(x)
    if isinstance(x, torch.nn.Module):
        return gradd.from_torch(x)
    return x


def _array(t: Any) -> Any:
    import torch

    t = t.detach().resolve_conj().resolve_neg()
    if t.dtype is torch.bfloat16:
        return t.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return t.numpy()


def _mirrored(t: Any) -> Any:
    import torch

    if t.layout is torch.sparse_coo:
        parts = _mirrored(t.detach()._indices()), _mirrored(t.detach()._values())
        made = gradd.sparse_coo_tensor(*parts, tuple(t.shape), is_coalesced=t.is_coalesced() or None)
        return made.requires_grad_() if t.requires_grad else made
    if t.layout is torch.sparse_csr:
        held = t.detach()
        parts = (_mirrored(held.crow_indices()), _mirrored(held.col_indices()), _mirrored(held.values()))
        return gradd.sparse_csr_tensor(*parts, tuple(t.shape), requires_grad=t.requires_grad)
    if t.is_contiguous() and not t.is_conj() and not t._is_view():
        found = gradd.tensor(_array(t))
    else:  # the whole memory behind it, which some samples reach for
        whole = t.detach().resolve_conj()
        reach = whole.untyped_storage().nbytes() // whole.element_size()
        flat = _array(whole.as_strided((reach,), (1,), 0))
        found = gradd.tensor(flat).as_strided(tuple(whole.shape), whole.stride(), whole.storage_offset())
        found = found.detach()
        if t.is_conj():
            found = found.conj().resolve_conj().conj()
    return found.requires_grad_() if t.requires_grad else found


def tensors(x: Any) -> list[Any]:
    """The tensors in nested arguments or results, in order."""
    if isinstance(x, (list, tuple)):
        return [t for e in x for t in tensors(e)]
    if isinstance(x, dict):
        return [t for e in x.values() for t in tensors(e)]
    return [x] if hasattr(x, "requires_grad") else []


def values(t: Any) -> Any:
    t = t.detach()
    t = t if f"{t.layout}" == "torch.strided" else t.to_dense()
    if isinstance(t, gradd.Tensor):
        return (t.float() if t.dtype in (gradd.bfloat16, gradd.float16) else t).resolve_conj().numpy()
    import torch

    t = t.resolve_conj().resolve_neg()
    return (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t).numpy(force=True)


def compare(got: Any, want: Any, close: float, what: str) -> None:
    """Differs unless both are None, or tensors of one dtype, shape and values."""
    if (got is None) != (want is None):
        raise Differs(
            f"{what}: {'None' if got is None else 'a tensor'}, not {'None' if want is None else 'a tensor'}"
        )
    if want is None:
        return
    if str(got.dtype) != str(want.dtype):
        raise Differs(f"{what}: {got.dtype}, not {want.dtype}")
    if tuple(got.shape) != tuple(want.shape):
        raise Differs(f"{what}: shape {tuple(got.shape)}, not {tuple(want.shape)}")
    if close == NO_VALUES:
        return
    a, b = values(got), values(want)
    if a.dtype.kind in "fc":
        finite = np.abs(b[np.isfinite(b)])
        scale = min(float(finite.max()), 1e3) if finite.size else 1.0
        least = close * max(scale, 1e-3 if close < 1e-5 else 1.0)
        if not np.allclose(a, b, rtol=close, atol=least, equal_nan=True):
            raise Differs(f"{what}: {_few(a)}, not {_few(b)}")
    elif not np.array_equal(a, b):
        raise Differs(f"{what}: {_few(a)}, not {_few(b)}")


def _few(a: Any) -> str:
    return np.array2string(np.ravel(a)[:6], precision=6)
