"""hash_tensor: the exclusive or of elements' bits.

https://pytorch.org/docs/stable/generated/torch.hash_tensor.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, wrap_dim
from ...declare import kernel
from .reductions import axes, reduced

if TYPE_CHECKING:
    from ...tensor import Tensor
    from .reductions import Dims


def _infer(input: Tensor, dim: Dims, keepdim: bool, mode: int) -> Meta:
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{input.dtype.title}'")
    if not input.numel() and dim in (None, [], ()):
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for d in [] if dim is None else [dim] if isinstance(dim, int) else dim:
        if input.ndim and not input.shape[wrap_dim(d, input.ndim)]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    wide = dtypes.float64 if input.dtype.is_floating_point else dtypes.int64
    if input.dtype is dtypes.uint64:
        wide = dtypes.uint64
    return reduced(input, dim, keepdim, dtypes.uint64, wide)


def _impl(xp: Any, a: Any, dim: Dims, keepdim: bool, mode: int) -> Any:
    over = axes(a, dim)
    rest = [d for d in range(a.ndim) if d not in over]
    bits = xp.ascontiguousarray(a.transpose([*over, *rest])).view(xp.uint64)
    kept = [a.shape[d] for d in rest]
    bits = bits.reshape([numel([a.shape[d] for d in over]), *kept])
    while len(bits) > 1:  # CuPy's bitwise_xor cannot reduce
        half = len(bits) // 2
        bits = xp.concatenate((bits[:half] ^ bits[half : 2 * half], bits[2 * half :]))
    found = bits[0]
    return found.reshape([1 if d in over else n for d, n in enumerate(a.shape)]) if keepdim else found


hash_tensor = kernel(
    "hash_tensor(Tensor input, int[]? dim=None, *, bool keepdim=False, int mode=0) -> Tensor",
    infer=_infer,
    impl=_impl,
    method=True,
    doc="""The exclusive or of the elements' bits, widened to 64 (torch.hash_tensor).

    uint64, over `dim` or over all; floats count as float64, integers as int64. `mode` is 0: there is no
    other way to hash.
    """,
    raises=False,
)
