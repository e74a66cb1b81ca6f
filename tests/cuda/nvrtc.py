"""NVRTC by ctypes, from its wheel: it needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any


@cache
def library() -> Any:
    """The library; None where its wheel is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(Path(root).glob("*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(found))
    return None


def version() -> str:
    """What the library says that it is."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


class Refused(Exception):
    """NVRTC does not compile it; the message is its log."""


def compile(code: str, names: Sequence[str], options: Sequence[str]) -> int:
    """Compile a source for the kernels of these names, and return the bytes of machine code."""
    nvrtc, program = library(), ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernels.cu", 0, None, None)
    try:
        for name in names:
            nvrtc.nvrtcAddNameExpression(program, name.encode())
        given = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed, size = nvrtc.nvrtcCompileProgram(program, len(options), given), ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        if failed:
            raise Refused(log.value.decode())
        for name in names:
            lowered = ctypes.c_char_p()
            if nvrtc.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered)):
                raise Refused(f"{name} is not in what was compiled")
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        if not size.value:
            raise Refused("no machine code came of it")
        return int(size.value)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
