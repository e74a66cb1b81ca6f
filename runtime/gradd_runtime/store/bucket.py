"""Objects in an object store (S3 and what speaks its protocol), by fsspec.

What makes a record safe there is one promise of the store: of two that make an object only if there is none
of its name, one does, and the other is told so. `Bucket.verify` asks for it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import secrets
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

#: of a store that does not answer, as botocore takes it (s): two tries, so some 20 s in all
_S3 = {"connect_timeout": 5, "read_timeout": 10, "retries": {"max_attempts": 2}}


def is_url(place: str) -> bool:
    """Whether a place is in an object store, and not a path."""
    return "://" in place


class Bucket:
    """The objects whose names begin with `url`, as ``s3://bucket/prefix``. Names that methods take are below
    that, with slashes.

    Credentials, region and address are those that the library of the store finds: for S3 AWS_ACCESS_KEY_ID,
    AWS_ENDPOINT_URL and their like, a profile, or the machine's role. Every method raises OSError; where a
    library is missing, this does.
    """

    def __init__(self, url: str) -> None:
        scheme = url.partition("://")[0]
        self.url = url.rstrip("/")
        try:
            import fsspec

            for library in ("aiobotocore", "botocore"):  # which say where credentials were found
                logging.getLogger(library).setLevel(logging.WARNING)
            options: dict[str, Any] = {"config_kwargs": _S3} if scheme == "s3" else {}
            self._files, self._root = fsspec.core.url_to_fs(self.url, use_listings_cache=False, **options)
        except (ImportError, ValueError) as error:
            raise OSError(errno.ENOSYS, f"{url} needs more: pip install 'gradd[s3]' ({error})") from None

    def create(self, name: str, data: bytes) -> bool:
        """Make an object; False where there is one of that name."""
        try:
            self._ask(lambda: self._files.pipe_file(self._path(name), data, mode="create"))
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                # It may be this one: whoever got no answer has asked twice.
                return self.read(name) == data
            return False
        return True

    def write(self, name: str, data: bytes) -> None:
        """Make an object, or replace it."""
        self._ask(lambda: self._files.pipe_file(self._path(name), data))

    def read(self, name: str) -> bytes:
        """What is in an object. Raises FileNotFoundError."""
        return bytes(self._ask(lambda: self._files.cat_file(self._path(name))))

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """What is in objects, several at a time. Raises FileNotFoundError where one is not there."""
        paths = {self._path(name): name for name in names}
        if not paths:
            return {}
        # By one path alone it answers with what is in it.
        found = self._ask(lambda: self._files.cat([*paths], on_error="raise"))
        if isinstance(found, bytes):
            return dict.fromkeys(paths.values(), found)
        return {name: found[path] for path, name in paths.items()}

    def exists(self, name: str) -> bool:
        """Whether there is an object of that name."""
        return bool(self._ask(lambda: self._files.exists(self._path(name))))

    def sizes(self, folder: str = "", depth: int | None = 1) -> dict[str, int]:
        """Names, below `folder`, of the objects there and their bytes; those that are so many steps below it
        at most.
        """
        return {name: int(about["size"]) for name, about in self._found(folder, depth).items()}

    def times(self, folder: str = "") -> dict[str, float]:
        """When the objects of a folder were made (s, as `time.time`)."""
        found = self._found(folder, 1)
        return {
            name: (about.get("LastModified") or about["created"]).timestamp() for name, about in found.items()
        }

    def folders(self, folder: str = "") -> list[str]:
        """Names, below `folder`, of the folders there."""
        try:
            found = self._ask(lambda: self._files.ls(self._path(folder), detail=True))
        except FileNotFoundError:
            return []
        paths = (about["name"].rstrip("/") for about in found if about["type"] == "directory")
        return sorted(path.rpartition("/")[2] for path in paths)

    def _found(self, folder: str, depth: int | None) -> dict[str, dict[str, Any]]:
        try:
            found = self._ask(lambda: self._files.find(self._path(folder), maxdepth=depth, detail=True))
        except FileNotFoundError:
            return {}
        start = f"{self._path(folder)}/"
        return {path.removeprefix(start): about for path, about in found.items()}

    def size(self, name: str) -> int:
        """Bytes of an object. Raises FileNotFoundError."""
        return int(self._ask(lambda: self._files.info(self._path(name)))["size"])

    def copy(self, source: str, name: str) -> None:
        """Make an object of the one at the url `source`, in the same store. Raises FileNotFoundError."""
        self._ask(lambda: self._files.cp_file(self._files._strip_protocol(source), self._path(name)))

    def upload(self, source: Path, name: str) -> None:
        """Make an object of a file, or replace it."""
        self._ask(lambda: self._files.put_file(str(source), self._path(name)))

    def download(self, name: str, target: Path) -> None:
        """Make a file of an object. Raises FileNotFoundError."""
        self._ask(lambda: self._files.get_file(self._path(name), str(target)))

    def remove(self, names: Iterable[str]) -> None:
        """Delete objects, if they are there."""
        paths = [self._path(name) for name in names]
        if paths:
            self._ask(functools.partial(self._removed, paths))

    def _removed(self, paths: list[str]) -> None:
        try:
            self._files.rm(paths)
        except FileNotFoundError:
            if len(paths) > 1:
                for path in paths:
                    self._removed([path])

    def verify(self) -> None:
        """Raise OSError where the store makes an object of a name that is taken, or cannot be written to."""
        name = f".probe-{secrets.token_hex(8)}"
        first = self.create(name, b"1")
        try:
            if not first or self.create(name, b"2"):
                raise OSError(
                    errno.ENOTSUP, f"{self.url}: its store replaces an object that was to be made only if new"
                )
        finally:
            self.remove([name])

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _ask(self, call: Callable[[], Any]) -> Any:
        """What the store answers; OSError whatever its library raises."""
        try:
            return call()
        except OSError:
            raise
        except Exception as error:
            raise OSError(errno.EIO, f"{type(error).__name__}: {error}") from error
