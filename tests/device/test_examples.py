"""The examples of higher derivatives on the stand-in: a NumPy session's figures.

The other examples are tests of sessions of this process: ``pytest --standin tests/examples``.
"""

from __future__ import annotations

import gradd
import pytest

from tests import standin
from tests.examples.test_second_order import NAMES, example
from tests.standin.sessions import sessions_there


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_a_numpy_session(name: str) -> None:
    run = example(name).run
    with gradd.connect("local:"):
        want = run(gradd)
    standin.reset()
    with sessions_there(), gradd.connect("local:"):
        found = run(gradd)
    assert standin.LAUNCHES
    assert found == pytest.approx(want, rel=1e-4, abs=1e-6)
