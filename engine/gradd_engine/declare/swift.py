"""A function for each plain op and geometry: what `compute` does of it where nothing is out of the ordinary,
written out without loops over inputs and without calls between its parts.

It is for eager backends over arrays, and is made where a geometry comes a second time. What is out of the
ordinary (listeners, watchers, levels of forward mode or vmap, views, inference mode) goes to `compute`, which
does the same in general.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ..backends import ALONE
from ..data import REROUTED, quiet_copy, quietly, state
from ..graph import LEVELS, OpNode, misfit, recipe_of, recording, stated
from ..tensor import Edge, Storage, Tensor, VersionCounter, accumulator, next_priority

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from ..schema import InferCache, Op

    Swift = Callable[..., Tensor]

#: the code of each text: most ops share theirs with others
_CODES: dict[str, CodeType] = {}


def swift(op: Op, known: InferCache, general: Callable[..., Tensor]) -> Swift | None:
    """That function for inputs of a known geometry, called with their backend, the other parameters and the
    inputs; None where only `general`, which is `compute`, will do.
    """
    meta = known.meta
    if (
        op.view
        or op.cost is not None
        or (op.composite is not None and not op.rules)
        or known.asks
        or known.complex
        or known.apart
        or meta.room
        or not known.contiguous
        or False in known.takes
    ):
        return None
    text = _text(known)
    code = _CODES.get(text)
    if code is None:
        code = _CODES[text] = compile(text, f"{__file__}:text", "exec")
    names: dict[str, Any] = {
        "accumulator": accumulator,
        "ALONE": ALONE,
        "dtype": known.dtype,
        "Edge": Edge,
        "general": general,
        "getrefcount": getrefcount,
        "inputs": known.inputs,
        "known": known,
        "label": known.label,
        "LEVELS": LEVELS,
        "meta": meta,
        "misfit": misfit,
        "nbytes": known.nbytes,
        "new": object.__new__,
        "next_priority": next_priority,
        "of": meta.dtype,
        "op": op,
        "OpNode": OpNode,
        "params": known.params,
        "quiet_copy": quiet_copy,
        "quietly": quietly,
        "recipe_of": recipe_of,
        "recipes": known.recipes,
        "REROUTED": REROUTED,
        "save": recording.save,
        "shape": known.shape,
        "size": meta.shape,
        "state": state,
        "stated": stated,
        "Storage": Storage,
        "strides": meta.strides,
        "Tensor": Tensor,
        "VersionCounter": VersionCounter,
    }
    names |= {f"take{at}": take for at, take in enumerate(known.takes) if take is not None}
    exec(code, names)
    made: Swift = names["run"]
    return made


#: what goes to `general`
_UNUSUAL = (
    "REROUTED and (state.casting is not None or state.vmaps)", "LEVELS", "backend.listener is not None",
    "state.watcher is not None", "state.inference is not None",
)  # fmt: skip


def _text(known: InferCache) -> str:
    """Python text for all that takes, tracks and keeps its inputs as this does."""
    takes = list(enumerate(known.takes))
    given = "(" + "".join(f"x{at}, " for at, _ in takes) + ")"
    tensors = [f"x{at}" for at, take in takes if take is None]
    values = ", ".join(f"x{at}.array" if take is None else f"take{at}(x{at})" for at, take in takes)
    slots = dict(known.slots) if known.tracks else {}
    edges = [f"e{nr}" if nr in slots else None for nr in range(len(known.inputs))]
    body = [f"if {' or '.join(_UNUSUAL)}:", f"    return general(op, known, backend, {given}, attrs)"]
    if slots:
        views = " or ".join(f"{x}._base is not None or {x}._vc.inference" for x in tensors)
        body += [
            " = ".join(filter(None, edges)) + " = None",
            "if state.grad:",
            f"    if {views}: return general(op, known, backend, {given}, attrs)",
        ]
    for nr, at in slots.items():
        body += [
            f"    fn = x{at}._fn",
            f"    if fn is not None: e{nr} = Edge(fn.unfold() if fn.folded else fn, x{at}._nr)",
            f"    elif x{at}._requires_grad: e{nr} = Edge(accumulator(x{at}), 0)",
        ]
    dense = "" if known.line else " and a.flags.c_contiguous"
    body += [
        "account = state.account",
        "if account is not None: account.take(nbytes)",
        "try:",
        f"    a = quiet_copy().run(backend.kernels[op], backend.xp, {values}, **attrs)",
        "    if not (type(a) is backend._ndarray and a.base is None and a.shape == shape",
        f"        and a.dtype is dtype{dense} and getrefcount(a) <= ALONE):",
        f"        a = quietly(backend.lawful, a, meta, [{', '.join(f'{x}.array' for x in tensors)}])",
        "    out = new(Tensor)",
        "    out.backend, out._storage, out._shape = backend, Storage(a, nbytes, account), size",
        "    out.strides, out.offset, out._dtype, out.array = strides, 0, of, a",
        "    out._vc = VersionCounter()",
        "except BaseException as error:",
        "    if account is not None: account.give(nbytes)",
        "    if stated(error): raise",
        f"    raise misfit(op, {given}, attrs) from error",
    ]
    if slots:
        wants = "".join("False, " if e is None else f"{e} is not None, " for e in edges)
        body += [
            f"if {' or '.join(f'{e} is not None' for e in edges if e)}:",
            f"    wants = ({wants})",
            "    recipe = recipes.get(wants)",
            "    if recipe is None: recipe = recipes[wants] = recipe_of(op, params, wants)",
            "    out._fn = node = new(OpNode)",
            "    node.priority, node.op, node.attrs, node.params = next_priority(), op, attrs, params",
            "    if account is not None: node.counted = account.graphs",
            f"    node.inputs, node.edges = inputs, ({''.join(f'{e}, ' for e in edges)})",
            "    node.wants, node.backend = recipe.wants, backend",
            *(["    node._label = label"] if known.label else []),
            f"    if recipe.saves: save(recipe, node, {given}, (out,))",
        ]
    body.append("return out")
    return f"def run(backend, attrs, {given[1:-1]}):\n    " + "\n    ".join(body)
