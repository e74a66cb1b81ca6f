"""Device kernels compiled as host code, and called with NumPy arrays."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SHIM = Path(__file__).parent / "shim.h"
COMPILER = shutil.which("g++") or shutil.which("clang++")
#: why nothing is compiled here, where that is so
MISSING = None if COMPILER else "needs a C++ compiler: g++ or clang++"
_FLAGS = ("-std=c++17", "-O1", "-g0", "-shared", "-fPIC", "-fno-strict-aliasing", "-w")
if COMPILER is not None and COMPILER.endswith("g++"):
    # Else a template's static is one in the whole process, and may be smaller in a source of another text.
    _FLAGS += ("-fno-gnu-unique",)
#: which kind of argument an array of a dtype is
_KINDS = {"l": "q", "L": "Q", "?": "B"}


class ShimError(AssertionError):
    """A kernel did what it must not do: an index outside of an array, a barrier that not all threads reach,
    an argument of another type than it takes.
    """


class _Given(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("count", ctypes.c_longlong), ("kind", ctypes.c_longlong))


def _folder() -> Path:
    """Where compiled kernels are kept, by what they are made of."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        place = base / "gradd" / "shim"
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        place = Path(tempfile.mkdtemp())
    return place


@functools.cache
def _header() -> Path:
    """The shim, compiled beforehand: half of what a small kernel takes is reading it."""
    what = "\0".join((SHIM.read_text(), *_FLAGS))
    place = _folder() / hashlib.sha256(what.encode()).hexdigest()[:24]
    if not place.exists():
        made = tempfile.mkdtemp(dir=place.parent)
        shutil.copy(SHIM, made)
        flags = [f for f in _FLAGS if f != "-shared"]
        command = [str(COMPILER), *flags, "-x", "c++-header", f"{made}/{SHIM.name}", "-o"]
        subprocess.run([*command, f"{made}/{SHIM.name}.gch"], capture_output=True, check=False)
        try:
            Path(made).rename(place)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return place / SHIM.name


@functools.cache
def built(code: str, names: tuple[str, ...]) -> Host:
    """The kernels of a source, by the names that C++ has for them."""
    assert COMPILER is not None, MISSING
    exports = "".join(f"EXPORT({i}, {name})\n" for i, name in enumerate(names))
    text = f'#include "{_header()}"\n{code}\n#line 1 "exports"\n{exports}'
    what = "\0".join((text, SHIM.read_text(), *_FLAGS))
    at = _folder() / f"{hashlib.sha256(what.encode()).hexdigest()[:24]}.so"
    if not at.exists():
        with tempfile.TemporaryDirectory(dir=at.parent) as place:
            made = Path(place) / "made.so"
            command = [COMPILER, *_FLAGS, "-x", "c++", "-", "-o", str(made)]
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            if done.returncode:
                raise ShimError(done.stderr[:4000])
            made.rename(at)
    return Host(ctypes.PyDLL(str(at)), names)


def _given(x: Any, keep: list[Any]) -> _Given:
    """An argument, as CuPy would pass it."""
    if x is None:
        return _Given(None, 0, ord("0"))
    if isinstance(x, np.ndarray) and x.dtype.names:
        assert x.size == 1, "a structure is passed by value: an array of size one"
        return _Given(x.ctypes.data, x.nbytes, ord("{"))
    if isinstance(x, np.ndarray):
        if not x.flags.c_contiguous:
            raise ShimError("an array that is not row-major is passed by its address")
        kind = "E" if x.dtype.name == "bfloat16" else _KINDS.get(x.dtype.char, x.dtype.char)
        return _Given(x.__array_interface__["data"][0], x.size, ord(kind))
    if type(x) is int:
        keep.append(ctypes.c_longlong(x))
        return _Given(ctypes.addressof(keep[-1]), 1, ord("#"))
    if type(x) is float:
        keep.append(ctypes.c_double(x))
        return _Given(ctypes.addressof(keep[-1]), 1, ord("."))
    raise ShimError(f"a kernel takes arrays and Python's integers and floats, not {type(x)}")


class Host:
    """Kernels as host code."""

    def __init__(self, library: Any, names: tuple[str, ...]) -> None:
        self._library = library
        self._names = names

    def launch(
        self, name: str, grid: Sequence[int], threads: int, given: Sequence[Any], turned: bool = False
    ) -> None:
        """Run a kernel, blocks and threads in turn, or backwards; ShimError if it does what it must not."""
        keep: list[Any] = []
        arguments = (_Given * max(len(given), 1))(*[_given(x, keep) for x in given])
        size = (ctypes.c_uint * 4)(*grid, threads)
        said = ctypes.create_string_buffer(256)
        if min(size) < 1 or threads > 1024 or threads % 32 or max(grid[1:]) > 65535:
            raise ShimError(f"{name}: no launch of {tuple(grid)} blocks of {threads} threads")
        if self._library[f"launch_{self._names.index(name)}"](size, int(turned), arguments, len(given), said):
            raise ShimError(f"{name}: {said.value.decode()}")
