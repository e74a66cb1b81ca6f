"""§11: hooks are called where no gradient comes, with None."""

from __future__ import annotations

from typing import Any


def _nothing(T: Any) -> Any:
    class Nothing(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return tuple(x.view_as(x) for x in inputs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return (None,) * len(grads)

    return Nothing


def test_11_01_an_output_without_a_gradient(leaf: Any) -> None:
    parts = leaf([1.0, 2.0, 3.0]).unbind()
    seen: list[Any] = []
    parts[0].register_hook(seen.append)
    parts[1].backward()
    assert seen == [None]


def test_11_01_a_node_that_no_gradient_reaches(T: Any, leaf: Any) -> None:
    x, y = leaf(), leaf()
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append(("x", g)))
    y.register_hook(lambda g: seen.append(("y", g)))
    middle = x * 2
    middle.register_hook(lambda g: seen.append(("middle", g)))
    middle.grad_fn.register_prehook(lambda outputs: seen.append(("before", outputs)))
    middle.grad_fn.register_hook(lambda inputs, outputs: seen.append(("after", inputs, outputs)))
    first, _ = _nothing(T).apply(middle, y)
    first.sum().backward()
    assert seen == [
        ("y", None),
        ("middle", None),
        ("before", (None,)),
        ("after", (None, None), (None,)),
        ("x", None),
    ]
    assert (x.grad, y.grad) == (None, None)


def test_11_02_no_gradient_cannot_be_replaced(T: Any, leaf: Any, raises: Any) -> None:
    middle = leaf() * 2
    middle.register_hook(lambda g: T.ones(2))
    first, _ = _nothing(T).apply(middle, leaf())
    with raises(RuntimeError, "can't replace a None gradient with a non-None value"):
        first.sum().backward()


def test_11_07_a_leaf_that_no_gradient_reaches(T: Any, leaf: Any) -> None:
    x = leaf()
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))
    first, _ = _nothing(T).apply(x, leaf())
    first.sum().backward()
    assert seen == [None]


def test_11_10_hooks_of_several_tensors_count_it(T: Any, leaf: Any) -> None:
    x, y = leaf(), leaf()
    seen: list[Any] = []
    T.autograd.graph.register_multi_grad_hook((x, y), lambda grads: seen.append(list(grads)))
    first, _ = _nothing(T).apply(x, y)
    first.sum().backward()
    assert seen == [[None, None]]
