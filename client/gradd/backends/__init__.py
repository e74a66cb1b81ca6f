"""Switches of PyTorch's backends. Scripts may set them, and read what they are set to. Only those of
`cuda.matmul` for TF32 have an effect: the daemon's kernels leave no other choice.

As https://docs.pytorch.org/docs/stable/backends.html.
"""

from . import cpu, cuda, cudnn, cusparselt, kleidiai, mkl, mkldnn, mps, nnpack, openmp, opt_einsum

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "fp32_precision",
    "kleidiai",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
]
#: what float32 is computed in: what is set has no effect
fp32_precision = "none"
