"""Small files of a folder, by the calls of `Bucket`: what several processes tell one another by."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


class Files(Protocol):
    """A `Folder` or a `Bucket`. Every method may raise OSError."""

    def create(self, name: str, data: bytes) -> bool:
        """Make a file; False where there is one of that name."""

    def write(self, name: str, data: bytes) -> None:
        """Make a file, or replace it as a whole."""

    def read(self, name: str) -> bytes:
        """What is in a file. Raises FileNotFoundError."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""

    def sizes(self) -> Mapping[str, int]:
        """The files, and their bytes."""

    def remove(self, names: Iterable[str]) -> None:
        """Delete files, if they are there."""


class Folder:
    """The folder at `path`, made where there is none. The storage has to do what `lease` asks for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(mode=0o700, exist_ok=True)

    def create(self, name: str, data: bytes) -> bool:
        """See Files.create. Who dies at it may leave a part."""
        try:
            with (self._path / name).open("xb") as file:
                file.write(data)
        except FileExistsError:
            return False
        return True

    def write(self, name: str, data: bytes) -> None:
        """See Files.write."""
        new = self._path / f"{name}.new"
        new.write_bytes(data)
        new.replace(self._path / name)

    def read(self, name: str) -> bytes:
        """See Files.read."""
        return (self._path / name).read_bytes()

    def exists(self, name: str) -> bool:
        """See Files.exists."""
        return os.path.lexists(self._path / name)

    def sizes(self) -> dict[str, int]:
        """See Files.sizes."""
        return {entry.name: entry.stat().st_size for entry in os.scandir(self._path)}

    def remove(self, names: Iterable[str]) -> None:
        """See Files.remove."""
        for name in names:
            (self._path / name).unlink(missing_ok=True)
