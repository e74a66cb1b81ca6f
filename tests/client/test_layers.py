"""Layers and losses: PyTorch's results from its weights, its text, its initial distributions, its checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn
from gradd.nn import functional as F

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        gradd.manual_seed(0)
        yield s


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("float32")


def classes(*shape: int) -> Any:
    return RNG.integers(0, 3, size=shape)


ONE_TO_ONE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "Linear": (lambda nn: nn.Linear(4, 3), normal(5, 4)),
    "Linear, no bias": (lambda nn: nn.Linear(4, 3, bias=False), normal(2, 5, 4)),
    "Identity": (lambda nn: nn.Identity(54, unused=0.1), normal(3)),
    "Flatten": (lambda nn: nn.Flatten(), normal(2, 3, 4)),
    "Unflatten": (lambda nn: nn.Unflatten(1, (2, 2)), normal(3, 4)),
    "Conv1d": (lambda nn: nn.Conv1d(2, 4, 3, stride=2, padding=1), normal(2, 2, 9)),
    "Conv2d": (lambda nn: nn.Conv2d(2, 4, 3, padding=1), normal(2, 2, 6, 5)),
    "Conv2d, groups": (
        lambda nn: nn.Conv2d(2, 4, (3, 2), stride=(2, 1), groups=2, bias=False),
        normal(1, 2, 7, 6),
    ),
    "Conv2d, same": (lambda nn: nn.Conv2d(2, 3, 3, padding="same", dilation=2), normal(1, 2, 7, 6)),
    "ReLU": (lambda nn: nn.ReLU(), normal(3, 4)),
    "ReLU, in place": (lambda nn: nn.ReLU(inplace=True), normal(3, 4)),
    "LeakyReLU": (lambda nn: nn.LeakyReLU(0.2), normal(3, 4)),
    "ELU": (lambda nn: nn.ELU(0.7), normal(3, 4)),
    "SiLU": (lambda nn: nn.SiLU(), normal(3, 4)),
    "GELU": (lambda nn: nn.GELU(), normal(3, 4)),
    "GELU, tanh": (lambda nn: nn.GELU("tanh"), normal(3, 4)),
    "Tanh": (lambda nn: nn.Tanh(), normal(3, 4)),
    "Sigmoid": (lambda nn: nn.Sigmoid(), normal(3, 4)),
    "Softplus": (lambda nn: nn.Softplus(beta=2.0), normal(3, 4) * 20),
    "Softmax": (lambda nn: nn.Softmax(dim=-1), normal(3, 4)),
    "LogSoftmax": (lambda nn: nn.LogSoftmax(dim=0), normal(3, 4)),
    "Dropout, p = 0": (lambda nn: nn.Dropout(0.0), normal(3, 4)),
    "LayerNorm": (lambda nn: nn.LayerNorm(4), normal(3, 4)),
    "LayerNorm, two axes": (lambda nn: nn.LayerNorm([3, 4], eps=1e-3, bias=False), normal(2, 3, 4)),
    "LayerNorm, plain": (lambda nn: nn.LayerNorm(4, elementwise_affine=False), normal(3, 4)),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), normal(3, 4, 5)),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(4), normal(6, 4)),
    "BatchNorm2d": (lambda nn: nn.BatchNorm2d(2, momentum=0.3), normal(3, 2, 4, 5)),
    "BatchNorm2d, cumulative": (lambda nn: nn.BatchNorm2d(2, momentum=None), normal(3, 2, 4, 5)),
    "BatchNorm1d, untracked": (
        lambda nn: nn.BatchNorm1d(4, track_running_stats=False, affine=False),
        normal(6, 4, 3),
    ),
    "InstanceNorm1d": (lambda nn: nn.InstanceNorm1d(4), normal(3, 4, 5)),
    "InstanceNorm1d, no batch": (lambda nn: nn.InstanceNorm1d(4, affine=True), normal(4, 5)),
    "InstanceNorm2d": (
        lambda nn: nn.InstanceNorm2d(2, momentum=0.3, affine=True, track_running_stats=True),
        normal(3, 2, 4, 5),
    ),
    "InstanceNorm2d, no momentum": (
        lambda nn: nn.InstanceNorm2d(2, 1e-3, None, track_running_stats=True),
        normal(3, 2, 4, 5),
    ),
    "InstanceNorm3d": (lambda nn: nn.InstanceNorm3d(2, affine=True, bias=False), normal(2, 2, 2, 3, 2)),
    "AlphaDropout, p = 0": (lambda nn: nn.AlphaDropout(0.0), normal(3, 4)),
    "FeatureAlphaDropout, p = 0": (lambda nn: nn.FeatureAlphaDropout(0.0), normal(2, 3, 2)),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(2), normal(2, 2, 6, 5)),
    "MaxPool2d, overlapping": (
        lambda nn: nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True),
        normal(2, 2, 6, 5),
    ),
    "Conv3d": (lambda nn: nn.Conv3d(2, 3, 2, stride=(1, 2, 1)), normal(1, 2, 3, 4, 3)),
    "ConvTranspose1d": (lambda nn: nn.ConvTranspose1d(4, 2, 3, stride=2), normal(2, 4, 5)),
    "ConvTranspose2d": (
        lambda nn: nn.ConvTranspose2d(
            4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False, dilation=2
        ),
        normal(2, 4, 4, 3),
    ),
    "ConvTranspose3d": (lambda nn: nn.ConvTranspose3d(2, 3, 2), normal(1, 2, 2, 3, 2)),
    "PReLU": (lambda nn: nn.PReLU(), normal(3, 4)),
    "PReLU, by channel": (lambda nn: nn.PReLU(4, init=0.1), normal(3, 4)),
    "ReLU6": (lambda nn: nn.ReLU6(), normal(3, 4) * 9),
    "Hardtanh": (lambda nn: nn.Hardtanh(-0.5, 2.0, inplace=True), normal(3, 4)),
    "Threshold": (lambda nn: nn.Threshold(0.3, -1.0), normal(3, 4)),
    "SELU": (lambda nn: nn.SELU(), normal(3, 4)),
    "CELU": (lambda nn: nn.CELU(0.5, inplace=True), normal(3, 4)),
    "Mish": (lambda nn: nn.Mish(), normal(3, 4)),
    "Hardswish": (lambda nn: nn.Hardswish(), normal(3, 4) * 4),
    "Hardsigmoid": (lambda nn: nn.Hardsigmoid(), normal(3, 4) * 4),
    "LogSigmoid": (lambda nn: nn.LogSigmoid(), normal(3, 4)),
    "Softsign": (lambda nn: nn.Softsign(), normal(3, 4)),
    "Tanhshrink": (lambda nn: nn.Tanhshrink(), normal(3, 4)),
    "Softshrink": (lambda nn: nn.Softshrink(0.2), normal(3, 4)),
    "Hardshrink": (lambda nn: nn.Hardshrink(), normal(3, 4)),
    "Softmin": (lambda nn: nn.Softmin(1), normal(3, 4)),
    "GLU": (lambda nn: nn.GLU(), normal(3, 4)),
    "Softmax2d": (lambda nn: nn.Softmax2d(), normal(2, 3, 2, 2)),
    "Dropout2d, p = 0": (lambda nn: nn.Dropout2d(0.0), normal(2, 3, 2, 2)),
    "RMSNorm": (lambda nn: nn.RMSNorm(4), normal(3, 4)),
    "RMSNorm, plain": (lambda nn: nn.RMSNorm([3, 4], 1e-3, elementwise_affine=False), normal(2, 3, 4)),
    "BatchNorm3d": (lambda nn: nn.BatchNorm3d(2), normal(2, 2, 2, 3, 2)),
    "MaxPool1d": (lambda nn: nn.MaxPool1d(3, stride=2, padding=1), normal(2, 2, 7)),
    "AvgPool1d": (lambda nn: nn.AvgPool1d(2), normal(2, 2, 7)),
    "AvgPool2d": (lambda nn: nn.AvgPool2d((2, 3), padding=1, count_include_pad=False), normal(2, 2, 6, 5)),
    "AdaptiveAvgPool1d": (lambda nn: nn.AdaptiveAvgPool1d(3), normal(2, 2, 7)),
    "AdaptiveAvgPool2d": (lambda nn: nn.AdaptiveAvgPool2d((None, 2)), normal(2, 2, 4, 5)),
    "ConstantPad1d": (lambda nn: nn.ConstantPad1d(2, 1.5), normal(2, 3)),
    "ZeroPad2d": (lambda nn: nn.ZeroPad2d((1, 0, 2, 1)), normal(1, 2, 3)),
    "Unfold": (lambda nn: nn.Unfold((2, 3), padding=1, stride=(1, 2)), normal(2, 3, 4, 5)),
    "Fold": (lambda nn: nn.Fold((4, 4), 2, stride=2), normal(2, 12, 4)),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=2), normal(1, 2, 3, 2)),
    "Upsample, to a size": (lambda nn: nn.Upsample((5, 4), mode="nearest"), normal(1, 2, 3, 2)),
    "Sequential": (lambda nn: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), normal(3, 4)),
}


def same_weights(mine: Any, theirs: Any) -> None:
    """Give gradd's module the values of torch's."""
    state = {name: gradd.from_numpy(value.numpy()) for name, value in theirs.state_dict().items()}
    mine.load_state_dict(state)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ONE_TO_ONE)
def test_follows_torch(torch: Any, name: str) -> None:
    make, x = ONE_TO_ONE[name]
    mine, theirs = make(nn), make(torch.nn)
    assert repr(mine) == repr(theirs)
    assert [(n, tuple(p.shape)) for n, p in mine.named_parameters()] == [
        (n, tuple(p.shape)) for n, p in theirs.named_parameters()
    ]
    same_weights(mine, theirs)
    for training in (True, True, False):
        mine.train(training)
        theirs.train(training)
        a = gradd.tensor(x, requires_grad=True)
        b = torch.tensor(x, requires_grad=True)
        got, want = mine(a * 1), theirs(b * 1)
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=2e-5, atol=2e-6)
        (got * got).sum().backward()
        (want * want).sum().backward()
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=2e-4, atol=2e-5)
    for (n, p), (_, q) in zip(mine.named_parameters(), theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=2e-4, atol=2e-4, err_msg=n)
    for (n, p), (_, q) in zip(mine.named_buffers(), theirs.named_buffers(), strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5, atol=1e-6, err_msg=n)


PAIRS = [1.0, -1.0, -1.0, 1.0]
LOSSES: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "L1Loss": (lambda nn, t: nn.L1Loss(), normal(3, 4), normal(3, 4)),
    "MSELoss": (lambda nn, t: nn.MSELoss(reduction="sum"), normal(3, 4), normal(3, 4)),
    "MSELoss, each": (lambda nn, t: nn.MSELoss(reduction="none"), normal(3, 4), normal(3, 4)),
    "SmoothL1Loss": (lambda nn, t: nn.SmoothL1Loss(beta=0.5), normal(3, 4), normal(3, 4)),
    "HuberLoss": (lambda nn, t: nn.HuberLoss(delta=0.5), normal(3, 4), normal(3, 4)),
    "KLDivLoss": (
        lambda nn, t: nn.KLDivLoss(reduction="batchmean", log_target=True),
        -np.abs(normal(3, 4)),
        -np.abs(normal(3, 4)),
    ),
    "BCELoss": (lambda nn, t: nn.BCELoss(), np.abs(normal(3, 4)) % 1, np.abs(normal(3, 4)) % 1),
    "BCEWithLogitsLoss": (
        lambda nn, t: nn.BCEWithLogitsLoss(pos_weight=t([1.0, 2.0, 3.0, 4.0])),
        normal(3, 4),
        np.abs(normal(3, 4)) % 1,
    ),
    "NLLLoss": (lambda nn, t: nn.NLLLoss(weight=t([1.0, 2.0, 0.5])), normal(5, 3), classes(5)),
    "CrossEntropyLoss": (lambda nn, t: nn.CrossEntropyLoss(), normal(5, 3), classes(5)),
    "CrossEntropyLoss, options": (
        lambda nn, t: nn.CrossEntropyLoss(t([1.0, 2.0, 0.5]), ignore_index=1, label_smoothing=0.1),
        normal(5, 3),
        classes(5),
    ),
    "HingeEmbeddingLoss": (lambda nn, t: nn.HingeEmbeddingLoss(2.0), normal(3, 4), np.sign(normal(3, 4))),
    "SoftMarginLoss": (lambda nn, t: nn.SoftMarginLoss(), normal(3, 4), np.sign(normal(3, 4))),
    "PoissonNLLLoss": (lambda nn, t: nn.PoissonNLLLoss(full=True), normal(3, 4), classes(3, 4) * 1.0),
    "CosineSimilarity": (lambda nn, t: nn.CosineSimilarity(dim=0), normal(3, 4), normal(3, 4)),
    "PairwiseDistance": (lambda nn, t: nn.PairwiseDistance(1.0, keepdim=True), normal(3, 4), normal(3, 4)),
    "MarginRankingLoss": (
        lambda nn, t: lambda a, b: nn.MarginRankingLoss(0.5)(a, b, t(PAIRS)),
        normal(4),
        normal(4),
    ),
    "CosineEmbeddingLoss": (
        lambda nn, t: lambda a, b: nn.CosineEmbeddingLoss(0.1)(a, b, t(PAIRS)),
        normal(4, 3),
        normal(4, 3),
    ),
    "TripletMarginLoss": (
        lambda nn, t: lambda a, b: nn.TripletMarginLoss(2.0, swap=True)(a, b, a.detach() * 0.5),
        normal(4, 3),
        normal(4, 3),
    ),
    "CrossEntropyLoss, images": (
        lambda nn, t: nn.CrossEntropyLoss(reduction="none"),
        normal(2, 3, 4),
        classes(2, 4),
    ),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", LOSSES)
def test_losses_follow_torch(torch: Any, name: str) -> None:
    make, x, y = LOSSES[name]
    a, b = gradd.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    mine, theirs = make(nn, gradd.tensor), make(torch.nn, torch.tensor)
    if isinstance(mine, nn.Module):
        assert repr(mine) == repr(theirs)
        assert [n for n, _ in mine.named_buffers()] == [n for n, _ in theirs.named_buffers()]
    got, want = mine(a, gradd.tensor(y)), theirs(b, torch.tensor(y))
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=2e-5, atol=2e-6)
    got.sum().backward()
    want.sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.oracle
def test_embedding_follows_torch(torch: Any) -> None:
    mine, theirs = nn.Embedding(5, 3, padding_idx=-4), torch.nn.Embedding(5, 3, padding_idx=-4)
    assert repr(mine) == repr(theirs)
    assert mine.weight[1].tolist() == [0.0, 0.0, 0.0]
    same_weights(mine, theirs)
    rows = np.asarray([[0, 1, 4], [1, 1, 0]])
    got, want = mine(gradd.tensor(rows)), theirs(torch.tensor(rows))
    np.testing.assert_array_equal(got.detach().numpy(), want.detach().numpy())
    (got * got).sum().backward()
    (want * want).sum().backward()
    np.testing.assert_allclose(mine.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-6)


def test_embedding_of_given_rows() -> None:
    table = gradd.tensor([[1.0, 2.0], [3.0, 4.0]])
    e = nn.Embedding.from_pretrained(table)
    assert not e.weight.requires_grad
    assert e(gradd.tensor([1])).tolist() == [[3.0, 4.0]]


def test_linear_by_hand() -> None:
    layer = nn.Linear(2, 1)
    layer.load_state_dict({"weight": gradd.tensor([[2.0, 3.0]]), "bias": gradd.tensor([1.0])})
    out = layer(gradd.tensor([[1.0, 10.0]]))
    assert out.tolist() == [[33.0]]
    assert repr(layer) == "Linear(in_features=2, out_features=1, bias=True)"
    out.sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 10.0]]


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (lambda: nn.Linear(64, 128), 1 / 8),
        (lambda: nn.Conv2d(4, 64, 4), 1 / 8),
        (lambda: nn.Conv2d(8, 64, 4, groups=2), 1 / 8),
        (lambda: nn.Conv1d(16, 64, 4), 1 / 8),
    ],
    ids=["Linear", "Conv2d", "Conv2d, groups", "Conv1d"],
)
def test_initial_values_are_uniform_by_fan_in(make: Callable[[], Any], bound: float) -> None:
    layer = make()
    for p in (layer.weight, layer.bias):
        values = p.detach().numpy()
        assert np.abs(values).max() <= bound
        assert values.std() == pytest.approx(bound / math.sqrt(3), rel=0.15)
    assert np.unique(layer.weight.detach().numpy()).size > 0.99 * layer.weight.numel()


def test_manual_seed_repeats_initial_values() -> None:
    first = nn.Linear(3, 3).weight.tolist()
    gradd.manual_seed(0)
    assert nn.Linear(3, 3).weight.tolist() == first


def test_initial_values_need_no_round_trip(session: Any) -> None:
    before = session.stats()
    nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.Linear(128, 10))
    assert session.stats()["round_trips"] == before["round_trips"]
    assert session.stats()["batches"] == before["batches"]


def test_dropout() -> None:
    layer = nn.Dropout(0.25)
    x = gradd.ones(4000)
    kept = layer(x).numpy()
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (kept == 0).mean() == pytest.approx(0.25, abs=0.04)
    layer.eval()
    assert layer(x).numpy().min() == 1
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 2"):
        nn.Dropout(2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(2, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(2, 3, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv2d(2, 3, 3, padding="same", stride=2), "padding='same' is not supported for strided"),
        (lambda: nn.Conv2d(2, 3, 3, padding="x"), "Invalid padding string 'x'"),
        (lambda: nn.Conv2d(2, 3, 3, padding_mode="x"), "padding_mode must be one of"),
        (lambda: nn.GroupNorm(2, 3), r"num_channels \(3\) must be divisible by num_groups \(2\)"),
        (
            lambda: nn.ConvTranspose2d(2, 3, 3, padding_mode="reflect"),
            'Only "zeros" padding mode is supported',
        ),
        (lambda: nn.TripletMarginLoss(0.0), "expected margin to be greater than 0, got 0.0 instead"),
        (
            lambda: nn.Softmax2d()(gradd.ones(2, 3)),
            "expected input to be 3D or 4D, got 2D instead",
        ),
        (lambda: nn.BatchNorm2d(3)(gradd.ones(2, 3)), r"expected 4D input \(got 2D input\)"),
    ],
)
def test_options_are_checked(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_functional_holds_what_layers_use() -> None:
    layers = "linear conv1d conv2d relu gelu softmax dropout layer_norm embedding max_pool2d"
    losses = "cross_entropy mse_loss nll_loss"
    assert [n for n in f"{layers} {losses}".split() if not callable(getattr(F, n))] == []


@pytest.mark.oracle
@pytest.mark.parametrize("size", [(7, 6), (2, 2, 8, 5), (9, 6), (7,)], ids=str)
def test_a_transposed_convolution_gives_the_size_asked_for(torch: Any, size: tuple[int, ...]) -> None:
    found = []
    for T in (gradd, torch):
        layer = T.nn.ConvTranspose2d(2, 2, 3, stride=2)
        try:
            found.append(str(layer(T.zeros(2, 2, 3, 2), output_size=size).shape))
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


INITS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda init, t: init.uniform_(t, -2.0, 1.0),
    "normal_": lambda init, t: init.normal_(t, 1.0, 0.5),
    "trunc_normal_": lambda init, t: init.trunc_normal_(t, 0.1, 1.0, -1.0, 0.5),
    "constant_": lambda init, t: init.constant_(t, 0.3),
    "ones_": lambda init, t: init.ones_(t),
    "zeros_": lambda init, t: init.zeros_(t),
    "eye_": lambda init, t: init.eye_(t),
    "xavier_uniform_": lambda init, t: init.xavier_uniform_(t, gain=2.0),
    "xavier_normal_": lambda init, t: init.xavier_normal_(t),
    "kaiming_uniform_": lambda init, t: init.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda init, t: init.kaiming_normal_(t, a=0.3),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", INITS)
def test_init_draws_from_torchs_distributions(torch: Any, name: str) -> None:
    if name == "trunc_normal_" and not hasattr(gradd.Tensor, "erfinv_"):
        pytest.skip("erfinv is not there yet")
    torch.manual_seed(1)
    mine, theirs = nn.Parameter(gradd.empty(80, 120)), torch.nn.Parameter(torch.empty(80, 120))
    assert INITS[name](nn.init, mine) is mine
    INITS[name](torch.nn.init, theirs)
    got, want = mine.detach().numpy(), theirs.detach().numpy()
    assert mine.requires_grad
    assert mine.is_leaf
    spread = want.std()
    np.testing.assert_allclose(got.mean(), want.mean(), atol=0.05 * spread + 1e-7)
    np.testing.assert_allclose(got.std(), spread, rtol=0.05, atol=1e-7)
    quantiles = np.linspace(0, 1, 11)
    np.testing.assert_allclose(
        np.quantile(got, quantiles)[1:-1], np.quantile(want, quantiles)[1:-1], atol=0.1 * spread
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [("linear",), ("conv2d",), ("tanh",), ("relu",), ("leaky_relu",), ("leaky_relu", 0.2), ("selu",)],
    ids=str,
)
def test_gains(torch: Any, args: tuple[Any, ...]) -> None:
    assert nn.init.calculate_gain(*args) == torch.nn.init.calculate_gain(*args)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)], ids=str)
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    w = nn.init.orthogonal_(nn.Parameter(gradd.empty(*shape)), gain=2.0)
    m = w.detach().numpy().reshape(shape[0], -1)
    product = m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)
    assert w.is_leaf


def test_init_misuse() -> None:
    with pytest.raises(ValueError, match="Only tensors with 2 or more dimensions are supported"):
        nn.init.orthogonal_(gradd.zeros(3))
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(gradd.zeros(3))
    with pytest.raises(ValueError, match="Unsupported nonlinearity x"):
        nn.init.calculate_gain("x")
    with pytest.raises(ValueError, match="Mode x not supported"):
        nn.init.kaiming_uniform_(gradd.zeros(3, 3), mode="x")
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions"):
        nn.init.eye_(gradd.zeros(3))


@pytest.mark.oracle
@pytest.mark.parametrize("norm_type", [2.0, 1.0, math.inf])
def test_clipping_follows_torch(torch: Any, norm_type: float) -> None:
    values = [normal(3, 4), normal(5)]
    mine = [gradd.tensor(v, requires_grad=True) for v in values]
    theirs = [torch.tensor(v, requires_grad=True) for v in values]
    for group in (mine, theirs):
        sum((p * p).sum() for p in group).backward()
    got = nn.utils.clip_grad_norm_(mine, 1.5, norm_type)
    want = torch.nn.utils.clip_grad_norm_(theirs, 1.5, norm_type)
    assert got.item() == pytest.approx(want.item(), rel=1e-5)
    nn.utils.clip_grad_value_(mine, 0.2)
    torch.nn.utils.clip_grad_value_(theirs, 0.2)
    for p, q in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-5)


def test_parameters_as_a_vector() -> None:
    layer = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (3,)
    nn.utils.vector_to_parameters(gradd.tensor([1.0, 2.0, 3.0]), layer.parameters())
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([[1.0, 2.0]], [3.0])
