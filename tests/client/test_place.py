"""`python -m gradd script.py`: a script that says torch runs as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset
from beside import features

torch.manual_seed(0)
x = torch.randn(64, features)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = optim.Adam(model.parameters(), lr=0.05)
schedule = StepLR(optimizer, 10)
for epoch in range(8):
    for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
    schedule.step()
right = (model(x).argmax(1) == y).float().mean().item()
print(__name__, torch.__name__, sys.argv[1:], right > 0.9, isinstance(x, torch.Tensor), torch.__version__[:6])
"""
SAYS = "__main__ gradd ['--epochs', '8'] True True 2.13.0\n"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `python -m gradd` does with the arguments, in the folder."""
    (folder / "script.py").write_text(SCRIPT)
    (folder / "beside.py").write_text("features = 8\n")
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "gradd", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_script_runs_as_it_is(tmp_path: Path) -> None:
    done = run(tmp_path, "script.py", "--epochs", "8")
    assert (done.stdout, done.returncode) == (SAYS, 0), done.stderr


def test_a_module_runs_on_a_daemon(tmp_path: Path, daemon: str) -> None:
    done = run(tmp_path, "--url", daemon, "-m", "script", "--epochs", "8")
    assert (done.stdout, done.returncode) == (SAYS, 0), done.stderr


def test_a_script_that_fails_says_where(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("import torch\ntorch.ones(2).reshape(3)\n")
    done = run(tmp_path, "wrong.py")
    assert done.returncode == 1
    assert 'wrong.py", line 2' in done.stderr
    assert done.stderr.endswith("RuntimeError: shape '[3]' is invalid for input of size 2\n")


@pytest.mark.parametrize("name", ["torch.nope", "torch.nn.nope"])
def test_what_is_not_there_is_an_import_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "wrong.py").write_text(f"import {name}\n")
    done = run(tmp_path, "wrong.py")
    assert done.stderr.endswith(f"ModuleNotFoundError: No module named '{name}'\n")


def test_torch_imported_before_is_refused(tmp_path: Path) -> None:
    program = "import sys, types; sys.modules['torch'] = types.ModuleType('torch')\n"
    program += "from gradd._place import put; put()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "RuntimeError: torch was imported already" in done.stderr
