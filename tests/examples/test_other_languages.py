"""The same gradient by curl, by node and by the SDK over each transport, to the bit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import gradd
import httpx
import numpy as np
import pytest

from tests.bearer import bearer

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = {"curl": ["sh", str(EXAMPLES / "curl.sh")], "node": ["node", str(EXAMPLES / "node.mjs")]}


def sdk_gradient(url: str, transport: str = "stream") -> np.ndarray:
    """What the scripts compute, by the SDK."""
    with gradd.connect(url, transport=transport):
        x = gradd.tensor([[0.1, 0.2], [0.3, -0.4], [1.5, 2.7]])
        w = gradd.tensor([[1.1], [-2.3]], requires_grad=True)
        t = gradd.tensor([[3.3], [0.7], [-1.9]])
        ((x @ w - t) ** 2).sum().backward()
        assert w.grad is not None
        return w.grad.numpy()


def run(language: str, url: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(language) is None:
        pytest.skip(f"{language} is not installed")
    key = bearer(url)["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "GRADD_URL": url, "GRADD_API_KEY": key}
    return subprocess.run(COMMANDS[language], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    found = sdk_gradient("local:")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[-8.38], [-16.264]], rtol=1e-6)
    return found


@pytest.mark.parametrize("language", COMMANDS)
def test_gradient_by_script(language: str, daemon: str, expected: np.ndarray) -> None:
    done = run(language, daemon)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["shape"] == list(expected.shape)
    assert np.array(printed["data"], np.float32).tobytes() == expected.tobytes()
    sessions = httpx.get(f"{daemon}/v1/sessions", headers=bearer(daemon), trust_env=False).json()["sessions"]
    assert [s["name"] for s in sessions if s["name"].startswith(language)] == []


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_gradient_by_the_sdk(transport: str, daemon: str, expected: np.ndarray) -> None:
    assert sdk_gradient(daemon, transport).tobytes() == expected.tobytes()


@pytest.mark.parametrize("language", COMMANDS)
def test_a_refusal_is_shown_and_ends_the_script(
    language: str, daemon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / Path(COMMANDS[language][1]).name
    broken.write_text(Path(COMMANDS[language][1]).read_text().replace("matmul", "frobnicate"))
    monkeypatch.setitem(COMMANDS, language, [COMMANDS[language][0], str(broken)])
    done = run(language, daemon)
    assert done.returncode != 0
    assert "frobnicate" in done.stderr
