"""Which CUDA devices there are: the session's, where it computes on a GPU.

On a CPU all of this answers as PyTorch does without a GPU.
Source: https://docs.pytorch.org/docs/stable/cuda.html
"""

from __future__ import annotations

from typing import Any, NoReturn

from gradd_engine.data import Device

from .._session import current
from .._tensor import Tensor

NO_LIBRARY = "nvidia-ml-py does not seem to be installed or it can't be imported."


def is_available() -> bool:
    """Whether the current session computes on a GPU."""
    return bool(current().backend.device.type == "cuda")


def device_count() -> int:
    """The number of the current session's GPUs: one or none."""
    return int(is_available())


def want(device: Any = None) -> None:
    """AssertionError without a GPU, ValueError and RuntimeError for another device than the session's."""
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    wanted = (
        Device("cuda", device) if isinstance(device, int) else Device("cuda" if device is None else device)
    )
    if wanted.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {wanted}")
    if wanted.index:
        raise RuntimeError("CUDA error: invalid device ordinal: a session has one device")


def untold(what: str) -> NoReturn:
    """NotImplementedError: a daemon does not tell its clients about its GPU."""
    raise NotImplementedError(f"{what} of a daemon's GPU is not yet told by gradd")


def is_initialized() -> bool:
    """Whether the current session computes on a GPU."""
    return is_available()


def init() -> None:
    """Check that the session computes on a GPU: there is nothing to initialize. AssertionError without."""
    want()


def current_device() -> int:
    """0. Raises AssertionError without a GPU."""
    want()
    return 0


def set_device(device: Any) -> None:
    """Check that `device` is the session's. Raises AssertionError without a GPU, RuntimeError for another."""
    want(device)


def get_device_name(device: Any = None) -> str:
    """Not yet told for a session on a GPU (NotImplementedError). AssertionError without."""
    want(device)
    untold("the name")


def get_device_properties(device: Any = None) -> Any:
    """As `get_device_name`."""
    want(device)
    untold("a property")


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """As `get_device_name`."""
    want(device)
    untold("the compute capability")


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """False: a session has one device. Raises as `set_device`."""
    want(device)
    return False


def get_arch_list() -> list[str]:
    """Empty: the SDK has no kernels of its own."""
    return []


def get_gencode_flags() -> str:
    """Empty: the SDK has no kernels of its own."""
    return ""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current session computes on a GPU: matrices of bfloat16 are multiplied as they are."""
    return is_available()


def is_tf32_supported() -> bool:
    """Whether the current session computes on a GPU: see `set_float32_matmul_precision`."""
    return is_available()


def utilization(device: Any = None) -> int:
    """ModuleNotFoundError: a GPU's driver is asked where the GPU is, as are the ones below."""
    raise ModuleNotFoundError(NO_LIBRARY)


memory_usage = temperature = power_draw = clock_rate = device_memory_used = utilization


def list_gpu_processes(device: Any = None) -> str:
    """A text that says that nobody can be asked: see `utilization`."""
    return "pynvml module not found, please install nvidia-ml-py"


class device:
    """A context in which that device is the current one: an index, a name, or -1 or None for no change.

    RuntimeError on entry without a GPU, or for another than the session's.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device if isinstance(device, int) else Device(device).index or 0

    def __enter__(self) -> None:
        if self.idx < 0:
            return
        if not is_available():
            raise RuntimeError("PyTorch was compiled without CUDA support")
        want(self.idx)

    def __exit__(self, *exc: object) -> None:
        """The block is over."""


class device_of(device):
    """A context in which the current device is that of a tensor, if it is on a GPU."""

    def __init__(self, obj: Any) -> None:
        on_gpu = isinstance(obj, Tensor) and obj.device.type == "cuda"
        super().__init__(0 if on_gpu else -1)
