"""Programs run once on tensors without numbers, and their effect on tensors and graphs applied again.

`Found` says what comes in with a program, `Mirrored` stands for it in a trace, `TraceBackend` writes down
what the engine does with that, `Ending` sorts what is left at the end, `Commit` makes it real. A server
replays kernels in between; a client's mirror has none to replay.
"""

from .commit import Commit, Memory
from .ending import Ending, Shape, root
from .mirror import Found, Mirrored, Unplannable, floats
from .numbers import Guards, TraceFailed, local, plain, traced
from .trace import Allocate, Block, Copy, Instruction, Kernel, Late, Place, TraceBackend, Upload, Window

__all__ = [
    "Allocate", "Block", "Commit", "Copy", "Ending", "Found", "Guards", "Instruction", "Kernel", "Late",
    "Memory", "Mirrored", "Place", "Shape", "TraceBackend", "TraceFailed", "Unplannable", "Upload", "Window",
    "floats", "local", "plain", "root", "traced",
]  # fmt: skip
