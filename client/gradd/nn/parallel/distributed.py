"""DistributedDataParallel in a world of one process (torch.nn.parallel.DistributedDataParallel)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Runs the module itself: with one process there is nobody to share gradients with.

    Its parameters are named ``module.<name>``. RuntimeError if no parameter requires a gradient. The other
    options say how to share, and have no effect.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when module doesn't have any parameters that require "
                "a gradient."
            )
        self.module = module
        self.dim, self.device_ids, self.output_device = dim, device_ids, output_device
        self.broadcast_buffers, self.find_unused_parameters = broadcast_buffers, find_unused_parameters
        self.process_group, self.static_graph = process_group, static_graph
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within it, gradients are not to be shared."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Iterator[None]:
        """Within it, inputs may be unevenly shared: one process has all of them."""
        yield

    def register_comm_hook(self, state: object, hook: Any) -> None:
        """Refused: there is no communication that a hook could change."""
        raise NotImplementedError("communication hooks are not supported by gradd: its world is one process")
