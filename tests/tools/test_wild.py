"""The runner of scripts in the wild: gradd in torch's place, the same draws, and what it says of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import HERE
from tests.wild.__main__ import compared, main, run
from tests.wild.draws import close
from tests.wild.libraries import LIBRARIES
from tests.wild.models import MODELS
from tests.wild.page import Row, page
from tests.wild.projects import PROJECTS
from tests.wild.table import WHOLE, Script

SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms

torch.manual_seed(3)
data = datasets.MNIST("here", train=False, transform=transforms.ToTensor())
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 4), nn.Dropout(0.2), nn.Linear(4, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(data, 50, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(model(images + 0.1 * torch.randn(images.shape)), labels).backward()
    optimizer.step()
print(f"{torch.rand(2).sum().item():.6f}", torch.__name__)
"""
ARGS = argparse.Namespace(url="local:", seconds=120)


@pytest.mark.parametrize("options", [[], ["--only", "x"]])
def test_no_page_is_written_where_scripts_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    written = tmp_path / "page.md"
    monkeypatch.setattr("sys.argv", ["wild", str(tmp_path), "--write", str(written), *options])
    with pytest.raises(SystemExit):
        main()
    assert "jcjohnson/pytorch-examples" in capsys.readouterr().err
    assert not written.exists()
    monkeypatch.setattr("sys.argv", ["wild", str(tmp_path)])
    main()
    assert "left out, since there is no checkout" in capsys.readouterr().out


def outcome(folder: Path, text: str, side: str, **options: Any) -> dict[str, Any]:
    (folder / "script.py").write_text(text)
    return run(folder, Script("script.py", **options), side, ARGS)


def test_a_script_runs_with_gradd_in_the_place_of_torch(tmp_path: Path) -> None:
    ours = outcome(tmp_path, SCRIPT, "gradd")
    assert ours.get("error") is None, ours
    assert ours["tail"].endswith("gradd\n")
    assert ours["passes"] == len(ours["losses"]) == 2


@pytest.mark.skipif(not HERE, reason="torch is not installed")
def test_both_sides_are_given_the_same_numbers(tmp_path: Path) -> None:
    torchs, ours = (outcome(tmp_path, SCRIPT, side) for side in ("torch", "gradd"))
    assert compared(torchs, ours) == "same"
    assert torchs["printed"] == ours["printed"]


def test_where_a_script_stops_is_named(tmp_path: Path) -> None:
    ours = outcome(tmp_path, "import torch\nx = torch.ones(2)\nx.reshape(3)\n", "gradd")
    assert ours["error"] == "RuntimeError: shape '[3]' is invalid for input of size 2"
    assert ours["where"] == "script.py:3"


def test_a_script_ends_after_so_many_passes(tmp_path: Path) -> None:
    endless = (
        "import torch\nw = torch.ones(1, requires_grad=True)\nwhile True:\n    (w * 2).sum().backward()\n"
    )
    ours = outcome(tmp_path, endless, "gradd", passes=3)
    assert (ours["passes"], ours["losses"], ours["enough"]) == (3, [2.0, 2.0, 2.0], True)


def test_outcomes_are_told_apart() -> None:
    torchs = {"losses": [1.0, 0.5], "passes": 2, "printed": []}
    assert compared(torchs, torchs) == "same"
    assert compared(torchs, torchs | {"losses": [1.0, 0.7]}) == "runs"
    assert compared(torchs, torchs | {"losses": [1.0, float("nan")]}) == "differs"
    assert compared(torchs, torchs | {"passes": 1, "losses": [1.0]}) == "differs"
    assert compared(torchs, {"error": "TypeError: no"}) == "stops"
    assert compared({"error": "TypeError: no"}, {}) == "unfit"
    assert not close([1.0], [1.0, 2.0], 0.1)


def test_the_page_counts_what_runs() -> None:
    rows = [Row("a/b", "c" * 40, f"{said}.py", "", said, "") for said in ("same", "runs", "stops", "unfit")]
    text = page(rows, 6, 2e-3)
    assert "Of 3 scripts that torch runs, **2 run under gradd**, 1 with torch's losses." in text
    assert "| `stops.py` | stops |" in text


def test_each_script_is_named_at_a_commit() -> None:
    held_all = (*WHOLE, *LIBRARIES, *MODELS, *PROJECTS)
    named = [(held, script) for held in held_all for script in held.scripts]
    assert len(named) >= 60
    assert all(len(held.commit) == 40 for held, _ in named)
    assert len({(held.name, script) for held, script in named}) == len(named)
