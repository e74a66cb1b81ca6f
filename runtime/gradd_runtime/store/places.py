"""What is written and read as a whole, at a *place*: a file by its path, or an object by its url."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from .bucket import Bucket, is_url

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def writing(place: str) -> Iterator[BinaryIO]:
    """A file whose bytes are there, at a place where there was nothing, when the block has ended; none are
    where it raises. Raises OSError.
    """
    if is_url(place):
        bucket, name = _located(place)
        with tempfile.NamedTemporaryFile() as spare:
            yield cast("BinaryIO", spare)
            spare.flush()
            bucket.upload(Path(spare.name), name)
        return
    with Path(place).open("xb") as file:
        try:
            yield file
            file.flush()
        except BaseException:
            with suppress(OSError):
                Path(place).unlink()
            raise


def reading(place: str) -> BinaryIO:
    """A file with what is at the place: there is one no longer than it is open, if it is of an object. Raises
    OSError.
    """
    if not is_url(place):
        return Path(place).open("rb")
    bucket, name = _located(place)
    with tempfile.NamedTemporaryFile() as spare:
        bucket.download(name, Path(spare.name))
        return Path(spare.name).open("rb")


def size_of(place: str) -> int:
    """Bytes that are there. Raises OSError."""
    if not is_url(place):
        return Path(place).stat().st_size
    bucket, name = _located(place)
    return bucket.size(name)


def remove(place: str) -> None:
    """Delete it, if there is anything. Raises OSError."""
    if is_url(place):
        bucket, name = _located(place)
        bucket.remove([name])
    else:
        Path(place).unlink(missing_ok=True)


def link(source: str, target: str) -> None:
    """Have at `target`, of the same kind, what is at `source`, also when that is deleted. Raises OSError."""
    if is_url(source):
        bucket, name = _located(target)
        bucket.copy(source, name)
    else:
        Path(target).hardlink_to(source)


def _located(url: str) -> tuple[Bucket, str]:
    home, _, name = url.rpartition("/")
    return Bucket(home), name
