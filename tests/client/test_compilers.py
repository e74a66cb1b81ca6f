"""What libraries import of PyTorch's compilers and exporters: none is here, and they see so."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradd
import pytest


def _below(T: Any, name: str) -> Any:
    return importlib.import_module(f"{T.__name__}.{name}")


def test_functions_are_marked_and_modules_asked(T: Any) -> None:
    fx = _below(T, "fx")

    def plain(x: Any) -> Any:
        return x

    with pytest.raises(RuntimeError, match="Unsupported type for global function"):
        fx.wrap(3)
    if T is gradd:  # torch wants it at the top level of a module
        assert fx.wrap("len") == "len"
        assert fx.wrap(plain) is plain
    layers = T.nn.Sequential(T.nn.Linear(2, 2))
    assert not isinstance(layers, fx.GraphModule)
    tracer = fx.Tracer()
    assert tracer.is_leaf_module(layers[0], "0")
    assert not tracer.is_leaf_module(layers, "")
    taken, made = T.nn.Sequential(layers), T.nn.Module()
    _below(T, "fx.graph_module")._copy_attr(taken, made, "0.0.weight")
    assert getattr(getattr(made, "0"), "0").weight is layers[0].weight
    assert not _below(T, "onnx").is_in_onnx_export()


def test_what_is_traced_or_exported_is_refused() -> None:
    model = gradd.nn.Linear(2, 2)
    for refused in (
        lambda: gradd.fx.symbolic_trace(model),
        lambda: gradd.fx.Tracer().trace(model),
        lambda: gradd.fx.GraphModule(model, None),
        lambda: gradd.fx.Graph(),
        lambda: gradd.fx.node.Node(),
        lambda: gradd.fx.Proxy(None),
        lambda: gradd.fx.Interpreter(model),
        lambda: gradd.onnx.export(model, (), "model.onnx"),
        lambda: gradd.jit.load("model.pt"),
        lambda: gradd.jit.save(model, "model.pt"),
    ):
        with pytest.raises(NotImplementedError, match=r"torch\.(fx|onnx|jit)"):
            refused()


def test_scripted_functions_annotate_their_values(T: Any) -> None:
    jit = T.jit
    assert jit.annotate(list[int], [1]) == [1]
    kinds = _below(T, "jit.annotations")
    assert jit.isinstance([1], kinds.List[int])
    assert not jit.isinstance({1: 2}, kinds.List[int])
    assert kinds.BroadcastingList2[int] is None
    assert issubclass(jit.TracerWarning, Warning)

    class Kept(T.nn.Module):  # type: ignore[misc, name-defined]
        size: jit.Final[int] = 3  # type: ignore[name-defined]

    assert Kept().size == 3

    @jit.script_if_tracing  # type: ignore[untyped-decorator]
    def halved(x: Any) -> Any:
        return x / 2

    assert halved(T.ones(1)).tolist() == [0.5]


def test_nothing_is_dispatched_by_keys(T: Any) -> None:
    keys = T._C
    casts = (keys.DispatchKey.AutocastCPU, keys.DispatchKey.AutocastCUDA)
    both = keys.DispatchKeySet(casts[0]) | keys.DispatchKeySet(casts[1])
    assert both.has(casts[1])
    assert not both.has(keys.DispatchKey.Meta)
    with keys._ExcludeDispatchKeyGuard(both), keys.DisableTorchFunctionSubclass():
        assert T.ones(1).tolist() == [1.0]
    assert keys._get_tracing_state() is None


def test_stubs_of_quantization_pass_on_what_they_are_given(T: Any) -> None:
    quantization = _below(T, "ao.quantization")
    stubs = T.nn.Sequential(quantization.QuantStub(), quantization.DeQuantStub())
    assert stubs(T.ones(2)).tolist() == [1.0, 1.0]
    assert not stubs.state_dict()
    assert quantization.QuantStub(3).qconfig == 3


def test_operators_are_not_compiled() -> None:
    assert not importlib.import_module("gradd._dynamo.utils").is_compile_supported("cpu")


def test_modules_of_compilers_are_imported_by_their_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch._dynamo.config\nimport torch._inductor.config as settings\nimport torch._C\n"
        "from torch._dynamo.utils import is_compile_supported\nfrom torch.fx.proxy import Proxy\n"
        "from torch.jit.annotations import List\nfrom torch.onnx import symbolic_opset11\n"
        "from torch.ao.quantization import QuantStub\nimport torch._custom_ops\n"
        "torch._dynamo.config.suppress_errors = settings.max_autotune = True\n"
        "print(torch._dynamo.config.suppress_errors, is_compile_supported('cpu'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "gradd", str(script)], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.returncode) == ("True False\n", 0), ran.stderr


def test_symbols_for_an_export_are_kept(T: Any) -> None:
    onnx, helper = _below(T, "onnx"), _below(T, "onnx.symbolic_helper")
    symbol = helper.parse_args("v", "f")(lambda g, x, k: x)
    assert callable(symbol)
    if T is gradd:
        onnx.register_custom_op_symbolic("mine::op", symbol, 11)
        assert helper.SYMBOLIC["mine::op", 11] is symbol
        with pytest.raises(ValueError, match="must match the format domain::name"):
            onnx.register_custom_op_symbolic("op", symbol, 11)


def test_downloads_have_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = importlib.import_module("gradd.utils._progress").SilentBar
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert gradd.hub.tqdm is silent
    assert gradd.utils.model_zoo.tqdm is silent
    with gradd.hub.tqdm(total=3) as bar:
        bar.set_description("weights")
        bar.update(2)
        assert bar.n == 2
    assert list(silent(range(3))) == [0, 1, 2]
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        _ = gradd.hub.absent
