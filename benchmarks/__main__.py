"""All questions, each in a process of its own with a daemon of its own. Prints the table."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import msgspec

from .bench import Row
from .daemon import ROOT
from .report import document, table

QUESTIONS = (
    "round_trip", "chain", "tiny_ops", "eager_engine", "mlp_sgd", "mlp_adam", "transformer", "convnet",
    "plan_hits", "recording", "memory", "chain_memory", "bulk", "clients", "first_result", "restart",
    "journal", "loader",
)  # fmt: skip


def main() -> None:
    """Ask every question in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", choices=("full", "quick", "smoke"), default="full")
    parser.add_argument("--write", metavar="FILE", help="write the document")
    options = parser.parse_args()
    rows: list[Row] = []
    before = os.getloadavg()[0]
    for question in QUESTIONS:
        began = time.monotonic()
        command = [sys.executable, "-m", f"benchmarks.{question}", "--json", f"--effort={options.effort}"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"benchmarks/{question}.py failed")
        rows += msgspec.json.decode(done.stdout.splitlines()[-1], type=list[Row])
        print(f"{question}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    print(table(rows))
    if options.write:
        with open(options.write, "w") as file:
            file.write(document(rows, (before, os.getloadavg()[0])))


if __name__ == "__main__":
    main()
