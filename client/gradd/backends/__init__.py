"""Switches of PyTorch's backends. Scripts may set them; none has an effect, for the daemon's kernels leave no
choice, but what they are set to can be read.

As https://docs.pytorch.org/docs/stable/backends.html.
"""

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
