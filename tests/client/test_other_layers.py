"""Losses and layers that do more than store and call, beside PyTorch's: text, values and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn
from gradd.nn import functional as F

RNG = np.random.default_rng(7)
SCORES, CLASSES = RNG.normal(size=(3, 4)), np.array([0, 3, 1])
SETS = np.array([[0, 2, -1, 1], [3, -1, -1, -1], [-1, 0, 1, 2]])
BITS = (RNG.random((3, 4)) < 0.5).astype(float)
OTHER, VARIANCES = RNG.normal(size=(3, 4)), RNG.random((3, 4)) + 0.1
FIVE = RNG.normal(size=(3, 5))

#: what makes a layer of ``nn`` and a function that makes tensors, and what it is called with
LAYERS: dict[str, tuple[Callable[[Any, Any], Any], tuple[Any, ...]]] = {
    "MultiMarginLoss": (lambda nn, t: nn.MultiMarginLoss(2, 0.5), (SCORES, CLASSES)),
    "MultiMarginLoss, weighted": (
        lambda nn, t: nn.MultiMarginLoss(weight=t([0.2, 1.0, 3.0, 0.5]), reduction="none"),
        (SCORES, CLASSES),
    ),
    "MultiLabelMarginLoss": (lambda nn, t: nn.MultiLabelMarginLoss(), (SCORES, SETS)),
    "MultiLabelSoftMarginLoss": (lambda nn, t: nn.MultiLabelSoftMarginLoss(reduction="sum"), (SCORES, BITS)),
    "GaussianNLLLoss": (lambda nn, t: nn.GaussianNLLLoss(full=True), (SCORES, OTHER, VARIANCES)),
    "TripletMarginWithDistanceLoss": (
        lambda nn, t: nn.TripletMarginWithDistanceLoss(swap=True),
        (SCORES, OTHER, VARIANCES),
    ),
    "TripletMarginWithDistanceLoss, own": (
        lambda nn, t: nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1)),
        (SCORES, OTHER, VARIANCES),
    ),
    "LocalResponseNorm": (lambda nn, t: nn.LocalResponseNorm(3, 0.2), (RNG.normal(size=(2, 5, 3, 4)),)),
    "RReLU, as evaluated": (lambda nn, t: nn.RReLU(0.1, 0.4).eval(), (SCORES,)),
}
#: the older arguments of losses, by name and place
LEGACY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "soft_margin_loss": lambda F, x, y: F.soft_margin_loss(x, y, size_average=False),
    "hinge_embedding_loss": lambda F, x, y: F.hinge_embedding_loss(x, y, 0.5, False),
    "margin_ranking_loss": lambda F, x, y: F.margin_ranking_loss(x, x * 2, y, 0.1, None, False),
    "cosine_embedding_loss": lambda F, x, y: F.cosine_embedding_loss(x, x * y, y[:, 0], 0, False),
    "triplet_margin_loss": lambda F, x, y: F.triplet_margin_loss(x, x * y, x + 1, reduce=False),
    "poisson_nll_loss": lambda F, x, y: F.poisson_nll_loss(x, y.abs(), True, False, False),
    "multi_margin_loss": lambda F, x, y: F.multi_margin_loss(x, (y[:, 0] > 0).long(), size_average=False),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        gradd.manual_seed(0)
        yield s


@pytest.mark.parametrize("name", LAYERS)
def test_values_and_gradients_are_pytorchs(torch: Any, name: str) -> None:
    make, given = LAYERS[name]

    def called(T: Any) -> list[Any]:
        layer = make(T.nn, lambda x: T.tensor(x, dtype=T.float64))
        tensors = [T.tensor(x, requires_grad=x.dtype.kind == "f") for x in given]
        out = layer(*tensors)
        (out * out.detach().cos()).sum().backward()
        grads = [x.grad.numpy() for x in tensors if x.requires_grad]
        return [repr(layer), out.detach().numpy(), *grads]

    mine, theirs = called(gradd), called(torch)
    assert mine[0] == theirs[0]
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", LEGACY)
def test_losses_take_the_older_arguments(torch: Any, name: str) -> None:
    signs = np.where(OTHER > 0, 1.0, -1.0)
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        got = LEGACY[name](F, gradd.tensor(SCORES), gradd.tensor(signs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a recording does not warn
        want = LEGACY[name](torch.nn.functional, torch.tensor(SCORES), torch.tensor(signs))
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9)


def test_bilinear_follows_torch(torch: Any) -> None:
    mine, theirs = nn.Bilinear(4, 5, 2, dtype=gradd.float64), torch.nn.Bilinear(4, 5, 2, dtype=torch.float64)
    assert repr(mine) == repr(theirs)
    assert float(mine.weight.abs().max().item()) <= 0.5
    mine.load_state_dict({n: gradd.tensor(v.numpy()) for n, v in theirs.state_dict().items()})
    got = mine(gradd.tensor(SCORES), gradd.tensor(FIVE))
    want = theirs(torch.tensor(SCORES), torch.tensor(FIVE))
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-12)


def test_a_negative_variance_is_refused_without_a_round_trip_for_good_ones(session: Any) -> None:
    x = gradd.tensor(SCORES)
    before = session.stats()["round_trips"]
    F.gaussian_nll_loss(x, x, x.abs() + 1)
    assert session.stats()["round_trips"] == before
    with pytest.raises(ValueError, match="var has negative entry/entries"):
        F.gaussian_nll_loss(x, x, -x.abs() - 1).item()


def test_rrelu_draws_slopes_in_training_only() -> None:
    x = gradd.full((1000,), -2.0, requires_grad=True)
    layer = nn.RReLU(0.25, 0.75)
    y = layer(x)
    slopes = (y / x).detach().numpy()
    assert slopes.min() >= 0.25
    assert slopes.max() <= 0.75
    assert abs(slopes.mean() - 0.5) < 0.03
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-6)
    assert layer.eval()(x).tolist() == [-1.0] * 1000
    z = gradd.tensor([-1.0, 2.0])
    assert F.rrelu(z, 0.5, 0.5, True, True) is z
    assert z.tolist() == [-0.5, 2.0]


def test_gumbel_softmax_draws_by_the_logits() -> None:
    logits = gradd.tensor(np.log(np.tile([0.1, 0.2, 0.7], (4000, 1))), requires_grad=True)
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    seen = hard.detach().numpy()
    assert set(np.unique(seen.round(6))) == {0.0, 1.0}
    np.testing.assert_allclose(seen.sum(1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(seen.mean(0), [0.1, 0.2, 0.7], atol=0.03)
    (hard * gradd.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert float(logits.grad.abs().sum().item()) > 0
    soft = F.gumbel_softmax(logits, dim=0).detach().numpy()
    np.testing.assert_allclose(soft.sum(0), 1.0, rtol=1e-6)


TABLE, INDICES = RNG.normal(size=(6, 2)) * 2, np.array([0, 3, 4, 1, 3])
TABLES: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...]]] = {
    "bags by offsets": (lambda nn: nn.EmbeddingBag(6, 2), (INDICES, np.array([0, 2]))),
    "bags in rows": (
        lambda nn: nn.EmbeddingBag(6, 2, mode="max", padding_idx=3),
        (INDICES[:4].reshape(2, 2),),
    ),
    "bags, weighted": (lambda nn: nn.EmbeddingBag(6, 2, mode="sum"), (INDICES, np.array([0, 2]), SCORES[0])),
    "bags, bounded": (lambda nn: nn.EmbeddingBag(6, 2, 1.0, 1.0, mode="sum"), (INDICES, np.array([0, 1, 4]))),
    "rows, bounded": (lambda nn: nn.Embedding(6, 2, max_norm=1.5), (INDICES,)),
    "rows, by frequency": (lambda nn: nn.Embedding(6, 2, scale_grad_by_freq=True), (INDICES,)),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_tables_are_pytorchs(torch: Any, name: str) -> None:
    make, given = TABLES[name]

    def called(T: Any) -> list[Any]:
        layer = make(T.nn).double()
        layer.load_state_dict({"weight": T.tensor(TABLE)})
        inputs = [T.tensor(np.resize(x, 5) if x.dtype.kind == "f" else x) for x in given]
        out = layer(*inputs)
        (out * out.detach().cos()).sum().backward()
        return [repr(layer), out.detach().numpy(), layer.weight.grad.numpy(), layer.weight.detach().numpy()]

    mine, theirs = called(gradd), called(torch)
    assert mine[0] == theirs[0]
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def test_bags_of_given_rows() -> None:
    bags = nn.EmbeddingBag.from_pretrained(gradd.tensor(TABLE), mode="sum")
    assert not bags.weight.requires_grad
    np.testing.assert_allclose(bags(gradd.tensor([[0, 1]])).numpy(), TABLE[:2].sum(0)[None])
    with pytest.raises(RuntimeError, match=r"offsets\[0\] has to be 0"):
        bags(gradd.tensor([0, 1]), gradd.tensor([1])).tolist()


@pytest.mark.parametrize("lengths", [((9, 7), (3, 2)), (np.array([4, 9]), np.array([3, 3]))])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_sequences_in_every_alignment_are_pytorchs(torch: Any, lengths: Any, reduction: str) -> None:
    raw = np.random.default_rng(3).normal(size=(9, 2, 5))
    targets = np.array([[1, 4, 4], [2, 1, 3]])

    def called(T: Any) -> list[Any]:
        layer = T.nn.CTCLoss(zero_infinity=True, reduction=reduction)
        logits = T.tensor(raw, requires_grad=True)
        given = [tuple(x) if isinstance(x, tuple) else T.tensor(x) for x in lengths]
        loss = layer(logits.log_softmax(-1), T.tensor(targets), *given)
        loss.sum().backward()
        return [repr(layer), loss.detach().numpy(), logits.grad.numpy()]

    mine, theirs = called(gradd), called(torch)
    assert mine[0] == theirs[0]
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
