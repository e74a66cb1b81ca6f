"""Random autograd.Functions do what they do in PyTorch: GRADD_FUNCTIONS=20000 for more of them."""

from __future__ import annotations

import os

import gradd
import pytest

from tests.client.function_programs import Program

PROGRAMS = int(os.environ.get("GRADD_FUNCTIONS", "400"))

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("part", range(4))
def test_a_random_function_does_what_it_does_in_pytorch(part: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    compared = 0
    with gradd.connect("local:"):
        for seed in range(part, PROGRAMS, 4):
            theirs = Program(seed)
            expected = theirs.run(torch)
            if not theirs.differs:
                assert (seed, Program(seed).run(gradd)) == (seed, expected)
                compared += 1
    assert compared > PROGRAMS // 4 * 0.7
