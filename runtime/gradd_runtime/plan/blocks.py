"""Which memory an instruction of a trace touches, which it changes, and which ones refuse no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.tracing import Allocate, Block, Copy, Instruction, Kernel, Place, Window, root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: families whose kernels never refuse a value
_CALM = frozenset(
    {
        "activations", "affine", "arithmetic", "attention", "avgpool", "batchnorm", "bce", "cast",
        "combine", "comparison", "complex", "conv", "create", "diagonals", "dropout", "elementwise",
        "erf", "groupnorm", "inplace", "joining", "losses", "matmul", "norm", "norms", "optim",
        "pooling", "reductions", "reshape", "scalars", "scans", "shape", "slicing", "softhard",
        "softmax", "variance", "views",
    }
)  # fmt: skip
#: but for these of their ops: integers may be divided by zero
_RAISE = frozenset({"div", "div_"})


#: ops that refuse a place outside of their planes: the input, and the op whose places are always inside
_PLACES = {
    "max_pool2d_backward": (1, "max_pool2d_with_indices"),
    "max_pool2d_pick": (1, "max_pool2d_with_indices"),
}


def makers(code: Sequence[Instruction]) -> dict[int, Kernel]:
    """The kernel that makes each block, by the block's number."""
    return {b.number: i for i in code if isinstance(i, Kernel) for b in i.outs}


def calm(i: Instruction, made: Mapping[int, Kernel]) -> bool:
    """Whether an instruction surely does not raise; `made`: what made each block, by number."""
    if isinstance(i, (Copy, Allocate)):
        return True
    if not isinstance(i, Kernel) or i.op.family not in _CALM or i.op.name in _RAISE:
        return False
    return i.op.name not in _PLACES or _inside(i, made)


def _inside(i: Kernel, made: Mapping[int, Kernel]) -> bool:
    """Whether the places that a kernel gets are of planes of its own size."""
    at, maker = _PLACES[i.op.name]
    place = i.args[at]
    source = made.get(place.block.number) if isinstance(place, Place) else None
    size = i.attrs.get("size") or i.args[0].shape[-2:]
    return source is not None and source.op.name == maker and tuple(source.args[0].shape[-2:]) == tuple(size)


def touched(i: Instruction) -> Iterator[Block]:
    """The blocks that an instruction touches, windows with the blocks they are in."""
    if isinstance(i, Kernel):
        yield from i.outs
        for a in (*i.args, i.target):
            yield from _around(a)
    elif isinstance(i, Window):
        yield i.block
        yield from _around(i.of)
    elif isinstance(i, Copy):
        yield from _around(i.target)
        yield from _around(i.source)
    else:
        yield i.block


def _around(a: Any) -> Iterator[Block]:
    for p in places(a):
        block: Block | None = p.block
        while block is not None:
            yield block
            block = block.of


def written(i: Instruction) -> list[Block]:
    """The blocks that an instruction changes, besides those that it fills."""
    if isinstance(i, Copy):
        return [root(i.target.block)]
    if not isinstance(i, Kernel):
        return []
    found = [p for a, yes in zip(i.args, i.op.written, strict=True) if yes for p in places(a)]
    return [root(p.block) for p in ([*found, i.target] if i.target is not None else found)]


def places(a: Any) -> list[Place]:
    """The places in a (nested) argument."""
    if isinstance(a, Place):
        return [a]
    return [p for e in a for p in places(e)] if isinstance(a, list) else []
