"""``python -m tools.gpu [PART ...]``, or ``make gpu``: tests, compute-sanitizer and benchmarks on a GPU.

What steps came to is kept in build/gpu: a run that was cut goes on, and what passed is not run again until
the sources, the interpreter or the device change. Exits with 2 where there is no GPU or no cupy, and with 1
where something failed or is not done yet.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from .machine import FOLDER, ROOT, NoGpu, chosen, facts, provide
from .page import document, path_of
from .parts import PARTS, run

#: of a whole run, what is under ten minutes with its beginning and end
SECONDS = 560.0


def main(arguments: list[str]) -> int:
    """Run the parts; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} [default: all]")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="after which nothing is begun")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    began = time.monotonic()
    try:
        python = provide(chosen(os.environ))
    except NoGpu as why:
        print(f"make gpu: {why}", file=sys.stderr)
        return 2
    print(f"{python.device}, cupy {python.cupy}, {python.path} {python.version}", flush=True)
    before = facts(python)
    wanted = [PARTS[name] for name in given.parts or PARTS]
    shares, done, bad = sum(part.share for part in wanted), 0.0, []
    page = path_of(python.device)
    page.parent.mkdir(parents=True, exist_ok=True)
    for part in wanted:
        done += part.share
        left = given.seconds * done / shares - (time.monotonic() - began)
        said = run(part, python, left, lambda line: print(line, flush=True))
        names = [step.name for step in part.steps(python)]
        bad += [
            f"{part.name} {name}"
            for name in names
            if name not in said or said[name].outcome not in ("passed", "skipped")
        ]
        kept = {each.name: each.kept(python).latest() for each in PARTS.values()}
        page.write_text(document(python, kept, before), encoding="utf-8")
    print(f"wrote {page.relative_to(ROOT)}; logs in {(FOLDER / 'logs').relative_to(ROOT)}")
    if bad:
        print(f"make gpu: not done: {', '.join(bad)}; the same command goes on", file=sys.stderr)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
