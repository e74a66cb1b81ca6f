"""Backends: the law of strides, memory accounts, meta tensors, CuPy without a GPU."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gradd_engine.backward.backward_op  # noqa: F401 - attaches Tensor.backward
import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY, ArrayBackend
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.data.layout import Meta
from gradd_engine.data.memory import Account, OutOfQuota
from gradd_engine.data.state import ambient
from gradd_engine.declare.declarators import REGISTRY, kernel
from gradd_engine.ops.shared.constants import ones, tensor, zeros


@pytest.fixture
def planted() -> Any:
    """Declares an op for one test."""
    made: list[str] = []

    def declare(signature: str, **kwargs: Any) -> Any:
        found = kernel(signature, namespace="-", **kwargs)
        made.append(found.name)
        return found

    yield declare
    for name in made:
        del REGISTRY[name]


def test_infer_is_law_whatever_layout_a_kernel_returns(planted: Any) -> None:
    turned = planted(
        "planted_turned(Tensor input) -> Tensor",
        infer=lambda input: Meta((2, 3), input.dtype, (1, 2)),
        impl=lambda xp, a: a + 1,
    )
    out = turned(zeros([2, 3]))
    assert out.strides == (1, 2)
    assert out.array.strides == (4, 8)
    assert out.array.tolist() == [[1.0] * 3] * 2


def test_a_kernel_of_another_shape_is_a_fault(planted: Any) -> None:
    wrong = planted(
        "planted_wrong(Tensor input) -> Tensor",
        infer=lambda input: Meta((3,), input.dtype),
        impl=lambda xp, a: a + 1,
    )
    with pytest.raises(RuntimeError, match=r"^planted_wrong\(\): cannot be computed of input=") as caught:
        wrong(zeros([2]))
    assert str(caught.value.__cause__) == "a kernel returned shape (2,) where infer says (3,)"


def test_a_kernel_that_returns_its_input_is_copied(planted: Any) -> None:
    same = planted(
        "planted_same(Tensor input) -> Tensor",
        infer=lambda input: Meta((2,), input.dtype),
        impl=lambda xp, a: a,
    )
    x = zeros([2])
    y = same(x)
    y.add_(1.0)
    assert x.array.tolist() == [0.0, 0.0]


def test_bytes_are_taken_before_and_given_back_after() -> None:
    account = Account(1000)
    with ambient(account=account):
        x = zeros([100])
        assert account.used == 400
        v = x.view(10, 10)
        assert account.used == 400
        with pytest.raises(OutOfQuota) as caught:
            ones([200])
        assert (caught.value.requested, caught.value.used, caught.value.limit) == (800, 400, 1000)
        assert account.used == 400
        del x
        assert account.used == 400
        del v
    assert account.used == 0
    assert account.peak == 400


def test_a_kernel_that_raises_gives_its_bytes_back(planted: Any) -> None:
    def fail(xp: Any, a: Any) -> Any:
        raise IndexError("index 9 is out of bounds")

    failing = planted(
        "planted_failing(Tensor input) -> Tensor", infer=lambda input: Meta((50,), input.dtype), impl=fail
    )
    account = Account(1000)
    with ambient(account=account):
        x = zeros([2])
        with pytest.raises(IndexError):
            failing(x)
    assert account.used == x.nbytes


def test_meta_tensors_have_geometry_and_graphs_but_no_numbers() -> None:
    backend = MetaBackend()
    x = backend.empty(Meta((2, 3), tensor(1.0).dtype))
    x.requires_grad = True
    y = (x * 2.0).t().exp().sum()
    y.backward()
    assert (x.array, y.array) == (None, None)
    assert x.grad is not None
    assert (tuple(x.grad.shape), x.grad.strides) == ((2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="a meta tensor has no values"):
        backend.to_numpy(x)


def test_a_pass_on_meta_sees_changed_versions() -> None:
    x = MetaBackend().empty(Meta((2,), tensor(1.0).dtype))
    x.requires_grad = True
    y = (x * 1.0).exp()
    z = y.sum()
    y.add_(1.0)
    with pytest.raises(
        RuntimeError, match=r"which is output 0 of .*, is at version 1; expected version 0 instead"
    ):
        (z + y.sum()).backward()


def test_tensors_of_two_backends_do_not_mix() -> None:
    a, b = (
        MetaBackend().empty(Meta((2,), tensor(1.0).dtype)),
        MetaBackend().empty(Meta((2,), tensor(1.0).dtype)),
    )
    with pytest.raises(RuntimeError, match="of the same session"):
        a + b


def test_sixteen_bits_are_computed_in_thirty_two_and_rounded_once() -> None:
    from gradd_engine.data import dtypes

    x = tensor([1.0, 1.0 / 3.0, 300.0], dtype=dtypes.bfloat16)
    y = x * x + x
    wide = np.asarray(x.array, np.float32)
    once = (wide * wide).astype(dtypes.bfloat16.np).astype(np.float32)
    assert y.array.tolist() == (once + wide).astype(dtypes.bfloat16.np).tolist()


def test_cupy_is_not_needed_to_import_its_module() -> None:
    code = "import sys, gradd_engine.backends.cupy; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_cupy_says_what_is_missing() -> None:
    from gradd_engine.backends.cupy import CupyBackend

    pytest.importorskip("gradd_engine.backends.cupy")
    try:
        import cupy  # noqa: F401
    except ImportError:
        with pytest.raises(RuntimeError, match=r"pip install 'gradd\[cuda12\]'"):
            CupyBackend()
    else:
        pytest.skip("CuPy is installed here")


@pytest.mark.gpu
def test_cupy_computes_what_numpy_does() -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from gradd_engine.backends.cupy import CupyBackend

    gpu = CupyBackend()
    results = []
    for backend in (NUMPY, gpu):
        x = backend.from_array(backend.xp.arange(6, dtype="float32").reshape(2, 3))
        x.requires_grad = True
        y = ((x * x).t().exp() * 0.01).sum()
        y.backward()
        results.append(backend.to_numpy(x.grad))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)
    assert isinstance(gpu, ArrayBackend)
