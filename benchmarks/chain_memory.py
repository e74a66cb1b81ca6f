"""What does a chain of 50 activations of 4 MB take at its peak? torch runs it in a process of its own."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import gradd

from .bench import Bench, Row, main
from .daemon import Memory, child

LENGTH, ELEMENTS = 50, 1 << 20
#: as much as torch takes; a hundredth is for the pages of two interpreters, which come and go
BAR = 1.01


def chain(torch: ModuleType, length: int, elements: int) -> float:
    """A forward that saves each activation, and the backward that needs them in turn; waits for its end."""
    x = torch.ones(elements, requires_grad=True)
    y = x
    for _ in range(length):
        y = y.sin()
    y.sum().backward()
    return float(x.grad[0].item())


def peaks(torch: ModuleType, pid: int, length: int, elements: int, times: int) -> list[int]:
    """How far the memory of a process has risen above where it stood, after each run of the chain.

    What a run gave back stays with the process, so only all runs together can be compared.
    """
    chain(torch, length, 16)  # what is loaded and compiled at the first use does not count
    memory = Memory(pid)
    rises = []
    for _ in range(times):
        chain(torch, length, elements)
        rises.append(memory.rise())
    return rises


def torch_peaks(length: int, elements: int, times: int) -> list[int]:
    """torch's own."""
    process = child("benchmarks.chain_memory", "--torch", str(length), str(elements), str(times))
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit("the chain failed under torch")
    return [int(rise) for rise in out.split()]


def question(bench: Bench) -> list[Row]:
    """After the first run, which is eager, and after more of them, which are planned."""
    elements = ELEMENTS if bench.effort != "smoke" else ELEMENTS // 16
    times = bench.pick(4, 4, 2)
    with gradd.connect(bench.url):
        mine = peaks(gradd, bench.pid or os.getpid(), LENGTH, elements, times)
    theirs = torch_peaks(LENGTH, elements, times) if bench.torch is not None else []
    work = f"memory at the peak of {LENGTH} saved activations of {4 * elements / 1e6:.1f} MB"
    return [
        Row(
            work=f"{work}, {how}", value=mine[run] / theirs[run] if theirs else None, bar=BAR,
            mine=f"{mine[run] / 1e6:.1f} MB", peer=f"{theirs[run] / 1e6:.1f} MB" if theirs else "",
            note="" if theirs else "no peer",
        )
        for how, run in (("eager", 0), ("then planned", -1))
    ]  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--torch"]:
        import torch

        torch.set_num_threads(1)
        length, elements, times = map(int, sys.argv[2:])
        print(*peaks(torch, os.getpid(), length, elements, times))
    else:
        main(question)
