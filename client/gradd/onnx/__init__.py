"""`torch.onnx`, as far as models ask it whether they are being exported.

To export raises NotImplementedError.

As https://docs.pytorch.org/docs/stable/onnx.html.
"""

from __future__ import annotations

from typing import Any, NoReturn

from . import symbolic_helper as symbolic_helper
from . import symbolic_opset11 as symbolic_opset11

__all__ = ["export", "is_in_onnx_export", "register_custom_op_symbolic"]


def is_in_onnx_export() -> bool:
    """False (torch.onnx.is_in_onnx_export)."""
    return False


def export(model: Any, *args: Any, **options: Any) -> NoReturn:
    """NotImplementedError: save the weights, and export them with torch."""
    raise NotImplementedError(
        "torch.onnx.export: gradd writes no ONNX; save the state_dict, which torch loads, and export it there"
    )


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Keep how an export would write an operator, which nothing here asks. ValueError for a name without a
    namespace.
    """
    if symbolic_name.count("::") != 1:
        raise ValueError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format "
            "domain::name, and should start with a letter and contain only alphanumerical characters"
        )
    symbolic_helper.SYMBOLIC[symbolic_name, opset_version] = symbolic_fn
