"""What the namespace has: `__array_namespace_info__`.

https://data-apis.org/array-api/latest/API_specification/inspection.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

from .._session import current
from ._kinds import KINDS

if TYPE_CHECKING:
    from gradd_engine.data import Device, DType


class NamespaceInfo:
    """Capabilities, devices and dtypes of the namespace."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on the library: indices by bools and shapes by values work; there may be any number of
        dimensions.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> Device:
        """The device of the current session."""
        return current().backend.device

    def devices(self) -> tuple[Device, ...]:
        """The devices: a session has one."""
        return (self.default_device(),)

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes of arrays of which it is not said."""
        real = dtypes.default_dtype()
        return {
            "real floating": real,
            "complex floating": dtypes.to_complex(real),
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The dtypes of a kind, or of all, by name. ValueError for a kind that there is not."""
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        for each in kinds:
            if each not in KINDS:
                raise ValueError(f"dtypes(): unknown kind {each!r}")
        return {d.name: d for each in kinds for d in KINDS[each]}


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace has."""
    return NamespaceInfo()
