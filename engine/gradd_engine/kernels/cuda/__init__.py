"""Device kernels in CUDA C++: for ops, in place of the NumPy-like kernels on the CuPy backend, and fused ones
that plans make.

Sources are compiled by NVRTC when a kernel is first called, and cached on disk, both by CuPy. An op without a
kernel here, or called with dtypes that its kernel lacks, keeps the one over CuPy's functions.
"""

from .copies import copying
from .elements import ELEMENTS, SPLITS, cast_lines
from .expressions import HELD, cast, literal, ufunc
from .fused import MOST_ARRAYS, MOST_NUMBERS, FusedArray, FusedKernel, FusedLine, FusedPart
from .launch import DeviceKeys, signed
from .lengths import STACKED, PackedNorms
from .products import ready
from .sources import KERNELS, DeviceKernel, source_of
from .table import IDENTITY, NARROW, NATIVE

__all__ = [
    "ELEMENTS",
    "HELD",
    "IDENTITY",
    "KERNELS",
    "MOST_ARRAYS",
    "MOST_NUMBERS",
    "NARROW",
    "NATIVE",
    "SPLITS",
    "STACKED",
    "DeviceKernel",
    "DeviceKeys",
    "FusedArray",
    "FusedKernel",
    "FusedLine",
    "FusedPart",
    "PackedNorms",
    "cast",
    "cast_lines",
    "copying",
    "literal",
    "ready",
    "signed",
    "source_of",
    "ufunc",
]
