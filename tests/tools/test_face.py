"""The typed face: stubs that say what the declarations say, and checkers that read them."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd_engine.declare import REGISTRY
from gradd_engine.tensor import Tensor

from tests.ops import table
from tools.face import __main__ as face
from tools.face import forms, pages, stubs

ROOT = Path(__file__).parents[2]
ROOMS = [str(ROOT / room) for room in ("client", "engine", "protocol", "runtime")]
SDK = ROOT / "client/gradd"
STUBS = {"": "_top", "nn.functional": "nn/functional", "linalg": "linalg", "special": "special"}

CORRECT = """\
import gradd as torch
from gradd import nn

x = torch.randn(2, 3, requires_grad=True)
reveal_type(torch.randn(2))
reveal_type(x.sum() + 1)
reveal_type(torch.sort(x).values)
reveal_type(torch.nn.functional.relu(x, inplace=True))
reveal_type(torch.linalg.solve(x, x))
reveal_type(torch.special.expit(x))
reveal_type(torch.autograd.grad(x.sum(), x)[0])
x += 1
w: nn.Parameter = nn.Parameter(x)
"""
WRONG = {
    "torch.matmull(x)": "matmull",
    "x.matmull(x)": "matmull",
    "torch.sum(x, dimension=1)": "dimension",
    "torch.nn.functional.relu(3)": "3|int",
}


def stubbed(path: str) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a stub, or the methods of the class in it, each with all its forms."""
    body = ast.parse((SDK / f"{path}.pyi").read_text()).body
    methods = [n for c in body if isinstance(c, ast.ClassDef) and c.name == "Methods" for n in c.body]
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in methods or body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def parameters(node: ast.FunctionDef) -> set[str]:
    """The names of the parameters of a form."""
    a = node.args
    return {x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else [])]}


def test_every_docstring_says_what_the_function_does() -> None:
    silent = ("A declared op", "torch.", "See ")
    said = {n: ast.get_docstring(f[0]) or "" for path in STUBS.values() for n, f in stubbed(path).items()}
    assert len(said) > 400
    assert {name: text for name, text in said.items() if not text or text.startswith(silent)} == {}


def test_nothing_of_the_face_is_stale() -> None:
    assert face.main(["--check"]) == 0, "make face"


@pytest.mark.parametrize("space", STUBS)
def test_every_public_name_stands_in_a_stub_with_its_parameters(space: str) -> None:
    typed = stubbed(STUBS[space])
    ours = {name: fn for (where, name), fn in table.PUBLIC.items() if where == space}
    assert ours.keys() - typed.keys() == set()
    for name, fn in ours.items():
        op = forms.op_of(fn)
        if op is not None:
            assert set(op.params) <= parameters(typed[name][0]), name


def test_every_method_stands_in_a_stub_with_its_parameters() -> None:
    typed = stubbed("_tensor/attached")
    for op in REGISTRY.values():
        if op.surface.method and not stubs.inner(op.name) and forms.op_of(vars(Tensor).get(op.name)) is op:
            assert set(op.params) - {op.schema.params[0].name} <= parameters(typed[op.name][0]), op.name
    attached = {name for name in stubs.attached() if not name.startswith("__")}
    assert len(attached) > 400
    assert attached - typed.keys() - {n for n in attached if isinstance(vars(Tensor).get(n), property)} <= {
        n for n in dir(gradd.Tensor) if isinstance(inspect.getattr_static(gradd.Tensor, n), property)
    }


def fits(form: forms.Form, args: list[Any], named: dict[str, Any]) -> bool:
    """Whether a call has the parameters of a form."""
    kinds = {
        forms.POSITIONAL: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        forms.KEYWORD: inspect.Parameter.KEYWORD_ONLY,
        forms.SPREAD: inspect.Parameter.VAR_POSITIONAL,
    }
    signature = inspect.Signature(
        [
            inspect.Parameter(
                p.name, kinds[p.how], default=inspect.Parameter.empty if p.default is None else 0
            )
            for p in form.parameters
        ]
    )
    try:
        signature.bind(*args, **{k: v for k, v in named.items() if k not in forms.ALIASES})
    except TypeError:
        return False
    return True


def is_a(value: Any, kind: str) -> bool:
    """Whether a result is what a form says."""
    if kind == "Any":
        return True
    if kind.startswith("tuple["):
        inside = kind.removeprefix("tuple[").removesuffix("]").split(", ")
        counted = "..." in inside or len(inside) == len(value)
        optional = [k.endswith(" | None") for k in inside] if "..." not in inside else []
        tensors = [v for n, v in enumerate(value) if not (v is None and optional and optional[n])]
        return isinstance(value, tuple) and counted and all(isinstance(v, Tensor) for v in tensors)
    if kind.startswith("return_types."):
        return type(value).__name__ == kind.rpartition(".")[2]
    return isinstance(value, {"Tensor": Tensor, "bool": bool, "Size": gradd.Size, "int": int}[kind])


def test_calls_have_the_forms_and_results_of_the_stubs() -> None:
    """Each sample of each public function: one of its forms takes the call, and says what comes."""
    seen, wrong = 0, []
    for key, some in table.samples().items():
        space, _, name = key.rpartition(".")
        if (space, name) not in table.PUBLIC:
            continue
        fn = table.PUBLIC[space, name]
        known = forms.forms_of(fn, name, space)
        for number, sample in enumerate(some):
            if sample.fn is not None:
                continue
            values = iter([table.ours(a) for a in table.arrays(key, number, sample)])
            args = table.swap(list(sample.args), values)
            named = table.swap(sample.attrs, values)
            taking = [f for f in known if fits(f, args, named)]
            if not taking:
                wrong.append(f"{key}: no form takes sample {number}")
                continue
            try:
                found = fn(*args, **named)
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                continue
            if not any(is_a(found, f.returns) for f in taking):
                wrong.append(f"{key}: {type(found).__name__}, not {taking[0].returns}")
            seen += 1
    assert wrong == []
    assert seen > 500


# -- checkers -------------------------------------------------------------------------------------------


def mypy(home: Path, text: str) -> str:
    """What mypy says of a script that is written strictly."""
    (home / "script.py").write_text(text)
    (home / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {':'.join(ROOMS)}\n")
    cache = ROOT / ".mypy_cache" / "face"
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--cache-dir",
        str(cache),
        "--config-file",
        "mypy.ini",
        "script.py",
    ]
    return subprocess.run(command, cwd=home, capture_output=True, text=True, check=False).stdout


def pyright(home: Path, text: str) -> str:
    """What pyright says of a script; skips where it is not installed or has no node to run on."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    if shutil.which("node") is None:
        pytest.skip("pyright runs on node, which is not on PATH")
    (home / "script.py").write_text(text)
    options = {"extraPaths": ROOMS, "include": ["script.py"], "pythonVersion": "3.11"}
    (home / "pyrightconfig.json").write_text(json.dumps(options))
    command = [sys.executable, "-m", "pyright", "-p", str(home)]
    # It would ask the network for a newer version of itself.
    env = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    if "informations" not in done.stdout and "error" not in done.stdout:
        pytest.skip(f"pyright does not run here: {(done.stdout + done.stderr).strip()[-200:]}")
    return done.stdout


CHECKERS = {"mypy": mypy, "pyright": pyright}


@pytest.mark.parametrize("checker", CHECKERS)
def test_calls_have_types(checker: str, tmp_path: Path) -> None:
    said = CHECKERS[checker](tmp_path, CORRECT)
    assert ": error" not in said, said
    revealed = re.findall(r'(?:Revealed type is|" is) "(?:[\w.]*\.)?(\w+)"', said)
    assert revealed == ["Tensor"] * CORRECT.count("reveal_type"), said


@pytest.mark.parametrize("checker", CHECKERS)
def test_misspelled_calls_are_errors(checker: str, tmp_path: Path) -> None:
    lines = ["import gradd as torch", "x = torch.randn(2, 3)", *WRONG]
    said = CHECKERS[checker](tmp_path, "\n".join(lines))
    for number, (line, word) in enumerate(WRONG.items(), 3):
        assert re.search(rf"script\.py:{number}:.*error.*(?:{word})", said), f"{line}: {said}"


# -- pages ----------------------------------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("space", STUBS)
def test_pages_are_linked_for_names_that_pytorch_has(torch: Any, space: str) -> None:
    module = torch
    for part in space.split(".") if space else []:
        module = getattr(module, part)
    linked = {name for where, name in table.PUBLIC if where == space and pages.page(space, name)}
    assert [name for name in sorted(linked) if not hasattr(module, name)] == []


def test_a_page_is_formed_by_rule() -> None:
    assert pages.page("", "matmul") == "https://pytorch.org/docs/stable/generated/torch.matmul.html"
    assert (
        pages.page("linalg", "solve") == "https://pytorch.org/docs/stable/generated/torch.linalg.solve.html"
    )
    assert pages.page("special", "entr") == "https://pytorch.org/docs/stable/special.html#torch.special.entr"
    assert pages.page("Tensor", "add_") == "https://pytorch.org/docs/stable/generated/torch.Tensor.add_.html"
    assert pages.page("", "gru_cell") is None
