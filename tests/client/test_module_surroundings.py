"""Modules over several devices and processes, of which there is one, on PyTorch and on gradd."""

from __future__ import annotations

import importlib
from typing import Any

import gradd
import pytest


def test_data_parallel_is_its_module(T: Any) -> None:
    m = T.nn.Linear(2, 2)
    found = importlib.import_module(f"{T.__name__}.nn.parallel")
    wrapped = T.nn.DataParallel(m)
    assert found.DataParallel is T.nn.DataParallel
    assert wrapped.module is m
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    x = T.ones(1, 2)
    assert wrapped(x).tolist() == m(x).tolist()
    if T is gradd:
        assert found.data_parallel(m, x).tolist() == m(x).tolist()
    assert repr(wrapped).startswith("DataParallel(\n  (module): Linear(")


def test_parts_for_devices_that_are_one() -> None:
    with gradd.connect("local:"):
        p = gradd.nn.parallel
        x = gradd.arange(4.0)
        (a, first), (b, second) = p.scatter((x, {"k": [x, 3]}), [0, 1])
        assert (a.tolist(), b.tolist()) == ([0, 1], [2, 3])
        assert (first["k"][0].tolist(), second["k"][1]) == ([0, 1], 3)
        scatter_kwargs = importlib.import_module("gradd.nn.parallel.scatter_gather").scatter_kwargs
        args, named = scatter_kwargs((x,), {}, [0, 1])
        assert (len(args), named) == (2, ({}, {}))
        m = gradd.nn.Identity()
        both = p.replicate(m, [0, 1])
        assert both == [m, m]
        found = p.gather([{"y": (out, out.sum())} for out in p.parallel_apply(both, [a, b])], 0)
        assert (found["y"][0].tolist(), found["y"][1].tolist()) == ([0, 1, 2, 3], [1, 5])
        with pytest.raises(AssertionError, match="The number of modules 2 is not equal to the number of in"):
            p.parallel_apply(both, [a])


def test_distributed_data_parallel_is_its_module() -> None:
    with gradd.connect("local:"):
        kind = importlib.import_module("gradd.nn.parallel.distributed").DistributedDataParallel
        assert kind is gradd.nn.parallel.DistributedDataParallel
        m = gradd.nn.Linear(2, 1)
        wrapped = kind(m, device_ids=[0], find_unused_parameters=True)
        assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
        with wrapped.no_sync():
            assert not wrapped.require_backward_grad_sync
            wrapped(gradd.ones(1, 2)).sum().backward()
        assert wrapped.require_backward_grad_sync
        with wrapped.join():
            wrapped(gradd.ones(1, 2)).sum().backward()
        assert m.weight.grad.tolist() == [[2.0, 2.0]]
        with pytest.raises(RuntimeError, match="is not needed when module doesn't have any parameters that"):
            kind(gradd.nn.ReLU())
        with pytest.raises(NotImplementedError, match="communication hooks are not supported"):
            wrapped.register_comm_hook(None, print)


def test_batch_norms_become_synchronized(T: Any) -> None:
    model = T.nn.Sequential(T.nn.BatchNorm1d(3, eps=0.1), T.nn.Sequential(T.nn.BatchNorm2d(2, affine=False)))
    before = model[0]
    found = T.nn.SyncBatchNorm.convert_sync_batchnorm(model.eval())
    assert found is model
    assert repr(model) == (
        "Sequential(\n  (0): SyncBatchNorm(3, eps=0.1, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=True)\n  (1): Sequential(\n    (0): SyncBatchNorm(2, eps=1e-05, momentum=0.1, "
        "affine=False, bias=False, track_running_stats=True)\n  )\n)"
    )
    assert model[0].weight is before.weight
    assert model[0].running_mean is before.running_mean
    assert isinstance(model[0], T.nn.modules.batchnorm._BatchNorm)
    assert not model[0].training
    x = T.arange(6.0).view(2, 3)
    assert model[0](x).tolist() == before(x).tolist()
    assert type(T.nn.SyncBatchNorm.convert_sync_batchnorm(before)) is T.nn.SyncBatchNorm
    with pytest.raises(ValueError, match="expected at least 2D input"):
        model[0](T.ones(3))


def test_a_synchronized_batch_norm_learns_as_one() -> None:
    with gradd.connect("local:"):
        x = gradd.arange(12.0).view(4, 3)
        both = [gradd.nn.SyncBatchNorm(3), gradd.nn.BatchNorm1d(3)]
        results = [norm(x).tolist() for norm in both]
        assert results[0] == results[1]
        assert both[0].running_var.tolist() == both[1].running_var.tolist()


def test_norms_of_ones_own_say_what_they_take(T: Any) -> None:
    class Any2d(T.nn.modules.batchnorm._BatchNorm):  # type: ignore[misc,name-defined]
        def _check_input_dim(self, input: Any) -> None:
            if input.dim() != 4:
                raise ValueError("four, please")

    norm = Any2d(2)
    assert norm(T.ones(1, 2, 2, 2)).shape == (1, 2, 2, 2)
    with pytest.raises(ValueError, match="four, please"):
        norm(T.ones(2, 2))


def test_convolutions_of_ones_own_have_another_weight(T: Any) -> None:
    class Doubled(T.nn.Conv2d):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return self._conv_forward(x, self.weight * 2, None)

    conv = Doubled(1, 1, 2, stride=2)
    plain = T.nn.functional.conv2d(T.ones(1, 1, 4, 4), conv.weight * 2, stride=2)
    assert conv(T.ones(1, 1, 4, 4)).tolist() == plain.tolist()


def test_options_of_new_tensors(T: Any) -> None:
    assert T.nn.factory_kwargs(None) == {}
    given = {"device": "cpu", "factory_kwargs": {"dtype": T.float64}}
    assert T.nn.factory_kwargs(given) == {"device": "cpu", "dtype": T.float64}
    with pytest.raises(TypeError, match=r"unexpected kwargs {'x'}"):
        T.nn.factory_kwargs({"x": 1})
    with pytest.raises(TypeError, match="dtype specified twice, in"):
        T.nn.factory_kwargs({"dtype": T.float32, "factory_kwargs": {"dtype": T.float64}})


def test_initial_values_of_convolutions_and_sparse_ones(T: Any) -> None:
    w = T.nn.init.dirac_(T.empty(4, 2, 3, 3), groups=2)
    x = T.arange(4 * 25.0).view(1, 4, 5, 5)
    assert T.nn.functional.conv2d(x, w, padding=1, groups=2).tolist() == x.tolist()
    small = T.nn.init.dirac_(T.ones(3, 1, 3))
    assert small.tolist() == [[[0, 1, 0]], [[0, 0, 0]], [[0, 0, 0]]]
    sparse = T.nn.init.sparse_(T.empty(10, 4), sparsity=0.25, std=2.0)
    assert (sparse == 0).sum(0).tolist() == [3] * 4
    with pytest.raises(ValueError, match="Only tensors with 3, 4, or 5 dimensions are supported"):
        T.nn.init.dirac_(T.ones(2, 2))
    with pytest.raises(ValueError, match="dim 0 must be divisible by groups"):
        T.nn.init.dirac_(T.ones(3, 1, 3), 2)
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions are supported"):
        T.nn.init.sparse_(T.ones(2), 0.5)


OLDER = [
    "uniform",
    "normal",
    "eye",
    "sparse",
    "orthogonal",
    "dirac",
    "constant",
    "xavier_uniform",
    "xavier_normal",
    "kaiming_uniform",
    "kaiming_normal",
]


@pytest.mark.parametrize("name", OLDER)
def test_older_names_of_initial_values(T: Any, name: str) -> None:
    w = T.zeros(3, 3, 3) if name == "dirac" else T.zeros(3, 3)
    more = {"sparse": (0.5,), "constant": (4.0,)}.get(name, ())
    with pytest.warns(
        FutureWarning, match=rf"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"
    ):
        assert getattr(T.nn.init, name)(w, *more) is w
    assert w.abs().sum().item() > 0


def test_parts_of_a_transformer_are_replaced(T: Any) -> None:
    class Bare(T.nn.TransformerEncoderLayer):  # type: ignore[misc,name-defined]
        def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
            return x * 0

        def _ff_block(self, x: Any) -> Any:
            return x * 0 + 1

    layer = Bare(4, 2, norm_first=True, dropout=0.0)
    x = T.ones(3, 1, 4)
    assert layer(x).tolist() == (x + 1).tolist()
    plain = T.nn.TransformerDecoderLayer(4, 2, dropout=0.0).eval()
    by_parts = plain.norm1(x + plain._sa_block(x, None, None))
    by_parts = plain.norm2(by_parts + plain._mha_block(by_parts, x, None, None))
    by_parts = plain.norm3(by_parts + plain._ff_block(by_parts))
    assert T.allclose(plain(x, x), by_parts)


def test_reductions_by_their_older_arguments(T: Any) -> None:
    reduction = T.nn._reduction
    assert [reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert reduction.legacy_get_string(False, None) == "sum"
    assert reduction.legacy_get_enum(None, False, emit_warning=False) == 0
    with pytest.warns(UserWarning, match="reduction='elementwise_mean' is deprecated"):
        assert reduction.get_enum("elementwise_mean") == 1
    with pytest.raises(ValueError, match="x is not a valid value for reduction"):
        reduction.get_enum("x")


def test_types_of_arguments_have_names(T: Any) -> None:
    types = importlib.import_module(f"{T.__name__}.nn.common_types")
    assert types._size_2_t == int | tuple[int, int]
    assert types._ratio_any_t == float | tuple[float, ...]


def test_recurrent_weights_in_one_list(T: Any) -> None:
    layer = T.nn.GRU(2, 3, 2, bidirectional=True)
    assert layer._flat_weights_names == [name for name, _ in layer.named_parameters()]
    assert all(a is b for a, b in zip(layer._flat_weights, layer.parameters(), strict=True))


REFUSED = {
    "nn.ParameterList(3)": "ParameterList.extend should be called with an iterable, but got int",
    "nn.ParameterList().extend(T.ones(2))": (
        "ParameterList.extend should be called with an iterable, but got Tensor"
    ),
    "nn.ParameterList()(1)": "ParameterList should not be called.",
    "nn.ParameterDict()(1)": "ParameterDict should not be called.",
    "nn.ParameterDict().update(3)": (
        "ParametersDict.update should be called with an iterable of key/value pairs, but got int"
    ),
    "nn.ParameterDict([('a',)])": "ParameterDict update sequence element #0 has length 1; 2 is required",
    "nn.ParameterDict()['b']": "'ParameterDict' object has no attribute 'b'",
    "nn.ParameterDict({1: T.ones(1)})": (
        "Index given to ParameterDict cannot be used as a key as it is not a string (type is 'int'). Open an "
        "issue on github if you need non-string keys."
    ),
    "nn.ModuleList().extend(3)": "ModuleList.extend should be called with an iterable, but got int",
    "nn.ModuleDict(3)": "ModuleDict.update should be called with an iterable of key/value pairs, but got int",
    "nn.ModuleDict([3])": "ModuleDict update sequence element #0 should be Iterable; isint",
    "nn.Sequential().insert(5, nn.ReLU())": "Index out of range: 5",
    "nn.Module(3)": "Module.__init__() takes 1 positional argument but 2 were given",
    "nn.Sigmoid(a=3)": "Sigmoid.__init__() got an unexpected keyword argument 'a'",
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_containers_refuse(T: Any, call: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the whole message is compared
        eval(call, {"T": T, "nn": T.nn})
    assert str(raised.value) == REFUSED[call]


def test_modules_go_on_to_the_bases_beside_them(T: Any) -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    class Both(T.nn.Module, Named):  # type: ignore[misc,name-defined]
        call_super_init = True

    assert Both("x").name == "x"
    assert Both(name="y").training
    assert not T.nn.Module.call_super_init


def test_members_by_a_function(T: Any) -> None:
    model = T.nn.Sequential(T.nn.Linear(1, 1))
    found = model._named_members(lambda m: m._parameters.items(), prefix="p")
    assert [name for name, _ in found] == ["p.0.weight", "p.0.bias"]
    assert "0" not in dir(model)
    assert T.nn.init._calculate_correct_fan(T.ones(2, 3), "fan_in") == 3
