"""What scripts ask for that changes nothing here: switches of backends, threads, precision, compilers."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradd
import pytest
from gradd import compiler


@contextmanager
def _written_freely(T: Any) -> Iterator[None]:
    """PyTorch's own test modules, once imported, freeze the flags of its backends for the process."""
    if T is gradd:
        yield
        return
    with importlib.import_module("torch.backends").__allow_nonbracketed_mutation():
        yield


def test_switches_keep_what_they_are_set_to(T: Any) -> None:
    cudnn = T.backends.cudnn
    before = cudnn.benchmark, cudnn.deterministic, cudnn.enabled
    assert before[1:] == (False, True)
    with cudnn.flags(enabled=False, benchmark=True):
        assert (cudnn.enabled, cudnn.benchmark) == (False, True)
    assert (cudnn.benchmark, cudnn.deterministic, cudnn.enabled) == before
    with _written_freely(T):
        cudnn.deterministic = True
        assert cudnn.deterministic
        cudnn.deterministic = False
    T.backends.cuda.matmul.allow_tf32 = True
    assert T.backends.cuda.matmul.allow_tf32
    T.backends.cuda.matmul.allow_tf32 = False
    for kind in ("flash", "mem_efficient", "math", "cudnn"):
        enabled, enable = (
            getattr(T.backends.cuda, name.format(kind)) for name in ("{}_sdp_enabled", "enable_{}_sdp")
        )
        assert enabled()
        enable(False)
        assert not enabled()
        enable(True)
    assert not T.backends.mps.is_available()
    assert not T.backends.cuda.is_built()
    assert T.backends.cudnn.version() is None


@pytest.mark.parametrize("name", ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"])
def test_backends_can_be_imported(name: str) -> None:
    imported = importlib.import_module(f"gradd.backends.{name}")
    assert imported is getattr(gradd.backends, name)
    if name == "cpu":
        assert imported.get_cpu_capability() == "DEFAULT"
    elif name != "cuda":
        assert imported.is_available() is False


def test_precision_and_determinism(T: Any) -> None:
    assert T.get_float32_matmul_precision() == "highest"
    T.set_float32_matmul_precision("high")
    with pytest.warns(UserWarning, match="x is not one of 'highest', 'high', or 'medium'"):
        T.set_float32_matmul_precision("x")
    assert T.get_float32_matmul_precision() == "high"
    T.set_float32_matmul_precision("highest")
    assert not T.are_deterministic_algorithms_enabled()
    T.use_deterministic_algorithms(True, warn_only=True)
    assert T.are_deterministic_algorithms_enabled()
    assert T.is_deterministic_algorithms_warn_only_enabled()
    T.use_deterministic_algorithms(False)
    with pytest.raises(TypeError, match=r"argument 'mode' \(position 1\) must be bool, not int"):
        T.use_deterministic_algorithms(1)


def test_switches_for_tf32_follow_one_another(T: Any) -> None:
    products = T.backends.cuda.matmul

    def said() -> tuple[str, bool, str]:
        return T.get_float32_matmul_precision(), products.allow_tf32, products.fp32_precision

    with _written_freely(T):
        for precision, allowed, fp32 in (
            ("high", True, "tf32"), ("medium", True, "tf32"), ("highest", False, "ieee"),
        ):  # fmt: skip
            T.set_float32_matmul_precision(precision)
            assert said() == (precision, allowed, fp32)
        products.allow_tf32 = True
        assert said() == ("high", True, "tf32")
        for wrong in (1, "yes"):
            with pytest.raises(RuntimeError, match="set_allow_tf32_cublas expects a bool, but got "):
                products.allow_tf32 = wrong
        products.allow_tf32 = False
        assert said() == ("highest", False, "ieee")
        products.fp32_precision = "tf32"
        assert products.fp32_precision == "tf32"
        with pytest.raises(RuntimeError, match="backend 'cuda' does not support precision 'bf16'"):
            products.fp32_precision = "bf16"
        with pytest.raises(RuntimeError, match="Unknown precision: half"):
            products.fp32_precision = "half"
        for fp32 in ("ieee", "none"):
            products.fp32_precision = fp32
            assert said() == ("highest", False, fp32)


def test_threads(T: Any) -> None:
    before = T.get_num_threads()
    assert before > 0
    T.set_num_threads(1)
    assert T.get_num_threads() == 1
    T.set_num_threads(before)
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        T.set_num_threads(0)
    with pytest.raises(RuntimeError, match="set_num_threads expects an int, but got str"):
        T.set_num_threads("a")
    assert T.get_num_interop_threads() > 0


def test_interop_threads_and_denormals() -> None:
    gradd.set_num_interop_threads(2)
    assert gradd.get_num_interop_threads() == 2
    assert not gradd.set_flush_denormal(True)


def test_the_default_device(T: Any) -> None:
    assert T.get_default_device() == T.device("cpu")
    T.set_default_device("cpu")
    assert T.ones(2).device == T.get_default_device()
    T.set_default_device(None)
    with pytest.raises(RuntimeError, match="at start of device string: xyz"):
        T.set_default_device("xyz")
    with T.device("cpu"):
        assert T.ones(2).tolist() == [1.0, 1.0]


def test_numbers_are_drawn_as_if_a_fork_had_drawn_none(T: Any) -> None:
    T.random.manual_seed(3)
    with T.random.fork_rng(devices=[]):
        inside = T.rand(3)
    outside = T.rand(3)
    assert inside.tolist() == outside.tolist()
    with T.random.fork_rng(enabled=False):
        inside = T.rand(3)
    assert inside.tolist() != T.rand(3).tolist()
    assert T.random.initial_seed() == 3


def test_what_is_compiled_is_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_told", set())
    model = gradd.nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="torch.compile returns what it is given"):
        assert gradd.compile(model, mode="reduce-overhead") is model
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once

        @gradd.compile
        def f(x: Any) -> Any:
            return x * 2

        @gradd.compile(fullgraph=True, dynamic=False)
        def g(x: Any) -> Any:
            return f(x) + 1

        with gradd.connect("local:"):
            assert g(gradd.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="Either mode or options"):
        gradd.compile(model, mode="default", options={"trace.enabled": True})

    @gradd.compiler.disable
    def h() -> int:
        return 1

    assert h() == gradd.compiler.disable(recursive=False)(h)() == 1
    assert gradd.compiler.allow_in_graph(h) is h
    assert not gradd.compiler.is_compiling()
    assert not gradd.compiler.is_dynamo_compiling()
    gradd.compiler.cudagraph_mark_step_begin()
    gradd.compiler.reset()


def test_what_is_scripted_is_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_told", set())
    jit = gradd.jit
    model = gradd.nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="torch.jit.script returns"):
        assert jit.script(model) is model
    with pytest.warns(UserWarning, match="torch.jit.trace returns"):
        assert jit.trace(model, gradd.ones(1, 2)) is model
    with pytest.warns(UserWarning, match="torch.jit.trace_module returns"):
        assert jit.trace_module(model, {"forward": gradd.ones(1, 2)}) is model

    @jit.script
    def f(x: int) -> int:
        return x + 1

    @jit.ignore
    @jit.ignore(drop=True)
    @jit.unused
    @jit.export
    @jit.script_method
    def g(x: int) -> int:
        return f(x)

    assert g(1) == 2
    assert jit.freeze(jit.optimize_for_inference(model)) is model
    assert not jit.is_scripting()
    assert not jit.is_tracing()
    assert issubclass(jit.ScriptModule, gradd.nn.Module)
    with pytest.raises(TypeError, match="<class 'int'>"):
        jit.script(3)


def test_a_debug_mode_is_deterministic_algorithms_by_another_name(T: Any) -> None:
    found = []
    try:
        for mode in ("warn", "error", 0, 1, 2, "default"):
            T.set_deterministic_debug_mode(mode)
            on = T.are_deterministic_algorithms_enabled()
            found.append(
                (T.get_deterministic_debug_mode(), on, T.is_deterministic_algorithms_warn_only_enabled())
            )
        for wrong, message in (
            ("loud", "expected one of `default`, `warn`, `error`, but got loud"),
            (3, "expected 0, 1, or 2, but got 3"),
        ):
            with pytest.raises(RuntimeError, match=f"invalid value of debug_mode, {message}"):
                T.set_deterministic_debug_mode(wrong)
        with pytest.raises(TypeError, match="debug_mode must be str or int, but got <class 'float'>"):
            T.set_deterministic_debug_mode(1.5)
    finally:
        T.use_deterministic_algorithms(False)
    warned, error, none = (1, True, True), (2, True, False), (0, False, False)
    assert found == [warned, error, none, warned, error, none]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of older names
def test_autocast_has_a_setter_for_each_device(T: Any) -> None:
    T.set_autocast_cpu_enabled(True)
    T.set_autocast_cpu_dtype(T.float16)
    T.set_autocast_gpu_dtype(T.bfloat16)
    try:
        assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.get_autocast_cpu_dtype() == T.float16
        assert T.get_autocast_gpu_dtype() == T.bfloat16
    finally:
        T.set_autocast_cpu_enabled(False)
        T.set_autocast_cpu_dtype(T.bfloat16)
        T.set_autocast_gpu_dtype(T.float16)
    assert not T.is_autocast_cpu_enabled()
