"""Settings of PyTorch's generator of kernels (torch._inductor), which are kept and change nothing."""

from __future__ import annotations

import sys

from ._dynamo import KeptSettings
from .compiler import cudagraph_mark_step_begin as cudagraph_mark_step_begin

#: there are modules below this one, though it is a file
__path__: list[str] = []
config = KeptSettings(f"{__name__}.config")
sys.modules[config.__name__] = config
