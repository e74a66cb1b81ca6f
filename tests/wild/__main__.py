"""Runs the scripts of `tests.wild.table` under torch and with gradd in its place; writes docs/wild.md.

    make wild WILD=<folder>

The folder holds a checkout of each repository as `<owner>/<name>`. What torch makes of a script is kept in
`<folder>/.results`, and not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.wild.courses import TUTORIALS
from tests.wild.draws import close
from tests.wild.libraries import LIBRARIES
from tests.wild.models import MODELS
from tests.wild.page import Row, first_line, page
from tests.wild.projects import PROJECTS
from tests.wild.table import WHOLE, Script

ROOT = Path(__file__).parents[2]
#: a file larger than that is not copied beside a script
LARGEST = 4_000_000
FIRST, TOLERANCE = 6, 2e-3


def _copied(repository: Path, to: Path) -> None:
    """A copy of a checkout, in which the script may write."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        at = Path(folder)
        return {n for n in names if n == ".git" or ((at / n).is_file() and (at / n).stat().st_size > LARGEST)}

    shutil.copytree(repository, to, ignore=left_out, symlinks=True)


def run(repository: Path, script: Script, side: str, args: argparse.Namespace) -> dict[str, Any]:
    """What comes of one script on one side."""
    with tempfile.TemporaryDirectory(prefix="wild") as made:
        folder, plan, result = Path(made) / "copy", Path(made) / "plan.json", Path(made) / "result.json"
        _copied(repository, folder)
        said = asdict(script) | {
            "folder": str(folder),
            "script": script.path,
            "cwd": script.cwd or str(Path(script.path).parent),
            "args": script.args.split(),
            "side": side,
            "url": args.url,
        }
        plan.write_text(json.dumps(said))
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "tests.wild.worker", str(plan), str(result)]
        began = time.monotonic()
        with (Path(made) / "stderr").open("w+") as errors:
            try:
                subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    stdout=errors,
                    stderr=errors,
                    timeout=args.seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return {"error": f"not done in {args.seconds} s", "where": "?", "seconds": args.seconds}
            if not result.exists():
                errors.seek(0)
                return {"error": "the process died: " + errors.read()[-400:], "where": "?", "seconds": 0}
        found: dict[str, Any] = json.loads(result.read_text())
        return found | {"wall": round(time.monotonic() - began, 1)}


def compared(torchs: dict[str, Any], ours: dict[str, Any]) -> str:
    """The outcome in a word, and what there is to say."""
    if "error" in torchs:
        return "unfit"
    if "error" in ours:
        return "stops"
    first = [found["losses"][:FIRST] for found in (torchs, ours)]
    if torchs["passes"] and close(*first, TOLERANCE) and torchs["passes"] == ours["passes"]:
        return "same"
    if not torchs["passes"] and close(torchs["printed"], ours["printed"], TOLERANCE):
        return "same"
    if torchs["passes"] != ours["passes"]:
        return "differs"
    finite = [sum(abs(x) < float("inf") for x in found["losses"]) for found in (torchs, ours)]
    if len(torchs["losses"]) == finite[0] and len(ours["losses"]) != finite[1]:
        return "differs"
    return "runs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make wild", description=__doc__)
    parser.add_argument("folder", type=Path, help="checkouts, as <owner>/<name>")
    parser.add_argument("--url", default="local:", help="a daemon")
    parser.add_argument(
        "--only", default="", help="scripts whose names have one of these, with commas between"
    )
    parser.add_argument("--seconds", type=int, default=240, help="for one run")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--again", action="store_true", help="ask torch again, too")
    parser.add_argument("--kept", action="store_true", help="take what was run before, where there is")
    parser.add_argument("--trace", action="store_true", help="print where a script stopped")
    args = parser.parse_args()
    repositories = (*WHOLE, *LIBRARIES, *TUTORIALS, *MODELS, *PROJECTS)
    absent = [held.name for held in repositories if not (args.folder / held.name).is_dir()]
    if args.write and (absent or args.only):
        parser.error(f"the page tells of every script; without --only, with checkouts of {', '.join(absent)}")
    kept = args.folder / ".results"
    kept.mkdir(exist_ok=True)
    rows: list[Row] = []
    for held in repositories:
        repository, commit = held.name, held.commit
        if repository in absent:
            continue
        for script in held.scripts:
            name = f"{repository}/{script.path}"
            if not any(part in name for part in args.only.split(",")):
                continue
            key = name.replace("/", "+") + (f"+{hash_of(script)}" if script.driver or script.args else "")
            file = kept / f"{key}.json"
            plan = json.dumps(asdict(script))
            known = json.loads(file.read_text()) if file.exists() and not args.again else {}
            if known.get("plan") != plan:
                known = {"plan": plan, "torch": run(args.folder / repository, script, "torch", args)}
                file.write_text(json.dumps(known))
            torchs = known["torch"]
            made = kept / f"{key}.gradd.json"
            if "error" in torchs:
                ours = {}
            elif args.kept and made.exists():
                ours = json.loads(made.read_text())
            else:
                ours = run(args.folder / repository, script, "gradd", args)
                made.write_text(json.dumps(ours))
            outcome = compared(torchs, ours)
            said = first_line(torchs if outcome == "unfit" else ours)
            rows.append(Row(repository, commit, script.path, script.args, outcome, said))
            print(
                f"{outcome:8}{name}  {torchs.get('seconds')} s, {ours.get('seconds')} s  {said}", flush=True
            )
            if args.trace and outcome in ("stops", "unfit"):
                print((torchs if outcome == "unfit" else ours).get("trace", ""))
    print(dict(Counter(row.outcome for row in rows)))
    if absent:
        print(f"left out, since there is no checkout: {len(absent)} of {len(repositories)} repositories")
    if args.write:
        args.write.write_text(page(rows, FIRST, TOLERANCE))


def hash_of(script: Script) -> int:
    """Tells two uses of one file apart."""
    return zlib.crc32((script.driver + script.args).encode())


if __name__ == "__main__":
    main()
