"""How long does a script wait for its first result, import and all? Beside it, the same with torch."""

from __future__ import annotations

import subprocess
import sys

from .bench import Bench, Row, main

MINE = "import gradd; gradd.connect(); print((gradd.ones(2) + 1).tolist())"
PEER = "import torch; print((torch.ones(2) + 1).tolist())"


def _run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def question(bench: Bench) -> list[Row]:
    """Wall time of a process that prints one result from the running daemon."""
    peer = None if bench.torch is None else (lambda: _run(PEER))
    found = bench.interleave(lambda: _run(MINE), peer, 1, rounds=bench.pick(9, 3), warm=1)
    row = found.time("import gradd and first result from a running daemon", 1.0, 1.0, "s")
    row.client = None  # the process was another
    return [row]


if __name__ == "__main__":
    main(question)
