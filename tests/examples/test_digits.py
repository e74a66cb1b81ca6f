"""The demo's script learns the same in process, over the network and in PyTorch; the demo itself."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gradd
import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 50
Weights = dict[str, np.ndarray[Any, Any]]


def script(library: str) -> ModuleType:
    """examples/digits.py as a module, with `library` in the place of gradd."""
    source = (EXAMPLES / "digits.py").read_text()
    assert source.count("import gradd as torch\n") == 1
    module = ModuleType(f"digits_under_{library}")
    sys.modules[module.__name__] = module
    exec(source.replace("import gradd as torch\n", f"import {library} as torch\n"), module.__dict__)
    return module


def curve(digits: ModuleType, weights: Weights) -> list[float]:
    """The loss of the first steps."""
    model = digits.make_model(weights)
    images, labels, *_ = digits.data()
    return list(itertools.islice(digits.train(model, images, labels), STEPS))


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    return script("gradd")


@pytest.fixture(scope="module")
def weights(digits: ModuleType) -> Weights:
    with gradd.connect("local:"):
        state = digits.make_model().state_dict()
        return {name: tensor.numpy() for name, tensor in state.items()}


@pytest.fixture(scope="module")
def local_curve(digits: ModuleType, weights: Weights) -> list[float]:
    with gradd.connect("local:"):
        return curve(digits, weights)


def test_the_loss_falls(local_curve: list[float]) -> None:
    assert local_curve[0] == pytest.approx(np.log(10), abs=0.1)
    assert local_curve[-1] < 0.5 * local_curve[0]


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_the_network_changes_no_bit(
    transport: str, daemon: str, digits: ModuleType, weights: Weights, local_curve: list[float]
) -> None:
    with gradd.connect(daemon, transport=transport):
        assert curve(digits, weights) == local_curve


def test_steps_are_planned_from_the_third_on(daemon: str, digits: ModuleType) -> None:
    with gradd.connect(daemon) as session:
        images, labels, *_ = digits.data()
        steps = digits.train(digits.make_model(), images, labels)
        with session.profile() as profile:
            for _ in range(2):
                next(steps)
        eager = {batch.how for batch in profile.batches}
        with session.profile() as profile:
            losses = list(itertools.islice(steps, 40))
    assert len(losses) == 40
    assert "eager" in eager
    assert [batch.how for batch in profile.batches if batch.steps] == ["planned"] * 40, profile


@pytest.mark.oracle
def test_torch_learns_the_same(
    oracle: Callable[..., Any], weights: Weights, local_curve: list[float]
) -> None:
    theirs = oracle(lambda _: curve(script("torch"), weights))
    np.testing.assert_allclose(theirs, local_curve, rtol=0, atol=1e-4)


def demo(**environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "GRADD_URL"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / "demo.py")]
    return subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, check=False)


LAST_LINE = re.compile(r"test accuracy (0\.\d{4}) \((\d+) of 360\), (\S+) round trips? a step")


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\r" not in done.stdout  # the bar is for terminals
    last = LAST_LINE.fullmatch(done.stdout.splitlines()[-1])
    assert last is not None, done.stdout
    assert float(last[1]) == pytest.approx(int(last[2]) / 360, abs=5e-5)
    assert int(last[2]) >= 350
    assert last[3] == "1"


def test_demo_starts_a_daemon_of_its_own() -> None:
    done = demo()
    check(done)
    found = re.search(r"http://127\.0\.0\.1:\d+", done.stdout)
    assert found is not None
    with pytest.raises(gradd.ConnectionFailed):
        gradd.connect(found.group())


@pytest.mark.parametrize("where", ["daemon", "local:"])
def test_demo_uses_what_gradd_url_names(where: str, request: pytest.FixtureRequest) -> None:
    done = demo(GRADD_URL=request.getfixturevalue("daemon") if where == "daemon" else where)
    check(done)
    assert "http://" not in done.stdout


def test_an_accuracy_below_what_is_wanted_exits_1(
    digits: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(digits, "EPOCHS", 1)
    monkeypatch.setattr(digits.train, "__defaults__", (1,))
    with gradd.connect("local:"):
        assert digits.main() == 1
    assert LAST_LINE.fullmatch(capsys.readouterr().out.splitlines()[-1])
