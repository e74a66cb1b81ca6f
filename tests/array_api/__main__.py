"""Runs the array API standard's tests on `gradd.array_api` (`make array-api`).

Prints the counts and each failure with its reason, and fails if a test fails without one in
`tests.array_api.failing`, or fewer pass than it says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as Xml
from collections import Counter
from pathlib import Path

from tests.array_api.failing import AT_LEAST, reason

ROOT = Path(__file__).resolve().parents[2]


def run(suite: Path, examples: int, results: Path) -> None:
    """Run the suite in its folder, over the session that GRADD_URL names, else one in its process."""
    packages = [str(ROOT / part) for part in ("", "engine", "protocol", "runtime", "server", "client")]
    path = os.pathsep.join([*packages, *filter(None, [os.environ.get("PYTHONPATH")])])
    results.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "--disable-deadline",
            "--derandomize", "--max-examples", str(examples), f"--junitxml={results}", "array_api_tests",
        ],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": path, "ARRAY_API_TESTS_MODULE": "gradd.array_api"},
        check=False,
    )  # fmt: skip


def counted(results: Path) -> tuple[Counter[str], list[str]]:
    """How many tests passed, failed and were skipped, and which ones failed."""
    counts: Counter[str] = Counter()
    failed: list[str] = []
    for case in Xml.parse(results).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        counts["skipped" if case.find("skipped") is not None else "run"] += 1
    return counts, failed


def main() -> None:
    """Parse the command line, run, print, exit."""
    parser = argparse.ArgumentParser(prog="python -m tests.array_api")
    parser.add_argument(
        "suite", type=Path, help="a checkout of data-apis/array-api-tests, with its submodule"
    )
    parser.add_argument("--examples", type=int, default=5, help="arrays for each test")
    given = parser.parse_args()
    results = ROOT / "build" / "array-api.xml"
    results.unlink(missing_ok=True)
    run(given.suite, given.examples, results)
    if not results.exists():
        sys.exit(
            f"the suite did not run: are {given.suite}/requirements.txt installed and its submodule there?"
        )
    counts, failed = counted(results)
    for test in failed:
        print(f"  {test}: {reason(test) or 'not in tests/array_api/failing.py'}")
    passed = counts["run"] - len(failed)
    share = 100 * passed / max(counts["run"], 1)
    print(f"{passed} of {counts['run']} pass ({share:.1f} %), {counts['skipped']} skipped")
    new = [test for test in failed if reason(test) is None]
    if new:
        sys.exit(f"{len(new)} fail without a reason in tests/array_api/failing.py")
    if share < AT_LEAST:
        sys.exit(f"fewer than {AT_LEAST} % pass")


if __name__ == "__main__":
    main()
