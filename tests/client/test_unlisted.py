"""Names that PyTorch documents for compilers or not at all, and that libraries call all the same; each test
runs on PyTorch and on gradd.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def close(T: Any, found: Any, wanted: Any) -> None:
    T.testing.assert_close(found, wanted)


def test_symbols_are_numbers(T: Any) -> None:
    size = T.ones(3, 2).shape[0]
    assert isinstance(size, (int, T.SymInt))
    assert not isinstance(size, (T.SymInt, T.SymFloat, T.SymBool))
    assert [T.sym_int(2.7), T.sym_int(-2.7), T.sym_float(3), T.sym_not(0), T.sym_sqrt(9)] == [
        2,
        -2,
        3.0,
        True,
        3,
    ]
    for found, wanted in (
        (T.sym_max(3, 4), 4), (T.sym_min(3, 4), 3), (T.sym_max(3, 1.0), 3.0), (T.sym_min(1, 4.0), 1.0),
        (T.sym_sum([1, 2]), 3), (T.sym_sum(1, 2.0), 3.0), (T.sym_ite(True, 1, 2), 1),
        (T.sym_ite(False, 1, 2), 2),
    ):  # fmt: skip
        assert (type(found), found) == (type(wanted), wanted)
    with pytest.raises(AssertionError, match="got <class 'str'>"):
        T.sym_max("a", 1)
    with pytest.raises(AssertionError, match="expected SymBool or bool, got <class 'int'>"):
        T.sym_ite(1, 1, 2)
    with pytest.raises(AssertionError, match="type mismatch: <class 'int'> vs <class 'float'>"):
        T.sym_ite(True, 1, 2.0)


def test_assertions(T: Any) -> None:
    T._assert(True, "fine")
    T._assert(T.ones(2).sum() > 1, "fine")
    with pytest.raises(AssertionError, match="two is not three"):
        T._assert(T.tensor(2) == 3, "two is not three")
    T._assert_async(T.tensor(1))
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
        T._assert_async(T.tensor(0))


def test_draws_of_the_distributions_have_gradients(T: Any) -> None:
    T.manual_seed(0)
    concentration = T.full((4000,), 3.0, requires_grad=True)
    drawn = T._standard_gamma(concentration)
    assert abs(float(drawn.detach().mean()) - 3) < 0.2
    drawn.sum().backward()
    close(T, concentration.grad, T._standard_gamma_grad(concentration.detach(), drawn.detach()))
    shares = T._sample_dirichlet(T.tensor([[0.5, 2.0, 1.0]]).expand(5, 3))
    close(T, shares.sum(-1), T.ones(5))
    x = T.tensor([0.2, 0.7])
    found = T._dirichlet_grad(x, T.tensor([1.0, 2.0]), T.tensor([3.0, 3.0]))
    assert found.shape == (2,)
    assert bool((found > 0).all())
    generator = T.Generator().manual_seed(7)
    first = T._standard_gamma(T.ones(3), generator=generator)
    again = T._standard_gamma(T.ones(3), generator=T.Generator().manual_seed(7))
    assert first.tolist() == again.tolist()


def test_what_softmax_and_weight_norm_are_made_of(T: Any) -> None:
    x = T.tensor([[0.5, -1.0, 2.0], [0.0, 0.25, -3.0]], requires_grad=True)
    g = T.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    for name in ("softmax", "log_softmax"):
        out = getattr(T, name)(x, 1)
        close(T, getattr(T, f"_{name}")(x, 1, False), out)
        (wanted,) = T.autograd.grad(out, x, g)
        close(T, getattr(T, f"_{name}_backward_data")(g, out.detach(), 1, T.float32), wanted)
    close(T, T._weight_norm(x, T.tensor([[2.0], [3.0]]), 0).norm(dim=1), T.tensor([2.0, 3.0]))
    close(T, T._weight_norm(x, T.tensor(2.0), -1).norm(), T.tensor(2.0))
    close(T, T._euclidean_dist(T.ones(2, 3), T.zeros(1, 3)), T.full((2, 1), 3**0.5))


def test_sizes_as_tensors(T: Any) -> None:
    found = T._shape_as_tensor(T.ones(2, 3))
    assert (found.tolist(), found.dtype) == ([2, 3], T.int64)
    assert T._dim_arange(T.ones(2, 3), 1).tolist() == [0, 1, 2]
    assert T._is_all_true(T.tensor([True, False])).item() is False
    assert T._is_any_true(T.tensor([True, False])).item() is True


def test_a_module_is_reparametrized_for_a_block(T: Any) -> None:
    layer = T.nn.BatchNorm1d(2)
    own = layer.weight
    given = {"weight": T.full((2,), 3.0, requires_grad=True), "running_mean": T.zeros(2)}
    with T.nn.utils.stateless._reparametrize_module(layer, given):
        assert layer.weight is given["weight"]
        out = layer(T.tensor([[1.0, 2.0], [3.0, 5.0]]))
    assert layer.weight is own
    close(T, layer.running_mean, T.zeros(2))
    close(T, given["running_mean"], T.tensor([0.2, 0.35]))
    out.pow(2).sum().backward()
    assert own.grad is None
    assert float(given["weight"].grad.abs().sum()) > 1
    tied = T.nn.Sequential(T.nn.Linear(2, 2, bias=False), T.nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    with T.nn.utils.stateless._reparametrize_module(tied, {"0.weight": T.zeros(2, 2)}, tie_weights=True):
        assert tied(T.ones(1, 2)).tolist() == [[0.0, 0.0]]
    with (
        pytest.raises(RuntimeError, match="Unexpected key"),
        T.nn.utils.stateless._reparametrize_module(layer, {"absent": T.zeros(2)}, strict=True),
    ):
        pass


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions_by_themselves(T: Any, dims: int) -> None:
    T.manual_seed(1)
    x = T.randn(2, 4, *[6] * dims, dtype=T.float64, requires_grad=True)
    w = T.randn(6, 2, *[3] * dims, dtype=T.float64, requires_grad=True)
    options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
    out = getattr(T.nn.functional, f"conv{dims}d")(x, w, None, **options)
    g = T.randn(*out.shape, dtype=T.float64, requires_grad=True)
    wanted = T.autograd.grad(out, (x, w), g, create_graph=True)
    by_x = getattr(T.nn.grad, f"conv{dims}d_input")(x.shape, w, g, **options)
    by_w = getattr(T.nn.grad, f"conv{dims}d_weight")(x, w.shape, g, **options)
    close(T, (by_x, by_w), wanted)
    seconds = T.autograd.grad(by_x.pow(2).sum() + by_w.pow(2).sum(), (x, w, g))
    close(T, seconds, T.autograd.grad(sum(t.pow(2).sum() for t in wanted), (x, w, g)))
    with T.no_grad():
        assert not getattr(T.nn.grad, f"conv{dims}d_input")(x.shape, w, g, **options).requires_grad


def test_initial_values_by_their_inner_names(T: Any) -> None:
    x = T.nn.Parameter(T.zeros(200))
    init = T.nn.init
    assert init._no_grad_fill_(x, 2.0) is x
    assert x.detach().unique().tolist() == [2.0]
    assert float(init._no_grad_uniform_(x, 3.0, 4.0).detach().min()) >= 3
    assert abs(float(init._no_grad_normal_(x, 10.0, 1.0).detach().mean()) - 10) < 1
    assert float(init._no_grad_trunc_normal_(x, 0.0, 1.0, -0.5, 0.5).detach().abs().max()) <= 0.5
    assert init._no_grad_zero_(x).detach().unique().tolist() == [0.0]


def test_a_generator_by_its_place(T: Any) -> None:
    rates = T.full((50,), 4.0)
    first = T.poisson(rates, T.Generator().manual_seed(3))
    assert first.tolist() == T.poisson(rates, generator=T.Generator().manual_seed(3)).tolist()
    drawn = T.binomial(rates, rates / 8, T.Generator().manual_seed(3))
    assert drawn.tolist() == T.binomial(rates, rates / 8, generator=T.Generator().manual_seed(3)).tolist()
    assert T.poisson(T.zeros(2), None).tolist() == [0.0, 0.0]


def test_switches_and_types_of_torchscript(T: Any) -> None:
    inner = importlib.import_module("torch._C") if T.__name__ == "torch" else T._C
    for name in ("_jit_set_profiling_executor", "_jit_set_profiling_mode"):
        assert getattr(inner, name)(True) is True
    for name in ("texpr_fuser_enabled", "nvfuser_enabled"):
        assert getattr(inner, f"_jit_set_{name}")(False) is None
    assert (inner._jit_can_fuse_on_cpu(), inner._jit_override_can_fuse_on_gpu(False)) == (False, None)
    for kind in (inner.Graph, inner.Node, inner.Value, inner.Block):
        assert not isinstance(T.ones(1), kind)
    assert inner._LinAlgError is T.linalg.LinAlgError


def test_only_what_names_it_is_a_script_module(T: Any) -> None:
    assert not isinstance(T.nn.Linear(1, 1), T.jit.ScriptModule)
    assert issubclass(T.jit.ScriptModule, T.nn.Module)
    assert T.jit.RecursiveScriptModule is not None
