"""Windows (torch.signal.windows), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Sequence
from typing import Any

from gradd_engine.data.device import Device as device

from gradd._surface.facts import layout
from gradd._tensor.tensor import Tensor

def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.bartlett.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.bartlett.html
    """

def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.blackman.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.blackman.html
    """

def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.cosine.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.cosine.html
    """

def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """Exponentially distributed numbers in the input's shape, as `exponential_` stores them.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: exponential_ expects lambda > 0.0, but found lambda=...

    https://pytorch.org/docs/stable/generated/torch.signal.windows.exponential.html
    """

def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.gaussian.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.gaussian.html
    """

def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.general_cosine.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.general_cosine.html
    """

def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.general_hamming.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.general_hamming.html
    """

def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.hamming.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.hamming.html
    """

def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.hann.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.hann.html
    """

def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.kaiser.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.kaiser.html
    """

def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: Any = False,
) -> Tensor:
    """torch.signal.windows.nuttall.

    https://pytorch.org/docs/stable/generated/torch.signal.windows.nuttall.html
    """
