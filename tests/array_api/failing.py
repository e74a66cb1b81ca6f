"""The tests of the array API's suite that gradd does not pass, by the reason."""

from __future__ import annotations

#: percent of the tests that run
AT_LEAST = 95.0

#: reason -> what the names of tests contain
REASONS: dict[str, tuple[str, ...]] = {
    "a negative step in an index is refused, as in PyTorch": ("test_getitem",),
    "what DLPack exports is a copy, so `copy=False` is refused": ("test_dunder_dlpack",),
    "floor division and remainder of infinities and signed zeros are PyTorch's": (
        "floor_divide", "__floordiv__", "__ifloordiv__", "remainder", "__mod__", "__imod__",
    ),
    "expm1 of complex infinities and NaN": ("test_unary[expm1(",),
}  # fmt: skip


def reason(test: str) -> str | None:
    """Why a test fails, None if that is not known."""
    return next((why for why, parts in REASONS.items() if any(part in test for part in parts)), None)
