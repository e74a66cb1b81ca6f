"""Sequences of different lengths as one padded tensor or as packed rows, and back (torch.nn.utils.rnn).

Source: https://pytorch.org/docs/stable/nn.html#utility-functions-in-other-modules
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any, NamedTuple, Self

import numpy as np
from gradd_engine.data import dtypes

from ..._surface import as_tensor, namespace, tensor
from ..._tensor import Tensor, type_name

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_TOP = namespace("")


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Stack sequences, [length, *] each, with padding: [longest, count, *], or [count, longest, *].

    The first one gives the dtype and the trailing sizes. RuntimeError for no sequences, or a non-iterable.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    given: list[Any] = list(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    for i, sequence in enumerate(given):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(sequence)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(len(sequence) for sequence in given)
    out = given[0].new_full((len(given), longest, *given[0].shape[1:]), padding_value)
    if not batch_first:
        out = out.transpose(0, 1).contiguous()
    for i, sequence in enumerate(given):
        start = 0 if padding_side == "right" else longest - len(sequence)
        row = out.select(0 if batch_first else 1, i)
        row.narrow(0, start, len(sequence)).copy_(sequence)
    return out


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Any]:
    """The sequences of a tensor from `pad_sequence`, by their lengths, which are fetched in one round
    trip, unless `pad_packed_sequence` returned them.
    """
    padded: Any = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(padded, numbers_of(lengths), strict=True)]


def _kept(numbers: list[int]) -> Any:
    """A tensor of numbers that are kept beside it, so that they need not be fetched."""
    made: Any = tensor(numbers)
    made._numbers = made._version, numbers
    return made


def numbers_of(t: Any) -> list[int]:
    """The elements of a vector of integers: kept ones, or fetched."""
    version, numbers = getattr(t, "_numbers", (None, []))
    return numbers if version == t._version else [int(n) for n in t.tolist()]


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """Sequences without padding, as the recurrent layers take them: all first elements, then all second ones.

    `data`: [total, *], the longest sequences first at each step; `batch_sizes`: how many there are at each,
    int64; `sorted_indices` and `unsorted_indices`: to that order and back, or None. Made by `pack_sequence`
    and `pack_padded_sequence` (torch.nn.utils.rnn.PackedSequence).
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Self:
        """The fields, or the first two of them as one pair; the order back is found from the order."""
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def with_data(self, data: Any) -> Self:
        """Other rows for the same sequences."""
        return type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The data in another dtype (torch.Tensor.to); itself if it has it."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self.with_data(data)

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Itself, since a session has one device."""
        return self

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """Itself, since a session has one device."""
        return self

    def pin_memory(self) -> Self:
        """Itself."""
        return self

    def is_pinned(self) -> bool:
        """False: the data is in its session."""
        return False

    @property
    def is_cuda(self) -> bool:
        """As of the data."""
        return bool(self.data.is_cuda)

    def double(self) -> Self:
        """The data in float64."""
        return self.to(dtypes.float64)

    def float(self) -> Self:
        """The data in float32."""
        return self.to(dtypes.float32)

    def half(self) -> Self:
        """The data in float16."""
        return self.to(dtypes.float16)

    def long(self) -> Self:
        """The data in int64."""
        return self.to(dtypes.int64)

    def int(self) -> Self:
        """The data in int32."""
        return self.to(dtypes.int32)

    def short(self) -> Self:
        """The data in int16."""
        return self.to(dtypes.int16)

    def char(self) -> Self:
        """The data in int8."""
        return self.to(dtypes.int8)

    def byte(self) -> Self:
        """The data in uint8."""
        return self.to(dtypes.uint8)


def invert_permutation(permutation: Tensor | None) -> Any:
    """The inverse of a permutation of 0 to n - 1, int64 (n); None for None."""
    if permutation is None:
        return None
    return (
        _kept(_inverse(numbers_of(permutation)))
        if hasattr(permutation, "_numbers")
        else permutation.argsort()
    )


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def pack_padded_sequence(
    input: Any, lengths: Tensor | Iterable[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The sequences of a padded tensor, (T, B, *), or (B, T, *) with `batch_first`, as packed rows.

    `lengths`: of each, integers (B), falling unless `enforce_sorted` is False. Those of a tensor are fetched;
    a list needs no round trip. RuntimeError as PyTorch's for lengths that cannot be
    (torch.nn.utils.rnn.pack_padded_sequence).
    """
    if not isinstance(lengths, Tensor):
        lengths = list(lengths)
        if any(isinstance(n, Tensor) for n in lengths):
            lengths = _TOP["stack"]([as_tensor(n) for n in lengths])  # read at once
    given: Any = lengths
    rank = given.dim() if isinstance(given, Tensor) else np.ndim(given)
    if rank != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {rank}D cpu Long tensor"
        )
    if input.dim() < 2:
        raise RuntimeError(f"input must have 2 dimensions, got {input.dim()}")
    counts = numbers_of(given) if isinstance(given, Tensor) else [int(n) for n in given]
    order: list[int] | None = None
    if not enforce_sorted:
        order = sorted(range(len(counts)), key=lambda i: -counts[i])
        counts = [counts[i] for i in order]
    _check(counts, *input.shape[:2][:: 1 if batch_first else -1])
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    rows, steps = (input if batch_first else input.transpose(0, 1)), input.shape[1 if batch_first else 0]
    where = [i if order is None else order[i] for i in range(len(counts))]
    index = tensor([where[i] * steps + t for t, n in enumerate(sizes) for i in range(n)])
    data = rows.flatten(0, 1).index_select(0, index)
    return PackedSequence(data, _kept(sizes), None if order is None else _kept(order))


def _check(counts: list[int], batch: int, steps: int) -> None:
    """RuntimeError for lengths that cannot be of a padded tensor."""
    if len(counts) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})"
        )
    if any(n <= 0 for n in counts):
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if counts != sorted(counts, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )
    if counts[0] > steps:
        raise RuntimeError(f"Expected lengths of at most {steps}, the input's, but got {counts[0]}")


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """Packed sequences as a padded tensor, (T, B, *) or (B, T, *), and their lengths, int64 (B).

    In the order in which they were packed. ValueError if `total_length`, the T wanted, is less than the
    longest has (torch.nn.utils.rnn.pad_packed_sequence).
    """
    sizes = numbers_of(sequence.batch_sizes)
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    lengths = [sum(n > i for n in sizes) for i in range(sizes[0])]
    where = _places(sequence)
    lengths = [lengths[i] for i in where]
    starts = [0, *accumulate(sizes)]
    data = sequence.data
    # A row more, of padding, for what no sequence has
    rows = _TOP["cat"]([data, data.new_full((1, *data.shape[1:]), padding_value)])
    last = starts[-1]
    index = [
        [starts[t] + i if t < n else last for t in range(longest)]
        for i, n in zip(where, lengths, strict=True)
    ]
    if not batch_first:
        index = [list(step) for step in zip(*index, strict=True)]
    found = rows.index_select(0, tensor(index).flatten())
    return found.unflatten(0, (len(index), len(index[0]))), _kept(lengths)


def _places(sequence: PackedSequence) -> list[int]:
    """Where each sequence is among the packed ones."""
    if sequence.unsorted_indices is None:
        return list(range(numbers_of(sequence.batch_sizes)[0]))
    return numbers_of(sequence.unsorted_indices)


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences, [length, *] each, as packed rows; the longest first unless `enforce_sorted` is False."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences, [length, *] each, in the order in which they were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
