"""§6: how .grad accumulates, its layout, and what may be assigned to it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")

NOT_A_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
    "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
    "by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 "
    "for more information.…"
)


def test_06_01_accumulates_across_calls(leaf: Any) -> None:
    x = leaf()
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_06_01_never_aliases_the_gradient_given(T: Any, leaf: Any) -> None:
    x = leaf()
    given = T.ones(2)
    (x + 0).backward(given)
    given.add_(5)
    assert x.grad.tolist() == [1.0, 1.0]
    x.grad.add_(1)
    assert given.tolist() == [6.0, 6.0]


def test_06_01_nor_another_leafs(leaf: Any) -> None:
    x, z = leaf(), leaf()
    (x + z).sum().backward()
    x.grad.add_(5)
    assert x.grad.tolist() == [6.0, 6.0]
    assert z.grad.tolist() == [1.0, 1.0]


def test_06_02_accumulation_is_in_place(leaf: Any) -> None:
    x = leaf()
    (x * 2).sum().backward()
    old = x.grad
    (x * 3).sum().backward()
    assert x.grad is old
    assert old.tolist() == [5.0, 5.0]
    assert old._version == 1


def test_06_02_but_out_of_place_with_create_graph(leaf: Any) -> None:
    x = leaf()
    (x * 2).sum().backward()
    old = x.grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not old
    assert old.tolist() == [2.0, 2.0]
    assert x.grad.tolist() == [4.0, 6.0]


def test_06_03_a_plain_gradient_is_an_untracked_leaf(leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward()
    assert not x.grad.requires_grad
    assert x.grad.grad_fn is None
    assert x.grad.is_leaf


def test_06_03_a_differentiable_one_is_not(leaf: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    y.backward(create_graph=True)
    assert x.grad.requires_grad
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    y.backward(create_graph=True)
    assert x.grad.grad_fn.name() == "AddBackward0"


def test_06_06_dtype_is_the_leafs(T: Any, leaf: Any) -> None:
    half, double = leaf(dtype=T.float16), leaf(dtype=T.float64)
    (half.float() * double).sum().backward()
    assert half.grad.dtype == T.float16
    assert double.grad.dtype == T.float64
    assert half.grad.tolist() == double.grad.tolist() == [1.0, 2.0]


def test_06_06_promotion_is_undone(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf(dtype=T.float64)
    (x * z).sum().backward()
    assert (x.grad.dtype, z.grad.dtype) == (T.float32, T.float64)


def test_06_06_grad_dtype_can_be_read(T: Any, leaf: Any, raises: Any) -> None:
    assert leaf().grad_dtype == T.float32
    assert leaf(dtype=T.float64).grad_dtype == T.float64
    assert T.tensor([1]).grad_dtype == T.int64
    with raises(RuntimeError, "grad_dtype can only be accessed on leaf tensors."):
        _ = (leaf() * 2).grad_dtype


def test_06_06_grad_dtype_can_be_set(T: Any, leaf: Any) -> None:
    x, free = leaf(), leaf()
    x.grad_dtype = T.float64
    (x * 2).sum().backward()
    assert x.grad.dtype == x.grad_dtype == T.float64
    free.grad_dtype = None
    free.grad = T.ones(2, dtype=T.float64)
    assert free.grad_dtype is None
    assert free.grad.dtype == T.float64


def test_06_06_grad_dtype_cannot_change_under_a_gradient(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    x.grad = T.ones(2)
    message = (
        "Cannot set grad_dtype to 'Double' because there is already a gradient with dtype 'float'. Please "
        "clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
        "matches the existing gradient's dtype."
    )
    with raises(RuntimeError, message):
        x.grad_dtype = T.float64


def test_06_07_broadcasting_is_summed_back(leaf: Any) -> None:
    row, column, scalar = leaf([[1.0, 2.0, 3.0]]), leaf([[1.0], [2.0]]), leaf(2.0)
    (row * column * scalar).sum().backward()
    assert row.grad.tolist() == [[6.0, 6.0, 6.0]]
    assert column.grad.tolist() == [[12.0], [12.0]]
    assert scalar.grad.shape == ()
    assert scalar.grad.item() == 18.0


def test_06_08_requires_grad_off_after_the_forward(leaf: Any) -> None:
    x, z = leaf(), leaf()
    y = (x * z).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    assert z.grad.tolist() == [1.0, 2.0]


def test_06_09_size(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    message = (
        "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. "
        "Please ensure that the gradient and the tensor are the same size"
    )
    with raises(RuntimeError, message):
        x.grad = T.ones(3)


@pytest.mark.parametrize(("dtype", "name"), [("float64", "double"), ("int64", "long int")])
def test_06_09_dtype(T: Any, leaf: Any, raises: Any, dtype: str, name: str) -> None:
    x = leaf()
    message = (
        f"attempting to assign a gradient with dtype '{name}' to a tensor with grad_dtype 'Float'. The "
        "gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
        "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype "
        "with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems "
        "that assume they match."
    )
    with raises(RuntimeError, message):
        x.grad = T.ones(2, dtype=getattr(T, dtype))


def test_06_09_device(T: Any, leaf: Any, raises: Any, differs: Any) -> None:
    x = leaf()
    gradient = T.ones(2, device="meta")
    if differs("6.9"):
        x.grad = gradient
        assert x.grad.tolist() == [1.0, 1.0]
        return
    message = (
        "attempting to assign a gradient with device type 'meta' to a tensor with device type 'cpu'. "
        "Please ensure that the gradient and the tensor are on the same device"
    )
    with raises(RuntimeError, message):
        x.grad = gradient


def test_06_09_not_a_tensor_or_itself(leaf: Any, raises: Any) -> None:
    x = leaf()
    with raises(TypeError, "assigned grad expected to be a Tensor or None but got grad of type list"):
        x.grad = [1.0, 1.0]
    with raises(RuntimeError, "can't assign Variable as its own grad"):
        x.grad = x
    assert x.grad is None


def test_06_10_grad_without_requires_grad(T: Any) -> None:
    x, gradient = T.ones(2), T.ones(2)
    x.grad = gradient
    assert x.grad is gradient


def test_06_10_two_ways_to_reset(leaf: Any) -> None:
    x = leaf()
    (x * x).sum().backward()
    del x.grad
    assert x.grad is None
    (x * x).sum().backward()
    x.grad = None
    assert x.grad is None


def test_06_10_a_preset_gradient_is_added_to(T: Any, leaf: Any) -> None:
    x, preset = leaf(), T.tensor([10.0, 20.0])
    x.grad = preset
    (x * x).sum().backward()
    assert x.grad is preset
    assert preset.tolist() == [12.0, 24.0]


def test_06_11_reading_grad_of_a_non_leaf_warns(leaf: Any, warns: Any) -> None:
    y = leaf() * 2
    with warns(UserWarning, NOT_A_LEAF):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None  # and does not warn


LAYOUTS: dict[str, Any] = {
    "contiguous": (lambda T: T.ones(2, 3), (3, 1)),
    "transposed": (lambda T: T.ones(2, 3).t(), (1, 3)),
    "permuted": (lambda T: T.ones(2, 3, 4).permute(2, 0, 1), (1, 12, 4)),
    "channels_last": (lambda T: T.ones(2, 3, 4, 5).to(memory_format=T.channels_last), (60, 1, 15, 3)),
    "expanded": (lambda T: T.ones(3, 1).expand(3, 4), (4, 1)),
    "with gaps": (lambda T: T.ones(3, 4)[:, ::2], (2, 1)),
    "with gaps behind": (lambda T: T.ones(3, 4)[:, :2], (2, 1)),
}
LOSSES: dict[str, Any] = {
    "product": lambda T, x: (x * x).sum(),
    "sum": lambda T, x: x.sum(),
    "other way round": lambda T, x: (x.transpose(0, 1).contiguous() * 2).sum(),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", LAYOUTS)
def test_06_04_a_first_gradient_has_the_leafs_layout(T: Any, name: str, loss: str) -> None:
    make, strides = LAYOUTS[name]
    x = make(T).detach().requires_grad_()
    LOSSES[loss](T, x).backward()
    assert x.grad.stride() == strides
    assert x.grad.numel() == x.numel()
    x.grad.add_(1)  # it is materialised: no two elements share memory


def test_06_04_with_create_graph_too(T: Any) -> None:
    x = T.ones(2, 3).t().requires_grad_()
    (x * x).sum().backward(create_graph=True)
    assert x.grad.stride() == (1, 3)


def test_06_05_an_existing_gradient_keeps_its_strides(T: Any, leaf: Any) -> None:
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x.grad = T.zeros(3, 2).t()
    with T.autograd.enforce_grad_layout_policy(False):
        (x * x).sum().backward()
        (x * x).sum().backward(create_graph=True)
    assert x.grad.stride() == (1, 2)
    assert x.grad.tolist() == [[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]


SCRIPT = """
import warnings
import {module} as torch
{connect}
def step():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    x.grad = torch.zeros(3, 2).t()
    (x * x).sum().backward()
    return x.grad.stride()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    with torch.autograd.enforce_grad_layout_policy(False):
        assert step() == (1, 2)
    assert not seen, seen
    assert step() == step() == (1, 2)
print(len(seen), seen[0].category.__name__, seen[0].message)
"""


def test_06_05_which_is_warned_of_once(alone: Any) -> None:
    assert alone(SCRIPT).startswith(
        "1 UserWarning grad and param do not obey the gradient layout contract. This is not an error, but "
        "may impair performance.\ngrad.sizes() = [2, 3], strides() = [1, 2]\n"
        "param.sizes() = [2, 3], strides() = [3, 1]"
    )


def test_06_05_the_policy_can_be_relaxed(T: Any, leaf: Any, differs: Any) -> None:
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with T.autograd.enforce_grad_layout_policy(False):
        (x.t() * T.ones(3, 2)).sum().backward()
    assert x.grad.stride() == ((3, 1) if differs("6.5") else (1, 2))
    x.grad = None
    with T.autograd.enforce_grad_layout_policy(enable=True):
        (x.t() * T.ones(3, 2)).sum().backward()
    assert x.grad.stride() == (3, 1)


def test_06_06_grad_dtype_is_a_dtype(leaf: Any, raises: Any) -> None:
    x = leaf()
    with raises(RuntimeError, "grad_dtype must be a torch.dtype or None, but got str"):
        x.grad_dtype = "float64"
    with raises(RuntimeError, "grad_dtype can only be set on leaf tensors."):
        (x * 2).grad_dtype = x.dtype


def test_06_12_sparse_gradients(T: Any) -> None:
    table = T.nn.Embedding(3, 2, sparse=True)
    table(T.tensor([0, 2, 2])).sum().backward()
    gradient = table.weight.grad
    assert gradient.is_sparse
    assert gradient.coalesce().indices().tolist() == [[0, 2]]
    assert gradient.to_dense().tolist() == [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]


def test_06_06_a_returned_gradient_has_the_grad_dtype(T: Any, leaf: Any) -> None:
    x = leaf()
    x.grad_dtype = T.float64
    (g,) = T.autograd.grad((x * 2).sum(), x)
    assert g.dtype == T.float64
