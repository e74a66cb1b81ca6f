"""docs/ops.md: every public function and method with its forms, what it gives and refuses, and its page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from gradd import _top
from gradd_engine.declare import functions

from .facts import facts_of
from .forms import KEYWORD, SPREAD, Form, forms_of
from .pages import op_behind, page, summary
from .stubs import attached

_WIDTH = 110
_HEAD = """\
# Ops

Written by `make face` from the declarations of ops; the lint fails where it is stale. The same stands in the
stubs (`.pyi`) that the SDK is shipped with, so an editor shows it and a type checker knows it.

`import gradd as torch` gives them PyTorch's names, and each name links to PyTorch's page of it. `Number`
is an int, a float, a bool or a complex number. At the top level and in methods `axis` and `keepdims`, which
are not shown, are taken for `dim` and `keepdim`. Calls are recorded, and run when a value is read; errors
come at the call. Shapes are an example where the result's is not that of the inputs; dtypes are the
results' for inputs of float32, int64, bool and complex64.
"""
_SPACES = {
    "": "torch",
    "nn.functional": "torch.nn.functional",
    "linalg": "torch.linalg",
    "special": "torch.special",
    "fft": "torch.fft",
    "signal.windows": "torch.signal.windows",
}


def _signature(form: Form) -> str:
    parts: list[str] = []
    for p in form.parameters:
        if p.how == KEYWORD and not any(x.startswith("*") for x in parts):
            parts.append("*")
        star = "*" if p.how == SPREAD else ""
        parts.append(f"{star}{p.name}: {p.type}" + ("" if p.default is None else f" = {p.default}"))
    return f"({', '.join(parts)}) -> {form.returns}"


def _entry(fn: Any, space: str, name: str, result: str | None = None) -> Iterator[str]:
    """The lines of one function or method."""
    address = page(space, name)
    shown = f"`{name}`" if address is None else f"[`{name}`]({address})"
    forms = [_signature(Form(f.parameters, result or f.returns)) for f in forms_of(fn, name, space)]
    yield f"- {shown}"
    op = op_behind(fn, space, name)
    facts = [] if op is None else [fact if fact.endswith(".") else f"{fact}." for fact in facts_of(op)]
    said = " ".join([summary(fn, space, name), *facts])
    for text in (*(f"`{form}`" for form in forms), said):
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False
        )
        yield ""


def catalogue() -> str:
    """The whole page."""
    lines = [_HEAD]
    for space, title in _SPACES.items():
        found = {name: fn for (where, name), fn in functions().items() if where == space}
        if space == "":
            found = {n: f for n in _top.__all__ if not isinstance(f := getattr(_top, n), type)}
        lines += [f"## {title}", ""]
        for name, fn in sorted(found.items()):
            lines += _entry(fn, space, name)
    methods = {n: f for n, f in attached().items() if not isinstance(f, property) and not n.startswith("__")}
    both = sorted(n for n in methods if ("", n) in functions())
    lines += ["## torch.Tensor", ""]
    text = (
        f"Functions of the top level that are methods too, without their first argument: {', '.join(both)}."
    )
    lines += [*textwrap.wrap(text, _WIDTH), ""]
    for name in sorted(methods.keys() - set(both)):
        lines += _entry(methods[name], "Tensor", name, "Tensor" if name.endswith("_") else None)
    return "\n".join(lines).rstrip() + "\n"
