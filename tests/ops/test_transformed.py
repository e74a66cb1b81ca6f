"""`tests.ops.transformed`: a share of it here, and that it sees what it looks for."""

from __future__ import annotations

import random
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.batching import rules

from tests.ops import table, transformed
from tests.ops.table import S, T

#: whose backward scatters, and the kernels that pick: always looked at
NAMED = (
    "gather", "index_select", "nn.functional.embedding", "nn.functional.cross_entropy", "sort", "topk",
    "mode", "nn.functional.max_pool1d", "index_put", "setitem", "scatter_reduce", "take",
)  # fmt: skip


def share(count: int, seed: int) -> list[transformed.Case]:
    """So many samples of all, and the first two of each named op."""
    drawn = random.Random(seed).sample(sorted(table.samples()), count)
    named = [case for case in transformed.cases(NAMED) if case.number < 2]
    return named + [
        case for case in transformed.cases([k for k in drawn if k not in NAMED]) if not case.number
    ]


@pytest.mark.parametrize("kind", transformed.CHECKS)
@pytest.mark.filterwarnings("ignore")
def test_transforms_give_what_the_loop_gives(kind: str) -> None:
    lines: list[str] = []
    some = share(16, seed=8)
    with gradd.connect("local:"):
        assert transformed.check(some, lines.append, [kind]) == 0, "\n".join(lines)
    assert len(some) > len(NAMED)


def test_a_wrong_rule_is_seen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def other_way(call: Any) -> Any:
        return call.below([call.front(x) for x in reversed(call.inputs)])

    monkeypatch.setattr(table, "samples", lambda: {"sub": [S(T(3), T(3))], "sin": [S(T(3))]})
    assert transformed.main([]) == 0
    monkeypatch.setitem(rules.RULES, "sub", other_way)
    assert transformed.main(["--kind", "in place"]) == 1
    passed, line, failed = capsys.readouterr().out.splitlines()
    assert passed.startswith("passed: 2 samples, 0 differences")
    assert line.startswith("in place of sub, sample 0: Differs")
    assert failed.startswith("FAILED: 2 samples, 1 differences")
    assert transformed.main(["no_such_op"]) == 1


def test_a_tensor_of_a_level_is_seen() -> None:
    case = transformed.Case("neg", 0, S(T(3)))
    kept: list[Any] = []
    with gradd.connect("local:"):
        gradd.vmap(lambda x: (kept.append(x), x)[1])(gradd.ones(2, 3))
        with pytest.raises(transformed.Differs, match="a tensor of a level of vmap came out"):
            transformed.same(case, kept, [np.ones((2, 3))])
