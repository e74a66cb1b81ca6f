"""The notebook of the examples and the cells of docs/notebooks.md, in a Jupyter kernel beside a daemon."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradd
import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
#: runs the notebook of stdin, in a kernel of this interpreter, and prints it
RUN = f"""
import sys, nbclient, nbformat
notebook = nbformat.reads(sys.stdin.read(), as_version=4)
nbformat.validate(notebook)
patience = {{"timeout": {PATIENCE}, "startup_timeout": {PATIENCE}}}
nbclient.NotebookClient(notebook, kernel_name="python3", **patience).execute()
print(nbformat.writes(notebook))
"""
absent = [name for name in ("nbclient", "ipykernel") if importlib.util.find_spec(name) is None]
kernel = pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


def executed(notebook: str, daemon: str, folder: Path) -> list[dict[str, Any]]:
    """The code cells of a notebook after it ran, in whose outputs there is no error and no noise."""
    own = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    mine = {"GRADD_URL": daemon, "JUPYTER_PLATFORM_DIRS": "1", **dict.fromkeys(own, str(folder))}
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=notebook,
        env={**os.environ, **mine},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in json.loads(done.stdout)["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        kinds = [(output["output_type"], output.get("name")) for output in cell["outputs"]]
        assert ("error", None) not in kinds
        assert ("stream", "stderr") not in kinds
    return cells


def shown(cell: dict[str, Any], media: str = "text/html") -> str:
    """What the last line of a cell showed."""
    (output,) = (output for output in cell["outputs"] if output["output_type"] == "execute_result")
    return "".join(output["data"][media])


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * len(code)


@kernel
def test_the_notebook_of_the_examples(daemon: str, tmp_path: Path) -> None:
    cells = {cell["id"]: cell for cell in executed(NOTEBOOK.read_text(), daemon, tmp_path)}
    assert daemon in shown(cells["connect"])
    assert shown(cells["data"]).count("<td>") == 10
    assert "shape <code>(5, 2)</code>" in shown(cells["data"])
    assert "in_features=2, out_features=32" in shown(cells["model"])
    assert shown(cells["graph"], "image/svg+xml").startswith("<svg")
    assert "NllLossBackward0" in shown(cells["graph"], "image/svg+xml")
    assert "grad_fn <code>NllLossBackward0</code>" in shown(cells["train"])
    assert shown(cells["train"], "text/plain").startswith("tensor(0.")
    said = "".join(cells["test"]["outputs"][0]["text"])
    right = re.search(r"([\d.]+)% of points", said)
    assert right is not None
    assert float(right[1]) > 90
    assert re.search(r"plan hits</td><td>\d+ of \d+ batches", shown(cells["end"]))


@kernel
def test_the_cells_of_the_page(daemon: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    blank: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    code = [{**blank, "id": f"c{n}", "source": block} for n, block in enumerate(blocks)]
    notebook = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    session, tensor, graph, model, trained = executed(json.dumps(notebook), daemon, tmp_path)
    gradd.delete_session("notebook", daemon)
    assert f"<b>notebook</b> <small>daemon <code>{daemon}</code> · device <code>cpu</code>" in shown(session)
    assert "<td>2.</td><td>4.</td>" in shown(tensor)
    assert "grad_fn <code>MulBackward0</code>" in shown(tensor)
    assert shown(tensor, "text/plain").startswith("tensor([[2., 4.],")
    assert "SumBackward0" in shown(graph, "image/svg+xml")
    assert "Linear(in_features=2, out_features=8, bias=True)" in shown(model)
    assert "memory" in shown(trained)
