"""A script that catches an error goes on as in PyTorch: GRADD_CAUGHT=20000 for more random ones."""

from __future__ import annotations

import itertools
import os
from typing import Any

import gradd
import pytest

from tests.client.caught_programs import DONE, Program

PROGRAMS = int(os.environ.get("GRADD_CAUGHT", "160"))
SHARES = 4

pytestmark = pytest.mark.oracle


def compare(seeds: range, url: str) -> int:
    """Run the scripts of these seeds on both sides; how many of them none was refused in."""
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    whole = 0
    for seed in seeds:
        theirs, ours = Program(seed), Program(seed)
        with gradd.connect(url):
            found = ours.run(gradd)
        expected = theirs.run(torch)
        if ours.refused:
            assert (seed, found) == (seed, expected[: len(found)])
            assert ours.touched or raises(expected[len(found) :]), (
                f"seed {seed}: a graph that nothing touched was refused"
            )
        else:
            assert (seed, found) == (seed, expected)
            whole += 1
    return whole


def raises(rest: list[Any]) -> bool:
    """Whether PyTorch raises in this action too: part of the graph was freed long before."""
    action = itertools.takewhile(lambda said: said[0] != DONE, rest)
    return any(said[-1] == "RuntimeError" for said in action)


@pytest.mark.parametrize("part", range(SHARES))
def test_a_script_that_catches_an_error_goes_on_as_in_pytorch(part: int) -> None:
    assert compare(range(part, PROGRAMS, SHARES), "local:") > PROGRAMS // SHARES * 0.7


def test_it_goes_on_over_a_daemon(daemon: str) -> None:
    assert compare(range(PROGRAMS, PROGRAMS + 20), daemon) > 14
