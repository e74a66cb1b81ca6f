"""Run a program once on tensors without values, then apply its effect on tensors and graphs again.

`InputSignature` describes a program's inputs, `AbstractInputs` represents them in a trace, `TraceBackend`
records what the engine does with them, `TraceOutputs` sorts what outlives the program, and `Commit` makes it
real. A server replays kernels in between; a client's mirror has none to replay.
"""

from .commit import Commit, Memory, commit_simple
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
    "commit_simple",
    "floats",
    "local",
    "plain",
    "root",
    "traced",
]
