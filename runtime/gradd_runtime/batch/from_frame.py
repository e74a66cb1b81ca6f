"""Prepares a batch in binary form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_protocol import messages as m
from gradd_protocol import names
from gradd_protocol.problems import ProtocolError
from gradd_protocol.values import decode_scalars

from ..program import Bound, check_uploads
from .work import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..tensors import TensorTable


def frame_work(
    batch: m.Batch, bound: Bound, table: TensorTable, buffers: Sequence[Any], staged: Mapping[str, Any]
) -> Work:
    """A batch's work, checked against its program. ProtocolError, with nothing changed, if they do not match
    or a name is unknown.
    """
    if len(batch.inputs) != bound.inputs:
        raise ProtocolError.of(
            "malformed-frame", f"the program has {bound.inputs} inputs, the batch {len(batch.inputs)}"
        )
    if len(batch.values) != len(bound.values):
        raise ProtocolError.of(
            "malformed-frame",
            f"the program has {len(bound.values)} values, the batch {len(batch.values)}",
        )
    if len(batch.uploads) != bound.uploads:
        raise ProtocolError.of(
            "malformed-frame", f"the program has {bound.uploads} uploads, the batch {len(batch.uploads)}"
        )
    slots = bound.slots
    for slot in (*batch.keep, *batch.fetch, *batch.bind.values()):
        if slot.__class__ is int and slot >= slots:
            raise ProtocolError.of("malformed-frame", f"the program has no slot {slot}")
    binds: dict[int, list[str]] = {}
    late: list[tuple[str, str]] = []
    for name, where in batch.bind.items():
        names.tensor(name)
        if isinstance(where, int):
            binds.setdefault(where, []).append(name)
        else:
            late.append((name, where))
    uploads = _uploads(batch, bound, buffers, staged) if batch.uploads else []
    keep = {}
    for i, slot in enumerate(batch.keep, batch.first):
        keep[slot] = f"@{batch.writer}.{i}"
    return Work(
        bound, list(map(table.find, batch.inputs)),
        decode_scalars(batch.values, bound.values) if batch.values else [],
        uploads, keep, binds, late, batch.fetch, batch.free, batch.unbind, recording=batch.recording,
    )  # fmt: skip


def _uploads(
    batch: m.Batch, bound: Bound, buffers: Sequence[Any], staged: Mapping[str, Any]
) -> list[np.ndarray[Any, Any]]:
    if len(set(batch.uploads)) != len(batch.uploads):
        raise ProtocolError.of("malformed-frame", "an upload is named twice")
    uploads = []
    for key in batch.uploads:
        if isinstance(key, str):
            uploads.append(staged[key])
        elif key < len(buffers):
            uploads.append(np.array(buffers[key]))
        else:
            raise ProtocolError.of("malformed-frame", f"the frame has no buffer {key}")
    check_uploads(bound, uploads)
    return uploads


def release(batch: m.Batch, kept: Iterable[str], table: TensorTable) -> list[str]:
    """Drop what the batch frees and does not otherwise use, to make room for its steps. Returns what to free
    after it has run.
    """
    if not batch.free:
        return []
    needed = {*batch.inputs, *kept}
    for x in (*batch.state, *batch.bind.values(), *batch.fetch):
        if x.__class__ is str:
            needed.add(names.split(x).name)
    left = []
    for i in batch.free:
        if i in needed:
            left.append(i)
        else:
            table.drop(i)
    return left
