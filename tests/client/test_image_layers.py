"""Layers of images beside PyTorch's: the same text, values and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn
from gradd.nn import functional as F

from tests.oracle import ITSELF

RNG = np.random.default_rng(3)
ROW, IMAGE, VOLUME = (RNG.normal(size=s) for s in ((2, 3, 7), (2, 4, 6, 5), (1, 2, 4, 5, 6)))

LAYERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "ReflectionPad1d": (lambda nn: nn.ReflectionPad1d(2), ROW),
    "ReflectionPad2d": (lambda nn: nn.ReflectionPad2d((1, 2, 3, 0)), IMAGE),
    "ReflectionPad3d": (lambda nn: nn.ReflectionPad3d(1), VOLUME),
    "ReplicationPad1d": (lambda nn: nn.ReplicationPad1d((3, 1)), ROW),
    "ReplicationPad2d": (lambda nn: nn.ReplicationPad2d(2), IMAGE),
    "ReplicationPad3d": (lambda nn: nn.ReplicationPad3d((1, 2, 0, 1, 3, 1)), VOLUME),
    "CircularPad1d": (lambda nn: nn.CircularPad1d(2), ROW),
    "CircularPad2d": (lambda nn: nn.CircularPad2d((1, 2, 3, 0)), IMAGE),
    "CircularPad3d": (lambda nn: nn.CircularPad3d(1), VOLUME),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), IMAGE),
    "PixelUnshuffle": (lambda nn: nn.PixelUnshuffle(2), IMAGE[..., :4]),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(2), IMAGE),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=2, mode="bicubic"), IMAGE),
    "Upsample, of a size": (lambda nn: nn.Upsample((3, 7, 2), None, "trilinear", True), VOLUME),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d(scale_factor=2), IMAGE),
    "UpsamplingBilinear2d": (lambda nn: nn.UpsamplingBilinear2d(size=(3, 9)), IMAGE),
    "MaxPool3d": (lambda nn: nn.MaxPool3d(2, padding=1), VOLUME),
    "MaxPool3d, indices": (lambda nn: nn.MaxPool3d((2, 3, 2), 1, return_indices=True), VOLUME),
    "AvgPool3d": (lambda nn: nn.AvgPool3d(2, 1, divisor_override=3), VOLUME),
    "AdaptiveAvgPool3d": (lambda nn: nn.AdaptiveAvgPool3d((2, None, 3)), VOLUME),
    "AdaptiveMaxPool1d": (lambda nn: nn.AdaptiveMaxPool1d(2), ROW),
    "AdaptiveMaxPool2d": (lambda nn: nn.AdaptiveMaxPool2d((3, None), True), IMAGE),
    "AdaptiveMaxPool3d": (lambda nn: nn.AdaptiveMaxPool3d(2), VOLUME),
    "LPPool1d": (lambda nn: nn.LPPool1d(2, 3), ROW),
    "LPPool2d": (lambda nn: nn.LPPool2d(2, 3, 2, True), IMAGE),
    "LPPool3d": (lambda nn: nn.LPPool3d(2.0, (2, 1, 3)), VOLUME),
}
POOLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "1": (lambda nn: nn.MaxPool1d(2, return_indices=True), lambda nn: nn.MaxUnpool1d(2), ROW),
    "2": (lambda nn: nn.MaxPool2d((2, 1), 2, 0, 1, True), lambda nn: nn.MaxUnpool2d((2, 1), 2), IMAGE),
    "3": (lambda nn: nn.MaxPool3d(2, return_indices=True), lambda nn: nn.MaxUnpool3d(2), VOLUME[:, :, :, :4]),
}
DEPRECATED: dict[str, Callable[[Any, Any], Any]] = {
    "upsample": lambda F, x: F.upsample(x, scale_factor=2, mode="bilinear"),
    "upsample_nearest": lambda F, x: F.upsample_nearest(x, size=7),
    "upsample_bilinear": lambda F, x: F.upsample_bilinear(x, scale_factor=(2, 3)),
}


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


@pytest.mark.parametrize("name", LAYERS)
def test_values_and_gradients_are_pytorchs(torch: Any, name: str) -> None:
    make, values = LAYERS[name]
    mine, theirs = make(nn), make(torch.nn)
    assert repr(mine) == repr(theirs)
    a, b = gradd.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    got, want = mine(a), theirs(b)
    if isinstance(want, tuple):
        (got, index), (want, places) = got, want
        assert index.tolist() == places.tolist()
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-10, atol=1e-12)
    weights = np.cos(np.arange(float(np.prod(got.shape)))).reshape(tuple(got.shape))
    got.backward(gradd.tensor(weights))
    want.backward(torch.tensor(weights))
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dims", POOLS)
@pytest.mark.parametrize("sized", [False, True])
def test_maxima_are_put_back_as_by_pytorch(torch: Any, dims: str, sized: bool) -> None:
    pool, unpool, values = POOLS[dims]
    assert repr(unpool(nn)) == repr(unpool(torch.nn))
    a, b = gradd.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    size = values.shape if sized else None
    got, want = unpool(nn)(*pool(nn)(a), size), unpool(torch.nn)(*pool(torch.nn)(b), size)
    np.testing.assert_array_equal(got.detach().numpy(), want.detach().numpy())
    got.square().sum().backward()
    want.square().sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", DEPRECATED)
def test_what_interpolate_replaced_still_resizes_and_warns(torch: Any, name: str) -> None:
    words = f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead."
    with pytest.warns(UserWarning, match=words) as mine:
        got = DEPRECATED[name](F, gradd.tensor(IMAGE)).numpy()
    assert mine[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a recording does not warn
        want = DEPRECATED[name](torch.nn.functional, torch.tensor(IMAGE)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("corners", [False, True])
def test_a_spatial_transformer_learns_as_pytorchs(torch: Any, corners: bool) -> None:
    maps = np.array([[[0.9, 0.2, 0.1], [-0.3, 1.1, 0.0]]] * 2)
    seen = []
    for T in (gradd, torch):
        x, theta = T.tensor(IMAGE, requires_grad=True), T.tensor(maps, requires_grad=True)
        grid = T.nn.functional.affine_grid(theta, x.size(), align_corners=corners)
        out = T.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=corners)
        (out * out.detach().cos()).sum().backward()
        seen.append([t.numpy() for t in (out.detach(), x.grad, theta.grad)])
    for mine, theirs in zip(*seen, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11)


def test_a_grid_without_align_corners_warns(torch: Any) -> None:
    for T in (gradd, torch):
        x, theta = T.tensor(IMAGE), T.tensor(np.zeros((2, 2, 3)))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            grid = T.nn.functional.affine_grid(theta, x.size())
            assert T.nn.functional.grid_sample(x, grid).shape == (2, 4, 6, 5)
        words = [str(w.message) for w in told]
        if T is gradd or ITSELF:  # a recording does not warn
            assert "Default grid_sample and affine_grid behavior has changed" in words[0]
            assert "align_corners=False since 1.3.0" in words[1]


CONVOLUTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "1": (lambda nn: nn.Conv1d(3, 2, 3, padding=2, padding_mode="circular"), ROW),
    "2": (lambda nn: nn.Conv2d(4, 2, 3, 2, (1, 2), padding_mode="reflect"), IMAGE),
    "2, same": (lambda nn: nn.Conv2d(4, 2, (4, 3), padding="same", padding_mode="replicate"), IMAGE),
    "2, valid": (lambda nn: nn.Conv2d(4, 2, 3, padding="valid", padding_mode="reflect", bias=False), IMAGE),
    "3": (lambda nn: nn.Conv3d(2, 3, 2, padding=1, groups=1, padding_mode="replicate"), VOLUME),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_pad_as_pytorchs(torch: Any, name: str) -> None:
    make, values = CONVOLUTIONS[name]
    mine, theirs = make(nn).double(), make(torch.nn).double()
    assert repr(mine) == repr(theirs)
    mine.load_state_dict({n: gradd.tensor(v.numpy()) for n, v in theirs.state_dict().items()})
    a, b = gradd.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    got, want = mine(a), theirs(b)
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-10, atol=1e-12)
    got.square().sum().backward()
    want.square().sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(mine.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-9, atol=1e-11)


def test_maxima_come_with_indices_by_name_too() -> None:
    x = gradd.tensor(IMAGE)
    for named, pool in ((F.max_pool1d_with_indices, F.max_pool1d), (F.max_pool2d_with_indices, F.max_pool2d)):
        given = x if named is F.max_pool2d_with_indices else x[:, :, 0]
        for got, want in zip(named(given, 2), pool(given, 2, return_indices=True), strict=True):
            assert got.tolist() == want.tolist()
