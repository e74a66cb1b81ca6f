"""Operators of one's own (torch.library), and what they check (torch._check)."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_custom_operator_computes_and_has_a_gradient(T: Any) -> None:
    def cube(x: Any, k: float = 1.0) -> Any:
        return x * x * x * k

    schema = "(Tensor x, float k=1.0) -> Tensor"
    made = T.library.custom_op("mine::cube", mutates_args=(), schema=schema)(cube)
    made.register_fake(lambda x, k=1.0: T.empty_like(x))
    x = T.tensor([1.0, 2.0], requires_grad=True)
    assert T.ops.mine.cube(x.detach(), 2.0).tolist() == [2.0, 16.0]
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        made(x).sum().backward()

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.k = inputs[1]

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[0] ** 2 * 3 * ctx.k, None

    made.register_autograd(backward, setup_context=keep)
    made(x, k=2.0).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]


def test_operators_are_defined_by_name(T: Any) -> None:
    T.library.define("mine::twice", "(Tensor x) -> Tensor")
    T.library.impl("mine::twice", "cpu")(lambda x: x * 2)
    assert T.ops.mine.twice(T.ones(2)).tolist() == [2.0, 2.0]
    assert T.ops.mine.twice.default(T.ones(1)).tolist() == [2.0]
    held = T.library.Library("mine_too", "DEF")
    held.define("thrice(Tensor x) -> Tensor")
    held.impl("thrice", lambda x: x * 3, "CPU")
    assert T.ops.mine_too.thrice(T.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises(AttributeError, match="object has no attribute 'absent'"):
        _ = T.ops.mine.absent
    with pytest.raises(OSError, match=r"nowhere\.so"):
        T.ops.load_library("nowhere.so")
    with pytest.raises(ValueError, match="Unsupported kind: SOME"):
        T.library.Library("mine", "SOME")


def test_checks_raise_what_they_say(T: Any) -> None:
    T._check(True)
    for check, error in (
        (T._check, RuntimeError), (T._check_index, IndexError), (T._check_value, ValueError),
        (T._check_type, TypeError), (T._check_not_implemented, NotImplementedError),
    ):  # fmt: skip
        with pytest.raises(error, match="two is not three"):
            check(False, lambda: "two is not three")
    with pytest.raises(RuntimeError, match="Expected cond to be True, but got False"):
        T._check(False)
    with pytest.raises(TypeError, match="cond must be a bool, but got"):
        T._check("yes")
    with pytest.warns(FutureWarning, match="Use _check"):
        T._check_is_size(3)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError):
        T._check_is_size(-1)
