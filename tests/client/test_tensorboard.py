"""Logs for TensorBoard: the same events as PyTorch's writer, where the package is installed."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest

from tests.oracle import ITSELF, module

WRITTEN = importlib.util.find_spec("tensorboard") is not None
needs = pytest.mark.skipif(not WRITTEN, reason="tensorboard is not installed")
pillow = pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="Pillow is not installed")


def test_without_the_package_it_is_said_as_pytorch_does() -> None:
    text = (
        "import sys\nsys.modules['tensorboard'] = None\ntry:\n    import gradd.utils.tensorboard\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "tensorboard" in done.stdout


def _events(folder: Path) -> list[Any]:
    """The summaries in the files of a folder, in order."""
    loader = importlib.import_module("tensorboard.backend.event_processing.event_file_loader")
    files = sorted(folder.rglob("events.out.tfevents.*"), key=lambda f: f.parent.name)
    found = []
    for file in files:
        for event in loader.LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                kind = value.WhichOneof("value")
                found.append((file.parent.name, event.step, value.tag, kind, value))
    return found


def _logged(T: Any, folder: Path) -> list[Any]:
    writing = importlib.import_module(f"{T.__name__}.utils.tensorboard")
    with writing.SummaryWriter(str(folder)) as writer:
        writer.add_scalar("loss", T.tensor(0.5, requires_grad=True), 1)
        writer.add_scalar("number", 2, 1)
        writer.add_scalars("both/of", {"a": T.tensor([1.0]), "b": np.float32(2)}, 3)
        writer.add_histogram("weights", T.tensor([-1.0, 0.0, 0.25, 3.0]), 4)
        writer.add_histogram("ten", T.arange(100.0), 4, bins=10, max_bins=5)
        writer.add_text("notes", "*hi*", 5)
        writer.add_hparams({"lr": 0.1, "kind": "sgd", "on": True}, {"best": T.tensor(0.9)}, run_name="run")
        assert writer.get_logdir() == str(folder)
        writer.flush()
    return _events(folder)


@needs
@pytest.mark.skipif(not ITSELF, reason="compares with PyTorch itself")
@pytest.mark.filterwarnings("ignore")
def test_the_same_events_as_pytorch_writes(tmp_path: Path) -> None:
    theirs = _logged(module(), tmp_path / "torch" / "log")
    with gradd.connect("local:"):
        ours = _logged(gradd, tmp_path / "gradd" / "log")
    assert [e[:4] for e in ours] == [e[:4] for e in theirs]
    for (*_, mine), (*_, other) in zip(ours, theirs, strict=True):
        assert mine.simple_value == other.simple_value
        assert mine.tensor.string_val == other.tensor.string_val
        assert mine.metadata.plugin_data.plugin_name == other.metadata.plugin_data.plugin_name
        assert mine.histo.num == other.histo.num
        assert sum(mine.histo.bucket) == sum(other.histo.bucket)
        assert list(mine.histo.bucket_limit) == pytest.approx(list(other.histo.bucket_limit))


@needs
@pillow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_images(tmp_path: Path) -> None:
    writing = importlib.import_module("gradd.utils.tensorboard")
    with gradd.connect("local:"), writing.SummaryWriter(tmp_path) as writer:
        writer.add_image("one", gradd.ones(3, 4, 5) / 2, 0)
        writer.add_image("grey", np.zeros((4, 5), np.uint8), 0, dataformats="HW")
        writer.add_images("batch", gradd.rand(10, 1, 2, 2), 0)
        with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
            writer.add_image("wrong", gradd.ones(4, 5))
    sizes = [(tag, v.image.height, v.image.width) for _, _, tag, _, v in _events(tmp_path)]
    assert sizes == [("one", 4, 5), ("grey", 4, 5), ("batch", 4, 16)]


@needs
def test_what_a_writer_refuses(tmp_path: Path) -> None:
    writing = importlib.import_module("gradd.utils.tensorboard")
    with gradd.connect("local:"), writing.SummaryWriter(tmp_path, purge_step=2) as writer:
        with pytest.raises(AssertionError, match="Tensor should contain one element"):
            writer.add_scalar("a", gradd.ones(2))
        with pytest.raises(ValueError, match="The input has no element"):
            writer.add_histogram("a", gradd.ones(0))
        with pytest.raises(TypeError, match="should be dictionary"):
            writer.add_hparams([], {})
        with pytest.warns(UserWarning, match="gradd traces no modules"):
            writer.add_graph(gradd.nn.Linear(1, 1))
        for refused in (writer.add_embedding, writer.add_pr_curve):
            with pytest.raises(NotImplementedError, match="not yet supported"):
                refused(gradd.ones(2, 2))
