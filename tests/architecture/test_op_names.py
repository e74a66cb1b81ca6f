"""Facts about ops stand in their declarations: what is below and above them asks effects, never a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gradd_engine.assembly  # noqa: F401 - declares every op
import pytest
from gradd_engine.schema import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "runtime", "server", "client", "protocol")


def _texts(node: ast.AST) -> list[str]:
    """The strings of a literal: itself, or what it lists."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "frozenset":
        return [t for a in node.args for t in _texts(a)]
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        return [t for e in node.elts for t in _texts(e)]
    if isinstance(node, ast.Dict):
        return [t for k in node.keys if k is not None for t in _texts(k)]
    return []


def _is_name(node: ast.AST) -> bool:
    """Whether it reads like the name of an op: ``op.name``, ``call.op.name``, ``base.name``, ``step.op``."""
    if not isinstance(node, ast.Attribute):
        return False
    of = node.value
    word = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
    return (node.attr == "name" and word in {"op", "base", "made"}) or (node.attr, word) == ("op", "step")


def _facts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where a module knows something of ops by name: comparisons, and sets of names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(_is_name, sides)) and any(_texts(s) for s in sides):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("startswith", "endswith") and _is_name(node.func.value):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = node.value
            if isinstance(value, ast.Dict) and not all(isinstance(v, ast.Constant) for v in value.values):
                continue  # a table of implementations
            names = _texts(value) if not isinstance(value, ast.Constant) else []
            if len(names) > 1 and all(n in REGISTRY for n in names):
                yield node.lineno, ast.unparse(node)[:100]


def _modules() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "ops" not in path.relative_to(ROOT).parts:
                yield path


def test_no_module_outside_of_ops_knows_ops_by_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in _modules()
        for line, text in _facts(ast.parse(path.read_text()))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        "if op.name == 'add': pass",
        "if call.op.name in ('add', 'sub'): pass",
        "if op.name.endswith('_all'): pass",
        "if step.op == 'grad': pass",
        "_CALM = frozenset({'add', 'exp'})",
        "_PASSES = {'backward': 1, 'grad': 2}",
    ],
)
def test_a_planted_name_is_found(planted: str) -> None:
    assert list(_facts(ast.parse(planted)))


def test_an_op_whose_effects_are_not_said_has_the_cautious_ones() -> None:
    effects = REGISTRY["index"].effects
    assert effects.raises is True
    assert effects.keeps_inputs
    assert not any([effects.window, effects.relative, effects.independent, effects.dry_run])
