"""The progress bar of downloads, by the names of PyTorch's modules that libraries import it from."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any


class SilentBar:
    """Does as tqdm's bar does, where tqdm is not installed, and shows nothing."""

    def __init__(self, iterable: Iterable[Any] | None = None, total: Any = None, **_: Any) -> None:
        self.iterable, self.total, self.n = iterable, total, 0

    def update(self, n: int = 1) -> None:
        """Count `n` more."""
        self.n += n

    def set_description(self, *_: Any, **__: Any) -> None:
        """A description, which is not shown."""

    def close(self) -> None:
        """The bar's end."""

    def __iter__(self) -> Iterator[Any]:
        for one in self.iterable or ():
            yield one
            self.update()

    def __enter__(self) -> SilentBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def bar(name: str, module: str) -> Any:
    """What ``module.tqdm`` is, for a module's __getattr__: tqdm's bar, or `SilentBar`.

    AttributeError for any other name.
    """
    if name != "tqdm":
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError:
        return SilentBar
