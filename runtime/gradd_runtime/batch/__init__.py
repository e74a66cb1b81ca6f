"""Batches in either form, as a program with its inputs and what to do with its outputs.

Frames refer to a program and slots, the JSON form to names of tensors; both become `Work`.
"""

from .from_frame import frame_work, release
from .from_json import Compiler, compile_backward, compile_batch, json_answer, json_tensor
from .work import Fetched, Outcome, Work

__all__ = [
    "Compiler", "Fetched", "Outcome", "Work", "compile_backward", "compile_batch", "frame_work",
    "json_answer", "json_tensor", "release",
]  # fmt: skip
