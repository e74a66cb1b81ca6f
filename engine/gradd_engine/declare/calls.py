"""The function of an op: Python text with the op's own signature, written from its declaration.

NumPy's names of parameters stand beside PyTorch's; plain ops look at their inputs in the text itself.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..data import dtypes, state
from ..graph import LISTS, PLAIN, learn
from ..schema import GREATEST, LEAST, NUMPY_NAMES, REQUIRED
from ..tensor import Tensor
from .dispatch import compute, dispatch
from .former import reordered
from .out import store
from .texts import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema import Op, Param


def build_call(op: Op) -> Callable[..., Any]:
    """A Python function with the op's own signature, so that wrong calls fail as any Python call does."""
    names: dict[str, Any] = {"_dispatch": dispatch, "_op": op}
    parts: list[str] = []
    aliases: list[str] = []
    checks: list[str] = []
    star = False
    needed = [p.name for p in op.schema.params if p.default is REQUIRED]
    for i, p in enumerate(op.schema.params):
        if p.keyword_only and not star:
            parts.append("*_rest" if op.surface.numbers_first else "*")
            star = True
        alias = None if p.is_tensor else NUMPY_NAMES.get(p.name)
        # A required one in the middle keeps its place: what follows it has no default.
        if alias is not None and (p.default is not REQUIRED or p.name == needed[-1]):
            aliases.append(f"{alias}=_absent")
            checks += _either(op.name, p, alias, f"_d{i}")
            names["_absent"] = REQUIRED
        elif p.default is REQUIRED:
            parts.append(p.name)
            continue
        if p.default is REQUIRED:
            names[f"_d{i}"] = REQUIRED
            parts.append(f"{p.name}=_d{i}")
        else:
            names[f"_d{i}"] = tuple(p.default) if isinstance(p.default, list) else p.default
            parts.append(f"{p.name}=_d{i}")
    inputs = "".join(f"{p.name}, " for p in op.schema.tensors)
    attrs = ", ".join(f"{p.name!r}: {p.name}" for p in op.schema.attrs)
    body = [f"return _dispatch(_op, ({inputs}), {{{attrs}}})"]
    if not op.inline:
        names["_state"] = state
        body[:0] = [
            "if _state.trail is not None:",
            f"    _found = _state.trail(_op, ({inputs}), {{{attrs}}})",
            "    if _found is not NotImplemented: return _found",
        ]
    if op.takes_out:
        parts += ["out=None"] if star else ["*", "out=None"]
        star = True
        names["_store"] = store
        body.insert(0, f"if out is not None: return _store(_op, ({inputs}), {{{attrs}}}, out)")
    if aliases:
        parts += aliases if star else ["*", *aliases]
        body[:0] = checks
    if op.surface.numbers_first:
        names["_reordered"] = reordered
        stored = ", out" if op.takes_out else ""
        body.insert(0, f"if _rest: return _reordered(_op, ({inputs}*_rest), {{{attrs}}}{stored})")
    if op.plain:
        body[-1:] = _plain_body(op, f"({inputs})", f"{{{attrs}}}")
        names.update(_Tensor=Tensor, _compute=compute, _dtypes=dtypes, _learn=learn, _plain=PLAIN)
        names.update(_get=op.caches.known.get, _state=state, _lists=LISTS, _ints=frozenset({int}))
    text = f"def {op.name}({', '.join(parts)}):\n    " + "\n    ".join(body)
    # The text comes from the declaration's signature alone. Its file is named so that it counts as the
    # engine's.
    exec(TEXTS.code(text, f"{__file__}:{op.name}"), names)
    fn: Callable[..., Any] = names[op.name]
    fn.__doc__ = op.surface.doc
    if op.surface.numbers_first:  # which nobody is told of, as PyTorch does not
        told = inspect.signature(fn)
        shown = [p for p in told.parameters.values() if p.kind is not p.VAR_POSITIONAL]
        fn.__signature__ = told.replace(parameters=shown)  # type: ignore[attr-defined]
    return fn


def _either(name: str, p: Param, alias: str, default: str) -> list[str]:
    """The parameter under NumPy's name, where that was given; TypeError for both, or for neither of one that
    is required.
    """
    lines = [
        f"if {alias} is not _absent:",
        f"    if {p.name} is not {default}:",
        f"        raise TypeError(\"{name}() got an unexpected keyword argument '{alias}'\")",
        f"    {p.name} = {alias}",
    ]
    if p.default is REQUIRED:
        lines += [
            f"elif {p.name} is {default}:",
            f"    raise TypeError('{name}() missing 1 required positional arguments: \"{p.name}\"')",
        ]
    return lines


def _plain_body(op: Op, inputs: str, attrs: str) -> list[str]:
    """One look at each input, written out: their backend, and the key to what the op makes of such inputs.
    What is out of the ordinary goes to `dispatch`.
    """
    general = f"return _dispatch(_op, {inputs}, {attrs})"
    lines = ["_backend = None"]
    key = ["_state.dtype"]
    for p in op.schema.tensors:
        x = p.name
        lines += [
            f"if isinstance({x}, _Tensor):",
            f"    {x}__ = ({x}._dtype, {x}._shape, {x}.strides)",
            f"    if {x}.backend is not _backend:",
            f"        if _backend is not None: {general}",
            f"        _backend = {x}.backend",
            "else:",
            f"    {general}"
            if p.kind == "Tensor" and p.default is REQUIRED
            else f"    {x}__ = {x}.__class__",
        ]
        if "Number" in p.kind:
            lines.append(f"    if {x}__ is int and not {LEAST} <= {x} <= {GREATEST}: {general}")
        key.append(f"{x}__")
    if op.check_values is not None:
        given = [p.name if p in op.schema.tensors else f"{p.name}={p.name}" for p in op.schema.params]
        lines.append(f"_op.check_values({', '.join(sorted(given, key=lambda x: '=' in x))})")
    if op.view:
        source = op.tensor_slots[0]
        # A plan's tracer marks offsets that change from run to run.
        lines.append(f"if _backend is None or {source}.offset.__class__ is not int: {general}")
        key.append(f"{source}.offset")
    for p in op.schema.attrs:
        x = p.name
        if p.kind.startswith("int[]"):
            lines += [
                f"if {x}.__class__ in _lists and _ints.issuperset(map(type, {x})): {x}__ = tuple({x})",
                f"elif {x}.__class__ in _plain: {x}__ = {x}.__class__, {x}",
                f"else: {general}",
            ]
            key.append(f"{x}__")
        else:
            lines.append(f"if {x}.__class__ not in _plain: {general}")
            key += [f"{x}.__class__", x]
    return [
        *lines,
        f"if _backend is None: {general}",
        f"_key = ({', '.join(key)})",
        f"_known = _get(_key) or _learn(_op, _key, {inputs}, {attrs})",
        f"if _known is None: {general}",
        f"if _known.swift and _backend.eager: return _known.swift(_backend, {attrs}, {inputs[1:-1]})",
        f"return _compute(_op, _known, _backend, {inputs}, {attrs})",
    ]
