"""Every file of ops has its file of samples, and every sample stands in the file of its op."""

from __future__ import annotations

from pathlib import Path

import pytest
from gradd_engine import ops
from gradd_engine.schema import REGISTRY

from tests.ops import table
from tests.ops.homes import home, modules

OPS = Path(ops.__file__).parent
#: what users call; ops that only rules and other ops call are run by the samples of those
CALLED = {
    *(f"{space}.{name}".strip(".") for space, name in table.PUBLIC),
    *(name for name in modules() if name.startswith("Tensor.") and not name.startswith("Tensor._")),
}


def test_declarations_are_found_where_they_are_made() -> None:
    assert set(REGISTRY) <= set(modules())
    assert home("add") == "elementwise/arithmetic"
    assert home("arcsin") == "elementwise/aliases"
    assert home("linalg.inv") == "linalg/solve"
    assert home("new_zeros") == "create/factories"
    assert home("detach_") == "backward/autograd"


def test_every_file_of_ops_has_its_samples() -> None:
    declaring = {home(key): key for key in CALLED}
    lacking = {
        file: key
        for file, key in declaring.items()
        if file not in table.files() and (OPS / f"{file}.py").exists()
    }
    assert len(declaring) > 80
    assert lacking == {}


@pytest.mark.parametrize("name", ["SAMPLES", "ERRORS", "VALUE_ERRORS"])
def test_every_sample_stands_in_the_file_of_its_op(name: str) -> None:
    misplaced = {
        key: f"{file}, not {home(key)}"
        for file, module in table.files().items()
        for key in getattr(module, name, {})
        if home(key) != file
    }
    assert misplaced == {}
