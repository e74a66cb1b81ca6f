"""Once a script derives a class from `Tensor`, all else is as before: other tests run in that state.

`make asking` runs all of the client's and the semantics' tests so; this is a share of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
#: of what depends on who is asked: classes of gradd's own, and which line of the stack is the script's
SHARE = (
    "client/test_sparse_compressed.py",
    "client/test_warned_lines.py",
    "client/test_former_calls.py",
    "client/test_lines.py",
    "semantics/test_15_anomaly.py",
)


@pytest.mark.parametrize("name", SHARE)
def test_a_class_of_the_scripts_changes_nothing_else(name: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--asking"]
    done = subprocess.run([*command, TESTS / name], capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
