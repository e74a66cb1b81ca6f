"""Tensors are moved in buckets: small ones together, large ones in pieces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.data import Meta

from .._top import cat
from .._wire import StagedUpload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._session import Session

#: bytes of a bucket, as torch.nn.parallel.DistributedDataParallel has them
BUCKET = 25 << 20


class BucketPiece(NamedTuple):
    """Elements of a list's tensor, in C order, of `whole` in all."""

    at: int
    begin: int
    end: int
    whole: int

    @property
    def all(self) -> bool:
        """Whether these are the tensor's."""
        return self.end - self.begin == self.whole


def split(tensors: Sequence[Any]) -> list[list[BucketPiece]]:
    """Buckets of pieces of one dtype each. What has no elements is in none."""
    buckets: list[list[BucketPiece]] = []
    open_: dict[Any, tuple[list[BucketPiece], int]] = {}
    for at, t in enumerate(tensors):
        most, whole = max(1, BUCKET // t.element_size()), math.prod(t.shape)
        for begin in range(0, whole, most):
            piece = BucketPiece(at, begin, min(whole, begin + most), whole)
            count = piece.end - begin
            bucket, room = open_.get(t.dtype, ([], 0))
            if count > room:
                bucket, room = [], most
                buckets.append(bucket)
            bucket.append(piece)
            open_[t.dtype] = bucket, room - count
    return buckets


def gather(tensors: Sequence[Any], buckets: Sequence[list[BucketPiece]]) -> list[Any]:
    """A tensor of one dimension for each bucket."""
    found = []
    for bucket in buckets:
        parts = []
        for at, begin, end, whole in bucket:
            flat = tensors[at].detach().reshape(-1)
            parts.append(flat if end - begin == whole else flat[begin:end])
        found.append(parts[0] if len(parts) == 1 else cat(parts))
    return found


def scatter(
    session: Session, tensors: Sequence[Any], buckets: Sequence[list[BucketPiece]], keys: Sequence[str]
) -> None:
    """Write the uploads of those keys, one for each bucket, into the tensors."""
    parts: dict[int, list[Any]] = {}
    for bucket, key in zip(buckets, keys, strict=True):
        dtype = tensors[bucket[0].at].dtype
        sizes = [piece.end - piece.begin for piece in bucket]
        flat: Any = session.backend.empty(Meta((sum(sizes),), dtype))
        session.recorder().upload(flat, StagedUpload(key), False)
        for piece, part in zip(bucket, flat.split(sizes) if len(sizes) > 1 else [flat], strict=True):
            t = tensors[piece.at]
            if piece.all:
                t.copy_(part.view(t.shape))
            elif t.is_contiguous():
                t.detach().view(-1)[piece.begin : piece.end].copy_(part)
            else:
                there = parts.setdefault(piece.at, [])
                there.append(part)
                if piece.end == piece.whole:
                    t.copy_(cat(parts.pop(piece.at)).view(t.shape))
