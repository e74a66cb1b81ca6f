"""Conjugates that are views: the flag on every way that a tensor takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.graph.conjugate import flagged, physical, raw
from gradd_engine.schema.registry import REGISTRY, named
from gradd_engine.tensor.tensor import Tensor

VALUES = [1 + 2j, 3 - 4j]
assert ops.__all__, "importing the families declares them"


def tensor(values: Any = tuple(VALUES)) -> Any:
    return NUMPY.from_array(np.array(values))


def values(t: Tensor) -> Any:
    return NUMPY.to_numpy(t).tolist()


def test_the_memory_is_shared_and_left_alone() -> None:
    z = tensor()
    c = z.conj()
    assert c._storage is z._storage
    assert c.array.tolist() == VALUES
    assert values(c) == [1 - 2j, 3 + 4j]
    assert values(raw(c)) == VALUES
    assert physical(z) is z
    assert values(physical(c)) == values(c)


def test_lists_are_looked_into() -> None:
    z = tensor()
    assert flagged([1.0, [z, z.conj()]])
    assert not flagged([z, None, 2])
    assert values(named.cat([z, z.conj()], 0)) == [*VALUES, 1 - 2j, 3 + 4j]  # type: ignore[arg-type]


def test_a_real_tensor_is_never_flagged() -> None:
    x = NUMPY.from_array(np.ones(2))
    assert not REGISTRY["conj"].call(x).is_conj()
    assert not tensor().conj().real.is_conj()


def test_ops_that_write_by_themselves_refuse() -> None:
    c = tensor().conj()
    step: Any = REGISTRY["sgd_step"]
    lists = [[c] if p.kind.startswith("Tensor") and "[" in p.kind else None for p in step.tensor_params]
    with pytest.raises(RuntimeError, match="a conjugate view cannot be written to"):
        step.run(tuple(lists), {p.name: p.default for p in step.schema.attrs})


def test_data_takes_the_flag_along() -> None:
    z, c = tensor(), tensor([5j, 6]).conj()
    named.set_data(z, c)
    assert z.is_conj()
    assert values(z) == [-5j, 6]


def test_meta_tensors_carry_it() -> None:
    z: Any = MetaBackend().from_array(np.array(VALUES))
    assert z.conj().is_conj()
    assert not (z.conj() * 1).is_conj()
    assert z.conj().reshape(2, 1).mH.is_conj() is False


def test_copies_are_computed() -> None:
    c = tensor().conj()
    assert not c.clone().is_conj()
    assert values(c.clone()) == values(c)
    target = tensor([0j, 0j])
    target.copy_(c)
    assert values(target) == values(c)
    NUMPY.copy_into(target, tensor().conj())
    assert target.array.tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("op", ["select_scatter", "slice_scatter", "diagonal_scatter"])
def test_what_is_complex_is_stored_as_its_real_part(op: str) -> None:
    where = {"select_scatter": (0, 1), "slice_scatter": (0, 1, 2), "diagonal_scatter": ()}[op]
    src = tensor(np.full((1, 2) if op == "slice_scatter" else 2, 1 + 2j))
    out = getattr(named, op)(tensor(np.zeros((3, 2))), src, *where)
    assert out.array.dtype == np.float64
    assert sorted(out.array.reshape(-1).tolist()) == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
