"""The kernel table maps an op to the function that computes it, for eager runs and plans alike.

A kernel has the signature of `Op.impl`: ``kernel(xp, *arrays, **attrs)``. On a CPU with numba, the table
holds compiled kernels where the library has them, and the op's own `impl` otherwise. It is loaded before its
first use and never changes after: one table, the same bits. GRADD_KERNELS=numpy turns compiled kernels off,
GRADD_KERNELS=jit requires them. On a GPU it holds the kernels of `cuda` where there are any, unless
GRADD_CUDA_KERNELS is 0.
"""

from . import bunch_kaufman, factorisations, gauss
from .adaptive import adaptive_maxima, adaptive_taps, fractional_maxima
from .alignments import alignment_losses, alignment_slopes, padded_targets
from .attention import attend, attend_backward, attention_room, slopes_plain, softmax_plain
from .factorisations import LinAlgError
from .images_conv import (
    CACHED,
    IDLE,
    LEAST,
    LEAST_ROWS,
    How,
    blocks_of,
    convolve,
    convolve_transposed,
    convolve_weight,
    sums_of,
)
from .images_pool import add_at, max_windows, out_shape, pick, put_at, spread_windows, sum_windows
from .places import add_places, read_places, weigh_places
from .recurrent import CELLS, SHAPES, run_layer, run_layer_backward
from .table import KernelTable
from .taps import Taps, resampled, transposed
from .tiles import tiled, tiles
from .ufuncs import accumulate, apply_at

__all__ = [
    "CACHED",
    "CELLS",
    "IDLE",
    "LEAST",
    "LEAST_ROWS",
    "SHAPES",
    "How",
    "KernelTable",
    "LinAlgError",
    "Taps",
    "accumulate",
    "adaptive_maxima",
    "adaptive_taps",
    "add_at",
    "add_places",
    "alignment_losses",
    "alignment_slopes",
    "apply_at",
    "attend",
    "attend_backward",
    "attention_room",
    "blocks_of",
    "bunch_kaufman",
    "convolve",
    "convolve_transposed",
    "convolve_weight",
    "factorisations",
    "fractional_maxima",
    "gauss",
    "max_windows",
    "out_shape",
    "padded_targets",
    "pick",
    "put_at",
    "read_places",
    "resampled",
    "run_layer",
    "run_layer_backward",
    "slopes_plain",
    "softmax_plain",
    "spread_windows",
    "sum_windows",
    "sums_of",
    "tiled",
    "tiles",
    "transposed",
    "weigh_places",
]
