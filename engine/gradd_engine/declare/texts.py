"""Code of Python texts that are written at import, kept from run to run as Python keeps that of modules: to
compile 850 functions takes a third of an import.

The file stands beside the modules' own, in ``__pycache__`` or under PYTHONPYCACHEPREFIX, and is Python's own
form of code (`marshal`). Where it cannot be read or written, texts are compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import os
import sys
import tempfile
from pathlib import Path
from types import CodeType

_Kept = dict[bytes, CodeType]


class Texts:
    """The texts of one process, and the code that an earlier one kept."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._there: _Kept | None = None
        self._used: _Kept = {}
        self._new = False

    def code(self, text: str, name: str) -> CodeType:
        """That of a text; `name` is what tracebacks call its file."""
        if self._there is None:
            self._there = self._read()
        key = hashlib.blake2b(f"{name}\n{text}".encode(), digest_size=16).digest()
        found = self._there.get(key)
        if found is None:
            found, self._new = compile(text, name, "exec"), True
        self._used[key] = found
        return found

    def keep(self) -> None:
        """Keep the code of all texts, if there are new ones and Python is to write such files."""
        if self._new and not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                self._write(importlib.util.MAGIC_NUMBER + marshal.dumps(self._used))
        self._there, self._used, self._new = {}, {}, False  # what comes later is a script's own

    def _read(self) -> _Kept:
        try:
            data = self._file.read_bytes()
        except OSError:
            return {}
        magic = importlib.util.MAGIC_NUMBER
        if not data.startswith(magic):
            return {}
        try:
            found = marshal.loads(data[len(magic) :])
        except (EOFError, ValueError, TypeError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, data: bytes) -> None:
        """All of it or nothing: another process may read or write the same."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(dir=self._file.parent, prefix=f"{self._file.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            Path(made).chmod(Path(__file__).stat().st_mode & 0o666)
            Path(made).replace(self._file)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise


TEXTS = Texts(Path(importlib.util.cache_from_source(__file__)).with_suffix(".codes"))
