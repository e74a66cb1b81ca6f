"""Sequences of different lengths as one padded tensor, and back (torch.nn.utils.rnn).

Source: https://pytorch.org/docs/stable/nn.html#utility-functions-in-other-modules
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._surface import namespace
from ..._tensor import Tensor, type_name

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
    trip.
    """
    padded: Any = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded, lengths.tolist(), strict=True)]
