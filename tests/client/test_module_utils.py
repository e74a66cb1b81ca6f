"""Small helpers of torch.nn.utils, and methods of modules, on PyTorch and on gradd."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(5)


def filled(T: Any, layer: Any) -> Any:
    """With values that do not depend on who draws them."""
    rng = np.random.default_rng(2)
    state = layer.state_dict()
    layer.load_state_dict(
        {
            name: T.tensor(np.abs(rng.normal(size=v.shape)).astype("float32")) if v.dim() else v
            for name, v in state.items()
        }
    )
    return layer.eval()


PAIRS = {
    "Conv2d": ("nn.Conv2d(2, 4, 3)", "nn.BatchNorm2d(4)", (1, 2, 5, 5)),
    "Conv1d, bare": ("nn.Conv1d(2, 4, 3, bias=False)", "nn.BatchNorm1d(4, affine=False)", (1, 2, 5)),
    "ConvTranspose2d": ("nn.ConvTranspose2d(2, 4, 3)", "nn.BatchNorm2d(4)", (1, 2, 5, 5)),
    "Linear": ("nn.Linear(3, 4)", "nn.BatchNorm1d(4)", (2, 3)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_batch_norm_is_fused_into_the_layer_before(T: Any, name: str) -> None:
    one, two, size = PAIRS[name]
    layer, norm = (filled(T, eval(text, {"nn": T.nn})) for text in (one, two))
    x = T.tensor(np.random.default_rng(1).normal(size=size).astype("float32"))
    utils = T.nn.utils
    if name == "Linear":
        fused = utils.fuse_linear_bn_eval(layer, norm)
    else:
        fused = utils.fuse_conv_bn_eval(layer, norm, transpose=name.startswith("ConvT"))
    assert type(fused) is type(layer)
    np.testing.assert_allclose(
        fused(x).detach().numpy(), norm(layer(x)).detach().numpy(), rtol=1e-4, atol=1e-5
    )
    assert (fused.weight.requires_grad, fused.bias.requires_grad) == (True, "bare" not in name)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        utils.fuse_conv_bn_eval(layer.train(), norm)


def test_norms_of_tensors(T: Any) -> None:
    clip = importlib.import_module(f"{T.__name__}.nn.utils.clip_grad")
    utils = T.nn.utils
    some = [T.tensor([3.0]), T.tensor([[4.0]])]
    assert utils.get_total_norm(some).item() == 5
    assert utils.get_total_norm(some[0], 1).item() == 3
    assert utils.get_total_norm(some, float("inf")).item() == 4
    assert utils.get_total_norm([]).item() == 0
    assert clip.clip_grad_norm_ is utils.clip_grad_norm_
    p = T.nn.Parameter(T.zeros(2))
    p.grad = T.tensor([6.0, 8.0])
    utils.clip_grads_with_norm_([p], 1.0, T.tensor(2.0))
    np.testing.assert_allclose(p.grad.tolist(), [3, 4], rtol=1e-5)
    with pytest.warns(FutureWarning, match="is now deprecated in favor of"):
        assert utils.clip_grad_norm([p], 100.0).item() == pytest.approx(5)
    with pytest.warns(UserWarning, match="is an empty generator"):
        utils.clip_grad_norm_((q for q in ()), 1.0)
    p.grad = T.tensor([float("inf"), 1.0])
    with pytest.raises(
        RuntimeError, match=r"The total norm of order 2.0 for gradients from `parameters` is non"
    ):
        utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)


def test_parameters_as_a_vector(T: Any) -> None:
    convert = importlib.import_module(f"{T.__name__}.nn.utils.convert_parameters")
    m = T.nn.Linear(2, 1)
    convert.vector_to_parameters(T.tensor([1.0, 2.0, 3.0]), m.parameters())
    assert (m.weight.tolist(), m.bias.tolist()) == ([[1.0, 2.0]], [3.0])
    assert convert.parameters_to_vector(m.parameters()).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match=r"expected torch.Tensor, but got: "):
        convert.vector_to_parameters([1.0], m.parameters())


def test_modules_without_initial_values(T: Any) -> None:
    m = T.nn.utils.skip_init(T.nn.Linear, 2, 3, device="cpu", dtype=T.float64)
    assert (m.weight.shape, m.weight.dtype, m.weight.requires_grad) == ((3, 2), T.float64, True)
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg to skip initialization"):
        T.nn.utils.skip_init(T.nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module; got <class 'int'>"):
        T.nn.utils.skip_init(int)


def test_memory_formats_of_weights(T: Any) -> None:
    m = T.nn.Sequential(T.nn.Conv2d(2, 2, 3), T.nn.Conv3d(2, 2, 3))
    before = m[0].weight.tolist()
    assert T.nn.utils.convert_conv2d_weight_memory_format(m, T.channels_last) is m
    assert m[0].weight.is_contiguous(memory_format=T.channels_last)
    assert m[1].weight.is_contiguous()
    T.nn.utils.convert_conv3d_weight_memory_format(m, T.channels_last_3d)
    assert m[1].weight.stride() == (54, 1, 18, 6, 2)
    assert m[0].weight.tolist() == before
    assert isinstance(m[0].weight, T.nn.Parameter)


def test_the_older_functional_call(T: Any) -> None:
    m = T.nn.Linear(1, 1, bias=False)
    with pytest.warns(FutureWarning, match="functional_call. is deprecated as of PyTorch 2.0"):
        found = T.nn.utils.stateless.functional_call(m, {"weight": T.tensor([[3.0]])}, T.ones(1, 1))
    assert found.tolist() == [[3.0]]


def test_modules_at_names(T: Any) -> None:
    m = T.nn.Sequential(T.nn.ModuleDict({"a": T.nn.ReLU()}))
    m.set_submodule("0.a", T.nn.Tanh())
    m.set_submodule("0.b", T.nn.ReLU())
    assert [type(c).__name__ for c in m[0].values()] == ["Tanh", "ReLU"]
    with pytest.raises(AttributeError, match="ModuleDict has no attribute `c`"):
        m.set_submodule("0.c", T.nn.ReLU(), strict=True)
    with pytest.raises(ValueError, match=r"Cannot set the submodule without a target name!"):
        m.set_submodule("", T.nn.ReLU())
    with pytest.raises(ValueError, match=r"`module` is not an nn.Module, found <class 'int'>"):
        m.set_submodule("0.a", 3)
    with pytest.raises(AttributeError, match=r"`training` is not an nn.Module"):
        m.set_submodule("0.training", T.nn.ReLU())


def test_parameters_without_values(T: Any) -> None:
    m = T.nn.Linear(2, 3)
    weight = m.weight
    assert m.to_empty(device="cpu") is m
    assert m.weight is weight
    assert (weight.shape, weight.requires_grad) == ((3, 2), True)
    assert m.share_memory() is m
