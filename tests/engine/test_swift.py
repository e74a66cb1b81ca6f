"""The function of an op and geometry does as `compute` does: values, nodes, versions, accounts, errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY, ArrayBackend
from gradd_engine.backward.grad_op import grad_op
from gradd_engine.data.memory import Account
from gradd_engine.data.state import ambient
from gradd_engine.declare import dispatch
from gradd_engine.declare.surface import functions
from gradd_engine.schema.registry import REGISTRY
from gradd_engine.tensor import Saved, Tensor

from tests.ops.test_ops import SAMPLES, Case, table

#: the module, whose name is that of its function
written: Any = sys.modules["gradd_engine.declare.swift"]
#: every so many samples are tried
EACH = int(os.environ.get("GRADD_SWIFT", "4"))
MODES: tuple[dict[str, Any], ...] = ({}, {"grad": False}, {"inference": True, "grad": False})
LAYOUTS = ("contiguous", "transposed", "view")


def _node(t: Tensor) -> Any:
    node = t._fn
    if node is None:
        return None
    saved = {
        k: (e.version, e.is_output) if type(e) is Saved else str(type(e))
        for k, e in (node.saved or {}).items()
    }
    edges = [None if e is None else (e.node.name(), e.nr) for e in node.edges]
    return node.name(), edges, saved, getattr(node, "wants", None), getattr(node, "attrs", None), t._nr


def _told(t: Any) -> Any:
    if not isinstance(t, Tensor):
        return repr(t)
    flags = (tuple(t.shape), tuple(t.strides), t.offset, str(t.dtype), t.requires_grad, t._version)
    return flags, t._vc.inference, t._storage.nbytes, type(t), _node(t), NUMPY.to_numpy(t).tobytes()


def _inputs(case: Case, layout: str) -> list[Tensor]:
    """Leaves, or views of leaves: the same values."""
    leaves = case.our_tensors(layout if layout in table.LAYOUTS else "contiguous", grad=True)
    if layout != "view":
        return leaves
    alias = functions()["", "alias"]
    return [alias(t) for t in leaves]


def _outcome(case: Case, layout: str, mode: dict[str, Any]) -> list[Any]:
    """What a call tells, its gradients, and what it took of an account."""
    account = Account(1 << 30)
    told: list[Any] = []
    try:
        inputs = _inputs(case, layout)
        with ambient(**mode, account=account, generator=None):
            found = table.flat(case.ours(inputs))
            told += [*map(_told, found), account.used]
            roots = [t for t in found if isinstance(t, Tensor) and t.requires_grad and case.sample.first]
            leaves = [t for t in inputs if t.requires_grad]
            if roots and leaves:
                ones = [functions()["", "ones_like"](t) for t in roots]
                told += map(_told, grad_op(roots, leaves, ones, allow_unused=True))
                told.append(account.used)
    except Exception as error:
        told.append((type(error), str(error)))
    return told


def differing(keys: Iterator[tuple[str, int]]) -> tuple[list[str], int]:
    """The samples that tell something else by functions of their own, and how many such functions ran."""
    wrong, ran = [], [0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "swift", lambda *given: _counted(written.swift(*given), ran))
        for key, number in keys:
            case = Case(key, number, SAMPLES[key][number])
            for layout in LAYOUTS:
                for mode in MODES:
                    patch.setattr(ArrayBackend, "eager", False)
                    want = repr(_outcome(case, layout, mode))
                    patch.setattr(ArrayBackend, "eager", True)
                    if any(repr(_outcome(case, layout, mode)) != want for _ in range(2)):
                        wrong.append(f"{key}-{number} {layout} {mode}")
    return wrong, ran[0]


def _counted(run: Callable[..., Tensor] | None, ran: list[int]) -> Callable[..., Tensor] | None:
    def counting(*given: Any) -> Tensor:
        ran[0] += 1
        assert run is not None
        return run(*given)

    return counting if run is not None else None


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """No op knows a geometry before, nor after."""
    for _ in range(2):
        for op in REGISTRY.values():
            op.caches.known.clear()
        if _ == 0:
            yield


@pytest.mark.filterwarnings("ignore")
def test_it_does_what_compute_does() -> None:
    pairs = [(key, n) for key, some in SAMPLES.items() for n in range(len(some))]
    wrong, ran = differing(iter(pairs[::EACH]))
    assert not wrong, "\n".join(wrong[:20])
    assert ran > 1000


def test_a_kernel_that_returns_its_input_gives_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    op = REGISTRY["abs"]
    monkeypatch.setitem(NUMPY.kernels, op, lambda xp, x: x)

    def shared() -> list[bool]:
        x = NUMPY.from_array(np.ones(3))
        return [np.shares_memory(op(x).array, x.array) for _ in range(3)]

    assert shared() == [False] * 3
    op.caches.known.clear()
    monkeypatch.setattr(written, "ALONE", 1 << 20)
    assert any(shared())


def test_an_edge_that_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written._text
    monkeypatch.setattr(
        written, "_text", lambda known: text(known).replace("._requires_grad: e1", "._conj: e1")
    )
    monkeypatch.setattr(written, "_CODES", {})
    assert differing(iter([("mul", 0), ("add", 0)]))[0]
