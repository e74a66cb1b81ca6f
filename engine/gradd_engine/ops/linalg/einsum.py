"""einsum, tensordot, inner, outer and kron, as permutations and batched matrix products.

einsum contracts operands from left to right with the same views and products as PyTorch without opt_einsum.
Source: https://pytorch.org/docs/stable/generated/torch.einsum.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import is_contiguous, numel, wrap_dim
from ...declare import composite, public
from ..elementwise import mul
from ..shape import diagonal, movedim_op, permute, reshape, squeeze_all, unsafe_view, unsqueeze, view
from .matmul import bmm, dot, mm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor

#: the label for "..." in an operand
ELLIPSIS = "."


def _labels(text: str, start: int, place: str) -> list[str]:
    """The labels of an operand or the output; `text` begins at `start`, and messages call it `place`."""
    out: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == ELLIPSIS:
            if ELLIPSIS in out:
                tail = "but" if place == "output" else "for which"
                raise RuntimeError(
                    f"einsum(): found '.' for {place} {tail} an ellipsis "
                    f"{'(...) ' if place == 'output' else ''}was already found"
                )
            if text[i : i + 3] != "...":
                tail = " (...)" if place == "output" else ""
                raise RuntimeError(f"einsum(): found '.' for {place} that is not part of any ellipsis{tail}")
            out.append(ELLIPSIS)
            i += 3
            continue
        if c != " ":
            if not (c.isascii() and c.isalpha()):
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {start + i} in the equation string, "
                    "subscripts must be in [a-zA-Z]"
                )
            out.append(c)
        i += 1
    return out


def _parse(equation: str, count: int) -> tuple[list[list[str]], list[str] | None]:
    """The labels of each operand and of the output (None if the equation has no arrow)."""
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    operands, at = [], 0
    for i, text in enumerate(texts):
        if i >= count:
            raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        operands.append(_labels(text, at, f"operand {i}"))
        at += len(text) + 1
    if len(texts) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return operands, _labels(right, len(left) + 2, "output") if arrow else None


def _ellipsis_dims(operands: Sequence[Sequence[str]], tensors: Sequence[Tensor]) -> int:
    """The most dimensions that "..." stands for; RuntimeError if labels and dimensions do not fit."""
    most = 0
    for i, (labels, x) in enumerate(zip(operands, tensors, strict=True)):
        named = sum(c != ELLIPSIS for c in labels)
        if ELLIPSIS in labels:
            if named > x.ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than the number "
                    f"of dimensions ({x.ndim}) for operand {i}"
                )
            most = max(most, x.ndim - named)
        elif named != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
                f"dimensions ({x.ndim}) for operand {i} and no ellipsis was given"
            )
    return most


def _output(operands: Sequence[Sequence[str]], given: list[str] | None) -> list[str]:
    """The output's labels; without an arrow, the ellipsis and then the labels that occur once, in order."""
    seen = [c for labels in operands for c in labels]
    if given is None:
        once = sorted({c for c in seen if c != ELLIPSIS and seen.count(c) == 1})
        return ([ELLIPSIS] if ELLIPSIS in seen else []) + once
    for i, c in enumerate(given):
        if c == ELLIPSIS:
            continue
        if c in given[:i]:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
        if c not in seen:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for any input operand"
            )
    return given


def _axes(
    operands: Sequence[Sequence[str]], out: list[str], ellipsis: int
) -> tuple[dict[str, int], int, int]:
    """The first axis of each label in the common order (output first), the output's axes, all axes."""
    place: dict[str, int] = {}
    at = 0
    for c in out:
        place[c] = at
        at += ellipsis if c == ELLIPSIS else 1
    kept = at
    if ELLIPSIS not in place:
        place[ELLIPSIS] = at
        at += ellipsis
    for c in sorted({c for labels in operands for c in labels}):
        if c not in place:
            place[c] = at
            at += 1
    return place, kept, at


def _aligned(x: Any, labels: Sequence[str], place: dict[str, int], total: int, wide: int, i: int) -> Any:
    """An operand with its dimensions in the common order, of size 1 where it lacks a label; diagonals taken.

    ``wide`` is the number of ellipsis dimensions, ``i`` the operand's number.
    """
    order = [-1] * total
    where: dict[str, int] = {}
    j = 0
    for c in labels:
        if c == ELLIPSIS:
            have = x.ndim - j - (len(labels) - labels.index(c) - 1)
            for k in range(wide - have, wide):
                order[place[c] + k] = j
                j += 1
        elif c in where:
            dim = where[c]
            if x.shape[j] != x.shape[dim]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't match, "
                    f"{x.shape[j]} != {x.shape[dim]}"
                )
            x = movedim_op(diagonal(x, 0, dim, j), -1, dim)
        else:
            where[c] = j
            order[place[c]] = j
            j += 1
    for k, d in enumerate(order):
        if d < 0:
            x = unsqueeze(x, -1)
            order[k] = j
            j += 1
    return permute(x, order)


def _pair(left: Any, right: Any, summed: set[int]) -> Any:
    """The batched product of two aligned operands, summed over `summed` (kept with size 1)."""
    if not summed:
        return mul(left, right)
    both, lo, ro, last = [], [], [], []
    for d in range(left.ndim):
        a, b = left.shape[d], right.shape[d]
        if d in summed:
            last.append(d)
        elif a != 1 and b != 1:
            both.append(d)
        elif a != 1:
            lo.append(d)
        else:
            ro.append(d)
    if lo and ro and lo[0] > ro[-1]:
        left, right, lo, ro = right, left, ro, lo
    sizes = [left.shape[d] for d in both + lo] + [1] * len(last) + [right.shape[d] for d in ro]
    batch = numel([left.shape[d] for d in both])
    inner = numel([left.shape[d] for d in last])
    a = reshape(permute(left, both + lo + last + ro), [batch, numel([left.shape[d] for d in lo]), inner])
    b = reshape(permute(right, both + last + ro + lo), [batch, inner, numel([right.shape[d] for d in ro])])
    order = both + lo + last + ro
    return permute(view(bmm(a, b), sizes), [order.index(d) for d in range(len(order))])


def _check_sizes(operands: Sequence[Any], labels: list[str], total: int) -> None:
    size = [1] * total
    for i, x in enumerate(operands):
        for d, n in enumerate(x.shape):
            if n == 1:
                continue
            if size[d] not in (1, n):
                raise RuntimeError(
                    f"einsum(): subscript {labels[d]} has size {n} for operand {i} which does not broadcast "
                    f"with previously seen size {size[d]}"
                )
            size[d] = n


def _contract(operands: list[Any], kept: int, total: int) -> Any:
    counts = [sum(x.shape[d] != 1 for x in operands) for d in range(total)]
    a = operands[0]
    for b in operands[1:]:
        summed: set[int] = set()
        alone: tuple[list[int], list[int]] = ([], [])
        for d in range(kept, total):
            x, y = a.shape[d] != 1, b.shape[d] != 1
            if x and y:
                counts[d] -= 1
                if counts[d] == 1:
                    summed.add(d)
                    counts[d] = 0
            elif counts[d] == 1 and (x or y):
                alone[0 if x else 1].append(d)
                counts[d] = 0
        if alone[0]:
            a = a.sum(alone[0], True)
        if alone[1]:
            b = b.sum(alone[1], True)
        a = _pair(a, b, summed)
    if total > kept:
        if len(operands) > 1:
            return view(a, list(a.shape[:kept]))
        return a.sum(list(range(kept, total)))
    return a


def _einsum(operands: Sequence[Tensor], equation: str) -> Any:
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    parsed, given = _parse(equation, len(operands))
    ellipsis = _ellipsis_dims(parsed, operands)
    out = _output(parsed, given)
    place, kept, total = _axes(parsed, out, ellipsis)
    names = [ELLIPSIS * 3] * total
    for c, d in place.items():
        if c != ELLIPSIS:
            names[d] = c
    aligned = [
        _aligned(x, labels, place, total, ellipsis, i)
        for i, (x, labels) in enumerate(zip(operands, parsed, strict=True))
    ]
    _check_sizes(aligned, names, total)
    return _contract(aligned, kept, total)


einsum_op = composite(
    "einsum(Tensor[] operands, *, str equation) -> Tensor",
    body=lambda operands, equation: _einsum(operands, equation),
    doc="Sums of products in Einstein notation (torch.einsum).",
    autocast={"cuda": "lower"},
)


def _letter(n: int) -> str:
    if not 0 <= n < 52:
        raise ValueError(
            f"einsum(): subscript in subscript list is not within the valid range [0, 52), but got {n}"
        )
    return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)


@public(forms=("(equation: str, *operands: Tensor)", "(*args: Tensor | Sequence[int])"))
def einsum(*args: Any) -> Any:
    """See torch.einsum; accepts both the equation and the sublist form."""
    if len(args) < 2:
        return einsum_op([], equation="")
    if isinstance(args[0], str):
        operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        return einsum_op(list(operands), equation=args[0])

    def text(labels: Sequence[Any]) -> str:
        return "".join("..." if n is Ellipsis else _letter(n) for n in labels)

    equation = ",".join(text(labels) for labels in args[1::2])
    if len(args) % 2:
        equation = ",".join(text(labels) for labels in args[1:-1:2]) + "->" + text(args[-1])
    return einsum_op(list(args[: len(args) // 2 * 2 : 2]), equation=equation)


def _tensordot(a: Tensor, b: Tensor, dims_a: Sequence[int], dims_b: Sequence[int]) -> Any:
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    left, right = list(dims_a), list(dims_b)
    x: Any = a
    y: Any = b
    for i, (p, q) in enumerate(zip(dims_a, dims_b, strict=True)):
        left[i], right[i] = wrap_dim(p, a.ndim), wrap_dim(q, b.ndim)
        n, m = a.shape[left[i]], b.shape[right[i]]
        if m == 1 and n != 1:
            x = x.sum(left[i], True, dtype=x.dtype)
        elif n == 1 and m != 1:
            y = y.sum(right[i], True, dtype=y.dtype)
        elif n != m:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {p} and second has "
                f"size {m} in dim {q}"
            )
    free_a = [d for d in range(a.ndim) if d not in left]
    free_b = [d for d in range(b.ndim) if d not in right]
    inner = numel([x.shape[d] for d in left])
    shape = [a.shape[d] for d in free_a] + [b.shape[d] for d in free_b]
    x, y = permute(x, free_a + left), permute(y, right + free_b)
    if not shape:
        if not (is_contiguous(x.shape, x.strides) and is_contiguous(y.shape, y.strides)):
            return view(mul(squeeze_all(x), squeeze_all(y)).sum(), [])
        if a.ndim > 1:
            x, y = reshape(x, [inner]), reshape(y, [inner])
        return view(dot(x, y), [])
    rows, columns = numel(shape[: len(free_a)]), numel(shape[len(free_a) :])
    return reshape(mm(reshape(x, [rows, inner]), reshape(y, [inner, columns])), shape)


tensordot_op = composite(
    "tensordot(Tensor a, Tensor b, int[] dims_a, int[] dims_b) -> Tensor",
    body=_tensordot,
    doc="Products summed over pairs of dimensions (torch.tensordot).",
    autocast={"cuda": "widest"},
)


@public(forms="(a, b, dims: int | Sequence[Sequence[int]] = 2)", out=True)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """See torch.tensordot."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return tensordot_op(a, b, list(range(-dims, 0)), list(range(dims)))
    first, second = dims
    return tensordot_op(
        a,
        b,
        [first] if isinstance(first, int) else list(first),
        [second] if isinstance(second, int) else list(second),
    )


def _inner(input: Tensor, other: Tensor) -> Any:
    if not input.ndim or not other.ndim:
        return mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return _tensordot(input, other, [-1], [-1])


inner = composite(
    "inner(Tensor input, Tensor other) -> Tensor",
    body=_inner,
    out=True,
    method=True,
    doc="Dot products along the last dimensions (torch.inner).",
    autocast={"cuda": "widest"},
)


def _outer(input: Tensor, vec2: Tensor) -> Any:
    for name, v in (("self", input), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return mul(reshape(input, [input.shape[0], 1]), vec2)


outer = composite(
    "outer(Tensor input, Tensor vec2) -> Tensor",
    body=_outer,
    out=True,
    method=True,
    doc="The outer product of two vectors (torch.outer).",
)
public(name="ger", method="ger")(outer.call)


def _kron(input: Tensor, other: Tensor) -> Any:
    n = max(input.ndim, other.ndim)
    a = [1] * (n - input.ndim) + list(input.shape)
    b = [1] * (n - other.ndim) + list(other.shape)
    left = unsafe_view(input, [k for s in a for k in (s, 1)])
    right = unsafe_view(other, [k for s in b for k in (1, s)])
    return unsafe_view(mul(left, right), [s * r for s, r in zip(a, b, strict=True)])


kron = composite(
    "kron(Tensor input, Tensor other) -> Tensor",
    body=_kron,
    out=True,
    method=True,
    doc="The Kronecker product (torch.kron).",
)
