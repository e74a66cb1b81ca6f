"""§8: detach(), .data, and conversions to numbers, arrays, text and copies."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

STALE = "one of the variables needed for gradient computation has been modified by an inplace operation: …"
VIEWS = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
    "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
    "detach_() cannot be called on these gradients. To fix this error, please refer to the "
    "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)


def test_08_01_detach_shares_storage_and_version(leaf: Any) -> None:
    y = leaf() * 2
    alias = y.detach()
    assert alias is not y
    assert not alias.requires_grad
    assert alias.grad_fn is None
    assert alias.is_leaf
    assert not alias._is_view()
    alias.add_(1)
    assert y.tolist() == [3.0, 5.0]
    assert (y._version, alias._version) == (1, 1)


def test_08_01_writing_through_it_is_detected(leaf: Any, raises: Any) -> None:
    y = leaf().exp()
    z = y.sum()
    y.detach().add_(1)
    with raises(RuntimeError, STALE):
        z.backward()


def test_08_02_writing_through_data_is_not(leaf: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    data = x.data
    assert data._version == 0
    assert not data.requires_grad
    data.mul_(10)
    assert (x._version, x.data._version, data._version) == (0, 0, 1)
    y.backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_08_03_detach_in_place_cuts_a_non_leaf(leaf: Any, raises: Any) -> None:
    y = leaf() * 2
    assert y.detach_() is y
    assert not y.requires_grad
    assert y.grad_fn is None
    assert y.is_leaf
    assert y._version == 0
    with raises(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"):
        y.sum().backward()


@pytest.mark.parametrize("of", ["leaf", "computed", "untracked"])
def test_08_03_but_no_view(T: Any, leaf: Any, raises: Any, of: str) -> None:
    x = {"leaf": leaf(), "computed": leaf() * 2, "untracked": T.ones(2)}[of]
    with raises(RuntimeError, VIEWS):
        x[0].detach_()
    with raises(RuntimeError, VIEWS):
        x.view(2, 1).detach_()


def test_08_03_on_a_leaf_it_clears_the_flag(leaf: Any) -> None:
    x = leaf()
    assert x.detach_() is x
    assert not x.requires_grad


@pytest.mark.parametrize(("shape", "dtype"), [((3,), "float32"), ((1, 2), "float64"), ((2,), "complex64")])
def test_08_04_data_may_be_of_any_shape_and_float_dtype(
    T: Any, leaf: Any, shape: tuple[int, ...], dtype: str
) -> None:
    x, new = leaf(), T.ones(shape, dtype=getattr(T, dtype))
    x.data = new
    assert tuple(x.shape) == shape
    assert x.dtype == new.dtype
    assert x.requires_grad
    assert x.is_leaf
    assert x._version == 0
    new.add_(1)
    assert x.tolist() == new.tolist()
    assert (x._version, new._version) == (0, 1)


def test_08_04_integers_only_without_requires_grad(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    message = "data set to a tensor that requires gradients must be floating point or complex dtype"
    with raises(RuntimeError, message):
        x.data = T.tensor([1, 2])
    plain = T.ones(2)
    plain.data = T.tensor([1, 2])
    assert plain.tolist() == [1, 2]


def test_08_04_data_is_a_tensor_and_stays(leaf: Any, raises: Any) -> None:
    x = leaf()
    with raises(TypeError, "Variable data has to be a tensor, but got list"):
        x.data = [1.0]
    with raises(RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!"):
        del x.data


def test_08_05_numpy_needs_a_detached_tensor(leaf: Any, raises: Any) -> None:
    x = leaf()
    message = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    for tracked in (x, x * 2):
        with raises(RuntimeError, message):
            tracked.numpy()
        with raises(RuntimeError, message):
            np.asarray(tracked)
    assert x.detach().numpy().tolist() == [1.0, 2.0]
    assert x.numpy(force=True).tolist() == [1.0, 2.0]


def test_08_05_item_and_tolist_do_not(leaf: Any) -> None:
    x = leaf([3.0])
    assert x.item() == 3.0
    assert (x * 2).item() == 6.0
    assert (x * 2).tolist() == [6.0]


SCRIPT = """
import warnings
import {module} as torch
{connect}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = torch.tensor([3.0], requires_grad=True)
    assert x.item() == 3.0 and bool(x) and not seen
    assert (float(x), int(x)) == (3.0, 3)
print(len(seen), seen[0].category.__name__, seen[0].message)
"""


def test_08_05_conversion_to_a_number_warns_once(alone: Any) -> None:
    assert alone(SCRIPT).startswith(
        "1 UserWarning Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
        "behavior.\nConsider using tensor.detach() first."
    )


def test_08_06_item_of_many(T: Any, leaf: Any, raises: Any) -> None:
    with raises(RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"):
        leaf().item()
    with raises(RuntimeError, "a Tensor with 0 elements cannot be converted to Scalar"):
        T.ones(0).item()


@pytest.mark.parametrize("kind", [float, int, complex])
@pytest.mark.parametrize("count", [0, 2])
def test_08_06_numbers_of_many(T: Any, raises: Any, kind: Any, count: int) -> None:
    with raises(ValueError, "only one element tensors can be converted to Python scalars"):
        kind(T.ones(count))


def test_08_06_bool_of_many(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"):
        bool(T.ones(2))
    with raises(RuntimeError, "Boolean value of Tensor with no values is ambiguous"):
        bool(T.ones(0))


def test_08_06_as_an_index(T: Any, raises: Any) -> None:
    assert list(range(T.tensor(3))) == [0, 1, 2]
    message = "only integer tensors of a single element can be converted to an index"
    for other in (T.tensor(3.0), T.tensor([3, 4])):
        with raises(TypeError, message):
            range(other)


def test_08_07_deepcopy_of_leaves(T: Any, leaf: Any) -> None:
    x = leaf()
    x.grad = T.ones(2)
    one, two = copy.deepcopy([x, x])
    assert one is two
    assert one is not x
    assert one.is_leaf
    assert one.requires_grad
    assert one.grad is not x.grad
    assert one.grad.tolist() == [1.0, 1.0]
    one.detach().add_(1)
    assert x.tolist() == [1.0, 2.0]
    assert not copy.deepcopy(x.detach()).requires_grad


def test_08_07_but_of_nothing_else(leaf: Any, raises: Any) -> None:
    message = (
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
        "moment.  If you were attempting to deepcopy a module, this may be because of a "
        "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
    )
    with raises(RuntimeError, message):
        copy.deepcopy(leaf() * 2)


def test_08_08_repr(T: Any, leaf: Any) -> None:
    x = leaf([1.0])
    assert repr(x) == str(x) == "tensor([1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2.], grad_fn=<MulBackward0>)"
    assert repr(x.view(1)) == "tensor([1.], grad_fn=<ViewBackward0>)"
    assert repr(T.tensor([1.0, 2.0], dtype=T.float64)) == "tensor([1., 2.], dtype=torch.float64)"
    with T.no_grad():
        assert repr(x[0:1]) == "tensor([1.], requires_grad=True)"


def test_08_08_repr_of_rebased_tensors(leaf: Any) -> None:
    y = leaf() * 1
    y[0] = 3
    assert repr(y) == "tensor([3., 2.], grad_fn=<CopySlices>)"
    z = leaf() * 1
    view = z.view(2)
    z.mul_(2)
    assert repr(view) == "tensor([2., 4.], grad_fn=<AsStridedBackward0>)"


def test_08_08_format(leaf: Any) -> None:
    x = leaf(1.0)
    assert f"{x * 2:.2f}" == "2.00"
    assert f"{leaf([1.0]) * 2}" == "tensor([2.], grad_fn=<MulBackward0>)"


CONVERSIONS: dict[str, Any] = {
    "to a dtype": lambda T, x: x.to(T.float32),
    "to a device": lambda T, x: x.to("cpu"),
    "to both": lambda T, x: x.to("cpu", T.float32),
    "to another's": lambda T, x: x.to(x),
    "to a format": lambda T, x: x.to(memory_format=T.contiguous_format),
    "float": lambda T, x: x.float(),
    "type": lambda T, x: x.type(T.float32),
    "type_as": lambda T, x: x.type_as(x),
    "cpu": lambda T, x: x.cpu(),
    "contiguous": lambda T, x: x.contiguous(),
    "flatten": lambda T, x: x.flatten(),
    "requires_grad_": lambda T, x: x.requires_grad_(),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_08_09_conversions_to_what_it_is_give_itself(T: Any, leaf: Any, name: str) -> None:
    x = leaf()
    assert CONVERSIONS[name](T, x) is x


NODES: dict[str, Any] = {
    "view": (lambda x: x.view(2), "ViewBackward0"),
    "reshape": (lambda x: x.reshape(2), "ViewBackward0"),
    "expand": (lambda x: x.expand(2), "ExpandBackward0"),
    "squeeze": (lambda x: x.squeeze(), "SqueezeBackward0"),
    "copy": (lambda x: x.to(x.dtype, copy=True), "ToCopyBackward0"),
}


@pytest.mark.parametrize("name", NODES)
def test_08_09_views_and_copies_always_make_a_node(leaf: Any, name: str) -> None:
    make, node = NODES[name]
    x = leaf()
    made = make(x)
    assert made is not x
    assert made.grad_fn.name() == node


def test_08_01_as_functions(T: Any, leaf: Any) -> None:
    x = leaf()
    assert not T.detach(x).requires_grad
    y = x * 2
    assert T.detach_(y) is y
    assert y.grad_fn is None


def test_08_06_complex_numbers_as_real_ones(T: Any, raises: Any) -> None:
    assert float(T.tensor(2 + 0j)) == 2.0
    assert int(T.tensor(2 + 0j)) == 2
    with raises(RuntimeError, "value cannot be converted to type double without overflow"):
        float(T.tensor(1j))
    with raises(RuntimeError, "value cannot be converted to type int64_t without overflow"):
        int(T.tensor(1j))


FACTS = (
    *("shape", "dtype", "device", "ndim", "nbytes", "itemsize", "layout", "T", "H", "mT", "mH"),
    *("grad_fn", "is_leaf", "output_nr", "retains_grad", "_version"),
    *("is_cpu", "is_cuda", "is_meta", "is_sparse"),
)


@pytest.mark.parametrize("name", FACTS)
def test_08_04_what_a_tensor_is_cannot_be_assigned(T: Any, raises: Any, name: str) -> None:
    x = T.ones(2, 3, requires_grad=True)
    y = x * 2
    refusal = f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
    for t in (x, y, T.nn.Parameter(T.ones(3))):
        with raises(AttributeError, refusal):
            setattr(t, name, (3, 2))
        with raises(AttributeError, refusal):
            delattr(t, name)
    assert (tuple(y.shape), y.dtype) == ((2, 3), T.float32)
    y.sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2
