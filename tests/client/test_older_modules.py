"""Modules that older scripts import their names from, on PyTorch and on gradd."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradd
import pytest


def test_functional_has_the_functions_of_the_top_level(T: Any) -> None:
    functional = importlib.import_module(f"{T.__name__}.functional")
    names = (
        "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist "
        "chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique "
        "unique_consecutive unravel_index"
    )
    assert set(names.split()) <= set(functional.__all__)
    assert functional.F is T.nn.functional
    assert functional.Tensor is T.Tensor
    x = T.arange(6.0).reshape(2, 3)
    assert functional.einsum("ij,kj->ik", x, x).tolist() == [[5.0, 14.0], [14.0, 50.0]]
    assert [part.tolist() for part in functional.split(T.arange(3), 2)] == [[0, 1], [2]]
    assert float(functional.norm(T.tensor([3.0, 4.0]))) == 5.0
    assert functional.unique(T.tensor([2, 1, 2])).tolist() == [1, 2]


def test_the_model_zoo_loads_what_is_at_an_address(T: Any, tmp_path: Path) -> None:
    zoo = importlib.import_module(f"{T.__name__}.utils.model_zoo")
    T.save({"weight": T.arange(3.0)}, tmp_path / "there.pt")
    found = zoo.load_url((tmp_path / "there.pt").as_uri(), model_dir=str(tmp_path / "here"), progress=False)
    assert found["weight"].tolist() == [0.0, 1.0, 2.0]
    assert (tmp_path / "here" / "there.pt").exists()


def test_settings_of_the_compiler_are_kept(T: Any) -> None:
    dynamo, settings = (importlib.import_module(f"{T.__name__}._dynamo{more}") for more in ("", ".config"))
    assert dynamo.config is settings
    before = settings.suppress_errors
    assert not before
    with settings.patch(suppress_errors=True):
        assert settings.suppress_errors is True
    with settings.patch("suppress_errors", True):
        assert settings.suppress_errors is True
    assert settings.suppress_errors is before
    dynamo.reset()
    x = T.ones(2)
    dynamo.mark_dynamic(x, 0)
    assert dynamo.disable(lambda t: t + 1)(x).tolist() == [2.0, 2.0]
    assert not isinstance(T.nn.Linear(2, 2), dynamo.OptimizedModule)
    inductor = importlib.import_module(f"{T.__name__}._inductor.config")
    inductor.epilogue_fusion = True
    assert inductor.epilogue_fusion is True
    inductor.triton.unique_kernel_names = True
    assert inductor.triton.unique_kernel_names is True


@pytest.mark.parametrize(
    "name",
    ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss", "kl_div"],
)
def test_the_older_name_of_the_mean_is_known(T: Any, name: str) -> None:
    a, b = T.tensor([[0.2, 0.5], [0.25, 0.75]]), T.tensor([[0.6, 0.1], [0.2, 0.4]])
    target = T.tensor([0, 1]) if name == "nll_loss" else b
    loss = getattr(T.nn.functional, name)
    with pytest.warns(UserWarning, match=r"'elementwise_mean' is deprecated\. Please use reduction='mean'"):
        older = loss(a, target, reduction="elementwise_mean")
    mean = loss(a, target, reduction="none").mean()
    assert float(older) == pytest.approx(float(mean))


def test_functions_over_several_devices_stay_on_one() -> None:
    """PyTorch's refuse tensors of a CPU, so that there is nothing to compare with."""
    of = importlib.import_module("gradd.nn.parallel._functions")
    with gradd.connect("local:"):
        x, y = gradd.tensor([1.0, 2.0, 3.0], requires_grad=True), gradd.tensor([4.0])
        copies = of.Broadcast.apply([0, 1], x, y)
        assert [t.tolist() for t in copies] == [[1.0, 2.0, 3.0], [4.0], [1.0, 2.0, 3.0], [4.0]]
        (copies[0] * copies[2]).sum().backward()
        assert x.grad.tolist() == [2.0, 4.0, 6.0]
        sums = of.ReduceAddCoalesced.apply(0, 2, *copies)
        assert [t.tolist() for t in sums] == [[2.0, 4.0, 6.0], [8.0]]
        assert [t.tolist() for t in of.Scatter.apply([0, 1], None, 0, x)] == [[1.0, 2.0], [3.0]]
        assert [t.tolist() for t in of.Scatter.apply([0, 1], [1, 2], 0, x)] == [[1.0], [2.0, 3.0]]
        assert of.Gather.apply(0, 0, x, y).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_script_that_imports_them_finds_them() -> None:
    program = """
from gradd._place import put
put()
import functorch
import torch.functional
import torch.utils.model_zoo as model_zoo
from torch.cuda import FloatTensor, memory, random
from torch.functional import F, norm
from torch.utils.model_zoo import load_url
print(functorch.make_functional.__module__, F.__name__, model_zoo.load_url is load_url, FloatTensor.__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "gradd.functorch gradd.nn.functional True FloatTensor\n", done.stderr
