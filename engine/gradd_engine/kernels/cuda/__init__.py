"""Device kernels in CUDA C++, and the ops whose NumPy-like kernels they replace on the CuPy backend.

Sources are compiled by NVRTC when a kernel is first called, and cached on disk, both by CuPy. An op without a
kernel here, or called with dtypes that its kernel lacks, keeps the one over CuPy's functions.
"""

from .sources import KERNELS, DeviceKernel, source_of
from .table import IDENTITY, NATIVE

__all__ = ["IDENTITY", "KERNELS", "NATIVE", "DeviceKernel", "source_of"]
