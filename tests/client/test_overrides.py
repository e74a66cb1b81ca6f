"""``__torch_function__``: classes and modes of a user's own, as PyTorch's notes on extending it have them."""

from __future__ import annotations

import inspect
import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd._surface import overridable

pytestmark = pytest.mark.usefixtures("as_declared")


def _scalar_tensor(T: Any) -> tuple[type, Callable[[Any], Callable[[Any], Any]]]:
    handled: dict[Any, Any] = {}

    class ScalarTensor:
        """A diagonal matrix of one number, which is no tensor."""

        def __init__(self, n: int, value: float) -> None:
            self.n, self.value = n, value

        def __repr__(self) -> str:
            return f"ScalarTensor(N={self.n}, value={self.value})"

        def tensor(self) -> Any:
            return self.value * T.eye(self.n)

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func not in handled or not all(issubclass(t, (T.Tensor, ScalarTensor)) for t in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    def implements(function: Any) -> Callable[[Any], Any]:
        def register(implementation: Any) -> Any:
            handled[function] = implementation
            return implementation

        return register

    return ScalarTensor, implements


def test_scalar_tensor(T: Any) -> None:
    ScalarTensor, implements = _scalar_tensor(T)

    @implements(T.mean)
    def mean(input: Any) -> float:
        return float(input.value / input.n)

    @implements(T.add)
    def add(input: Any, other: Any) -> Any:
        if isinstance(input, ScalarTensor) and isinstance(other, ScalarTensor):
            return ScalarTensor(input.n, input.value + other.value)
        return T.add(*(x.tensor() if isinstance(x, ScalarTensor) else x for x in (input, other)))

    @implements(T.nn.functional.dropout)
    def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        return ScalarTensor(input.n, input.value * (1 - p) if training else input.value)

    @implements(T.stack)
    def stack(tensors: Any, dim: int = 0) -> Any:
        return T.stack([x.tensor() for x in tensors], dim)

    d = ScalarTensor(5, 2)
    assert T.mean(d) == 0.4
    assert repr(T.add(d, d)) == "ScalarTensor(N=5, value=4)"
    assert T.add(d, T.ones(5, 5)).sum().item() == 35
    assert T.add(T.ones(5, 5), d).sum().item() == 35
    assert T.nn.functional.dropout(d, 0.25).value == 1.5
    assert T.stack([d, d]).shape == (2, 5, 5)
    with pytest.raises(TypeError, match=r"^Multiple dispatch failed for 'torch\.mul'"):
        T.mul(d, 3)


class _Logged:
    """The calls that a class saw."""

    def __init__(self) -> None:
        self.calls: list[str] = []


def _logging_tensor(T: Any, log: _Logged) -> Any:
    class LoggingTensor(T.Tensor):  # type: ignore[misc, name-defined]
        """A tensor that notes what is called with it."""

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is not T.Tensor.__repr__:
                log.calls.append(T.overrides.resolve_name(func))
            return super().__torch_function__(func, types, args, kwargs or {})

    return LoggingTensor


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "l + 1": lambda T, x: x + 1,
    "1 + l": lambda T, x: 1 + x,
    "l - 1": lambda T, x: x - 1,
    "1 - l": lambda T, x: 1 - x,
    "l * 2": lambda T, x: x * 2,
    "l / 2": lambda T, x: x / 2,
    "l // 2": lambda T, x: x // 2,
    "l % 2": lambda T, x: x % 2,
    "l ** 2": lambda T, x: x**2,
    "l //= 2": lambda T, x: operator.ifloordiv(x, 2),
    "l %= 2": lambda T, x: operator.imod(x, 2),
    "~l": lambda T, x: ~(x > 1),
    "l @ l": lambda T, x: x @ x,
    "l < 1": lambda T, x: x < 1,
    "l == 1": lambda T, x: x == 1,
    "-l": lambda T, x: -x,
    "abs": lambda T, x: abs(x),
    "l[0]": lambda T, x: x[0],
    "l.T": lambda T, x: x[None].T,
    "len": lambda T, x: len(x),
    "bool": lambda T, x: bool(x[0]),
    "float": lambda T, x: float(x[0]),
    "add": lambda T, x: T.add(x, 1),
    "add_": lambda T, x: x.add_(1),
    "with a tensor first": lambda T, x: T.ones(2).add(x),
    "stack": lambda T, x: T.stack([x, x]),
    "split": lambda T, x: x.split(1),
    "sum": lambda T, x: x.sum(0),
    "max": lambda T, x: T.max(x, dim=0),
    "relu": lambda T, x: T.nn.functional.relu(x),
    "gelu": lambda T, x: T.nn.functional.gelu(x),
    "softmax": lambda T, x: T.nn.functional.softmax(x, 0),
    "linear": lambda T, x: T.nn.functional.linear(x, x[None]),
    "clone": lambda T, x: x.clone(),
    "detach": lambda T, x: x.detach(),
    "to": lambda T, x: x.to(T.float64),
    "to itself": lambda T, x: x.to(T.float32),
    "empty_like": lambda T, x: T.empty_like(x),
    "where": lambda T, x: T.where(x > 0, x, x),
    "new_zeros": lambda T, x: x.new_zeros(2),
    "size": lambda T, x: x.size(),
    "tolist": lambda T, x: x.tolist(),
    "numel": lambda T, x: x.numel(),
    "data": lambda T, x: x.data,
    "tensor": lambda T, x: T.as_tensor(x),
    "zeros": lambda T, x: T.zeros(2),
    "norm": lambda T, x: T.linalg.norm(x),
    "fft": lambda T, x: T.fft.fft(x),
}


def test_gradients_are_of_the_class_of_what_they_are_asked_of(T: Any) -> None:
    class Mine(T.Tensor):  # type: ignore[misc,name-defined]
        pass

    x = T.ones(2).as_subclass(Mine).requires_grad_()
    (found,) = T.autograd.grad((x * x).sum(), x)
    T.autograd.backward((x * x).sum())
    assert (type(found), type(x.grad)) == (Mine, T.Tensor)


def test_what_is_called_has_the_name_that_it_is_called_by() -> None:
    log: list[str] = []

    class Named(gradd.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = gradd.ones(2).as_subclass(Named)
    x[0], x.float(), x == x, x.norm(), x.requires_grad_()
    assert log == ["__getitem__", "float", "__eq__", "norm", "requires_grad_"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", CALLS)
def test_classes_are_told_what_is_called(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the oracle, is not installed")
    told = []
    with gradd.connect("local:"):
        for side in (torch, gradd):
            log = _Logged()
            kind = _logging_tensor(side, log)
            found = CALLS[name](side, kind([1.0, 2.0]))
            parts = found if isinstance(found, tuple) and not isinstance(found, (side.Size,)) else (found,)
            told.append((log.calls, [type(x).__name__ for x in parts], [str(x) for x in parts]))
    known = [call.replace("torch.functional.", "torch.") for call in told[0][0]]
    assert told[1][0] == known
    if name != "empty_like":
        assert told[1][1:] == told[0][1:]


def test_gradients_of_a_class(T: Any) -> None:
    kind = _logging_tensor(T, _Logged())
    x = kind([1.0, 2.0]).requires_grad_()
    y = (x * x).sum()
    assert type(y) is kind
    y.backward()
    assert x.grad.tolist() == [2, 4]
    assert type(x.as_subclass(T.Tensor)) is T.Tensor


def test_metadata_tensor(T: Any) -> None:
    class MetadataTensor:
        """A tensor with a note, which results take over."""

        def __init__(self, data: Any, metadata: Any = None, **kwargs: Any) -> None:
            self._t, self._metadata = T.as_tensor(data, **kwargs), metadata

        def __repr__(self) -> str:
            return f"Metadata:\n{self._metadata}\n\ndata:\n{self._t}"

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            notes = tuple(a._metadata for a in args if hasattr(a, "_metadata"))
            args = [getattr(a, "_t", a) for a in args]
            assert notes
            return MetadataTensor(func(*args, **(kwargs or {})), metadata=notes[0])

    m = MetadataTensor([[1, 2], [3, 4]], metadata={"owner": "Ministry of Silly Walks"})
    t = T.tensor([[1, 2], [1, 2]])
    assert repr(T.add(t, m)) == (
        "Metadata:\n{'owner': 'Ministry of Silly Walks'}\n\ndata:\ntensor([[2, 4],\n        [4, 6]])"
    )
    assert T.mul(t, m)._t.tolist() == [[1, 4], [3, 8]]
    assert T.einsum("ij,jk", m, t)._metadata == m._metadata
    assert T.sum(m, 0)._t.tolist() == [4, 6]


def test_modes_see_every_function(T: Any) -> None:
    calls: list[str] = []

    class FunctionLog(T.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        """Notes what is called."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(T.overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))

    def run() -> Any:
        a = T.ones(2, 2)
        b = T.tensor([1.0, 2.0])
        return T.matmul(a, b).tanh() + 1

    with FunctionLog(), T.overrides.BaseTorchFunctionMode(), FunctionLog():
        inside = run()
    assert calls == [
        name
        for name in ("torch.ones", "torch.tensor", "torch.matmul", "torch.Tensor.tanh", "torch.Tensor.add")
        for _ in range(2)
    ]
    assert inside.tolist() == run().tolist()
    assert len(calls) == 10


def test_a_mode_and_a_class_in_turn(T: Any) -> None:
    order: list[str] = []

    class Mode(T.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        """Comes first."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append("mode")
            return func(*args, **(kwargs or {}))

    class Kind(T.Tensor):  # type: ignore[misc, name-defined]
        """Comes second."""

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append("class")
            return super().__torch_function__(func, types, args, kwargs)

    class Derived(Kind):
        """Before the class that it is derived from."""

    x, y = Kind([1.0]), Derived([2.0])
    with Mode():
        assert type(T.add(x, y)) is Derived
    assert order == ["mode", "class", "class"][: len(order)]
    order.clear()
    with T._C.DisableTorchFunctionSubclass():
        assert type(T.add(x, y)) is T.Tensor
    assert order == []


def test_functions_of_ones_own_may_be_overridden(T: Any) -> None:
    has, handle = T.overrides.has_torch_function, T.overrides.handle_torch_function
    kind = _logging_tensor(T, _Logged())

    def scaled(a: Any, factor: float = 2.0) -> Any:
        if has((a,)):
            return handle(scaled, (a,), a, factor=factor)
        return a * factor

    assert not has((T.ones(1), 3))
    assert has((kind([1.0]),))
    assert T.overrides.has_torch_function_unary(kind([1.0]))
    assert T.overrides.has_torch_function_variadic(1, kind([1.0]))
    found = scaled(kind([1.0, 2.0]), 3.0)
    assert type(found) is kind
    assert found.tolist() == [3, 6]

    @T.overrides.wrap_torch_function(lambda a: (a,))
    def doubled(a: Any) -> Any:
        return a + a

    assert type(doubled(kind([1.0]))) is kind
    assert type(doubled(T.ones(1))) is T.Tensor


def test_what_is_like_a_tensor(T: Any) -> None:
    class Like:
        """Overrides functions."""

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    like = T.overrides.is_tensor_like
    assert [like(x) for x in (T.ones(1), Like(), 3, [T.ones(1)])] == [True, True, False, False]
    with pytest.raises(TypeError) as caught:
        T.add(Like(), 1)
    assert str(caught.value).startswith(
        "Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers returned NotImplemented:"
    )
    names = ["add", "Tensor.add", "nn.functional.relu", "linalg.norm"]
    for name in names:
        f: Any = T
        for part in name.split("."):
            f = getattr(f, part)
        assert T.overrides.resolve_name(f) == f"torch.{name}"
    assert T.overrides.resolve_name(T.Tensor.T.__get__) == "torch.Tensor.T.__get__"
    assert T.overrides.is_tensor_method_or_property(T.Tensor.add)
    assert not T.overrides.is_tensor_method_or_property(T.add)
    assert T.add in T.overrides.get_overridable_functions()[T]


def test_subclasses_keep_attributes_of_their_own(T: Any) -> None:
    class Named(T.Tensor):  # type: ignore[misc, name-defined]
        """A tensor with a name."""

        @staticmethod
        def __new__(cls: Any, data: Any, label: str) -> Any:
            return T.Tensor._make_subclass(cls, T.as_tensor(data), require_grad=True)

        def __init__(self, data: Any, label: str) -> None:
            super().__init__()
            self.label = label

    x = Named([1.0, 2.0], label="weights")
    assert (x.label, x.requires_grad, x.is_leaf) == ("weights", True, True)
    assert repr(x) == "Named([1., 2.], requires_grad=True)"
    y = x * 2
    assert type(y) is Named
    assert not hasattr(y, "label")
    assert type(T.ones(2).as_subclass(Named)) is Named
    parameter = T.nn.Parameter(T.ones(2))
    assert type(parameter + 1) is T.Tensor
    assert type(x + parameter) is Named


def test_a_plain_tensor_that_is_given_back_stays_plain(T: Any) -> None:
    class Kind(T.Tensor):  # type: ignore[misc, name-defined]
        """As PyTorch's tensors."""

    plain, x = T.zeros(2), Kind([1.0, 2.0])
    found = plain.add_(x)
    assert type(plain) is T.Tensor
    assert isinstance(found, Kind)
    assert plain.tolist() == [1, 2]


def test_dispatch_below_functions_is_refused() -> None:
    with gradd.connect("local:"):
        with pytest.raises(NotImplementedError, match="__torch_dispatch__ is not supported"):
            gradd.Tensor._make_wrapper_subclass(gradd.Tensor, (2,))

        class Deep(gradd.Tensor):
            """What cannot be here."""

            @classmethod
            def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return func(*args)

        with pytest.raises(NotImplementedError, match="Deep: __torch_dispatch__ is not supported"):
            Deep([1.0])


def test_nothing_asks_before_anything_is_overridden() -> None:
    code = """
import gradd
with gradd.connect("local:"):
    before = gradd.sin.__code__
    gradd.nn.Linear(2, 2)(gradd.ones(1, 2)).sum().backward()
    assert gradd.sin.__code__ is before
    class Kind(gradd.Tensor):
        pass
    assert gradd.sin.__code__ is not before
    assert type(gradd.sin(Kind([1.0]))) is Kind
    gradd._surface.overridable.end()
    assert gradd.sin.__code__ is before
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def _faces() -> dict[str, tuple[str, str]]:
    """What each function shows and, where it needs arguments, what it says if it gets none."""
    found = {}
    for name, function in [*overridable.methods(), *((n, f) for _, n, f in overridable._spaces())]:
        shown = inspect.signature(function)
        needs = any(
            p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in shown.parameters.values()
        )
        said = ""
        if needs:
            with pytest.raises(TypeError) as refused:
                function()
            said = str(refused.value)
        found[f"{function.__module__}.{function.__qualname__} as {name}"] = str(shown), said
    return found


def test_functions_look_the_same_while_they_ask() -> None:
    overridable.end()
    with gradd.connect("local:"):
        declared = _faces()
        overridable.begin()
        asking = _faces()
    assert len(declared) > 900
    assert {name: (face, asking[name]) for name, face in declared.items() if asking[name] != face} == {}
