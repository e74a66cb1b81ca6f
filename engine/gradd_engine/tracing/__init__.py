"""Programs run once on tensors without numbers, and their effect on tensors and graphs applied again.

`InputSignature` says what comes in with a program, `AbstractInputs` stands for it in a trace, `TraceBackend`
writes down what the engine does with that, `TraceOutputs` sorts what is left at the end, `Commit` makes it
real. A server replays kernels in between; a client's mirror has none to replay.
"""

from .commit import Commit, Memory
from .ending import Shape, TraceOutputs, root
from .mirror import AbstractInputs, InputSignature, Unplannable, floats
from .numbers import Guards, TraceFailed, local, plain, traced
from .trace import (
    Allocate,
    Block,
    Copy,
    Instruction,
    KernelCall,
    Place,
    RuntimeValue,
    TraceBackend,
    Upload,
    Window,
)

__all__ = [
    "AbstractInputs",
    "Allocate",
    "Block",
    "Commit",
    "Copy",
    "Guards",
    "InputSignature",
    "Instruction",
    "KernelCall",
    "Memory",
    "Place",
    "RuntimeValue",
    "Shape",
    "TraceBackend",
    "TraceFailed",
    "TraceOutputs",
    "Unplannable",
    "Upload",
    "Window",
    "floats",
    "local",
    "plain",
    "root",
    "traced",
]  # fmt: skip
