"""Runs a file of PyTorch's tests whose `import torch` finds gradd.

A name that gradd lacks is an AttributeError in the test that uses it; while the file is read, where names
stand in decorators and class bodies, it is an `Absent`. `torch.testing._internal` and `torch.utils._pytree`
are real torch's: its `assertEqual` compares, on converted values.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradd
import torch
from torch.testing._internal import common_device_type as devices
from torch.testing._internal import common_utils as utils

from tests.ptsuite.border import to_gradd, to_torch

_TOOLS = ("torch.testing._internal", "torch.utils._pytree")
#: what a port to another device has in the place of the CPU
_PORTED = (
    (r"^import torch_npu.*$", ""),
    (r"^DEVICE_NAME = .*$", "DEVICE_NAME = ''"),
    (r"\btorch_npu\.npu\b", "torch.cuda"),
    (r"(['\"])npu(?::\d)?\1", r"\1cpu\1"),
    (r"\bonly_for=(['\"])privateuse1\1", r"only_for='cpu'"),
    (r"PRIVATEUSE1", "CUDA"),
    (r"\b(?:privateuse1|npu)\b", "cuda"),
)  # fmt: skip


def source_of(path: Path) -> str:
    """The text of a file of tests, as it is for the CPU."""
    text = path.read_text(encoding="utf-8")
    for pattern, to in _PORTED:
        text = re.sub(pattern, to, text, flags=re.MULTILINE)
    return text


class Absent:
    """A name that gradd does not have, where a file mentions it: using it later is an AttributeError."""

    reading = False

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if Absent.reading and not name.startswith("__"):
            return Absent(f"{self._name}.{name}")
        raise AttributeError(f"there is no {self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if Absent.reading:
            return self
        raise AttributeError(f"there is no {self._name}")

    __enter__ = __exit__ = __getitem__ = __contains__ = __instancecheck__ = __call__

    def __bool__(self) -> bool:
        return False

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        absent = self

        class Base:
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                absent()

            def __getattr__(self, name: str) -> Any:
                return getattr(absent, name)

        return (Base,)


class Shim(types.ModuleType):
    """A module of gradd under torch's name; `extra` has stand-ins for the tests' own tools, by full name."""

    def __init__(self, path: str, target: Any, extra: dict[str, Any]) -> None:
        super().__init__(path)
        self.__dict__.update(_path=path, _target=target, _extra=extra)

    def __getattr__(self, name: str) -> Any:
        path, extra = f"{self._path}.{name}", self._extra
        if path in extra:
            return extra[path]
        inner = any(key.startswith(f"{path}.") for key in extra)
        value = getattr(self._target, name, self)  # the shim itself is never a part of gradd
        if value is self:
            if inner:
                return Shim(path, None, extra)
            if Absent.reading and not name.startswith("__"):
                return Absent(path)
            raise AttributeError(f"module {self._path!r} has no attribute {name!r}")
        return Shim(path, value, extra) if inner or isinstance(value, types.ModuleType) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`autograd.gradcheck` is a module and a function."""
        return self._target(*args, **kwargs)


class Names:
    """What `from x import name` gets its names from: those that are missing are `Absent`."""

    def __init__(self, module: Any, path: str) -> None:
        self._module, self._path = module, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return getattr(self._module, name)
        return getattr(self._module, name, Absent(f"{self._path}.{name}"))


def converting(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A tool of torch's, called with torch's values and giving gradd's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return to_gradd(tool(*to_torch(args), **to_torch(kwargs)))

    with contextlib.suppress(AttributeError, TypeError):
        functools.update_wrapper(call, tool, updated=())
    return call


class TestCase(utils.TestCase):  # type: ignore[misc]
    """Torch's, over gradd's values."""

    def setUp(self) -> None:
        super().setUp()
        gradd.manual_seed(utils.SEED)

    def assertEqual(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        super().assertEqual(to_torch(x), to_torch(y), *args, **kwargs)  # noqa: PT009

    def assertNotEqual(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        super().assertNotEqual(to_torch(x), to_torch(y), *args, **kwargs)  # noqa: PT009


TestCase.__test__ = False  # not one of the project's


@contextlib.contextmanager
def _default_dtype(dtype: Any) -> Iterator[None]:
    before = gradd.get_default_dtype()
    gradd.set_default_dtype(dtype)
    try:
        yield
    finally:
        gradd.set_default_dtype(before)


@contextlib.contextmanager
def _warn_always(new: bool) -> Iterator[None]:
    before = gradd.is_warn_always_enabled()
    gradd.set_warn_always(new)
    try:
        yield
    finally:
        gradd.set_warn_always(before)


@contextlib.contextmanager
def _random_state(*args: Any, **kwargs: Any) -> Iterator[None]:
    before = gradd.get_rng_state()
    try:
        yield
    finally:
        gradd.set_rng_state(before)


def _with_defaults(check: Callable[..., Any]) -> Callable[..., Any]:
    """The suite's gradcheck: fast, and over batches, unless it is told."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        given = {k: v for k, v in kwargs.items() if v is not None}
        return check(*args, **{"fast_mode": True, "check_batched_grad": True, **given})

    return checked


def _for_each_device(cls: type, scope: dict[str, Any], **_: Any) -> None:
    """The tests of a class for every device and dtype, on the CPU, with gradd's dtypes."""

    def typed(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def call(*args: Any, **kwargs: Any) -> Any:
            return test(*args, **{k: to_gradd(v) if k == "dtype" else v for k, v in kwargs.items()})

        return call

    for name, test in list(vars(cls).items()):
        if name.startswith("test") and callable(test):
            setattr(cls, name, typed(test))
    scope[cls.__name__] = cls
    devices.instantiate_device_type_tests(cls, scope, only_for="cpu")


def _views_then(backward: Callable[..., Any]) -> type[gradd.autograd.Function]:
    class Views(gradd.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: gradd.Tensor) -> Any:
            ctx.count = len(inputs)
            views = tuple(x.view_as(x) for x in inputs)
            return views if len(views) > 1 else views[0]

    Views.backward = staticmethod(backward)
    Views.__name__ = Views.__qualname__ = "Views"
    return Views


def _delayed_error(message: str, count: int) -> Callable[..., Any]:
    """torch._C._functions.DelayedError, by a public Function."""

    def fail(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(message)

    return _views_then(fail).apply


def _undefined_grad() -> Callable[..., Any]:
    """torch._C._functions.UndefinedGrad, by a public Function."""

    def nothing(ctx: Any, *grads: Any) -> Any:
        return (None,) * ctx.count

    return _views_then(nothing).apply


class _Forward(Shim):
    """autograd.forward_ad, of which a tearDown asks the private level: none but in a test that failed."""

    def __getattr__(self, name: str) -> Any:
        if name != "_current_level":
            return super().__getattr__(name)
        try:
            with self._target.dual_level() as level:
                return level - 1
        except RuntimeError:
            return 0


_EXTRA: dict[str, Any] = {
    "torch._C._functions.DelayedError": _delayed_error,
    "torch._C._functions.UndefinedGrad": _undefined_grad,
    "torch._vmap_internals._vmap": gradd.vmap,
    "torch.testing.make_tensor": converting(torch.testing.make_tensor),
}
_TORCH = Shim("torch", gradd, _EXTRA)
_EXTRA["torch.autograd.torch"] = _TORCH
_EXTRA["torch.autograd.forward_ad"] = _Forward("torch.autograd.forward_ad", gradd.autograd.forward_ad, {})

#: what the tests' tools have of gradd's own
_OURS: dict[str, Any] = {
    "TestCase": TestCase,
    "gradcheck": _with_defaults(gradd.autograd.gradcheck),
    "gradgradcheck": _with_defaults(gradd.autograd.gradgradcheck),
    "set_default_dtype": _default_dtype,
    "freeze_rng_state": _random_state,
    "set_warn_always_context": _warn_always,
    "instantiate_device_type_tests": _for_each_device,
}
#: what makes tests of tests, and converts nothing
_AS_THEY_ARE = ("parametrize", "subtest", "instantiate_parametrized_tests", "ops", "OpDTypes")


@functools.cache
def _tool(path: str) -> types.ModuleType:
    """A module of tools, with gradd's values in the place of torch's."""
    made = types.ModuleType(path)
    internal = path.startswith("torch.testing._internal")
    decorates = path.endswith(("common_device_type", "common_cuda"))
    for name, value in vars(importlib.import_module(path)).items():
        if name.startswith("__"):
            continue
        own = internal and name in _OURS
        if own:
            value = _OURS[name]
        elif internal and name not in _AS_THEY_ARE:
            cls = isinstance(value, type)
            if cls and issubclass(value, unittest.TestCase):
                value = type(name, (TestCase, value), {}) if issubclass(value, utils.TestCase) else value
            elif isinstance(value, types.FunctionType) or (decorates and cls):
                value = converting(value)
            elif isinstance(value, torch.dtype | torch.device | tuple | list | dict):
                value = to_gradd(value)
        setattr(made, name, value)
    return made


def _find(path: str) -> Any:
    if path == "torch.testing._internal":
        return types.SimpleNamespace()
    if path.startswith(_TOOLS):
        try:
            return _tool(path)
        except ImportError:
            return Absent(path)
    if path not in _EXTRA:
        with contextlib.suppress(ImportError):  # a module that a function of the same name hides
            return Shim(path, importlib.import_module("gradd" + path.removeprefix("torch")), _EXTRA)
    found: Any = _TORCH
    for part in path.split(".")[1:]:
        found = getattr(found, part, None) or Absent(path)
    return found


def _import(name: str, globals_: Any = None, locals_: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    top = name.partition(".")[0]
    if top == "autograd":  # the files of test/autograd, which are run by themselves
        return Names(types.SimpleNamespace(), name)
    if top == "common_utils":  # functorch's own tools
        return types.SimpleNamespace(
            expectedFailureIf=lambda no: unittest.expectedFailure if no else (lambda f: f)
        )
    if top == "torchvision":
        raise ImportError("torchvision is not looked at")
    if level or top not in ("torch", "functorch"):
        return builtins.__import__(name, globals_, locals_, fromlist, level)
    if top == "functorch":
        name = "torch.func"
    found = _find(name)
    return Names(found, name) if fromlist else _TORCH if top == "torch" else found


def load(path: Path, ours: bool) -> types.ModuleType:
    """The module of a file of tests: over gradd (`ours`), or over real torch."""
    module = types.ModuleType(f"ptsuite_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    found = compile(source_of(path), str(path), "exec")
    if not ours:
        for_each = devices.instantiate_device_type_tests
        devices.instantiate_device_type_tests = lambda cls, scope, **_: for_each(cls, scope, only_for="cpu")
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import_theirs}
        exec(found, module.__dict__)
    else:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        Absent.reading = True
        try:
            exec(found, module.__dict__)
        finally:
            Absent.reading = False
    module.__dict__.pop("load_tests", None)  # it wants to stand in PyTorch's tree
    return module


def _import_theirs(name: str, *args: Any, **kwargs: Any) -> Any:
    if name.partition(".")[0] in ("autograd", "common_utils"):
        return _import(name, *args, **kwargs)
    return builtins.__import__(name, *args, **kwargs)
