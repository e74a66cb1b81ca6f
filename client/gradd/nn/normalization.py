"""LayerNorm, RMSNorm, GroupNorm, BatchNorm1d to 3d, InstanceNorm1d to 3d, LocalResponseNorm.

Source: https://pytorch.org/docs/stable/nn.html#normalization-layers
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad

from . import functional as F
from ._make import ones, zeros
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor import Tensor


class _Affine(Module):
    """Optional weight (initially ones) and bias (zeros)."""

    weight: Parameter | None
    bias: Parameter | None

    def _make_affine(self, size: tuple[int, ...], weight: bool, bias: bool, dtype: Any) -> None:
        self.register_parameter("weight", Parameter(ones(size, dtype)) if weight else None)
        self.register_parameter("bias", Parameter(zeros(size, dtype)) if weight and bias else None)

    def _reset_affine(self) -> None:
        with no_grad():
            if self.weight is not None:
                self.weight.fill_(1.0)
            if self.bias is not None:
                self.bias.zero_()


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, of `normalized_shape`; then weight and bias."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._make_affine(shape, elementwise_affine, bias, dtype)

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        self._reset_affine()

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)
        return out

    def extra_repr(self) -> str:
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Mean square 1 over the last dimensions, of `normalized_shape`; then the weight."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter("weight", Parameter(ones(shape, dtype)) if elementwise_affine else None)

    def reset_parameters(self) -> None:
        """Weight ones."""
        if self.weight is not None:
            with no_grad():
                self.weight.fill_(1.0)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.rms_norm(x, self.normalized_shape, self.weight, self.eps)
        return out

    def extra_repr(self) -> str:
        """Shape and options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Mean 0 and variance 1 over each group of channels of a sample; then weight and bias by channel."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make_affine((num_channels,), affine, bias, dtype)

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        self._reset_affine()

    def forward(self, input: Tensor) -> Tensor:
        """The same shape: (N, C, *)."""
        out: Tensor = F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)
        return out

    def extra_repr(self) -> str:
        """Groups, channels and options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _Norm(_Affine):
    """Base of norms with running statistics."""

    _version = 2
    ranks: ClassVar[tuple[int, ...]]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make_affine((num_features,), affine, bias, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros((num_features,), dtype) if tracked else None)
        self.register_buffer("running_var", ones((num_features,), dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtypes.int64) if tracked else None)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 0) < 2 and self.track_running_stats and key not in state_dict:
            # PyTorch before 0.4.1 did not count batches.
            counted = self.num_batches_tracked
            state_dict[key] = zeros((), dtypes.int64) if counted is None else counted
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Running mean 0 and variance 1."""
        if (
            self.running_mean is not None
            and self.running_var is not None
            and self.num_batches_tracked is not None
        ):
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros, fresh running statistics."""
        self.reset_running_stats()
        self._reset_affine()

    def extra_repr(self) -> str:
        """Features and options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Norm):
    """Mean 0 and variance 1 per channel over the batch; in eval mode by the running statistics."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            wanted = " or ".join(f"{n}D" for n in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The same shape: (N, C, *). In training mode, updates the running statistics."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        stats = (self.running_mean, self.running_var)
        if self.training and not self.track_running_stats:
            stats = (None, None)
        out: Tensor = F.batch_norm(
            input,
            *stats,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            momentum,
            self.eps,
        )
        return out


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes, of which there is one: of (N, C, *)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """The same shape: (N, C, *). In training mode, updates the running statistics."""
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """`module`, with one of this class, of the same tensors, in place of each batch norm in it."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_Norm):
    """Mean 0 and variance 1 per sample and channel; in eval mode by the running statistics, if tracked."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        older = local_metadata.get("version") is None and not self.track_running_stats
        found = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
        if older and found:
            names, kind = " and ".join(f'"{key}"' for key in found), type(self).__name__
            errors: list[str] = rest[-1]
            errors.append(
                f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. "
                f"If state_dict is a checkpoint saved before 0.4.0, this may be expected because {kind} does "
                "not track running stats by default since 0.4.0. Please remove these keys from state_dict. "
                "If the running stats are actually needed, instead set track_running_stats=True in "
                f"{kind} to enable them. See the documentation of {kind} for details."
            )
            for key in found:
                del state_dict[key]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _get_no_batch_dim(self) -> int:
        return self.ranks[0]

    def _check_input_dim(self, input: Tensor) -> None:
        alone, batched = self.ranks
        if input.dim() not in self.ranks:
            raise ValueError(f"expected {alone}D or {batched}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """The same shape: (N, C, *) or (C, *). In training mode, updates the running statistics."""
        self._check_input_dim(input)
        dim = input.dim() - self._get_no_batch_dim()
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but "
                    f"got: {input.size(dim)}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by "
                "not passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        return self._apply_instance_norm(input) if dim else self._handle_no_batch_input(input)

    def _handle_no_batch_input(self, input: Tensor) -> Tensor:
        out: Tensor = self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return out

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        out: Tensor = F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)


class LocalResponseNorm(Module):
    """Elements over (`k` + `alpha` * the mean square of `size` neighbouring channels) to the power `beta`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        out: Tensor = F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)
        return out

    def extra_repr(self) -> str:
        """Size and constants."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
