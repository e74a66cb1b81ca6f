"""Engine processes whose GPUs are the stand-in's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def on_standin(patch: pytest.MonkeyPatch, devices: int = 1, memory: int = 1 << 36) -> None:
    """Processes that are started from now on have that many GPUs of so many bytes. They have no device
    kernels, which a compiler would make code of in each.
    """
    path = os.pathsep.join(filter(None, [str(HERE / "path"), str(ROOT), os.environ.get("PYTHONPATH")]))
    patch.setenv("PYTHONPATH", path)
    patch.setenv("GRADD_CUDA_KERNELS", "0")
    patch.setenv("STANDIN_DEVICES", str(devices))
    patch.setenv("STANDIN_MEMORY", str(memory))


def fault(patch: pytest.MonkeyPatch, file: Path) -> Path:
    """The file that plants a fault in the next of them that comes to a kernel: "STATUS KERNEL BEHIND"."""
    patch.setenv("STANDIN_FAULT", str(file))
    return file
