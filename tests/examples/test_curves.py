"""The models of `examples/models` from the same weights: the same curve under torch and under gradd."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import gradd
import pytest

MODELS = Path(__file__).parents[2] / "examples" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.py") if path.stem != "beside")
CLOSE = 1e-6


def curve(name: str) -> Callable[[Any], list[float]]:
    """A model's toy training in float64, in which no rounding grows to what could be seen."""

    def trained(torch: Any) -> list[float]:
        torch.set_default_dtype(torch.float64)
        try:
            return list(module.run(torch))
        finally:
            torch.set_default_dtype(torch.float32)

    spec = spec_from_file_location(name, MODELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return trained


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_the_oracles(
    oracle: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(MODELS)
    trained = curve(name)
    with gradd.connect("local:"):
        found = trained(gradd)
    assert len(set(found)) > 2
    assert found == pytest.approx(oracle(trained), rel=CLOSE, abs=CLOSE)


def test_a_model_is_run_from_the_command_line(daemon: str) -> None:
    command = [sys.executable, "-W", "error", str(MODELS / "char_gpt.py"), "--steps", "2"]
    done = subprocess.run(
        command, env=os.environ | {"GRADD_URL": daemon}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["0", "1", "2", "end"]
    assert lines[-1][1] == lines[-2][1]
