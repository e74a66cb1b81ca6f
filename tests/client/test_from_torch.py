"""`gradd.from_torch`: tensors, layers and containers of PyTorch's, taken over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def session() -> Iterator[gradd.Session]:
    torch.manual_seed(0)
    with gradd.connect("local:") as found:
        yield found


DTYPES = (
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8", "int64", "uint8",
    "uint16", "uint32", "uint64",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_a_tensor_keeps_values_dtype_and_shape(dtype: str) -> None:
    there = torch.tensor([[0.0, 1.0, 2.5], [3.0, -1.5, 7.0]]).T.to(getattr(torch, dtype))
    here = gradd.from_torch(there)
    assert here.dtype is getattr(gradd, dtype)
    assert here.shape == there.shape
    assert here.tolist() == there.tolist()
    assert not here.requires_grad


def test_a_tensor_keeps_its_class_and_whether_it_requires_gradients() -> None:
    leaf = gradd.from_torch(torch.ones(2, requires_grad=True))
    assert (leaf.is_leaf, leaf.requires_grad, type(leaf)) == (True, True, gradd.Tensor)
    made = gradd.from_torch(torch.ones(2, requires_grad=True) * 2)
    assert (made.is_leaf, made.requires_grad) == (True, True)
    frozen = gradd.from_torch(torch.nn.Parameter(torch.ones(2), requires_grad=False))
    assert (type(frozen), frozen.requires_grad) == (nn.Parameter, False)


def test_later_writes_to_torchs_tensor_are_not_seen() -> None:
    there = torch.zeros(300, 300)
    here = gradd.from_torch(there)
    there.fill_(7.0)
    assert here.sum().item() == 0


def test_what_is_no_dense_tensor_is_refused() -> None:
    for there, kind in (
        (torch.eye(2).to_sparse(), "torch.sparse_coo"),
        (torch.empty(2, device="meta"), "meta"),
    ):
        with pytest.raises(TypeError, match=f"dense tensors with values, not one that is {kind}"):
            gradd.from_torch(there)
    with pytest.raises(TypeError, match=r"gradd has no tensors of torch.float8_e5m2"):
        gradd.from_torch(torch.zeros(2, dtype=torch.float8_e5m2))
    with pytest.raises(TypeError, match="takes a torch tensor or module, not int"):
        gradd.from_torch(3)


def test_a_state_dict_keeps_what_it_shares() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    found = gradd.from_torch({"a": weight, "b": [weight, torch.zeros(1)]})
    assert found["a"] is found["b"][0]
    assert found["b"][1].tolist() == [0.0]


X = (2, 3, 8, 8)
#: layers with arguments of theirs, and the sizes of an input
LAYERS: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "Linear": ((8, 4), X),
    "Conv1d": ((3, 4, 3, 2), (2, 3, 8)),
    "Conv2d": ((3, 4, 3, 1, "same"), X),
    "Conv3d": ((3, 4, 2), (1, 3, 4, 4, 4)),
    "ConvTranspose2d": ((3, 4, 3, 2), X),
    "BatchNorm2d": ((3,), X),
    "InstanceNorm2d": ((3,), X),
    "GroupNorm": ((3, 3), X),
    "LayerNorm": (((8, 8), 1e-3), X),
    "RMSNorm": ((8,), X),
    "LSTM": ((8, 4, 2, True, True, 0.0, True), (2, 3, 8)),
    "GRU": ((8, 4), (2, 3, 8)),
    "RNN": ((8, 4, 1, "relu"), (2, 3, 8)),
    "LSTMCell": ((8, 4), (2, 8)),
    "GELU": (("tanh",), X),
    "LeakyReLU": ((0.3,), X),
    "PReLU": ((3,), X),
    "Softmax": ((1,), X),
    "MaxPool2d": ((3, 2, 1), X),
    "AvgPool2d": ((2,), X),
    "AdaptiveAvgPool2d": (((2, 1),), X),
    "ConstantPad2d": (((1, 2, 0, 1), 3.0), X),
    "Upsample": ((None, 2.0), X),
    "Flatten": ((1, 2), X),
    "Unflatten": ((1, (3, 1)), X),
    "Unfold": ((2,), X),
    "TransformerEncoderLayer": ((8, 2, 16, 0.0, "gelu"), (3, 2, 8)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_as_it_did(name: str) -> None:
    args, size = LAYERS[name]
    there = getattr(torch.nn, name)(*args)
    x = torch.randn(size, requires_grad=True)
    here = gradd.from_torch(there)
    assert type(here) is getattr(nn, name)
    assert list(here.state_dict()) == list(there.state_dict())
    y = gradd.from_torch(x)
    outs = [module(given) for module, given in ((here, y), (there, x))]
    mine, theirs = (out[0] if isinstance(out, tuple) else out for out in outs)
    (mine * mine).sum().backward()
    (theirs * theirs).sum().backward()
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(y.grad.numpy(), x.grad.numpy(), rtol=1e-4, atol=1e-4)
    for p, q in zip(here.parameters(), there.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-4)
    for b, c in zip(here.buffers(), there.buffers(), strict=True):
        np.testing.assert_allclose(b.numpy(), c.numpy(), rtol=1e-5, atol=1e-6)


def test_a_tree_keeps_sharing_modes_and_options() -> None:
    first, last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    last.weight = first.weight
    act = torch.nn.ReLU()
    there = torch.nn.Sequential(
        torch.nn.ModuleDict({"a": first, "b": act}), torch.nn.ModuleList([last, act]), torch.nn.Dropout(0.5)
    )
    there[2].p = 0.25
    there[1].eval()
    first.bias.requires_grad_(False)
    here = gradd.from_torch(there)
    assert repr(here) == repr(there)
    assert here[0]["a"].weight is here[1][0].weight
    assert here[0]["b"] is here[1][1]
    assert [m.training for m in here.modules()] == [m.training for m in there.modules()]
    assert [p.requires_grad for p in here.parameters()] == [p.requires_grad for p in there.parameters()]
    lists = torch.nn.ParameterList([torch.ones(2), torch.zeros(3)])
    assert [p.tolist() for p in gradd.from_torch(lists)] == [p.tolist() for p in lists]


def test_taking_over_draws_no_random_numbers() -> None:
    gradd.manual_seed(3)
    gradd.from_torch(torch.nn.Linear(4, 4))
    found = gradd.rand(3).tolist()
    gradd.manual_seed(3)
    assert gradd.rand(3).tolist() == found


def test_what_is_not_taken_over_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    with pytest.raises(TypeError, match=r"own layers and containers, and 1 is a Own, whose forward\(\)"):
        gradd.from_torch(torch.nn.Sequential(torch.nn.ReLU(), Own()))
    with monkeypatch.context() as without:
        without.delattr(nn, "Linear")
        with pytest.raises(TypeError, match=r"gradd.nn has no Linear: 0 is a Linear"):
            gradd.from_torch(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    hooked = torch.nn.Linear(2, 2)
    hooked.register_forward_hook(lambda *given: None)
    with pytest.raises(TypeError, match=r"takes over no hooks.*\(_forward_hooks\)"):
        gradd.from_torch(hooked)


def test_importing_gradd_does_not_import_torch_and_its_absence_is_said() -> None:
    program = (
        "import sys, gradd; assert 'torch' not in sys.modules; sys.modules['torch'] = None\n"
        "for name in ('from_torch', 'offload'):\n"
        "    try: getattr(gradd, name)(1)\n"
        "    except ModuleNotFoundError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.count("PyTorch (torch) is not installed here") == 2, done.stderr
