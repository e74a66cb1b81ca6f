"""Small things that scripts say, each a line that gives the same text under torch and under gradd."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gradd
import numpy as np
import pytest

LINES = [
    # what can be asked
    "x.is_signed(), x.is_sparse, x.layout, x.itemsize, x.ndimension(), x.is_quantized, x.get_device()",
    "T.is_floating_point(x), T.is_nonzero(x[0, 1]), T.is_same_size(x, x.t()), T.is_signed(x.byte())",
    "T.can_cast(T.float32, T.int32), T.can_cast(T.int32, T.float32), x[T.newaxis].shape, T.strided",
    "T.float64.to_complex(), T.complex64.to_real(), T.int64.to_real(), T.float16.to_real()",
    "type(x), type(x) is T.Tensor, list(reversed(x)), reversed(T.tensor(3))",
    # tensors made by their class
    "T.Tensor([1, 2]), T.Tensor(2, 3).shape, T.Tensor(), T.Tensor((1, 2)), T.Tensor(x.shape).shape",
    "T.FloatTensor([1, 2]), T.LongTensor([1, 2]), T.BoolTensor([True]), T.HalfTensor(2).dtype",
    "isinstance(x, T.FloatTensor), isinstance(x, T.LongTensor), T.FloatTensor, T.ByteTensor.dtype",
    "T.Tensor(x), T.LongTensor(), T.typename(x), x.is_cpu",
    "type(T.nn.Parameter(x)), type(T.nn.Linear(2, 2).bias), T.accelerator.is_available(), "
    "T.accelerator.current_accelerator(), T.accelerator.device_count()",
    "x.type(T.LongTensor), x.type(T.FloatTensor), T.DoubleTensor(np.ones(2))",
    "T.asarray([1, 2]), T.asarray(x) is x, T.asarray(x, copy=True) is x, T.asarray(x, dtype=T.int32)",
    # arranged anew
    "x.clone().fill_diagonal_(5), T.zeros(5, 2).fill_diagonal_(1), T.zeros(7, 2).fill_diagonal_(1, True)",
    "T.zeros(2, 2, 2).fill_diagonal_(3), x.t().clone().fill_diagonal_(-1)",
    "x.repeat_interleave(T.tensor([1, 0, 2]), dim=1), T.repeat_interleave(T.tensor([2, 1]))",
    "T.combinations(T.arange(3)), T.cartesian_prod(T.arange(2), T.arange(2)), T.block_diag(x, x[0])",
    # copies
    "copy.copy(w), copy.copy(w) is w, copy.copy(w * 2), copy.copy(T.nn.Parameter(x))",
    "again(x), again(w), again(T.nn.Parameter(x)), again({'k': [x[0]]}), again(x.bfloat16()), again(x.shape)",
    "saved(model.state_dict()), saved({'a': x})",
    "T.nn.ParameterDict({'a': T.nn.Parameter(x), 'b': T.nn.Parameter(x[0])}), T.nn.ParameterList()",
    # zeros have their sign
    "T.tensor([3.5, -3.5, 4.0]) % -0.5, T.tensor([-4.0, 0.0]) % 2, 7 % T.tensor([-0.5, 3.5]), x % x",
    "T.tensor([1.0, 2.0, 3.0]).lgamma(), T.unravel_index(T.tensor(5), (2, 3))",
    "x.to('cpu'), x.to(device=T.device('cpu')), x.mT, T.device('cpu')",
    "T.nn.ParameterList([T.nn.Parameter(x), T.nn.Parameter(x[0])])",
]

RAISES = [
    "T.Tensor(3.5)",
    "T.Tensor('ab')",
    "T.Tensor(2, 'a')",
    "T.Tensor([[1, 2], [3]])",
    "T.is_nonzero(T.ones(2))",
    "T.finfo(T.int32)",
    "T.iinfo(T.float32)",
    "T.zeros(3).fill_diagonal_(1)",
    "T.zeros(2, 3, 2).fill_diagonal_(1)",
    "T.zeros(2, 2).fill_diagonal_('a')",
    "T.asarray([1], copy=False)",
    "x.type('nonsense')",
    "T.arange(3).std()",
    "T.var_mean(T.arange(3))",
    "T.device('nope')",
    "x.to('nope')",
    "x.to(device='nope:1')",
    "x[0].mT",
    "T.unravel_index(T.tensor(1.0), (2,))",
]


def value(T: Any, line: str) -> Any:
    def saved(thing: Any) -> Any:
        file = io.BytesIO()
        T.save(thing, file)
        file.seek(0)
        return T.load(file)

    model = T.nn.Linear(3, 1)
    for p in model.parameters():
        T.nn.init.constant_(p, 0.5)
    names = {
        "T": T,
        "np": np,
        "copy": copy,
        "again": lambda thing: pickle.loads(pickle.dumps(thing)),
        "saved": saved,
        "model": model,
        "x": T.tensor([[0.5, 2.0, -1.0], [3.0, -4.0, 5.5]]),
        "w": T.tensor([1.0, 2.0], requires_grad=True),
    }
    return eval(line, names)


@pytest.mark.oracle
@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_the_same(oracle: Callable[..., Any], line: str) -> None:
    with gradd.connect("local:"):
        assert repr(value(gradd, line)) == oracle(lambda torch: repr(value(torch, line)))


@pytest.mark.oracle
@pytest.mark.parametrize("line", RAISES)
def test_a_line_raises_the_same(torch: Any, line: str) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError)) as wanted:
        value(torch, line)
    with gradd.connect("local:"), pytest.raises(wanted.type) as found:
        value(gradd, line)
    assert str(found.value) == str(wanted.value)


def test_a_copy_shares_memory() -> None:
    with gradd.connect("local:"):
        x = gradd.ones(3)
        copy.copy(x)[0] = 7.0
        assert x.tolist() == [7.0, 1.0, 1.0]


def test_a_pickle_comes_back_into_the_session_of_the_time(daemon: str) -> None:
    with gradd.connect("local:"):
        data = pickle.dumps(gradd.ones(2, requires_grad=True) * 2)
    with gradd.connect(daemon):
        found = pickle.loads(data)
        assert (found.tolist(), found.requires_grad, found.is_leaf) == ([2.0, 2.0], True, True)


def test_python_names_what_is_public_where_arguments_are_missing() -> None:
    spaces = (gradd, gradd.linalg, gradd.special, gradd.nn.functional, *gradd.Tensor.__mro__[:-1])
    known = {
        f"{space.__name__}.{name}": fn.__qualname__
        for space in spaces
        for name, fn in vars(space).items()
        if isinstance(fn, FunctionType) and not name.startswith("_")
    }
    assert len(known) > 500
    assert {name: said for name, said in known.items() if said.startswith("_") or "<" in said} == {}
    with pytest.raises(TypeError, match=r"^copy_\(\) missing 1 required positional argument: 'other'$"):
        gradd.ones(2).copy_()
