"""Layers that learn their input's size from their first input, on PyTorch and on gradd."""

from __future__ import annotations

import copy
from typing import Any

import pytest

# layer, size of its input, what it prints before and after its first call, size of its weight
LAYERS: dict[str, tuple[tuple[int, ...], str, str, tuple[int, ...]]] = {
    "LazyLinear(3)": (
        (2, 5),
        "LazyLinear(in_features=0, out_features=3, bias=True)",
        "Linear(in_features=5, out_features=3, bias=True)",
        (3, 5),
    ),
    "LazyConv1d(4, 2, bias=False)": (
        (3, 6),
        "LazyConv1d(0, 4, kernel_size=(2,), stride=(1,), bias=False)",
        "Conv1d(3, 4, kernel_size=(2,), stride=(1,), bias=False)",
        (4, 3, 2),
    ),
    "LazyConv2d(4, 3, padding=1, groups=2)": (
        (1, 2, 5, 5),
        "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)",
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)",
        (4, 1, 3, 3),
    ),
    "LazyConv3d(4, 1)": (
        (1, 2, 3, 3, 3),
        "LazyConv3d(0, 4, kernel_size=(1, 1, 1), stride=(1, 1, 1))",
        "Conv3d(2, 4, kernel_size=(1, 1, 1), stride=(1, 1, 1))",
        (4, 2, 1, 1, 1),
    ),
    "LazyConvTranspose2d(4, 3, stride=2, output_padding=1)": (
        (1, 2, 5, 5),
        "LazyConvTranspose2d(0, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))",
        "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))",
        (2, 4, 3, 3),
    ),
    "LazyBatchNorm1d(eps=0.1, bias=False)": (
        (4, 3),
        "LazyBatchNorm1d(0, eps=0.1, momentum=0.1, affine=True, bias=False, track_running_stats=True)",
        "BatchNorm1d(3, eps=0.1, momentum=0.1, affine=True, bias=False, track_running_stats=True)",
        (3,),
    ),
    "LazyBatchNorm2d()": (
        (4, 3, 2, 2),
        "LazyBatchNorm2d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        (3,),
    ),
    "LazyInstanceNorm1d()": (
        (4, 3, 2),
        "LazyInstanceNorm1d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        "InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        (3,),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_lazy_layer_becomes_a_plain_one(T: Any, name: str) -> None:
    size, before, after, weight = LAYERS[name]
    layer = eval(f"nn.{name}", {"nn": T.nn})
    assert repr(layer) == before
    assert layer.has_uninitialized_params()
    assert repr(layer.weight) == "<UninitializedParameter>"
    held = layer.weight
    out = layer(T.ones(*size))
    assert repr(layer) == after
    assert type(layer) is getattr(T.nn, after.partition("(")[0])
    assert layer.weight is held
    assert type(held) is T.nn.Parameter
    assert held.shape == weight
    out.sum().backward()
    assert held.grad.shape == weight
    assert not layer._forward_pre_hooks
    assert not layer._load_state_dict_pre_hooks


def test_a_model_of_lazy_layers_trains(T: Any) -> None:
    model = T.nn.Sequential(T.nn.LazyConv2d(4, 3), T.nn.ReLU(), T.nn.Flatten(), T.nn.LazyLinear(2))
    model(T.ones(2, 3, 5, 5))
    opt = T.optim.SGD(model.parameters(), lr=0.1)
    before = model[3].bias.tolist()
    model(T.ones(2, 3, 5, 5)).sum().backward()
    opt.step()
    assert model[3].bias.tolist() == pytest.approx([b - 0.2 for b in before])


def test_lazy_layers_are_copied_converted_and_loaded(T: Any) -> None:
    lazy = T.nn.LazyLinear(2)
    other = copy.deepcopy(lazy)
    other(T.ones(1, 3))
    assert repr(lazy.weight) == "<UninitializedParameter>"
    assert [repr(v) for v in lazy.state_dict().values()] == ["<UninitializedParameter>"] * 2
    again = T.nn.LazyLinear(2)
    assert str(again.load_state_dict(lazy.state_dict())) == "<All keys matched successfully>"
    assert again.has_uninitialized_params()
    lazy.double()
    assert lazy.weight.dtype == T.float64
    lazy.load_state_dict(other.state_dict())
    assert lazy.weight.tolist() == other.weight.tolist()
    assert lazy.weight.dtype == T.float64
    assert type(lazy) is T.nn.LazyLinear
    lazy(T.ones(1, 3, dtype=T.float64))
    assert repr(lazy) == "Linear(in_features=3, out_features=2, bias=True)"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        other.load_state_dict(T.nn.LazyLinear(2).state_dict())


def test_a_frozen_lazy_layer_stays_frozen(T: Any) -> None:
    layer = T.nn.LazyLinear(2)
    layer.weight.requires_grad = False
    layer(T.ones(1, 3))
    assert (layer.weight.requires_grad, layer.bias.requires_grad) == (False, True)


def test_lazy_parameters_are_refused(T: Any) -> None:
    p = T.nn.UninitializedParameter()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        p.shape  # noqa: B018
    with pytest.raises((RuntimeError, ValueError), match="uninitialized parameter"):
        p + 1
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        p.numel()
    p.materialize((2, 3))
    assert type(p) is T.nn.Parameter
    assert (p.shape, p.requires_grad) == ((2, 3), True)
    b = T.nn.UninitializedBuffer(dtype=T.float64)
    b.materialize((2,))
    assert (type(b), b.dtype, b.shape) == (T.Tensor, T.float64, (2,))
    with pytest.raises(
        RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"
    ):
        T.nn.LazyConv2d(1, 1)(T.ones(1))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        T.nn.LazyConv2d(2, 1, groups=2)(T.ones(3, 2, 2))


@pytest.mark.parametrize("name", ["Adam", "SGD", "AdamW", "RMSprop"])
def test_an_optimizer_may_be_made_before_the_first_input(T: Any, name: str) -> None:
    model = T.nn.Sequential(T.nn.LazyLinear(3), T.nn.LazyBatchNorm1d(), T.nn.LazyLinear(2))
    opt = getattr(T.optim, name)(model.parameters(), lr=0.1)
    opt.zero_grad()
    model(T.arange(6.0).view(2, 3)).sum().backward()
    before = model[2].bias.tolist()
    opt.step()
    assert all(a != b for a, b in zip(model[2].bias.tolist(), before, strict=True))


def test_lazy_modules_of_ones_own(T: Any) -> None:
    mixin = T.nn.modules.lazy.LazyModuleMixin

    class Scale(mixin, T.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = T.nn.UninitializedParameter()

        def initialize_parameters(self, x: Any, *, grow: bool) -> None:
            if grow:
                self.scale.materialize(x.shape)
                with T.no_grad():
                    self.scale.fill_(3.0)

        def forward(self, x: Any, *, grow: bool) -> Any:
            return x * self.scale

    module = Scale()
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        module(T.ones(2), grow=False)
    assert module(T.ones(2), grow=True).tolist() == [3.0, 3.0]
    assert type(module) is Scale
    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for"):
        type("Bare", (mixin, T.nn.Module), {})()(T.ones(1))
