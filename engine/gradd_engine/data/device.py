"""Devices by PyTorch's names."""

from __future__ import annotations

_KINDS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class DeviceFailed(BaseException):
    """A device that does nothing more for this process: what it computed since it was last waited for may be
    wrong, and it takes a new process to use it again. No Exception, so that nothing takes it for the failure
    of an op.
    """


class Device:
    """A device by PyTorch's name: ``cpu``, ``cuda:0``, ``meta``."""

    __slots__ = ("index", "type")

    def __init__(self, type: str | Device, index: int | None = None) -> None:
        name, _, number = str(type).partition(":")
        if number and index is not None:
            raise RuntimeError(
                f"'type' must not include an index because index was passed explicitly: {type}"
            )
        if number and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{type}'")
        if name not in _KINDS:
            raise RuntimeError(
                f"Expected one of {', '.join(_KINDS)} device type at start of device string: {name}"
            )
        self.type = name
        self.index = int(number) if number else index

    def __enter__(self) -> Device:
        """As PyTorch's context manager. What is made in it is where all of the session is."""
        return self

    def __exit__(self, *_: object) -> None:
        """The block is over."""

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))
