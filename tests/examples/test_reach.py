"""The tour of PyTorch's surface prints the same under gradd and under torch: only the import differs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "reach.py"
IMPORT = "import gradd as torch\n"


def printed(source: str, url: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        env={**os.environ, "GRADD_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_goes_far() -> None:
    source = SCRIPT.read_text()
    assert source.count(IMPORT) == 1
    assert source.count("gradd") == 2, "but for its first lines it does not know where it runs"
    assert len(source.splitlines()) >= 150


@pytest.mark.oracle
@pytest.mark.parametrize("where", ["daemon", "local:"])
def test_it_prints_the_same(oracle: Callable[..., Any], where: str, request: pytest.FixtureRequest) -> None:
    source = SCRIPT.read_text()
    url = request.getfixturevalue("daemon") if where == "daemon" else where
    assert printed(source, url) == oracle(lambda _: printed(source.replace(IMPORT, "import torch\n"), url))
