"""DataParallel, over the one device that a session has (torch.nn.DataParallel)."""

from __future__ import annotations

from typing import Any

from ..module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Runs the module itself, since a session has one device (torch.nn.DataParallel without devices). Its
    parameters are named ``module.<name>``.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.dim = dim
        self.device_ids: list[int] = []
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """The module's result for `inputs`, a tuple or one input."""
    given = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*given, **(module_kwargs or {}))
