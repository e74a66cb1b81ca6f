"""Count every entry, over a session of this process and over a daemon, and write docs/parity-ops.md."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from gradd_engine.progress import counted, say

from tests.parity.counting import Counts, over
from tests.parity.page import PAGE, page, summary, unexplained
from tests.parity.tiers import entries


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where a bar is missed or an entry below 100 % has no reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="*", help="entries to count, by name; all by default")
    parser.add_argument("--tier", action="append", help="entries of these tiers alone")
    parser.add_argument(
        "--most", type=int, default=4, help="samples of an entry and dtype, drawn by the seed"
    )
    parser.add_argument("--over", type=int, default=1, help="the same over a daemon; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="write the counts here")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    names = options.entries or [e.name for e in entries().values() if e.tier in (options.tier or (e.tier,))]
    began = time.monotonic()
    found: dict[str, dict[str, Counts]] = {name: {} for name in names}
    with ExitStack() as stack:
        tasks = [("local", "local:", name, options.most) for name in names]
        if options.over:
            from benchmarks.daemon import serving

            url, _ = stack.enter_context(serving())
            tasks += [("daemon", url, name, options.over) for name in names]
        spawned = multiprocessing.get_context("spawn")
        pool = stack.enter_context(ProcessPoolExecutor(options.jobs, mp_context=spawned))
        begun = {pool.submit(over, *task[1:], options.seed): task for task in tasks}
        for done in counted(as_completed(begun), "parity", len(begun)):
            where, _, name, _ = begun[done]
            found[name][where] = counts = done.result()
            for check, held in counts.items():
                if held.held < held.all:
                    told = (f"    {difference}" for difference in held.differences)
                    say("\n".join((f"{name} {check} ({where}) {held.held}/{held.all}", *told)), sys.stdout)
    if options.json:
        told = {
            n: {w: {c: asdict(k) for c, k in cs.items()} for w, cs in ws.items()} for n, ws in found.items()
        }
        options.json.write_text(json.dumps(told, indent=1))
    print(summary(found), f"in {time.monotonic() - began:.0f} s")
    if options.write:
        PAGE.write_text(page(found, options.most, options.over))
    return 1 if unexplained(found) else 0


if __name__ == "__main__":
    sys.exit(main())
