"""nn.Module: attributes, registration, walks, state_dict, conversions, text, PyTorch's messages."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    import gradd

    with gradd.connect("local:"):
        yield gradd


def model(T: Any) -> Any:
    """A module with a parameter, a buffer that is saved, one that is not, and children two levels deep."""

    class Model(T.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = T.nn.Linear(2, 3)
            self.body = T.nn.Sequential(T.nn.Linear(3, 3, bias=False), T.nn.ReLU())
            self.scale = T.nn.Parameter(T.ones(3))
            self.register_buffer("mean", T.zeros(3))
            self.register_buffer("scratch", T.zeros(1), persistent=False)

        def forward(self, x: Any) -> Any:
            return self.body(self.linear(x)) * self.scale + self.mean

    return Model()


def error(fn: Callable[[], Any]) -> tuple[type[BaseException], str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - class and text are what the test compares
        fn()
    return caught.type, str(caught.value)


WRONG: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "int as parameter": (
        lambda T, m: setattr(m, "scale", 3),
        TypeError,
        "cannot assign 'int' as parameter 'scale' (torch.nn.Parameter or None expected)",
    ),
    "tensor as parameter": (
        lambda T, m: setattr(m, "scale", T.ones(1)),
        TypeError,
        "cannot assign 'torch.FloatTensor' as parameter 'scale' (torch.nn.Parameter or None expected)",
    ),
    "int as child": (
        lambda T, m: setattr(m, "linear", 3),
        TypeError,
        "cannot assign 'int' as child module 'linear' (torch.nn.Module or None expected)",
    ),
    "int as buffer": (
        lambda T, m: setattr(m, "mean", 3),
        TypeError,
        "cannot assign 'int' as buffer 'mean' (torch.nn.Buffer, torch.Tensor or None expected)",
    ),
    "no attribute": (lambda T, m: m.nope, AttributeError, "'Model' object has no attribute 'nope'"),
    "nothing to delete": (
        lambda T, m: delattr(m, "nope"),
        AttributeError,
        "'Model' object has no attribute 'nope'",
    ),
    "dot in parameter": (
        lambda T, m: m.register_parameter("a.b", None),
        KeyError,
        "'parameter name can\\'t contain \".\"'",
    ),
    "empty parameter name": (
        lambda T, m: m.register_parameter("", None),
        KeyError,
        "'parameter name can\\'t be empty string \"\"'",
    ),
    "parameter name taken": (
        lambda T, m: m.register_parameter("linear", None),
        KeyError,
        "\"attribute 'linear' already exists\"",
    ),
    "parameter name no text": (
        lambda T, m: m.register_parameter(3, None),
        TypeError,
        "parameter name should be a string. Got int",
    ),
    "tensor registered as parameter": (
        lambda T, m: m.register_parameter("q", T.ones(1)),
        TypeError,
        "cannot assign 'torch.FloatTensor' object to parameter 'q' (torch.nn.Parameter or None required)",
    ),
    "dot in buffer": (
        lambda T, m: m.register_buffer("a.b", None),
        KeyError,
        "'buffer name can\\'t contain \".\"'",
    ),
    "int registered as buffer": (
        lambda T, m: m.register_buffer("q", 3),
        TypeError,
        "cannot assign 'int' object to buffer 'q' (torch Tensor or None required)",
    ),
    "buffer name no text": (
        lambda T, m: m.register_buffer(3, None),
        TypeError,
        "buffer name should be a string. Got int",
    ),
    "dot in child": (
        lambda T, m: m.add_module("a.b", None),
        KeyError,
        "'module name can\\'t contain \".\", got: a.b'",
    ),
    "int as module": (lambda T, m: m.add_module("q", 3), TypeError, "int is not a Module subclass"),
    "child name taken": (
        lambda T, m: m.add_module("scale", None),
        KeyError,
        "\"attribute 'scale' already exists\"",
    ),
    "mode no bool": (lambda T, m: m.train(3), ValueError, "training mode is expected to be boolean"),
    "no forward": (
        lambda T, m: T.nn.Module()(1),
        NotImplementedError,
        'Module [Module] is missing the required "forward" function',
    ),
    "no submodule": (
        lambda T, m: m.get_submodule("linear.z"),
        AttributeError,
        "Linear has no attribute `z`",
    ),
    "submodule is a parameter": (
        lambda T, m: m.get_submodule("scale"),
        AttributeError,
        "`scale` is not an nn.Module",
    ),
    "no parameter": (
        lambda T, m: m.get_parameter("linear"),
        AttributeError,
        "`linear` is not an nn.Parameter",
    ),
    "no buffer": (lambda T, m: m.get_buffer("scale"), AttributeError, "`scale` is not a buffer"),
    "state no dict": (
        lambda T, m: m.load_state_dict(3),
        TypeError,
        "Expected state_dict to be dict-like, got <class 'int'>.",
    ),
    "to an integer dtype": (
        lambda T, m: m.to(T.int64),
        TypeError,
        "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64",
    ),
    "integer parameter": (
        lambda T, m: T.nn.Parameter(T.ones(2, dtype=T.int64)),
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_misuse_raises_in_pytorchs_words(T: Any, case: str) -> None:
    fn, kind, message = WRONG[case]
    m = model(T)
    assert error(lambda: fn(T, m)) == (kind, message)
    assert len(list(m.parameters())) == 4


@pytest.mark.parametrize("what", ["module", "parameters"])
def test_assignment_before_init_is_refused(T: Any, what: str) -> None:
    class Early(T.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            self.x = T.nn.Linear(1, 1) if what == "module" else T.nn.Parameter(T.ones(1))

    assert error(Early) == (AttributeError, f"cannot assign {what} before Module.__init__() call")


def test_names_and_order(T: Any) -> None:
    m = model(T)
    assert [n for n, _ in m.named_parameters()] == ["scale", "linear.weight", "linear.bias", "body.0.weight"]
    assert [n for n, _ in m.named_parameters("x", recurse=False)] == ["x.scale"]
    assert [n for n, _ in m.named_buffers()] == ["mean", "scratch"]
    assert [n for n, _ in m.named_modules()] == ["", "linear", "body", "body.0", "body.1"]
    assert [n for n, _ in m.named_children()] == ["linear", "body"]
    assert list(m.state_dict()) == ["scale", "mean", "linear.weight", "linear.bias", "body.0.weight"]
    assert m.get_submodule("body.0") is m.body[0]
    assert m.get_parameter("linear.bias") is m.linear.bias
    assert m.get_buffer("mean") is m.mean


def test_shared_parameters_and_modules_appear_once(T: Any) -> None:
    m = model(T)
    m.body[0].weight = m.scale
    m.again = m.linear
    assert [n for n, _ in m.named_parameters()] == ["scale", "linear.weight", "linear.bias"]
    assert len(list(m.named_parameters(remove_duplicate=False))) == 6
    assert len(list(m.modules())) == 5


def test_assignment_moves_between_registries(T: Any) -> None:
    m = model(T)
    p = T.nn.Parameter(T.ones(2))
    m.plain = 3
    m.plain = p
    assert "plain" in dict(m.named_parameters())
    assert m.plain is p
    m.plain = None
    assert m.plain is None
    assert "plain" not in dict(m.named_parameters())
    m.mean = T.ones(3)
    assert m.get_buffer("mean").sum().item() == 3
    m.mean = p
    assert "mean" not in dict(m.named_buffers())
    del m.mean
    assert not hasattr(m, "mean")
    m.linear = T.nn.Identity()
    assert [n for n, _ in m.named_children()] == ["linear", "body"]
    assert type(m.linear).__name__ == "Identity"


def test_parameter_is_a_leaf_over_the_same_memory(T: Any) -> None:
    data = T.tensor([1.0, 2.0])
    p = T.nn.Parameter(data)
    assert isinstance(p, T.Tensor)
    assert (p.requires_grad, p.is_leaf, type(p).__name__) == (True, True, "Parameter")
    with T.no_grad():
        data.add_(1)
    assert p.tolist() == [2.0, 3.0]
    assert type(p * 2) is T.Tensor
    assert type(p.detach()) is T.Tensor
    assert type(p.data) is T.Tensor
    assert repr(p) == "Parameter containing:\ntensor([2., 3.], requires_grad=True)"
    assert repr(T.nn.Parameter()) == "Parameter containing:\ntensor([], requires_grad=True)"
    q = copy.deepcopy(p)
    assert type(q) is type(p)
    with T.no_grad():
        p.zero_()
    assert q.tolist() == [2.0, 3.0]


def test_modes_and_flags(T: Any) -> None:
    m = model(T)
    assert m.training
    assert m.eval() is m
    assert not m.body[1].training
    m.train()
    assert m.body[1].training
    m.requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())
    seen: list[str] = []
    m.apply(lambda part: seen.append(type(part).__name__))
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Model"]


def test_zero_grad(T: Any) -> None:
    m = model(T)
    m(T.ones(1, 2)).sum().backward()
    assert m.scale.grad is not None
    m.zero_grad(set_to_none=False)
    assert m.scale.grad.tolist() == [0.0, 0.0, 0.0]
    m.zero_grad()
    assert all(p.grad is None for p in m.parameters())


def test_state_dict_travels(T: Any) -> None:
    a, b = model(T), model(T)
    with T.no_grad():
        a.scale.mul_(3)
        a.mean.add_(1)
    state = a.state_dict()
    assert isinstance(state, OrderedDict)
    assert not state["scale"].requires_grad
    assert a.state_dict(keep_vars=True)["scale"] is a.scale
    kept = b.scale
    assert repr(b.load_state_dict(state)) == "<All keys matched successfully>"
    assert b.scale is kept
    for name, value in b.state_dict().items():
        assert value.tolist() == state[name].tolist()
    b.load_state_dict(state, assign=True)
    assert b.scale.requires_grad
    with T.no_grad():
        b.mean.zero_()
    assert a.mean.tolist() == [0.0, 0.0, 0.0]


def test_state_dict_that_does_not_fit(T: Any) -> None:
    m = model(T)
    state = m.state_dict()
    del state["linear.bias"]
    state["scale"] = T.ones(4)
    state["body.0.weight"] = 7
    state["extra"] = T.ones(1)
    state["linear.weight.deep"] = T.ones(1)
    kind, message = error(lambda: m.load_state_dict(state))
    assert kind is RuntimeError
    assert message == (
        "Error(s) in loading state_dict for Model:\n\t"
        'Missing key(s) in state_dict: "linear.bias". \n\t'
        'Unexpected key(s) in state_dict: "extra", "linear.weight.deep". \n\t'
        "size mismatch for scale: copying a param with shape torch.Size([4]) from checkpoint, the shape in "
        "current model is torch.Size([3]).\n\t"
        'While copying the parameter named "body.0.weight", expected torch.Tensor or Tensor-like object from '
        "checkpoint but received <class 'int'>"
    )
    found = m.load_state_dict({"extra": 1}, strict=False)
    assert found.unexpected_keys == ["extra"]
    assert found.missing_keys == list(m.state_dict())


def test_conversions_keep_identity_and_gradients(T: Any) -> None:
    m = model(T)
    m(T.ones(1, 2)).sum().backward()
    weight = m.linear.weight
    before = weight.grad.tolist()
    assert m.double() is m
    assert m.linear.weight is weight
    assert weight.dtype == T.float64
    assert m.mean.dtype == T.float64
    assert weight.grad.dtype == T.float64
    assert weight.grad.tolist() == before
    m(T.ones(1, 2, dtype=T.float64)).sum().backward()
    assert weight.grad.tolist() == [[pytest.approx(2 * v) for v in row] for row in before]
    m.to(T.float32)
    assert weight.dtype == T.float32
    assert m.to("cpu") is m
    assert m.cpu() is m


def test_deepcopy_clones(T: Any) -> None:
    m = model(T)
    m(T.ones(1, 2)).sum().backward()
    other = copy.deepcopy(m)
    assert other.scale is not m.scale
    with T.no_grad():
        m.scale.zero_()
    assert other.scale.tolist() == [1.0, 1.0, 1.0]
    assert len(list(other.parameters())) == 4


def test_zero_grad_is_one_step() -> None:
    import gradd

    with gradd.connect("local:") as s:
        m = model(gradd)
        m(gradd.ones(1, 2)).sum().backward()
        s.flush()
        before = s.stats()["steps"]
        m.zero_grad()
        s.flush()
        assert s.stats()["steps"] == before + 1


def test_no_warning_is_lost(T: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        T.nn.Linear(0, 2)
    assert [str(w.message) for w in seen] == ["Initializing zero-element tensors is a no-op"]
