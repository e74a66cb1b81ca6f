"""How far a plain backward pass reaches: who reads what it does opens few files."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import gradd_engine.assembly
import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.declare.surface import functions
from gradd_engine.tensor import CUT, Node

ENGINE = Path(gradd_engine.__file__).parent
#: the files it runs through, each a subject of its own
MOST = 13


def _loss() -> Any:
    a, b = (NUMPY.from_array(np.ones(shape)) for shape in ((3, 4), (4, 5)))
    a.requires_grad = b.requires_grad = True
    matmul, sin, total = (functions()["", name] for name in ("matmul", "sin", "sum"))
    return total(sin(matmul(a, b)))


def _reached() -> dict[str, set[str]]:
    """The functions that the pass calls, by file of the engine. What is written for each op counts as no
    file: nobody reads it.
    """
    for _ in range(2):
        _loss().backward()
    loss, found, before = _loss(), dict[str, set[str]](), sys.getprofile()

    def see(frame: FrameType, event: str, arg: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.suffix == ".py" and path.is_relative_to(ENGINE):
            name = path.relative_to(ENGINE).as_posix()
            found.setdefault(name, set()).add(frame.f_code.co_qualname)

    gc.collect()
    gc.disable()  # the pass would give back what others left
    sys.setprofile(see)
    try:
        loss.backward()
    finally:
        sys.setprofile(before)
        gc.enable()
    return found


def test_a_backward_pass_reaches_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merge what is one subject, or call the op itself, before a file is added."""
    monkeypatch.setattr(Node, "callables", False)  # others may have had hooks
    monkeypatch.setattr(Node, "turned", False)  # or leaves that took another shape
    cut, CUT[:] = CUT[:], []  # or tensors cut from their graphs
    try:
        found = _reached()
    finally:
        CUT[:] = cut
    assert {"backward/executor.py", "declare/dispatch.py", "ops/linalg/matmul.py"} <= set(found)
    lines = [f"{name}: {', '.join(sorted(calls))}" for name, calls in sorted(found.items())]
    assert len(found) <= MOST, "\n".join(["a backward pass runs through", *lines])
