"""A share of the replaying mode, and that it notices what it is for. `make replay` runs all of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from gradd._wire import Outbox
from gradd_engine.graph.view_history import CopySlices
from gradd_engine.tracing import graphs
from gradd_runtime.plan import replay, simplify

from . import __main__, exempt
from .__main__ import one_body
from .bodies import Body, Replayer
from .forms import FORMS, all_bodies
from .programs import all_programs

ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch


def run(groups: Iterable[Sequence[Body]], seeds: Sequence[int]) -> Replayer:
    """Replay all of these."""
    with Replayer() as replayer:
        for bodies in groups:
            replayer.replay(bodies, seeds)
    return replayer


def check(replayer: Replayer, tests: int) -> None:
    """Nothing differed, and it was no empty exercise: there were cuts, reads and plans."""
    assert not replayer.failures, "\n".join(replayer.failures)
    counts = replayer.counts
    assert counts["tests"] >= tests
    assert counts["planned"] > counts["traced"] > 0
    assert counts["planned"] > counts["replays"]
    assert counts["cuts"] > counts["reads"] > 0


@pytest.mark.parametrize("part", range(2))
def test_a_share_of_the_op_samples(part: int) -> None:
    check(run(all_bodies(7 + part, 250), [part]), 100)


def test_random_programs() -> None:
    check(run(all_programs(12), [0, 1]), 12)


def test_all_bodies_are_enough() -> None:
    """`make replay` promises 20,000 tests."""
    bodies = [b for group in all_bodies() for b in group]
    assert len(bodies) > 20_000
    assert len({str(b) for b in bodies}) == len(bodies)
    assert {b.form for b in bodies} == set(FORMS)


def test_a_share_of_the_suite(tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += ["-p", "tests.replay.plugin", "--replay", "1", "--replay-share", "3/12", "--replay-tally"]
    files = [f"tests/semantics/test_{name}.py" for name in ("02_graph_lifetime", "10_views", "11_hooks")]
    done = subprocess.run(
        [*command, str(tally), *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    counts = json.loads(tally.read_text())["counts"]
    assert counts["tests"] >= 10
    assert counts["planned"] > counts["tests"]
    assert counts["cuts"] > counts["reads"] > 0


@pytest.mark.parametrize(
    ("body", "said"), [("raise KeyboardInterrupt", "pytest ended with 2"), ("assert not 'true'", "as it is")]
)
def test_a_suite_that_did_not_pass_is_a_failure(
    tmp_path: Path, body: str, said: str, monkeypatch: Patch
) -> None:
    (tmp_path / "test_planted.py").write_text(f"def test_planted():\n    {body}\n")
    monkeypatch.setattr(__main__, "SUITE", (str(tmp_path),))
    __main__.suite("0", "0/1", tmp_path / "tally")
    (failure,) = json.loads((tmp_path / "tally").read_text())["failures"]
    assert failure.endswith(said)


def test_few_tests_are_excused() -> None:
    """Each with a reason, and none that is no more."""
    for table, most in ((exempt.LEFT_OUT, 15), (exempt.EXEMPT, 40)):
        assert len(table) <= most
        for place, reason in table.items():
            file, _, name = place.partition("::")
            assert (ROOT / file).exists(), place
            assert not name or f"def {name}(" in (ROOT / file).read_text(), place
            assert len(reason) > 5


# -- planted faults -----------------------------------------------------------------------------------------


def loses_an_edge(patch: Patch) -> None:
    """A write through a view forgets, in a plan's graph, where its second gradient goes."""
    connect = graphs.ReplayedGraph._connect

    def connected(self: Any, node: Any) -> None:
        connect(self, node)
        made = self._nodes[id(node)]
        if isinstance(made, CopySlices):
            made.edges = (made.edges[0], *(None for _ in made.edges[1:]))

    patch.setattr(graphs.ReplayedGraph, "_connect", connected)


def promises_not_to_raise(patch: Patch) -> None:
    """Every kernel is said to refuse no value."""
    patch.setattr(simplify, "cannot_raise", lambda i: True)
    patch.setattr(replay, "cannot_raise", lambda i: True)


def forgets_to_keep(patch: Patch) -> None:
    """A tensor that somebody holds gets no id where the recording is cut."""
    keep = Outbox._keep

    def kept(self: Outbox, outputs: list[Any], inputs: int) -> list[int]:
        return keep(self, outputs, inputs)[:1]

    patch.setattr(Outbox, "_keep", kept)


def ignores_values(patch: Patch) -> None:
    """A plan is taken for values other than those that its trace looked at."""
    patch.setattr(replay.Plan, "fits", lambda self, values: True)


FAULTS: dict[Callable[[Patch], None], tuple[str, ...]] = {
    loses_an_edge: ("from_slices/true_divide/0/contiguous/as-is", "into_slices/mul/0/contiguous/as-is"),
    promises_not_to_raise: (
        "spoiled_unused/nn.functional.binary_cross_entropy/0/contiguous/as-is",
        "spoiled/linalg.cholesky/0/contiguous/as-is",
    ),
    forgets_to_keep: ("double/mul/0/contiguous/as-is", "backward/mul/0/contiguous/as-is"),
    ignores_values: ("numbers/add/1/contiguous/as-is", "numbers/lerp/1/contiguous/as-is"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_found(fault: Callable[[Patch], None]) -> None:
    groups = [bodies for name in FAULTS[fault] for bodies in one_body(name) if bodies]
    assert sum(map(len, groups)) == len(FAULTS[fault])
    assert not run(groups, [0, 1, 2]).failures
    with pytest.MonkeyPatch.context() as patch:
        fault(patch)
        assert run(groups, [0, 1, 2]).failures
