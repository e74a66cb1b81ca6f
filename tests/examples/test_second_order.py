"""The examples of higher derivatives: the same figures under torch, in a daemon and in their README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import gradd
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("maml", "wgan_gp", "newton_cg", "pinn", "per_sample", "checkpointed")
CLOSE = 1e-5


def example(name: str) -> Any:
    """An example as a module."""
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures(text: str) -> dict[str, float]:
    """Figures by their names, as the examples print them."""
    return {name: float(value) for name, value in (line.rsplit(": ", 1) for line in text.splitlines())}


def shown(name: str) -> dict[str, float]:
    """What the README says an example prints."""
    found = re.search(rf"\[{name}\.py\]\({name}\.py\)\n\n```text\n(.*?)\n```", readme(), re.DOTALL)
    assert found is not None
    return figures(found[1])


def readme() -> str:
    return (EXAMPLES / "README.md").read_text()


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_figures_are_the_oracles(oracle: Callable[..., Any], name: str, daemon: str) -> None:
    run = example(name).run
    with gradd.connect(daemon):
        found = run(gradd)
    assert found == pytest.approx(oracle(run), rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_the_script_prints_what_the_readme_shows(name: str, daemon: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "GRADD_URL"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), daemon]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert figures(done.stdout) == pytest.approx(shown(name), rel=CLOSE, abs=CLOSE)
