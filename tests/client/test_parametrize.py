"""Parametrizations: values, gradients, state, text and messages, on PyTorch and on gradd."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest


def parametrize(T: Any) -> Any:
    return importlib.import_module(f"{T.__name__}.nn.utils.parametrize")


def parametrizations(T: Any) -> Any:
    return importlib.import_module(f"{T.__name__}.nn.utils.parametrizations")


def symmetric(T: Any) -> Any:
    class Symmetric(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric()


def doubled(T: Any, **methods: Any) -> Any:
    class Doubled(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x * 2

    for name, method in methods.items():
        setattr(Doubled, name, method)
    return Doubled()


def layer(T: Any, rows: int = 2) -> Any:
    made = T.nn.Linear(2, rows, bias=False)
    made.load_state_dict({"weight": T.arange(2.0 * rows).view(rows, 2) + 1})
    return made


def test_a_tensor_is_computed_from_its_original(T: Any) -> None:
    para, m = parametrize(T), layer(T)
    before = m.weight
    assert para.register_parametrization(m, "weight", symmetric(T)) is m
    assert m.weight.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert m.parametrizations.weight.original is before
    assert [name for name, _ in m.named_parameters()] == ["parametrizations.weight.original"]
    assert repr(m) == (
        "ParametrizedLinear(\n  in_features=2, out_features=2, bias=False\n  (parametrizations): "
        "ModuleDict(\n    (weight): ParametrizationList(\n      (0): Symmetric()\n    )\n  )\n)"
    )
    m(T.ones(1, 2)).sum().backward()
    assert before.grad.tolist() == [[1.0, 2.0], [0.0, 1.0]]
    m.weight = T.tensor([[5.0, 6.0], [6.0, 8.0]])
    assert before.tolist() == [[5.0, 6.0], [0.0, 8.0]]
    assert m.weight.tolist() == [[5.0, 6.0], [6.0, 8.0]]
    assert para.is_parametrized(m)
    assert para.is_parametrized(m, "weight")
    assert not para.is_parametrized(m, "bias")
    assert para.type_before_parametrizations(m) is T.nn.Linear
    assert isinstance(m, T.nn.Linear)


@pytest.mark.parametrize("leave", [True, False])
def test_a_parametrization_is_removed(T: Any, leave: bool) -> None:
    para, m = parametrize(T), layer(T)
    original = para.register_parametrization(m, "weight", symmetric(T)).parametrizations.weight.original
    assert para.remove_parametrizations(m, "weight", leave_parametrized=leave) is m
    assert m.weight is original
    assert m.weight.tolist() == [[1.0, 2.0], [2.0 if leave else 0.0, 4.0]]
    assert type(m) is T.nn.Linear
    assert not para.is_parametrized(m)
    assert list(m.state_dict()) == ["weight"]
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        para.remove_parametrizations(m, "weight")


def test_parametrizations_are_chained_and_cached(T: Any) -> None:
    para, m = parametrize(T), layer(T)
    calls: list[int] = []
    counting = doubled(T)
    counting.register_forward_hook(lambda *_: calls.append(1))
    para.register_parametrization(m, "weight", counting)
    para.register_parametrization(m, "weight", doubled(T))
    assert m.weight.tolist() == [[4.0, 8.0], [12.0, 16.0]]
    calls.clear()
    with para.cached():
        assert m.weight is m.weight
        assert len(calls) == 1
    assert m.weight is not m.weight
    with pytest.raises(RuntimeError, match="parametrization Doubled does not implement right_inverse"):
        m.weight = T.zeros(2, 2)


def test_copies_have_parametrizations_of_their_own(T: Any) -> None:
    para = parametrize(T)
    m = para.register_parametrization(layer(T), "weight", symmetric(T))
    other = copy.deepcopy(m)
    other.weight = T.zeros(2, 2)
    assert m.weight.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert other.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    plain = layer(T)
    para.transfer_parametrizations_and_params(m, plain)
    assert plain.weight.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert plain.parametrizations.weight.original is m.parametrizations.weight.original
    with pytest.raises(RuntimeError, match="Serialization of parametrized modules is only supported through"):
        pickle.dumps(m)


def test_several_originals(T: Any) -> None:
    class Sum(T.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, a: Any, b: Any) -> Any:
            return a + b

        def right_inverse(self, x: Any) -> Any:
            return x * 0.25, x * 0.75

    para, m = parametrize(T), layer(T)
    para.register_parametrization(m, "weight", Sum())
    assert list(m.state_dict()) == [
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert all(isinstance(p, T.nn.Parameter) for p in m.parameters())
    assert m.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        para.remove_parametrizations(m, "weight", leave_parametrized=False)
    para.remove_parametrizations(m, "weight")
    assert isinstance(m.weight, T.nn.Parameter)
    assert m.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_buffers_are_parametrized_too(T: Any) -> None:
    m = T.nn.Module()
    m.register_buffer("table", T.ones(2))
    parametrize(T).register_parametrization(m, "table", doubled(T))
    assert m.table.tolist() == [2.0, 2.0]
    assert list(m.state_dict()) == ["parametrizations.table.original"]
    assert list(m.parameters()) == []


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "shape": (lambda T: doubled(T, forward=lambda self, x: x[0]), "may not change the shape of the tensor"),
    "dtype": (lambda T: doubled(T, forward=lambda self, x: x.double()), "may not change the dtype of the"),
    "no tensor": (lambda T: doubled(T, forward=lambda self, x: 3), "must return a tensor. Got int"),
    "back to what": (lambda T: doubled(T, right_inverse=lambda self, x: 3), "or a Sequence of tensors"),
    "back to parts": (
        lambda T: doubled(T, right_inverse=lambda self, x: [3]),
        "Got element 0 of the sequence",
    ),
    "back to dtype": (
        lambda T: doubled(T, right_inverse=lambda self, x: x.double()),
        "not change the dtype.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_parametrization_is_refused(T: Any, name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        parametrize(T).register_parametrization(layer(T), "weight", make(T))
    with pytest.raises(ValueError, match=r"does not have a parameter, a buffer, or a parametrized element"):
        parametrize(T).register_parametrization(layer(T), "nothing", make(T))


@pytest.mark.parametrize("name", [name for name in REFUSED if "parts" not in name])
def test_what_is_no_second_parametrization_is_refused(T: Any, name: str) -> None:
    m = parametrize(T).register_parametrization(layer(T), "weight", doubled(T))
    with pytest.raises(ValueError, match=r"may not change|must return a tensor|must have the same dtype"):
        parametrize(T).register_parametrization(m, "weight", REFUSED[name][0](T))
    assert len(m.parametrizations.weight) == 1


def test_unsafe_parametrizations_may_change_the_shape(T: Any) -> None:
    m = layer(T)
    parametrize(T).register_parametrization(m, "weight", doubled(T, forward=lambda s, x: x[:1]), unsafe=True)
    assert m.weight.shape == (1, 2)


# -- PyTorch's own ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(T: Any, dim: int | None) -> None:
    m = parametrizations(T).weight_norm(layer(T, 3), dim=dim)
    assert list(m.state_dict()) == [
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    sizes = {0: (3, 1), 1: (1, 2), None: ()}
    assert m.parametrizations.weight.original0.shape == sizes[dim]
    np.testing.assert_allclose(m.weight.detach().numpy(), [[1, 2], [3, 4], [5, 6]], rtol=1e-5)
    (m.weight * T.tensor([[1.0, -2.0], [3.0, 0.0], [1.0, 1.0]])).sum().backward()
    g, v = m.parametrizations.weight.original0.grad, m.parametrizations.weight.original1.grad
    values, weights = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[1.0, -2], [3, 0], [1, 1]])
    axes = tuple(a for a in (0, 1) if a != dim)
    norm = np.sqrt((values**2).sum(axes, keepdims=True))
    unit = values / norm
    along = (weights * unit).sum(axes, keepdims=True)
    np.testing.assert_allclose(g.numpy().reshape(along.shape), along, rtol=1e-4)
    np.testing.assert_allclose(v.numpy(), weights - unit * along, rtol=1e-4, atol=1e-5)


def test_weight_norm_loads_the_older_names(T: Any) -> None:
    m = parametrizations(T).weight_norm(layer(T))
    m.load_state_dict({"weight_g": T.tensor([[5.0], [1.0]]), "weight_v": T.tensor([[3.0, 4.0], [0.0, 2.0]])})
    np.testing.assert_allclose(m.weight.tolist(), [[3, 4], [0, 1]], rtol=1e-6)


def test_spectral_norm(T: Any) -> None:
    m = parametrizations(T).spectral_norm(layer(T), n_power_iterations=20)
    assert list(m.state_dict()) == [
        "parametrizations.weight.original",
        "parametrizations.weight.0._u",
        "parametrizations.weight.0._v",
    ]
    values = np.array([[1.0, 2], [3, 4]])
    np.testing.assert_allclose(m.weight.detach().numpy(), values / np.linalg.norm(values, 2), rtol=1e-4)
    m.eval()
    u = m.parametrizations.weight[0]._u.tolist()
    m(T.ones(1, 2)).sum().backward()
    assert m.parametrizations.weight[0]._u.tolist() == u
    sigma = np.linalg.norm(values, 2)
    a, _, b = np.linalg.svd(values)
    want = np.ones((2, 2)) / sigma - values.sum() / sigma**2 * np.outer(a[:, 0], b[0])
    np.testing.assert_allclose(m.parametrizations.weight.original.grad.numpy(), want, rtol=1e-3, atol=1e-5)
    turned = parametrizations(T).spectral_norm(T.nn.ConvTranspose1d(3, 4, 2))
    assert turned.parametrizations.weight[0]._u.shape == (4,)
    flat = parametrizations(T).spectral_norm(T.nn.Linear(3, 4), "bias")
    assert (flat.bias**2).sum().item() == pytest.approx(1)


@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4)])
def test_orthogonal(T: Any, size: tuple[int, int], how: str | None) -> None:
    m = T.nn.Linear(size[1], size[0])
    parametrizations(T).orthogonal(m, orthogonal_map=how)
    for _ in range(2):
        w = m.weight.detach().numpy().astype("float64")
        product = w @ w.T if size[0] < size[1] else w.T @ w
        np.testing.assert_allclose(product, np.eye(min(size)), atol=1e-5)
        (m.weight**3).sum().backward()
        assert m.parametrizations.weight.original.grad.shape == size
        with T.no_grad():
            m.parametrizations.weight.original.sub_(0.1 * m.parametrizations.weight.original.grad)
    wanted = np.linalg.qr(np.arange(16.0).reshape(4, 4) ** 0.5)[0][: size[0], : size[1]]
    if size == (4, 2):
        m.weight = T.tensor(wanted.astype("float32"))
        np.testing.assert_allclose(m.weight.detach().numpy(), wanted, atol=1e-5)


def test_orthogonal_without_a_base(T: Any) -> None:
    m = parametrizations(T).orthogonal(T.nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
    np.testing.assert_allclose((m.weight @ m.weight.T).tolist(), np.eye(3), atol=1e-5)
    with pytest.raises(NotImplementedError, match="It is not possible to assign to the matrix exponential"):
        m.weight = T.eye(3)


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_reflections_without_a_base(T: Any, size: tuple[int, ...]) -> None:
    m = T.nn.Module()
    m.weight = T.nn.Parameter(T.tensor(np.random.default_rng(3).normal(size=size).astype("float32")))
    parametrizations(T).orthogonal(m, orthogonal_map="householder", use_trivialization=False)
    tall = m.weight if size[-2] >= size[-1] else m.weight.mT
    np.testing.assert_allclose(
        (tall.mT @ tall).detach().numpy(), np.eye(min(size[-2:])) + np.zeros((*size[:-2], 1, 1)), atol=1e-5
    )
    drawn = np.linalg.qr(np.random.default_rng(4).normal(size=(*size[:-2], 4, 4)))[0]
    if max(size[-2:]) == 4:
        wanted = drawn[..., : size[-1]] if size[-2] == 4 else drawn[..., : size[-2], :]
        m.weight = T.tensor(wanted.astype("float32"))
        np.testing.assert_allclose(m.weight.detach().numpy(), wanted, atol=1e-5)
    (m.weight**3).sum().backward()
    assert m.parametrizations.weight.original.grad.shape == size


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
def test_training_with_norms_of_weights_waits_for_nothing() -> None:
    with gradd.connect("local:") as session:
        utils, linear = gradd.nn.utils, gradd.nn.Linear
        new = utils.parametrizations
        model = gradd.nn.Sequential(
            utils.spectral_norm(linear(3, 3)),
            utils.weight_norm(linear(3, 3)),
            new.spectral_norm(linear(3, 3)),
            new.weight_norm(linear(3, 4)),
        )
        opt = gradd.optim.SGD(model.parameters(), lr=0.1)
        before = session.stats()
        for _ in range(3):
            opt.zero_grad()
            model(gradd.ones(2, 3)).square().mean().backward()
            opt.step()
        spent = {name: session.stats()[name] - before[name] for name in ("round_trips", "batches")}
        assert spent == {"round_trips": 0, "batches": 3}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("p.orthogonal(T.nn.ReLU())", r"has no parameter or buffer with name 'weight'"),
        (
            "p.orthogonal(T.nn.Linear(2, 2), 'bias')",
            r"Expected a matrix or batch of matrices. Got a tensor of 1",
        ),
        ("p.orthogonal(T.nn.Linear(2, 2), orthogonal_map='x')", r"orthogonal_map has to be one of"),
        ("p.spectral_norm(T.nn.Linear(2, 2), n_power_iterations=0)", r"n_power_iterations to be positive"),
        ("p.spectral_norm(T.nn.Linear(2, 2), dim=2)", r"expected to be in range of \[-2, 1\] but got 2"),
        ("p.spectral_norm(T.nn.ReLU())", r"has no parameter or buffer with name 'weight'"),
    ],
)
def test_parametrizations_refuse(T: Any, call: str, message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        eval(call, {"T": T, "p": parametrizations(T)})


# -- the older ones ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
def test_older_weight_norm(T: Any) -> None:
    utils, m = T.nn.utils, layer(T)
    assert utils.weight_norm(m) is m
    assert list(m.state_dict()) == ["weight_g", "weight_v"]
    assert m.weight_g.shape == (2, 1)
    m(T.ones(1, 2)).sum().backward()
    np.testing.assert_allclose(m.weight_g.grad.numpy(), [[3 / 5**0.5], [7 / 5]], rtol=1e-5)
    with T.no_grad():
        m.weight_g.mul_(2)
    np.testing.assert_allclose(m(T.ones(1, 2)).tolist(), [[6, 14]], rtol=1e-5)
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks on the same parameter"):
        utils.weight_norm(m)
    assert utils.remove_weight_norm(m) is m
    assert [name for name, _ in m.named_parameters()] == ["weight"]
    np.testing.assert_allclose(m.weight.tolist(), [[2, 4], [6, 8]], rtol=1e-5)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found in Linear"):
        utils.remove_weight_norm(m)


def test_older_weight_norm_says_so(T: Any) -> None:
    with pytest.warns(FutureWarning, match="is deprecated in favor of"):
        T.nn.utils.weight_norm(T.nn.LSTM(2, 2), "weight_hh_l0")


def test_older_spectral_norm(T: Any) -> None:
    utils, m = T.nn.utils, layer(T)
    utils.spectral_norm(m, n_power_iterations=20)
    state = m.state_dict()
    assert list(state) == ["weight_orig", "weight_u", "weight_v"]
    assert state._metadata[""] == {"version": 1, "spectral_norm": {"weight.version": 1}}
    values = np.array([[1.0, 2], [3, 4]])
    m(T.ones(1, 2))
    np.testing.assert_allclose(m.weight.detach().numpy(), values / np.linalg.norm(values, 2), rtol=1e-4)
    m(T.ones(1, 2)).sum().backward()
    a, s, b = np.linalg.svd(values)
    want = np.ones((2, 2)) / s[0] - values.sum() / s[0] ** 2 * np.outer(a[:, 0], b[0])
    np.testing.assert_allclose(m.weight_orig.grad.numpy(), want, rtol=1e-3, atol=1e-5)
    assert str(m.load_state_dict(state)) == "<All keys matched successfully>"
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        utils.spectral_norm(m)
    old = {
        "weight_orig": state["weight_orig"],
        "weight": state["weight_orig"] / 3,
        "weight_u": state["weight_u"],
    }
    m.load_state_dict(old)
    u, v = m.weight_u.detach().numpy(), m.weight_v.detach().numpy()
    assert u @ values @ v == pytest.approx(3, rel=1e-3)
    utils.remove_spectral_norm(m)
    assert list(m.state_dict()) == ["weight"]
    assert not m._state_dict_hooks
    with pytest.raises(ValueError, match="spectral_norm of 'weight' not found in Linear"):
        utils.remove_spectral_norm(m)
    with pytest.raises(ValueError, match="`SpectralNorm` cannot be applied as parameter `bias` is None"):
        utils.spectral_norm(m, "bias")
