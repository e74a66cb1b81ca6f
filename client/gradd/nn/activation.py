"""Element-wise nonlinearities and softmax as modules.

Source: https://pytorch.org/docs/stable/nn.html#non-linear-activations-weighted-sum-nonlinearity
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.relu(input, inplace=self.inplace)
        return out

    def extra_repr(self) -> str:
        """Whether it overwrites its input."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where positive, else `negative_slope` * x."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.leaky_relu(input, self.negative_slope, self.inplace)
        return out

    def extra_repr(self) -> str:
        """The slope, and whether it overwrites its input."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """x where positive, else `alpha` * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.elu(input, self.alpha, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Alpha, and whether it overwrites its input."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class SiLU(Module):
    """x * sigmoid(x)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.silu(input, inplace=self.inplace)
        return out

    def extra_repr(self) -> str:
        """Whether it overwrites its input."""
        return "inplace=True" if self.inplace else ""


class GELU(Module):
    """x * Φ(x), with Φ the normal distribution; `approximate` "tanh" for its approximation."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.gelu(input, approximate=self.approximate)
        return out

    def extra_repr(self) -> str:
        """The approximation."""
        return f"approximate={self.approximate!r}"


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = input.tanh()
        return out


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = input.sigmoid()
        return out


class Softplus(Module):
    """log(1 + exp(`beta` * x)) / `beta`, and x itself where `beta` * x is over `threshold`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.softplus(input, self.beta, self.threshold)
        return out

    def extra_repr(self) -> str:
        """Beta and threshold."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softmax(Module):
    """exp(x) over its sum along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.softmax(input, self.dim)
        return out

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of softmax along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.log_softmax(input, self.dim)
        return out

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"
