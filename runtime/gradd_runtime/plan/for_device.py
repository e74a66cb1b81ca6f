"""Passes over a trace for a device, where what a launch costs counts more than what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import Meta
from gradd_engine.schema import REGISTRY
from gradd_engine.tracing import Block, KernelCall, Place

from .blocks import FusedCall, touched, written
from .formulas import kind_of
from .fuse import BlockMemory, fuse, is_dense, target_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gradd_engine.backends.array import ArrayBackend
    from gradd_engine.tracing import Instruction


def for_device(
    code: Sequence[Instruction], same: dict[int, Block], outliving: set[int], backend: ArrayBackend
) -> Sequence[Instruction | FusedCall]:
    """The code in fewer launches; as it is where the backend has no device kernels. `same`: blocks whose
    memory others have; `outliving`: numbers of blocks that outlive the program.
    """
    fusing = backend.kernels.fusing
    if fusing is None:
        return code
    # Blocks that others replaced are in no instruction, but still have their numbers.
    last = max((*same, *outliving, *[b.number for i in code for b in touched(i)]), default=0)
    split = list(split_sums(code, fusing.SPLITS, last))
    packed = pack_norms(split, BlockMemory(split, same, outliving), fusing)
    return fuse(packed, BlockMemory(packed, same, outliving), backend, fusing)


def split_sums(
    code: Sequence[Instruction], splits: Mapping[str, tuple[str, str]], last: int
) -> Iterator[Instruction]:
    """A product that something is added to as two instructions, so that the sum can be fused: the same two
    launches otherwise. `last`: the greatest number of a block.
    """
    for i in code:
        names = splits.get(i.op.name) if isinstance(i, KernelCall) else None
        if not isinstance(i, KernelCall) or names is None or not _adds_once(i):
            yield i
            continue
        (m,), (added, a, b) = i.metas, i.args
        last += 1
        product = Meta((a.shape[0], b.shape[1]), m.dtype)
        block = Block(last, product, product.nbytes)
        yield KernelCall(REGISTRY[names[0]], (a, b), {}, (product,), (block,), None)
        whole = Place(block, tuple(product.shape), tuple(product.strides), 0, m.dtype)
        yield KernelCall(REGISTRY[names[1]], (added, whole), {"alpha": 1}, i.metas, i.outs, i.target)


def pack_norms(
    code: Sequence[Instruction], memory: BlockMemory, fusing: Any
) -> list[Instruction | FusedCall]:
    """The norms of many tensors that are stacked, as `clip_grad_norm_` does it, as one call."""
    norms = {
        i.outs[0].number: n
        for n, i in enumerate(code)
        if isinstance(i, KernelCall) and i.op.name == fusing.PackedNorms.of and _is_whole(i)
    }
    instead: dict[int, FusedCall] = {}
    gone: set[int] = set()
    for n, i in enumerate(code):
        packed = fusing.STACKED.get(i.op.name) if isinstance(i, KernelCall) else None
        if packed is None or not isinstance(i, KernelCall) or i.target is not None or i.attrs["dim"]:
            continue
        those = [norms.get(p.block.number, -1) for p in i.args[0]]
        members = {n, *those}
        if len(members) <= len(those) or -1 in members or len(those) < 2:
            continue
        calls: list[Any] = [code[k] for k in those]
        roots = {memory.root(c.args[0].block) for c in calls}
        kinds = {kind_of(c.metas[0].dtype) for c in calls}
        changed = {memory.root(b) for k in range(min(those), n) for b in written(code[k])}
        if len(kinds) > 1 or roots & changed or any(memory.stays(c.outs[0], members) for c in calls):
            continue
        given = (*[c.args[0] for c in calls], target_of(i))
        instead[n] = FusedCall((*calls, i), packed(*kinds), given, i.outs)
        gone.update(those)
    return [instead.get(n, i) for n, i in enumerate(code) if n not in gone]


def _adds_once(i: KernelCall) -> bool:
    """Whether it is `input + mat1 @ mat2`, and nothing is rounded in between."""
    plain = all(type(v) in (int, float) and v == 1 for v in i.attrs.values())
    return plain and kind_of(i.metas[0].dtype) in ("f", "d")


def _is_whole(i: KernelCall) -> bool:
    """Whether a norm is the Euclidean one of a whole dense array."""
    if i.target is not None:
        return False
    (a,), attrs, (meta,) = i.args, i.attrs, i.metas
    plain = attrs["ord"] == 2 and attrs["dim"] is None and not attrs["keepdim"] and attrs["dtype"] is None
    return plain and is_dense(a) and kind_of(a.dtype) in ("f", "d") and meta.dtype is a.dtype
