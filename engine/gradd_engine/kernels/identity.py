"""What the bits of a result depend on beside the kernels' code: libraries, the CPU's features, threads."""

from __future__ import annotations

import ctypes
import platform
from importlib import import_module
from typing import Any

import numpy as np

from .threads import blas_symbol, blas_threads


def surroundings(xp: Any) -> str:
    """The libraries and the machine under namespace `xp`, in words without spaces, joined by spaces.

    NumPy chooses its loops by the CPU's features, OpenBLAS by its core type, and a product is summed in
    another order with another number of threads.
    """
    if xp is not np:
        from .cuda import cublas

        runtime, device = xp.cuda.runtime.runtimeGetVersion(), xp.cuda.Device().compute_capability
        return f"cuda-{runtime} sm-{device} cublas-{cublas.version(xp)}"
    return " ".join([_libc(), f"cpu-{_features()}", f"blas-{_blas()}", f"threads-{blas_threads()}"])


def _libc() -> str:
    """The library of mathematical functions, which NumPy calls for some."""
    return "-".join([platform.machine(), *platform.libc_ver()]).rstrip("-")


def _features() -> str:
    """Which of the CPU's features NumPy has loops for and finds here."""
    linked: Any = import_module("numpy._core._multiarray_umath")
    found = [name for name in linked.__cpu_dispatch__ if linked.__cpu_features__.get(name)]
    return "+".join(found) or "baseline"


def _blas() -> str:
    """NumPy's BLAS as it names itself, with the core type that it chose."""
    config = blas_symbol("openblas_get_config")
    if config is None:
        built: Any = np.show_config(mode="dicts")
        found = built["Build Dependencies"]["blas"]
        return f"{found.get('name')}-{found.get('version')}".replace(" ", "-")
    config.restype = ctypes.c_char_p
    return "-".join(config().decode().split())
