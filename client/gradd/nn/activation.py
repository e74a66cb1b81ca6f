"""Element-wise nonlinearities and softmax as modules.

Source: https://pytorch.org/docs/stable/nn.html#non-linear-activations-weighted-sum-nonlinearity
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import functional as F
from ._make import empty
from .init import constant_
from .module import Module
from .parameter import Parameter

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


class ReLU6(Module):
    """min(max(x, 0), 6)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.relu6(input, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Whether it overwrites its input."""
        return "inplace=True" if self.inplace else ""


class Hardtanh(Module):
    """x within [`min_val`, `max_val`], else the nearer bound."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.hardtanh(input, self.min_val, self.max_val, self.inplace)
        return out

    def extra_repr(self) -> str:
        """The bounds, and whether it overwrites its input."""
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class Threshold(Module):
    """x where it is over `threshold`, else `value`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.threshold(input, self.threshold, self.value, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Threshold and value, and whether it overwrites its input."""
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class SELU(Module):
    """A scaled ELU whose outputs keep mean 0 and variance 1."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.selu(input, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Whether it overwrites its input."""
        return "inplace=True" if self.inplace else ""


class CELU(Module):
    """max(x, 0) + min(`alpha` * (exp(x / `alpha`) - 1), 0)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.celu(input, self.alpha, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Alpha, and whether it overwrites its input."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Mish(Module):
    """x * tanh(softplus(x))."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.mish(input, self.inplace)
        return out

    def extra_repr(self) -> str:
        """Whether it overwrites its input."""
        return "inplace=True" if self.inplace else ""


class Hardswish(Module):
    """x * relu6(x + 3) / 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.hardswish(input, self.inplace)
        return out


class Hardsigmoid(Module):
    """relu6(x + 3) / 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.hardsigmoid(input, self.inplace)
        return out


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x)))."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.logsigmoid(input)
        return out


class Softsign(Module):
    """x / (1 + abs(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.softsign(input)
        return out


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.tanhshrink(input)
        return out


class Softshrink(Module):
    """x brought nearer to 0 by `lambd`."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.softshrink(input, self.lambd)
        return out

    def extra_repr(self) -> str:
        """Lambda."""
        return str(self.lambd)


class Hardshrink(Module):
    """x where its absolute value is over `lambd`, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.hardshrink(input, self.lambd)
        return out

    def extra_repr(self) -> str:
        """Lambda."""
        return f"{self.lambd}"


class Softmin(Module):
    """Softmax of -x along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
        out: Tensor = F.softmin(input, self.dim)
        return out

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class GLU(Module):
    """The first half along `dim`, times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Half as many elements along `dim`."""
        out: Tensor = F.glu(input, self.dim)
        return out

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """The same shape; ValueError for other numbers of dimensions."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        out: Tensor = F.softmax(input, -3)
        return out


class PReLU(Module):
    """x where positive, else `weight` * x: one learnt slope, or one a channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty((num_parameters,), dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init`."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """The same shape; channels are dimension 1."""
        out: Tensor = F.prelu(input, self.weight)
        return out

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"
