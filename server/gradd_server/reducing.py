"""Sums and means of tensors over sessions. Each result is staged as an upload of the sessions that get it,
so that it is in their records like any other, and no client has the values.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from gradd_protocol import dtypes, frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import GetTensor, Stage, TensorInfo
from gradd_protocol.problems import ProtocolError
from gradd_runtime.process import BULK_BYTES, Bulk, bulk_of
from gradd_runtime.tensors import combined

from gradd_server.errors import Refused
from gradd_server.open_session import OpenSession
from gradd_server.replies import told
from gradd_server.sessions import Sessions, opened
from gradd_server.traffic import SMALL, Load

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """A tensor of a session, or the key of an upload to it."""

    entry: OpenSession
    name: str


async def reduce(
    sessions: Sessions, givers: Sequence[MemberPlace], takers: Sequence[MemberPlace], mean: bool, load: Load
) -> TensorInfo:
    """Add tensors of one shape and dtype in the order of `givers`, or take their mean, and stage the result
    for `takers`; returns what the first giver's tensor is. `load` counts what is held meanwhile.

    Each tensor is read in its session's turn. Raises ProtocolError, and nothing is staged: unknown tensors,
    shapes or dtypes that differ, no mean or sum of them (422); where a session has no room, is gone or begins
    anew, others may have the result: the same request replaces it.
    """
    found = await _all(_read(sessions, giver, SMALL) for giver in givers)
    nbytes = _alike(givers, [info for info, _ in found])
    held = nbytes * (len(givers) + 1 + len(takers))
    load.take(held)
    try:
        if nbytes > SMALL:  # it was only described, until there was room for it
            found = await _all(_read(sessions, giver, nbytes) for giver in givers)
            _alike(givers, [info for info, _ in found])
        arrays = [array for _, array in found]
        try:
            result = await asyncio.to_thread(combined, arrays, mean)
        except TypeError as error:
            raise Refused("invalid-data", str(error)) from None
        del arrays
        info = found[0][0]
        found.clear()
        await _all(_stage(sessions, taker, result) for taker in takers)
    finally:
        load.give(held)
    return info


async def _read(sessions: Sessions, giver: MemberPlace, most: int) -> tuple[TensorInfo, frames.Array]:
    """A tensor; of more than `most` bytes what it is, and no values."""
    with _named(giver):
        reply, (array,) = await sessions.ask(giver.entry, GetTensor(giver.name, most))
    return told(reply), array


def _alike(givers: Sequence[MemberPlace], infos: Sequence[TensorInfo]) -> int:
    """The bytes of each. Raises Refused (422, 413) unless they are of one shape and dtype, and an upload."""
    first = infos[0]
    for giver, info in zip(givers, infos, strict=True):
        if (info.shape, info.dtype) != (first.shape, first.dtype):
            raise Refused(
                "invalid-data",
                f"{giver.name!r} of session {giver.entry.name!r} is {info.dtype} of shape {info.shape}, "
                f"{givers[0].name!r} of session {givers[0].entry.name!r} {first.dtype} of {first.shape}",
            )
    nbytes = math.prod(first.shape) * dtypes.BY_NAME[first.dtype].itemsize
    if nbytes > LIMITS.upload_bytes:
        raise Refused(
            "body-too-large", "the tensor is too large to be staged",
            limit=LIMITS.upload_bytes, requested=nbytes,
        )  # fmt: skip
    return nbytes


async def _stage(sessions: Sessions, taker: MemberPlace, result: frames.Array) -> None:
    with _named(taker), taker.entry.receiving() as room:
        room(result.nbytes)
        if result.nbytes >= BULK_BYTES:
            frame = await asyncio.to_thread(_framed, taker.name, result)
        else:
            frame = _framed(taker.name, result)
        opened(await sessions.submit(taker.entry, frame))
    taker.entry.notify_upload()


def _framed(key: str, result: frames.Array) -> frames.Bytes | Bulk:
    parts = frames.encode(Stage(key), [result])
    return bulk_of(parts) if result.nbytes >= BULK_BYTES else frames.join(parts)


@contextmanager
def _named(place: MemberPlace) -> Iterator[None]:
    """Problems within it say of which session they are."""
    try:
        yield
    except ProtocolError as error:
        said = error.problem.detail or error.problem.title
        error.problem = msgspec.structs.replace(error.problem, detail=f"session {place.entry.name!r}: {said}")
        raise


async def _all(each: Iterable[Awaitable[T]]) -> list[T]:
    """What all give, once all are done; the first that was refused is raised."""
    done = await asyncio.gather(*each, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    return done  # type: ignore[return-value]
