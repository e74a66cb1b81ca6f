"""The table from PyTorch's operators to gradd's functions: each row computes what its operator does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from gradd._torch.aten import ROWS, constant, find  # noqa: E402

pytestmark = pytest.mark.oracle

aten = torch.ops.aten
#: what has no values, or random ones: only sizes and dtypes are compared
VALUELESS = (
    "empty.memory_format",
    "empty_like",
    "new_empty",
    "rand",
    "rand_like",
    "randint",
    "randint.low",
    "randn",
    "randn_like",
)


@pytest.fixture(autouse=True)
def session() -> Iterator[gradd.Session]:
    torch.manual_seed(0)
    with gradd.connect("local:") as found:
        yield found


def x(*size: int) -> Any:
    return torch.randn(size)


F32, I64 = {"dtype": torch.float32}, {"dtype": torch.int64}
IDS = torch.tensor([[0, 2], [1, 2]])
#: arguments for each row: by position, and keywords where there are some
SAMPLES: dict[str, list[Any]] = {
    "_adaptive_avg_pool2d": [x(2, 3, 6, 6), [2, 3]],
    "_adaptive_avg_pool3d": [x(2, 3, 6, 6, 4), [2, 3, 1]],
    "_cdist_forward": [x(3, 2), x(4, 2), 2.0, None],
    "_embedding_bag": [x(5, 3), torch.tensor([0, 2, 4, 2]), torch.tensor([0, 1]), False, 1],
    "_log_softmax": [x(2, 3), 1, False],
    "_native_batch_norm_legit_functional": [x(4, 3), x(3), x(3), x(3), x(3).abs(), True, 0.2, 1e-3],
    "_native_batch_norm_legit.no_stats": [x(4, 3), x(3), None, True, 0.2, 1e-3],
    "_native_batch_norm_legit_no_training": [x(4, 3), x(3), x(3), x(3), x(3).abs(), 0.2, 1e-3],
    "_pdist_forward": [x(4, 2), 2.0],
    "_safe_softmax": [x(2, 3), 1],
    "_softmax": [x(2, 3), 0, False],
    "_to_copy": [x(2, 3), {"dtype": torch.float64}],
    "_trilinear": [x(2, 3), x(4, 3, 5), x(2, 5), [1, 3], [0], [1, 2], [2, 3]],
    "_unsafe_view": [x(2, 3), [3, -1]],
    "_upsample_nearest_exact1d.vec": [x(2, 3, 4), [7], None],
    "_upsample_nearest_exact2d.vec": [x(2, 3, 4, 4), [7, 2], None],
    "_upsample_nearest_exact3d.vec": [x(2, 3, 4, 4, 4), None, [2.0, 1.0, 2.0]],
    "alias": [x(2)],
    "arange": [5, I64],
    "col2im": [x(2, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]],
    "constant_pad_nd": [x(2, 3), [1, 2], 7.0],
    "convolution": [x(2, 4, 5), x(6, 2, 3), x(6), [2], [1], [1], False, [0], 2],
    "copy": [x(2, 3), torch.arange(3)],
    "cross_entropy_loss": [x(4, 3), torch.tensor([0, 2, 1, 0]), x(3).abs(), 2, 1, 0.1],
    "einsum": ["ij,jk->ik", [x(2, 3), x(3, 2)]],
    "elu": [x(6), 1.5, 1.2, 0.7],
    "embedding": [x(3, 2), IDS, 1],
    "empty.memory_format": [[2, 3], F32],
    "empty_like": [x(2, 3)],
    "expand": [x(2, 1), [2, 3]],
    "full_like": [x(2, 3), 4, I64],
    "grid_sampler": [x(1, 2, 4, 5), x(1, 3, 3, 2).tanh(), 1, 1, False],
    "grid_sampler_2d": [x(1, 2, 4, 5), x(1, 3, 3, 2).tanh(), 0, 0, True],
    "grid_sampler_3d": [x(1, 2, 4, 5, 3), x(1, 3, 3, 2, 3).tanh(), 0, 2, False],
    "im2col": [x(2, 3, 4, 4), [2, 2], [1, 1], [0, 0], [1, 1]],
    "index.Tensor": [x(3, 4, 3), [None, torch.tensor([0, 3]), torch.tensor([1, 1])]],
    "max_pool2d_with_indices": [x(2, 3, 6, 6), [3, 3], [2, 2], [1, 1]],
    "max_pool3d_with_indices": [x(2, 3, 6, 6, 6), [3, 3, 2], [2, 2, 1], [1, 1, 1]],
    "native_dropout": [x(2, 3), 0.5, False],
    "native_group_norm": [x(2, 4, 3), x(4), x(4), 2, 4, 3, 2, 1e-3],
    "native_layer_norm": [x(2, 3), [3], x(3), x(3), 1e-3],
    "new_empty": [x(1), [2, 3]],
    "new_full": [x(1), [2, 3], 4.0],
    "new_ones": [x(1), [2, 3], I64],
    "new_zeros": [x(1), [2, 3]],
    "one_hot": [IDS, 4],
    "ones": [[2, 3], F32],
    "ones_like": [x(2, 3), I64],
    "rand": [[2, 3], F32],
    "rand_like": [x(2, 3)],
    "randint": [5, [2, 3], I64],
    "randint.low": [2, 5, [2, 3], I64],
    "randn": [[2, 3], F32],
    "randn_like": [x(2, 3)],
    "reflection_pad1d": [x(2, 3, 5), [1, 2]],
    "reflection_pad2d": [x(2, 3, 5, 5), [1, 2, 0, 3]],
    "reflection_pad3d": [x(1, 2, 4, 4, 4), [1, 2, 0, 3, 1, 1]],
    "repeat": [x(2, 3), [2, 1, 2]],
    "replication_pad1d": [x(2, 3, 5), [1, 2]],
    "replication_pad2d": [x(2, 3, 5, 5), [1, 2, 0, 3]],
    "replication_pad3d": [x(1, 2, 4, 4, 4), [1, 2, 0, 3, 1, 1]],
    "scalar_tensor": [3.5, F32],
    "slice.Tensor": [x(3, 5), -1, 1, 9223372036854775807, 2],
    "split.Tensor": [x(5, 2), 2],
    "sym_numel": [x(2, 3)],
    "sym_size.int": [x(2, 3), 1],
    "upsample_bicubic2d.vec": [x(2, 3, 4, 4), [8, 6], False, None],
    "upsample_bilinear2d.vec": [x(2, 3, 4, 4), [8, 6], True, None],
    "upsample_linear1d.vec": [x(2, 3, 4), None, False, [2.0]],
    "upsample_nearest1d.vec": [x(2, 3, 4), [6], None],
    "upsample_nearest2d.vec": [x(2, 3, 4, 4), None, [2.0, 2.0]],
    "upsample_nearest3d.vec": [x(2, 3, 4, 4, 4), [5, 6, 7], None],
    "upsample_trilinear3d.vec": [x(2, 3, 4, 4, 4), [5, 6, 7], False, None],
    "view": [x(2, 3), [3, -1]],
    "zeros": [[2, 3], F32],
    "zeros_like": [x(2, 3)],
}


def _here(name: str, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return gradd.from_torch(value)
    if isinstance(value, list) and any(isinstance(one, torch.Tensor) for one in value):
        return [_here("", one) for one in value]
    return constant(name, value)


def _operator(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload or "default")


def _same(mine: Any, theirs: Any, values: bool) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs, strict=True):
            if one is not None:  # what only PyTorch's own backward passes read
                _same(one, other, values)
    elif isinstance(theirs, torch.Tensor):
        assert (str(mine.dtype), tuple(mine.shape)) == (str(theirs.dtype), tuple(theirs.shape))
        if values:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)
    else:
        assert mine == theirs


@pytest.mark.parametrize("name", ROWS)
def test_a_row_computes_what_its_operator_does(name: str) -> None:
    *args, last = SAMPLES[name]
    args, kwargs = (args, last) if isinstance(last, dict) else ([*args, last], {})
    operator = _operator(name)
    theirs = operator(*args, **kwargs)
    function = find(operator)
    assert function is not None
    names = [argument.name for argument in operator._schema.arguments]
    mine = function(
        *(_here(key, value) for key, value in zip(names, args, strict=False)),
        **{key: _here(key, value) for key, value in kwargs.items()},
    )
    _same(mine, theirs, name not in VALUELESS)


def test_each_row_has_a_sample() -> None:
    assert list(SAMPLES) == list(ROWS)


#: what a model's forward may be decomposed into and gradd has no function for
MISSING = {
    "_fft_c2r",  # the functions of torch.fft are there
    "_fft_r2c",
    "_local_scalar_dense",
    "_native_batch_norm_legit",  # writes
    "sym_is_contiguous",
    "sym_storage_offset",
    "sym_stride",
}  # fmt: skip


def test_of_the_core_operators_few_are_missing() -> None:
    names = [name[6:] for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    operators = [_operator(name) for name in names if not name.startswith("__")]
    core = [op for op in operators if torch.Tag.core in op.tags and not op._schema.is_mutable]
    assert len(core) > 150
    missing = {op._schema.name[6:] for op in core if find(op) is None and "backward" not in op._schema.name}
    assert missing <= MISSING


def test_a_function_of_the_same_name_has_the_same_parameters() -> None:
    assert find(aten.unfold.default) is not None  # Tensor.unfold, not nn.functional.unfold
    t = x(6)
    mine = find(aten.unfold.default)(gradd.from_torch(t), 0, 3, 1)
    _same(mine, aten.unfold.default(t, 0, 3, 1), True)
    loss = find(aten.mse_loss.default)
    a, b = x(3), x(3)
    _same(loss(_here("", a), _here("", b), constant("reduction", 2)), aten.mse_loss.default(a, b, 2), True)
    assert find(aten.add_.Tensor) is None
    assert find(torch.ops.prims.sin.default) is None
