"""How long does a script wait for its first result, import and all? Beside it, the same with torch."""

from __future__ import annotations

import statistics
import subprocess
import sys

from .bench import MS, Bench, Row, main, spread

MINE = "import gradd; gradd.connect(); print((gradd.ones(2) + 1).tolist())"
PEER = "import torch; print((torch.ones(2) + 1).tolist())"
IMPORT = "import numpy, time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def _run(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _import(bench: Bench) -> Row:
    """What `import gradd` takes once numpy is there, by the clock of the process that imports."""
    names = ["gradd"] if bench.torch is None else ["gradd", "torch"]
    for name in names:
        _run(IMPORT.format(name))
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(bench.pick(9, 5)):
        for name in names:
            found[name].append(MS * float(_run(IMPORT.format(name))))
    value, low, high = spread(found["gradd"])
    peer = f"{statistics.median(found['torch']):.1f} ms" if "torch" in found else ""
    return Row(
        work="import gradd beyond numpy", value=value, low=low, high=high, unit="ms", bar=400.0, peer=peer
    )


def question(bench: Bench) -> list[Row]:
    """Wall time of a process that prints one result from the running daemon, and of the import alone."""
    peer = None if bench.torch is None else (lambda: _run(PEER))
    found = bench.interleave(lambda: _run(MINE), peer, 1, rounds=bench.pick(9, 3), warm=1)
    row = found.time("import gradd and first result from a running daemon", 0.35, 1.0, "s")
    del row.cpu["client"]  # the process was another
    return [row, _import(bench)]


if __name__ == "__main__":
    main(question)
