"""Timing of statements (torch.utils.benchmark): a measured block ends when the daemon has done its work.

Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html
"""

from .compare import Compare
from .measurement import Measurement, TaskSpec
from .timer import Timer

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer"]
