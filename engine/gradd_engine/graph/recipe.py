"""What a node saves and how it runs its rules, worked out once for each op, overload and set of wanted
inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tensor import unpack
from .fitting import unbroadcast

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema import Op

#: what is saved: an input, its geometry, an output, all outputs
VALUE, META, OUT, OUTS = range(4)


class BackwardRecipe:
    """``saves``: the names to save, each with the place of its input or output and its kind. ``apply(node,
    grads)`` runs the rules: the gradients of all inputs, fitted to their geometry.
    """

    __slots__ = ("apply", "saves")

    def __init__(self, op: Op, params: tuple[str, ...], wants: tuple[bool, ...]) -> None:
        wanted = [name for name, want in zip(params, wants, strict=True) if want]
        asks = dict.fromkeys(ask for name in wanted for ask in op.rules[name].residuals)
        # PyTorch saves inputs for the gradients that are wanted, and outputs whichever these are.
        asks |= dict.fromkeys(
            ask for name in params for ask in op.rules[name].residuals if _of_output(op, ask)
        )
        self.saves = tuple(s for s in (_saved(op, ask) for ask in asks) if s is not None)
        self.apply = _compiled(op, params, wants, [name for name, _, _ in self.saves])


def recipe_of(op: Op, params: tuple[str, ...], wants: tuple[bool, ...]) -> BackwardRecipe:
    """The recipe for a node of `op`."""
    key = (params, wants)
    found: BackwardRecipe | None = op.caches.recipes.get(key)
    if found is None:
        found = op.caches.recipes[key] = BackwardRecipe(op, params, wants)
    return found


def _saved(op: Op, ask: str) -> tuple[str, int, int] | None:
    if ask in op.slot_of:
        return (ask, op.slot_of[ask], VALUE)
    if ask.endswith("_meta"):
        return (ask, op.slot_of[ask[:-5]], META)
    if ask == "outs":
        return (ask, 0, OUTS)
    if ask == "out":
        return (ask, 0, OUT)
    if ask.startswith("out") and ask[3:].isdigit():
        return (ask, int(ask[3:]), OUT)
    return None


def _of_output(op: Op, ask: str) -> bool:
    found = _saved(op, ask)
    return found is not None and found[2] in (OUT, OUTS)


def _each(found: Any, metas: list[Any]) -> list[Any]:
    """`unbroadcast` for a list of tensors."""
    if found is None:
        return [None] * len(metas)
    return [unbroadcast(g, m) for g, m in zip(found, metas, strict=True)]


def _nones(metas: Any) -> list[None]:
    """No gradient for a list of tensors (one slot where none was given)."""
    return [None] * (len(metas) if type(metas) is list else 1)


_GIVEN = {"g": "grads[0]", "grads": "grads", "needs": "wants"}


def _compiled(
    op: Op, params: tuple[str, ...], wants: tuple[bool, ...], saves: list[str]
) -> Callable[..., list[Any]]:
    """The calls of the rules, written out as Python."""
    names: dict[str, Any] = {
        "unbroadcast": unbroadcast,
        "each": _each,
        "nones": _nones,
        "unpack": unpack,
        "wants": wants,
    }
    lines = ["saved, attrs, inputs = node.saved, node.attrs, node.inputs"]
    lines += [f"s_{name} = unpack(saved[{name!r}], node)" for name in saves]
    joint: dict[int, str] = {}
    out: list[str] = []
    for at, (name, want) in enumerate(zip(params, wants, strict=True)):
        listed = "[" in op.params[name].kind
        if not want:
            out.append(f"*nones(inputs[{at}])" if listed else "None")
            continue
        rule = op.rules[name]
        call = joint.get(id(rule))
        if call is None:
            names[f"rule{at}"] = rule.fn
            given = (_GIVEN.get(a) or (f"s_{a}" if a in saves else f"attrs[{a!r}]") for a in rule.residuals)
            call = f"rule{at}({', '.join(given)})"
            if rule.joint:
                lines.append(f"joint{at} = {call}")
                call = joint[id(rule)] = f"joint{at}"
        if rule.joint:
            call = f"{call}[{rule.serves.index(name)}]"
        out.append(f"*each({call}, inputs[{at}])" if listed else f"unbroadcast({call}, inputs[{at}])")
    lines.append(f"return [{', '.join(out)}]")
    text = "def apply(node, grads):\n    " + "\n    ".join(lines)
    exec(compile(text, f"{__file__}:{op.name}", "exec"), names)
    run: Callable[..., list[Any]] = names["apply"]
    return run
