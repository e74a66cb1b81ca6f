"""§12: looking into the graph: names, what is next, what is saved, calling a node."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

_FREED = "Trying to backward through the graph a second time (or directly access saved tensors after they …"


def _names(t: Any) -> list[str | None]:
    return [None if fn is None else fn.name() for fn, _ in t.grad_fn.next_functions]


NAMES: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "add": ("AddBackward0", lambda T, x, m: x + x),
    "sub": ("SubBackward0", lambda T, x, m: x - x),
    "rsub": ("RsubBackward1", lambda T, x, m: 1 - x),
    "mul": ("MulBackward0", lambda T, x, m: x * 2),
    "div": ("DivBackward0", lambda T, x, m: x / x),
    "pow": ("PowBackward0", lambda T, x, m: x**2),
    "square": ("PowBackward0", lambda T, x, m: x.square()),
    "pow_of_tensors": ("PowBackward1", lambda T, x, m: x**x),
    "pow_of_a_number": ("PowBackward2", lambda T, x, m: 2**x),
    "sum": ("SumBackward0", lambda T, x, m: x.sum()),
    "sum_dim": ("SumBackward1", lambda T, x, m: m.sum(1)),
    "mean": ("MeanBackward0", lambda T, x, m: x.mean()),
    "mean_dim": ("MeanBackward1", lambda T, x, m: m.mean(0)),
    "max": ("MaxBackward1", lambda T, x, m: x.max()),
    "max_dim": ("MaxBackward0", lambda T, x, m: m.max(0)[0]),
    "mm": ("MmBackward0", lambda T, x, m: m.mm(m)),
    "matmul": ("MmBackward0", lambda T, x, m: m @ m),
    "mv": ("MvBackward0", lambda T, x, m: m.mv(x)),
    "dot": ("DotBackward0", lambda T, x, m: x.dot(x)),
    "view": ("ViewBackward0", lambda T, x, m: m.view(4)),
    "reshape": ("ViewBackward0", lambda T, x, m: m.reshape(4)),
    "flatten": ("ViewBackward0", lambda T, x, m: m.flatten()),
    "reshape_that_copies": ("UnsafeViewBackward0", lambda T, x, m: m.t().reshape(4)),
    "t": ("TBackward0", lambda T, x, m: m.t()),
    "T": ("PermuteBackward0", lambda T, x, m: m.T),
    "permute": ("PermuteBackward0", lambda T, x, m: m.permute(1, 0)),
    "movedim": ("PermuteBackward0", lambda T, x, m: m.movedim(0, 1)),
    "transpose": ("TransposeBackward0", lambda T, x, m: m.transpose(0, 1)),
    "select": ("SelectBackward0", lambda T, x, m: m[0]),
    "slice": ("SliceBackward0", lambda T, x, m: m[:1]),
    "index": ("IndexBackward0", lambda T, x, m: m[T.tensor([0])]),
    "split": ("SplitBackward0", lambda T, x, m: m.split(1)[0]),
    "chunk": ("SplitBackward0", lambda T, x, m: m.chunk(2)[0]),
    "clamp": ("ClampBackward1", lambda T, x, m: x.clamp(0, 1)),
    "softmax": ("SoftmaxBackward0", lambda T, x, m: x.softmax(0)),
    "linear": ("AddmmBackward0", lambda T, x, m: T.nn.functional.linear(m, m, x)),
    "cross_entropy": (
        "NllLossBackward0",
        lambda T, x, m: T.nn.functional.cross_entropy(m, T.tensor([0, 1])),
    ),
    "norm": ("LinalgVectorNormBackward0", lambda T, x, m: x.norm()),
    "inv": ("LinalgInvExBackward0", lambda T, x, m: T.linalg.inv(m)),
    "double": ("ToCopyBackward0", lambda T, x, m: x.double()),
    "float": ("ToCopyBackward0", lambda T, x, m: x.double().float()),
    "conv": (
        "ConvolutionBackward0",
        lambda T, x, m: T.nn.functional.conv2d(m.view(1, 1, 2, 2), m.view(1, 1, 2, 2)),
    ),
    "layer_norm": ("NativeLayerNormBackward0", lambda T, x, m: T.nn.functional.layer_norm(m, [2])),
    "dropout": ("MulBackward0", lambda T, x, m: T.nn.functional.dropout(x, 0.5)),
}


@pytest.mark.parametrize("name", NAMES)
def test_12_01_names(T: Any, leaf: Any, name: str) -> None:
    expected, make = NAMES[name]
    fn = make(T, leaf(), leaf([[1.0, 2.0], [3.0, 4.0]])).grad_fn
    assert fn.name() == expected
    assert type(fn.name()) is str


def test_12_01_the_class_has_the_name_too(T: Any, leaf: Any) -> None:
    x = leaf()
    y = -(x * 2)
    y.t_()
    seen, node = [], y.sum().grad_fn
    while node is not None:
        seen.append(type(node).__name__)
        assert str(node).startswith(f"<{seen[-1]} object at 0x")
        node = node.next_functions[0][0] if node.next_functions else None
    assert seen == ["SumBackward0", "TBackward1", "NegBackward0", "MulBackward0", "AccumulateGrad"]
    y.sum().backward()
    assert type(y[0:1].grad_fn).__name__ == "SliceBackward0"


def test_12_02_one_entry_an_input_slot(leaf: Any) -> None:
    x = leaf()
    y = x * 3.0
    assert _names(y) == ["torch::autograd::AccumulateGrad", None]
    assert y.grad_fn.next_functions[1] == (None, 0)
    z = y * x.detach()
    assert _names(z) == ["MulBackward0", None]
    assert z.grad_fn.next_functions[0] == (y.grad_fn, 0)


def test_12_02_the_leaf_at_the_end(leaf: Any) -> None:
    x = leaf()
    ((accumulate, nr),) = x.exp().grad_fn.next_functions
    assert nr == 0
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert accumulate.next_functions == ()
    assert accumulate.variable is x


def test_12_02_the_same_node_each_time(leaf: Any) -> None:
    x = leaf()
    y = x * x
    (left, _), (right, _) = y.grad_fn.next_functions
    assert left is right
    assert (x + 1).grad_fn.next_functions[0][0] is left


def test_12_02_output_numbers(T: Any, leaf: Any) -> None:
    x = leaf()
    first, second = (x * 2).unbind()
    entries = T.stack([second, first]).grad_fn.next_functions
    assert [nr for _, nr in entries] == [1, 0]
    assert entries[0][0] is first.grad_fn


def test_12_03_one_object_with_metadata(leaf: Any) -> None:
    y = leaf() * 2
    fn = y.grad_fn
    assert y.grad_fn is fn
    assert fn.metadata == {}
    fn.metadata["seen"] = 1
    assert y.grad_fn.metadata["seen"] == 1


def test_12_03_siblings_share_their_node(leaf: Any) -> None:
    first, second = leaf().unbind()
    assert first.grad_fn is second.grad_fn
    assert (first.output_nr, second.output_nr) == (0, 1)


def test_12_03_nodes_are_nodes(T: Any, leaf: Any) -> None:
    fn = leaf().exp().grad_fn
    assert isinstance(fn, T.autograd.graph.Node)
    assert isinstance(fn.next_functions[0][0], T.autograd.graph.Node)
    assert not isinstance(3, T.autograd.graph.Node)


def test_12_03_grad_fn_is_not_writable(leaf: Any) -> None:
    y = leaf() * 2
    with pytest.raises(AttributeError):
        y.grad_fn = None


def test_12_03_a_node_outlives_its_tensor(T: Any, leaf: Any) -> None:
    x = leaf()
    fn = (x * x).exp().grad_fn
    gc.collect()
    ((behind, _),) = fn.next_functions
    del fn
    assert behind.name() == "MulBackward0"
    assert behind._saved_self is x
    (left, right) = behind(T.ones(2))
    assert left.tolist() == right.tolist() == [1.0, 2.0]
    edge = T.autograd.graph.GradientEdge(behind, 0)
    (g,) = T.autograd.grad(edge, x, T.ones(2))
    assert g.tolist() == [2.0, 4.0]


def test_12_03_looking_changes_nothing(leaf: Any) -> None:
    x = leaf()
    y = (x * x).sum()
    fn = y.grad_fn
    assert str(y) == "tensor(5., grad_fn=<SumBackward0>)"
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert y.grad_fn is fn


def test_12_04_saved_inputs(leaf: Any) -> None:
    x, z = leaf(), leaf()
    fn = (x * z).grad_fn
    assert fn._saved_self is x
    assert fn._saved_other is z
    assert (x * 2.0).grad_fn._saved_self is None
    assert (x * 2.5).grad_fn._saved_other.item() == 2.5
    assert str((x * 2).grad_fn._saved_other.dtype) == "torch.int64"
    assert (x**3).grad_fn._saved_exponent == 3
    with pytest.raises(AttributeError):
        fn._saved_nothing  # noqa: B018 - reading it is the test


def test_12_04_saved_results(leaf: Any) -> None:
    x = leaf([0.0])
    y = x.exp()
    fn = y.grad_fn
    assert fn._saved_result.tolist() == [1.0]
    assert fn._saved_result.grad_fn is fn
    del y
    gc.collect()
    assert fn._saved_result.tolist() == [1.0]
    assert fn._saved_result.requires_grad


def test_12_04_saved_attributes(leaf: Any) -> None:
    fn = leaf([[1.0, 2.0]]).sum(1).grad_fn
    assert tuple(fn._saved_dim) == (1,)
    assert fn._saved_keepdim is False


def test_12_04_what_nobody_else_holds(T: Any, leaf: Any) -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    fn = T.nn.functional.cross_entropy(x, T.tensor([0, 1])).grad_fn
    kept = fn.next_functions[0][0]._saved_result
    assert tuple(kept.shape) == (2, 2)
    assert kept.requires_grad
    assert [round(v, 4) for v in kept[:, 0].tolist()] == [-1.3133, -1.3133]


def test_12_04_freed(leaf: Any, raises: Any) -> None:
    x = leaf()
    y = x * x
    y.sum().backward()
    with raises(RuntimeError, _FREED):
        y.grad_fn._saved_self  # noqa: B018 - reading it is the test


def test_12_04_a_node_is_callable(T: Any, leaf: Any) -> None:
    x, z = leaf(), leaf([5.0, 6.0])
    y = x * z
    for _ in range(2):  # it keeps what it saved
        left, right = y.grad_fn(T.ones(2))
        assert left.tolist() == [5.0, 6.0]
        assert right.tolist() == [1.0, 2.0]
    assert (x * z.detach()).grad_fn(T.ones(2))[1] is None
    assert x.exp().grad_fn(T.zeros(2)).tolist() == [0.0, 0.0]
    assert x.grad is None


def test_12_04_a_called_node_is_differentiable(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * x
    left, _ = y.grad_fn(T.ones(2))
    left.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_12_04_a_leafs_node_accumulates(T: Any, leaf: Any) -> None:
    x = leaf()
    ((accumulate, _),) = x.exp().grad_fn.next_functions
    accumulate(T.ones(2))
    accumulate(T.ones(2))
    assert x.grad.tolist() == [2.0, 2.0]


def test_12_04_arguments_of_a_call(T: Any, leaf: Any, raises: Any) -> None:
    fn = leaf().unbind()[0].grad_fn
    with raises(TypeError, "expected 2 arguments, got 1 instead"):
        fn(T.tensor(1.0))
    with raises(TypeError, "argument 1 is not a Variable"):
        fn(None, "two")
    assert fn(T.tensor(1.0), None).tolist() == [1.0, 0.0]


class _Square:
    """A Function's static methods, to be mixed into a class of either module."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        return x * x, x * factor

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g + h, None


def test_12_03_the_node_of_a_function(T: Any, leaf: Any, raises: Any) -> None:
    graph = T.autograd.graph
    made = type("Square", (_Square, T.autograd.Function), {})
    x = leaf()
    first, second = made.apply(x * 1, 1.0)
    fn = first.grad_fn
    assert isinstance(fn, graph.Node)
    assert fn.name() == "SquareBackward"
    assert [(node.name(), nr) for node, nr in fn.next_functions] == [("MulBackward0", 0)]
    (of_second,) = T.autograd.grad(graph.get_gradient_edge(second), x, T.ones(2), retain_graph=True)
    (of_first,) = T.autograd.grad(graph.GradientEdge(fn, 0), x, T.ones(2), retain_graph=True)
    assert (of_first.tolist(), of_second.tolist()) == ([2.0, 4.0], [1.0, 1.0])
    inner = graph.GradientEdge(*fn.next_functions[0])
    (through,) = T.autograd.grad(first.sum() + second.sum(), inner)
    assert through.tolist() == [3.0, 5.0]
    with raises(TypeError, "'SquareBackward' object is not callable"):
        fn(T.ones(2), T.ones(2))


def test_12_04_saved_tensors_that_are_packed(T: Any, leaf: Any) -> None:
    x = leaf()
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy(), lambda a: T.tensor(a) * 10):
        y = x * x
    assert y.grad_fn._saved_self.tolist() == [10.0, 20.0]
    assert [g.tolist() for g in y.grad_fn(T.ones(2))] == [[10.0, 20.0]] * 2


def test_12_02_looking_around_in_a_hook(T: Any, leaf: Any) -> None:
    x = leaf()
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append(y.grad_fn.next_functions[0][0].name()))
    y.sum().backward()
    assert seen == ["torch::autograd::AccumulateGrad"]
    assert x.grad.tolist() == [2.0, 4.0]


def test_12_04_calling_a_freed_node(T: Any, leaf: Any, raises: Any) -> None:
    x = leaf()
    y = x * x
    y.sum().backward()
    with raises(RuntimeError, _FREED):
        y.grad_fn(T.ones(2))


def test_12_04_dir_lists_what_is_saved(T: Any, leaf: Any) -> None:
    x = leaf()
    for y, names in (
        (x**3, ["exponent", "self"]),
        (x * x, ["other", "self"]),
        (x.exp(), ["result"]),
        (x.softmax(0), ["dim", "result"]),
    ):
        found = [name for name in dir(y.grad_fn) if name.startswith("_saved_")]
        assert sorted(found) == [f"_saved_{name}" for name in names]
        assert all(getattr(y.grad_fn, name) is not None for name in found)


def test_12_04_a_node_without_gradients(T: Any, leaf: Any) -> None:
    x = leaf()
    assert (x * 3).grad_fn(None) == (None, None)
    assert x.exp().grad_fn(None) is None
    assert x.split(1)[0].grad_fn(None, None) is None
