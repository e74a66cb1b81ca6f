"""How libraries declare what an export to ONNX would write for their operators. It is kept, and not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["parse_args"]

#: what was registered, by an operator's name and the version of ONNX's operators
SYMBOLIC: dict[tuple[str, int], Any] = {}


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that notes of which kind the arguments are (torch.onnx.symbolic_helper.parse_args)."""

    def noted(fn: Callable[..., Any]) -> Callable[..., Any]:
        fn._arg_descriptors = list(arg_descriptors)  # type: ignore[attr-defined]
        return fn

    return noted
