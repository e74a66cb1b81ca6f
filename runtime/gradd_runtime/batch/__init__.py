"""What a batch asks for, in whichever form it came: a program, its inputs, and what becomes of its outputs.

Frames name a program and slots, the JSON form names tensors; both become `Work`.
"""

from .from_frame import frame_work, release
from .from_json import Compiler, compile_backward, compile_batch, json_answer, json_tensor
from .work import Fetched, Outcome, Work

__all__ = [
    "Compiler", "Fetched", "Outcome", "Work", "compile_backward", "compile_batch", "frame_work",
    "json_answer", "json_tensor", "release",
]  # fmt: skip
