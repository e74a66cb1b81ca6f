"""Which of PyTorch's tests are gradd's to pass: those that real torch passes here, and that are of nothing
that gradd does not have by design.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import Any

from tests.ptsuite.shim import source_of

#: why a test is left out, and what its source or name then has
RULES: tuple[tuple[str, str], ...] = (
    (
        "tensor subclasses and dispatch modes",
        r"__torch_(function|dispatch)__|Torch(Dispatch|Function)Mode|[lL]ogging_?[tT]ensor|TwoTensor|as_subclass|"
        r"_make_(wrapper_)?subclass|no_dispatch|capture_logs|\(torch\.Tensor\):|FlopCounter|FakeTensor|"
        r"DisableTorchFunction",
    ),
    (
        "torch.compile, dynamo, fx, functionalization",
        r"torch\.(compile|fx|export)|_dynamo|make_fx|functionalize|allow_in_graph|HigherOrderOperator",
    ),
    ("torch.jit", r"torch\.jit"),
    ("sparse tensors", r"sparse"),
    ("quantized tensors", r"quantize|qint"),
    ("nested tensors", r"torch\.nested|[nN]ested_?[tT]ensor"),
    ("named tensors", r"names=\[?\(?['\"]|refine_names|\.rename\(|has_names"),
    ("C++ extensions", r"load_inline|cpp_extension"),
    ("the profiler", r"\bprofile\(|profiler|record_function|emit_(nvtx|itt)|kineto|FunctionEvent|EventList"),
    ("operators of torch.library", r"torch\.(library|ops\.|_ops)|Library\("),
    ("scripts that are run with real torch", r"subprocess|run_process_no_exception|check_output|run_python"),
    (
        "private names of torch._C",
        r"torch\._C\.(?!_functions\.(DelayedError|UndefinedGrad))|torch\._C\b(?!\.)|_C\._autograd|"
        r"_current_graph_task_id",
    ),
    (
        "the functorch package's own",
        r"make_functional|combine_state_for_ensemble|functional_init|_slice_argnums|aot_function|"
        r"test_deprecation_|torch\._functorch",
    ),
    ("the private torch._vmap_internals", r"_vmap_internals"),
    ("other backends", r"mkldnn|mkl\b|xla|\bmps\b(?!')"),
)
#: what a test with parameters names besides the one that it is run with: its own name says which
_PARAMETERS = re.compile(
    r'base_and_logging_tensor|"functionalize"|functorch\.experimental\.functionalize|'
    r'"make_functional", "functional_call"'
)


@functools.cache
def _methods(path: Path) -> dict[str, dict[str, str]]:
    """By class and method, the source with what decorates both."""
    text = source_of(path)
    lines = text.splitlines()
    found: dict[str, dict[str, str]] = {}
    for cls in (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)):
        around = "\n".join(map(ast.unparse, cls.decorator_list))
        methods = found.setdefault(cls.name, {})
        for one in (node for node in cls.body if isinstance(node, ast.FunctionDef)):
            first = min(node.lineno for node in (one, *one.decorator_list))
            methods[one.name] = "\n".join((around, *lines[first - 1 : one.end_lineno]))
    return found


def _source(path: Path, test: str) -> str:
    cls, _, name = test.partition(".")
    known = _methods(path)
    methods = known.get(cls) or known.get(cls.removesuffix("CPU")) or {}
    return methods.get(max((m for m in methods if name.startswith(m)), key=len, default=""), "")


def not_ours(path: Path, test: str, theirs: dict[str, Any] | None, ours: dict[str, Any]) -> str:
    """Why a test of the file at `path` is not counted; empty where it is. `theirs` and `ours` are what came
    of it under real torch and under gradd.
    """
    if theirs is None or theirs["outcome"] not in ("pass", "skip"):
        return "real torch does not pass it here"
    if theirs["outcome"] == "skip":
        return "real torch skips it here"
    text = f"{_PARAMETERS.sub('', _source(path, test))} {test}"
    if "functional_call" in test:
        text = re.sub("make_functional|combine_state_for_ensemble", "", text)
    for reason, pattern in RULES:
        if re.search(pattern, text):
            return reason
    return "skips itself" if ours["outcome"] == "skip" else ""
