"""`vmap` of every op against a loop over samples, for each choice of what is mapped: values, gradients that
pass through it, and gradients taken inside.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gradd_engine.backward import grad_op
from gradd_engine.batching.vmap import lifted, vmap
from gradd_engine.schema.registry import named
from gradd_engine.tensor import Tensor, detached

from tests.ops import table
from tests.ops.test_ops import Case

CASES = {
    key: [(i, s) for i, s in enumerate(some) if not s.is_dynamic and s.values]
    for key, some in table.samples().items()
}
#: what cannot be mapped over, and why
UNMAPPED = {
    "allclose": "a Python bool: one answer for all samples is not what each sample has",
    "equal": "a Python bool: one answer for all samples is not what each sample has",
    "pca_lowrank": "it draws",
    "svd_lowrank": "it draws",
    "nn.functional.embedding_bag": "reversed offsets are refused",
}
#: what writes to its inputs
WRITING = (
    "embedding_renorm_", "gcd_", "lcm_", "ldexp_", "setitem", "index_put_", "addmv_",
    "nn.functional.batch_norm", "nn.functional.instance_norm",
)  # fmt: skip
_SHARED = ("Batch norm got a batched tensor", "vmap: inplace arithmetic")
KEYS = [k for k, some in CASES.items() if some and k not in UNMAPPED]


class Batch:
    """A case with two samples: each tensor as the table has it and reversed, or one for both."""

    def __init__(self, case: Case, mapped: tuple[bool, ...]) -> None:
        self.case, self.mapped = case, mapped
        self.pairs = [[a, np.flip(a).copy()] for a in case.arrays]
        self.tolerance = max(case.sample.tolerance, 1e-9)

    def run(self, *tensors: Tensor) -> list[Tensor]:
        """The case's outputs that are tensors."""
        return [t for t in table.flat(self.case.ours(list(tensors))) if isinstance(t, Tensor)]

    def sample(self, i: int, grad: bool = False) -> list[Tensor]:
        """The tensors of one sample."""
        grads = self.case.grads
        return [
            table.ours(p[i if m else 0], grad=grad and g)
            for p, m, g in zip(self.pairs, self.mapped, grads, strict=True)
        ]

    def batch(self, grad: bool = False) -> list[Tensor]:
        """The tensors of both."""
        grads = self.case.grads
        return [
            table.ours(np.stack(p) if m else p[0], grad=grad and g)
            for p, m, g in zip(self.pairs, self.mapped, grads, strict=True)
        ]

    def map(self, fn: Callable[..., Any], tensors: list[Tensor]) -> Any:
        """`fn` over the mapped tensors."""
        return vmap(fn, in_dims=tuple(0 if m else None for m in self.mapped))(*tensors)

    def same(self, got: Any, wanted: list[Any]) -> None:
        """A batch's values are those of its samples."""
        expected = np.stack([table.to_numpy(w) for w in wanted])
        assert tuple(got.shape) == expected.shape
        np.testing.assert_allclose(table.to_numpy(got), expected, rtol=self.tolerance, atol=self.tolerance)


def batches(key: str) -> Iterator[Batch]:
    """Every sample of an op with all its tensors mapped, the first, and all but the first."""
    for number, sample in CASES[key]:
        case = Case(key, number, sample)
        count = len(case.arrays)
        patterns = [(True,) * count] if count else []
        if count > 1:
            patterns += [(True, *(False,) * (count - 1)), (False, *(True,) * (count - 1))]
        for mapped in patterns:
            yield Batch(case, mapped)


def each(key: str, check: Callable[[Batch], None], wanted: Callable[[Batch], bool]) -> None:
    """Run a check of all batches of an op."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for batch in batches(key):
            if wanted(batch):
                try:
                    check(batch)
                except RuntimeError as error:
                    # What is the same for every sample cannot be written to by each.
                    if key not in WRITING or all(batch.mapped) or not str(error).startswith(_SHARED):
                        raise


@pytest.mark.parametrize("key", KEYS)
def test_is_a_loop_over_samples(key: str) -> None:
    def check(b: Batch) -> None:
        try:
            wanted = [b.run(*b.sample(0)), b.run(*b.sample(1))]
        except Exception as error:
            with pytest.raises(type(error)):
                b.map(b.run, b.batch())
            return
        got = b.map(b.run, b.batch())
        for g, *w in zip(got, *wanted, strict=True):
            assert g.dtype is w[0].dtype
            b.same(g, w)

    each(key, check, lambda b: True)


def _seeds(outputs: list[Tensor]) -> list[Tensor]:
    """Cotangents that tell elements apart."""
    return [
        table.ours(np.cos(np.arange(float(o.numel())) + 1).reshape(o.shape).astype(o.dtype.np))
        for o in outputs
    ]


def _gradients(outputs: list[Tensor], leaves: list[Tensor], seeds: list[Tensor]) -> list[Any]:
    pairs = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    if not pairs:
        return [named.zeros_like(x) for x in leaves]
    roots, given = zip(*pairs, strict=True)
    return list(grad_op.grad(roots, leaves, given, create_graph=True, materialize_grads=True))


def _alone(b: Batch) -> list[list[Any]]:
    """The gradients of each sample."""
    found = []
    for i in range(2):
        tensors = b.sample(i, True)
        outputs = b.run(*tensors)
        found.append(_gradients(outputs, [t for t in tensors if t._requires_grad], _seeds(outputs)))
    return found


def _differentiable(b: Batch) -> bool:
    s = b.case.sample
    return (
        s.first
        and not s.own
        and any(b.case.grads)
        and any(o.requires_grad for o in b.run(*b.sample(0, True)))
    )


@pytest.mark.parametrize("key", KEYS)
def test_gradients_pass_through(key: str) -> None:
    """grad(vmap(f)): the physical tensors track."""

    def check(b: Batch) -> None:
        whole = b.batch(True)
        leaves = [t for t in whole if t._requires_grad]
        outputs = b.map(b.run, whole)
        seeds = [table.ours(np.stack([s.array] * 2)) for s in _seeds(b.run(*b.sample(0)))]
        got = _gradients(outputs, leaves, seeds)
        mapped = [m for m, t in zip(b.mapped, whole, strict=True) if t._requires_grad]
        for g, m, *w in zip(got, mapped, *_alone(b), strict=True):
            if m:
                b.same(g, w)
            else:
                total = sum(table.to_numpy(x) for x in w)
                np.testing.assert_allclose(table.to_numpy(g), total, rtol=b.tolerance, atol=b.tolerance)

    each(key, check, _differentiable)


@pytest.mark.parametrize("key", KEYS)
def test_gradients_of_each_sample(key: str) -> None:
    """vmap(grad(f)): the pass runs on the level's tensors."""

    def inside(b: Batch) -> Callable[..., list[Any]]:
        def gradient(*tensors: Tensor) -> list[Any]:
            leaves = []
            given = []
            for t, wanted in zip(tensors, b.case.grads, strict=True):
                x = detached(lifted(t))
                if wanted and x.dtype.differentiable:
                    x._requires_grad = True
                    leaves.append(x)
                given.append(x)
            outputs = b.run(*given)
            return _gradients(outputs, leaves, _seeds(outputs))

        return gradient

    def check(b: Batch) -> None:
        got = b.map(inside(b), b.batch())
        for g, *w in zip(got, *_alone(b), strict=True):
            assert not g.requires_grad
            b.same(g, w)

    each(key, check, _differentiable)
