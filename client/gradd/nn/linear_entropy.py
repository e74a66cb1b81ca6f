"""LinearCrossEntropyLoss, the cross-entropy of what a linear map gives, and its options.

Source: https://pytorch.org/docs/stable/generated/torch.nn.LinearCrossEntropyLoss.html
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

from . import functional as F
from ._bases import Weighted
from .linear import Linear

if TYPE_CHECKING:
    from .._tensor import Tensor

_SUMS = (None, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch divides the work to save memory: checked and kept; the daemon does it as one.

    ValueError for other values than PyTorch's.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in {"auto", "accurate", "balanced", "compact"}:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method, size = self.chunking_method, self.batch_chunk_size
        if method is not None and method != "auto":
            name, colon, factor = method.partition(":")
            many = factor if colon else "1"
            if name != "aspect_ratio" or not many.isdigit() or int(many) < 1:
                raise ValueError(f"invalid chunking_method: {method!r}")
        given: Any = size
        if given is not None and (not isinstance(given, int) or given <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in _SUMS:
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                f"torch.float64}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                "automatically."
            )


class LinearCrossEntropyLoss(Weighted):
    """The cross-entropy of a target and what `linear`, a layer of its own, gives for the input."""

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if label_smoothing < 0 or label_smoothing > 1.0:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, None, None, reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """(N, in_features) and classes (N, *out_features), or their probabilities, to a scalar (the classes'
        shape with reduction "none").
        """
        rows = [self.num_classes, *self.out_features]
        bias = self.linear.bias
        out: Tensor = F.linear_cross_entropy(
            input,
            self.linear.weight.reshape([*rows, self.linear.in_features]),
            target,
            linear_bias=None if bias is None else bias.reshape(rows),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )
        return out

    def extra_repr(self) -> str:
        """Sizes and options."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
