"""§10.3 and 10.7-10.10: writing through views, to shared memory, to other shapes and types; strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SHARED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
MULTI = (
    "Output {nr} of {name} is a view and {what} modified inplace. This view is the output of a function that "
    "returns multiple views. Such functions do not allow the output views to be modified inplace. You should "
    "replace the inplace operation by an out-of-place one."
)
IS_BEING, HAS_BEEN = "is being", "its base or another view of its base has been"
NO_GRAD = (
    "A view was created in no_grad mode and {what} modified inplace with grad mode enabled. Given that this "
    "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
    "view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) "
    "or both outside (if you want the inplace to be tracked)."
)
OUT = (
    "{}(): functions with out=... arguments don't support automatic differentiation, but one of the "
    "arguments requires grad."
)


@pytest.fixture
def matrix(leaf: Any) -> Any:
    """A non-leaf [[1, 2, 3], [4, 5, 6]] and the leaf it comes from."""
    x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return x, x * 1


# -- 10.3: the name of a view ------------------------------------------------------------------------------

STALE_VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], str]] = {
    "written itself": (lambda y: y[0], lambda y, v: v.mul_(2), "output 0 of AsStrided"),
    "base written": (lambda y: y[0], lambda y, v: y.mul_(2), "output 0 of AsStrided"),
    "transposed": (lambda y: y.t(), lambda y, v: y.mul_(2), "output 0 of AsStrided"),
}


@pytest.mark.parametrize("name", STALE_VIEWS)
def test_10_03_a_saved_view_has_its_new_name(matrix: Any, raises: Any, name: str) -> None:
    make, write, output = STALE_VIEWS[name]
    _, y = matrix
    view = make(y)
    z = view.sin().sum()
    write(y, view)
    with raises(RuntimeError, f"…], which is {output}, is at version 1; expected version 0 instead…"):
        z.backward()


def test_10_03_a_view_of_a_leaf(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    z = x[0].sin().sum()
    with T.no_grad():
        x.mul_(2)
    with raises(RuntimeError, "…], which is output 0 of AsStrided, is at version 1; expected …"):
        z.backward()


def test_10_03_one_of_many_views(T: Any, matrix: Any, raises: Any) -> None:
    _, y = matrix
    _, second = y.unbind(0)
    z = second.sin().sum()
    with T.no_grad():
        y.mul_(2)
    with raises(RuntimeError, MULTI.format(nr=1, name="Unbind", what=HAS_BEEN)):
        z.backward()


# -- 10.7, 10.8 --------------------------------------------------------------------------------------------


def test_10_07_part_of_an_untracked_tensor(T: Any, leaf: Any) -> None:
    x, y = leaf(), T.zeros(3)
    y[1] = x[0] * 7
    assert y.requires_grad
    assert not y.is_leaf
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert y._version == 1
    (y * T.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [0.0, 7.0, 0.0]
    assert x.grad.tolist() == [14.0, 0.0]


def test_10_07_by_copying_into_its_view(T: Any, leaf: Any) -> None:
    x, y = leaf(), T.zeros(2, 2)
    first, second = y[0], y[1]
    first.copy_(x)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert first.grad_fn.name() == second.grad_fn.name() == "AsStridedBackward0"
    assert second.requires_grad
    (y * 3 + second).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


VIEWS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "select": (lambda y: y[0], [[8, 16, 24], [8, 10, 12]]),
    "slice": (lambda y: y[:, 1:], [[2, 16, 24], [8, 40, 48]]),
    "step": (lambda y: y[:, ::2], [[8, 4, 24], [32, 10, 48]]),
    "t": (lambda y: y.t(), [[8, 16, 24], [32, 40, 48]]),
    "view": (lambda y: y.view(6), [[8, 16, 24], [32, 40, 48]]),
    "unsqueeze": (lambda y: y.unsqueeze(0), [[8, 16, 24], [32, 40, 48]]),
    "narrow": (lambda y: y.narrow(1, 0, 2), [[8, 16, 6], [32, 40, 12]]),
    "diagonal": (lambda y: y.diagonal(), [[8, 4, 6], [8, 40, 12]]),
    "as_strided": (lambda y: y.as_strided((2,), (2,), 1), [[2, 16, 6], [32, 10, 12]]),
    "chain": (lambda y: y.t()[1], [[2, 16, 6], [8, 40, 12]]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_10_08_writing_to_a_view_changes_the_base(matrix: Any, name: str) -> None:
    make, gradient = VIEWS[name]
    x, y = matrix
    view = make(y)
    view.mul_(2)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn.next_functions[0][0] is y.grad_fn
    assert y._version == view._version == 1
    (y * y).sum().backward()
    assert x.grad.tolist() == gradient


def test_10_08_writing_to_the_base_changes_its_views(leaf: Any) -> None:
    x = leaf()
    y = x * 1
    view = y.view(2, 1)
    assert view.grad_fn.name() == "ViewBackward0"
    y.mul_(3)
    assert y.grad_fn.name() == "MulBackward0"
    assert view.grad_fn.name() == "AsStridedBackward0"
    view.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_10_08_one_view_after_another(leaf: Any) -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    head, tail = y[:2], y[1:]
    head.mul_(2)
    tail.mul_(3)
    (y * y).sum().backward()
    assert y.tolist() == [2.0, 12.0, 9.0]
    assert x.grad.tolist() == [8.0, 144.0, 54.0]


GAPS: dict[str, Callable[[Any, Any], Any]] = {
    "row": lambda b, x: b[0].copy_(x),
    "column": lambda b, x: b[:, 1].mul_(x),
    "element": lambda b, x: b[1, 0].mul_(x[0]),
    "all": lambda b, x: b.view_as(b).mul_(x),
    "transposed": lambda b, x: b.t()[1].copy_(x),
}
GRADIENTS = {
    "row": [20.0, 40.0],
    "column": [80.0, 1440.0],
    "element": [320.0, 0.0],
    "all": [320.0, 1600.0],
    "transposed": [20.0, 40.0],
}


@pytest.mark.parametrize("name", GAPS)
def test_10_08_over_memory_with_gaps(T: Any, leaf: Any, name: str) -> None:
    x, b = leaf([10.0, 20.0]), T.arange(8.0).view(2, 4)[:, ::2].detach()
    GAPS[name](b, x)
    assert b.stride() == (4, 2)
    assert b.grad_fn.name() == "torch::autograd::CopySlices"
    (b * b).sum().backward()
    assert x.grad.tolist() == GRADIENTS[name]


def test_10_08_gaps_twice_differentiated(T: Any, leaf: Any) -> None:
    x, b = leaf([10.0, 20.0]), T.arange(8.0).view(2, 4)[:, 1::2].detach()
    b[0].copy_(x)
    b[:, 1].mul_(b[:, 0].clone())
    b[1, 0].fill_(0)
    (first,) = T.autograd.grad((b * b).sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x)
    assert b.tolist() == [[10.0, 200.0], [0.0, 35.0]]
    # (x0² + (x1 x0)²)' = (2 x0 + 2 x0 x1², 2 x1 x0²)
    assert first.tolist() == [8020.0, 4000.0]
    assert second.tolist() == [2.0 + 800.0 + 800.0, 800.0 + 200.0]


def test_10_08_gaps_in_what_requires_grad(T: Any, leaf: Any) -> None:
    x = T.arange(8.0).view(2, 4)[:, ::2].detach().requires_grad_()
    y = x.detach().requires_grad_() + 0
    assert y.is_contiguous()
    z = T.arange(8.0).view(2, 4)[:, ::2].detach()
    z.add_(x)
    z[0].mul_(3)
    (z * z).sum().backward()
    assert x.grad.tolist() == [[0.0, 72.0], [16.0, 24.0]]
    assert x.grad.stride() == (2, 1)


def test_10_08_not_where_elements_share_memory(T: Any, leaf: Any, raises: Any) -> None:
    b, x = T.arange(3.0).view(3, 1).expand(3, 2).detach(), leaf(5.0)
    b[0, 0].copy_(x)
    with raises(RuntimeError, SHARED):
        (b * b).sum().backward()


# -- 10.9 --------------------------------------------------------------------------------------------------

MULTI_VIEWS: dict[str, tuple[Callable[[Any], Any], int, str]] = {
    "unbind": (lambda y: y.unbind(0)[1], 1, "Unbind"),
    "split": (lambda y: y.split(1)[0], 0, "Split"),
    "split sizes": (lambda y: y.split([1, 1])[1], 1, "SplitWithSizes"),
    "chunk": (lambda y: y.chunk(2)[0], 0, "Split"),
    "iteration": (lambda y: next(iter(y)), 0, "Unbind"),
}


@pytest.mark.parametrize("name", MULTI_VIEWS)
def test_10_09_one_of_many_views_is_not_written_to(matrix: Any, raises: Any, name: str) -> None:
    make, nr, function = MULTI_VIEWS[name]
    x, y = matrix
    part = make(y)
    with raises(RuntimeError, MULTI.format(nr=nr, name=function, what=IS_BEING)):
        part.mul_(2)
    assert y.tolist() == x.tolist()
    assert y._version == 0


def test_10_09_nor_read_after_the_base_was(matrix: Any, raises: Any) -> None:
    _, y = matrix
    _, second = y.unbind(0)
    y.mul_(2)
    with raises(RuntimeError, MULTI.format(nr=1, name="Unbind", what=HAS_BEEN)):
        second * 2
    with raises(RuntimeError, MULTI.format(nr=1, name="Unbind", what=HAS_BEEN)):
        _ = second.grad_fn


def test_10_09_untracked_or_without_grad_they_are(T: Any, matrix: Any) -> None:
    plain = T.ones(2, 3)
    plain.unbind(0)[0].mul_(2)
    assert plain.sum().item() == 9.0
    _, y = matrix
    with T.no_grad():
        y.unbind(0)[0].mul_(2)
    assert y[0].tolist() == [2.0, 4.0, 6.0]


def test_10_09_views_made_in_no_grad(T: Any, matrix: Any, raises: Any) -> None:
    _, y = matrix
    with T.no_grad():
        view = y[0]
        inner = view[1:]
    for one in (view, inner):
        with raises(RuntimeError, NO_GRAD.format(what=IS_BEING)):
            one.mul_(2)
    y.mul_(2)
    with raises(RuntimeError, NO_GRAD.format(what=HAS_BEEN)):
        view * 2


# -- 10.10 -------------------------------------------------------------------------------------------------


def test_10_10_an_expanded_target(T: Any, raises: Any) -> None:
    with raises(RuntimeError, SHARED):
        T.ones(1).expand(3).add_(1)
    with raises(RuntimeError, SHARED):
        T.ones(3).expand(2, 3).copy_(T.ones(2, 3))
    assert T.ones(3).expand(2, 3).zero_().sum().item() == 0.0  # one value for all


def test_10_10_partial_overlap(T: Any, raises: Any) -> None:
    x = T.ones(3)
    with raises(RuntimeError, "unsupported operation: some elements of the input tensor and the …"):
        x[1:].add_(x[:-1])


def test_10_10_growing(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "output with shape [1] doesn't match the broadcast shape [2]"):
        T.ones(1).add_(T.ones(2))


def test_10_10_type(T: Any, raises: Any) -> None:
    message = "result type Float can't be cast to the desired output type Long"
    with raises(RuntimeError, message):
        T.tensor([1, 2]).add_(1.5)
    with raises(RuntimeError, message):
        T.tensor([1, 2]).mul_(T.ones(2))


def test_10_10_resize(T: Any, leaf: Any, raises: Any) -> None:
    for x in (leaf(), leaf() * 1):
        with raises(RuntimeError, "cannot resize variables that require grad"):
            x.resize_(3)
    with T.no_grad(), raises(RuntimeError, "cannot resize variables that require grad"):
        leaf().resize_(3)
    x = T.arange(6.0)
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert x.resize_((6,)).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert x._version == 2
    assert T.ones(2).resize_(4)[:2].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["add", "mul", "exp", "sum"])
def test_10_10_out_needs_untracked_tensors(T: Any, leaf: Any, raises: Any, name: str) -> None:
    function, more = getattr(T, name), {"add": (1,), "mul": (2,), "exp": (), "sum": (0,)}[name]
    with raises(RuntimeError, OUT.format(name)):
        function(leaf(), *more, out=T.ones(2))
    with raises(RuntimeError, OUT.format(name)):
        function(T.ones(2), *more, out=leaf() * 1)
    with T.no_grad():
        function(leaf(), *more, out=T.ones(2 if name != "sum" else ()))


def test_10_10_out(T: Any, raises: Any) -> None:
    out = T.zeros(2, dtype=T.float64)
    assert T.add(T.ones(2), 1, out=out) is out
    assert out.tolist() == [2.0, 2.0]
    assert out._version == 1
    with raises(RuntimeError, "result type Float can't be cast to the desired output type Long"):
        T.add(T.ones(2), 1, out=T.zeros(2, dtype=T.int64))
    empty = T.empty(0)
    T.mul(T.ones(2, 3), 2, out=empty)
    assert empty.tolist() == [[2.0, 2.0, 2.0]] * 2


# -- 10.11 and strides -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_version", "grad_fn", "is_leaf", "output_nr", "retains_grad"])
def test_10_11_what_autograd_says_cannot_be_written(leaf: Any, raises: Any, name: str) -> None:
    for x in (leaf(), leaf() * 2):
        message = f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
        with raises(AttributeError, message):
            setattr(x, name, 1)
        with raises(AttributeError, message):
            delattr(x, name)


def test_10_items_are_not_deleted(leaf: Any, raises: Any) -> None:
    with raises(TypeError, "Tensor does not support deleting items"):
        del leaf()[0]


def test_10_strides(T: Any, raises: Any) -> None:
    x = T.ones(2, 3, 4)
    assert (x.stride(), x.stride(0), x.stride(-1), x.stride(dim=1)) == ((12, 4, 1), 12, 1, 4)
    assert (x.size(0), x.size(-1), x.size(dim=1)) == (2, 4, 3)
    for ask in (x.stride, x.size):
        with raises(IndexError, "Dimension out of range (expected to be in range of [-3, 2], but got 5)"):
            ask(5)
    contiguous = [x, x[0], x.permute(2, 0, 1), x[:, :, ::2], x[:, 0], T.ones(1, 3).t(), T.ones(0, 3).t()]
    assert [one.is_contiguous() for one in contiguous] == [True, True, False, False, False, True, True]


def test_10_contiguous(T: Any) -> None:
    x = T.ones(2, 3).requires_grad_()
    assert x.contiguous() is x
    y = x.t().contiguous()
    assert y.is_contiguous()
    assert y.grad_fn.name() == "CloneBackward0"


def test_10_memory_formats(T: Any, raises: Any) -> None:
    last = T.channels_last
    x = T.ones(2, 3, 4, 5)
    strides = (60, 1, 15, 3)
    made = [
        x.contiguous(memory_format=last), x.to(memory_format=last), x.clone(memory_format=last),
        T.empty_like(x, memory_format=last), T.zeros_like(x, memory_format=last),
        T.ones_like(x, memory_format=last), T.full_like(x, 2.0, memory_format=last),
        T.rand_like(x, memory_format=last), T.empty(2, 3, 4, 5, memory_format=last),
    ]  # fmt: skip
    made += [made[0] * 2, made[0].clone(), made[0].double(), T.empty_like(made[0])]
    for one in made:
        assert one.stride() == strides
        assert one.is_contiguous(memory_format=last)
        assert not one.is_contiguous()
    assert made[0].contiguous(memory_format=last) is made[0]
    assert made[1].to(memory_format=last) is made[1]
    assert made[0].tolist() == x.tolist()
    assert made[0].clone(memory_format=T.contiguous_format).is_contiguous()
    assert not x.is_contiguous(memory_format=last)
    assert not T.ones(2).is_contiguous(memory_format=last)
    assert repr(last) == "torch.channels_last"
    with raises(RuntimeError, "required rank 4 tensor to use channels_last format"):
        T.ones(2).contiguous(memory_format=last)
    deep = T.ones(1, 2, 3, 4, 5).contiguous(memory_format=T.channels_last_3d)
    assert deep.stride() == (120, 1, 40, 10, 2)


def test_10_memory_formats_are_differentiable(T: Any) -> None:
    x = T.ones(2, 3, 4, 5).requires_grad_()
    y, z = x.contiguous(memory_format=T.channels_last), x.to(memory_format=T.channels_last)
    assert y.grad_fn.name() == "CloneBackward0"
    assert z.grad_fn.name() == "ToCopyBackward0"
    (y * z).sum().backward()
    assert x.grad.stride() == (60, 20, 5, 1)
    assert x.grad.sum().item() == 240.0


def test_10_view_needs_strides_that_fit(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "shape '[3]' is invalid for input of size 4"):
        T.ones(4).view(3)
    message = (
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across two contiguous subspaces). Use .reshape(...) instead."
    )
    with raises(RuntimeError, message):
        T.ones(2, 3).t().view(6)
    assert T.ones(2, 3).t().reshape(6).stride() == (1,)
    with raises(RuntimeError, "only one dimension can be inferred"):
        T.ones(4).view(-1, -1)


@pytest.mark.parametrize("size", [(2,), (0, 3), (1,)])
def test_10_a_slice_of_everything_is_a_slice(T: Any, size: tuple[int, ...]) -> None:
    x = T.ones(size).requires_grad_()
    names = [x[:].grad_fn.name(), x[0:].grad_fn.name(), x[...].grad_fn.name()]
    assert names == ["SliceBackward0", "SliceBackward0", "AliasBackward0"]


@pytest.mark.parametrize("how", ["rows", "slices", "numbers", "sums"])
def test_10_a_second_pass_through_writes_to_views_is_refused(
    T: Any, leaf: Any, raises: Any, how: str
) -> None:
    w, s = leaf(), T.zeros(4)
    for k in range(3):
        if how == "rows":
            s[k] = w[0]
        elif how == "slices":
            s[k : k + 2] = w
        elif how == "sums":
            s[k:].add_(w[1])
        else:
            s[0] = w[0]
            s[k + 1] = 2.0
    s.sum().backward()
    first = w.grad.tolist()
    with raises(RuntimeError, "Trying to backward through the graph a second time…"):
        s.sum().backward()
    assert w.grad.tolist() == first
