"""One op, one declaration.

    sin = elementwise(
        "sin(Tensor input) -> Tensor",
        infer=unary_float,
        impl=lambda xp, x: xp.sin(x),
        vjp=lambda g, input: g * cos(input).conj(),
        method=True,
        inplace=True,
        raises=False,
    )

The declaration gives the function (checked signature, one choke point behind it), the method, the in-place
form, the catalogue entry that other languages read, the rule of vmap, and the rules of both differentiation
modes. Rules are written in recorded ops, never raw arrays, so higher orders cost nothing. A rule names what
it needs: ``g`` (or ``grads`` for several outputs), inputs and attributes by name, ``out`` (``outs``, ``out1``
...), ``<input>_meta`` (geometry only, nothing saved), ``needs`` (which inputs want a gradient). Only that is
saved, inputs for the gradients that are wanted, outputs always. Some rules name what they have no use for:
PyTorch's save it, and a pass refuses it where it was changed in place.

The signature says what comes out, what shares memory and what is written (see `schema`). ``vjp`` is a rule, a
tuple of rules in the order of the tensor parameters, a dict by name, or `Joint`; ``jvp`` is ELEMENTWISE,
LINEAR, BILINEAR, or a function over ``<input>_t`` tangents (None where absent) and what a vjp may name.
``infer`` is law: `impl` and compiled kernels rely on what it lets through. All other keywords are described
where they are kept: `Kernel`, `Derivative`, `Effects` and `Surface` in the room `schema`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..schema import (
    BILINEAR,
    ELEMENTWISE,
    LINEAR,
    REGISTRY,
    Derivative,
    Effects,
    Expanded,
    Joint,
    Kernel,
    Op,
    Param,
    Return,
    Rule,
    Schema,
    Surface,
)
from ..schema import schema as _schema
from .calls import build_call
from .dispatch import dispatch
from .methods import attach
from .words import CompositeWords, ElementwiseWords, KernelWords, StatefulWords, ViewWords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

#: the kinds of devices that cast in mixed precision, and how
_DEVICES = ("cpu", "cuda")
_CASTS = frozenset({"lower", "float32", "float32 result", "widest", "as given", "refused"})
#: what rules mean by these names, so that inputs cannot have them
_RULE_NAMES = {"g", "grads", "needs", "out", "outs"}
#: the dimensions of an expanded tensor whose elements share memory
ALONG = Param("along", "int[]", False, False, None, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlace:
    """What an in-place form declares otherwise than its op."""

    node: str = ""
    number_nodes: dict[str, str] | None = None
    check_values: Callable[..., None] | None = None
    #: rules of its own, from `out`: the input is gone, and not kept then
    vjp: Any = None
    #: ``expanded(xp, target, *inputs, **attrs)`` writes what it changes into an expanded target, one element
    #: after another, since some share memory; without it such a target is refused
    expanded: Callable[..., None] | None = None
    #: see `Expanded.warnings`
    warnings: Callable[..., Sequence[str]] = lambda *inputs, **attrs: ()


def elementwise(signature: str, **words: Unpack[ElementwiseWords]) -> Op:
    """Declare a kernel that computes each element from those at its place: operands broadcast, also the batch
    of vmap. With a `vjp` its `jvp` is ELEMENTWISE, unless it says otherwise.
    """
    return _declare("elementwise", signature, words, jvp=ELEMENTWISE if "vjp" in words else None)


def kernel(signature: str, **words: Unpack[KernelWords]) -> Op:
    """Declare an op that a kernel computes. A `composite` beside `impl` gives its derivatives, and its batch
    in vmap; any other runs sample by sample there, unless it has a rule.
    """
    return _declare("kernel", signature, words)


def view(signature: str, **words: Unpack[ViewWords]) -> Op:
    """Declare an op whose results share the memory of its first input: linear, unless its `jvp` says
    otherwise. Without a letter on the result it is of a temporary that nobody else sees, and autograd follows
    it as a result of its own.
    """
    return _declare("view", signature, words, jvp=LINEAR if "vjp" in words else None)


def composite(signature: str, body: Callable[..., Any], **words: Unpack[CompositeWords]) -> Op:
    """Declare an op that is `body`, written in recorded ops. Where shapes depend on values (`dynamic`) these
    are recorded in its place.
    """
    inline = bool(words.get("inline") or words.get("dynamic"))
    return _declare("composite", signature, {**words, "inline": inline}, composite=body)


def stateful(signature: str, body: Callable[..., Any], **words: Unpack[StatefulWords]) -> Op:
    """Declare an op that acts on autograd's own state: it is always recorded as itself, and users find it
    under a name of theirs, unless it says otherwise. It touches more than its arguments (`wide`) unless it
    says that it does not.
    """
    return _declare(
        "stateful",
        signature,
        words,
        composite=body,
        stateful=True,
        namespace="-",
        outside=True,
        wide=True,
    )


_WORDS: dict[str, Any] = {
    "elementwise": ElementwiseWords,
    "kernel": KernelWords,
    "view": ViewWords,
    "composite": CompositeWords,
    "stateful": StatefulWords,
}
_KNOWN = {kind: words.__optional_keys__ for kind, words in _WORDS.items()}
_NEEDED = {"elementwise": {"infer", "impl"}, "kernel": {"infer", "impl"}, "view": {"infer"}}
_KERNEL, _EFFECTS, _SURFACE = (frozenset(f.name for f in fields(part)) for part in (Kernel, Effects, Surface))
_DERIVATIVE = frozenset({"number_nodes", "refuses", "zero_gradient_when", "check_backward"})


def _declare(kind: str, signature: str, words: Any, **defaults: Any) -> Op:
    """Declare an op of a kind; TypeError for keywords that make no sense for it."""
    parsed = _schema.parse(signature)
    if not words.keys() <= _KNOWN[kind]:
        raise TypeError(f"{parsed.name}: {kind}() has no keyword {sorted(words.keys() - _KNOWN[kind])}")
    missing = _NEEDED.get(kind, set()) - words.keys()
    if missing:
        raise TypeError(f"{parsed.name}: {kind}() needs {sorted(missing)}")
    said = {**defaults, **words}
    method, namespace = said.get("method", False), said.get("namespace", "")
    said["outside"] = bool(said.get("outside") or method or namespace != "-")
    said["doc"] = inspect.cleandoc(said.get("doc", ""))
    cast = said.get("autocast", {})
    said["autocast"] = dict.fromkeys(_DEVICES, cast) if isinstance(cast, str) else cast
    if not _CASTS.issuperset(said["autocast"].values()) or not said["autocast"].keys() <= set(_DEVICES):
        raise ValueError(f"{parsed.name}: no such cast: {cast}")
    made = Op(
        kind,
        parsed,
        Kernel(**_part(said, _KERNEL)),
        _derivative(parsed, said),
        Effects(**_part(said, _EFFECTS)),
        Surface(**{**_part(said, _SURFACE), "method": bool(method)}),
    )
    _register(made, method)
    inplace = said.get("inplace")
    if inplace:
        _derive_inplace(made, inplace if isinstance(inplace, InPlace) else InPlace())
    return made


def _part(said: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {n: said[n] for n in said.keys() & names}


def _derivative(parsed: Schema, said: dict[str, Any]) -> Derivative:
    slots = tuple(p.name for p in parsed.tensors)
    vjp = said.get("vjp") if said.get("refuses") is None else Joint(" ".join(slots), lambda: ())
    rules = _rules(slots, vjp)
    unknown = set(rules) - set(slots)
    if unknown:
        raise ValueError(f"{parsed.name}: rules for unknown inputs {sorted(unknown)}")
    taken = _RULE_NAMES & set(slots)
    if rules and taken:
        raise ValueError(f"{parsed.name}: inputs {sorted(taken)} are what rules call something else")
    node = said.get("node") or f"{_camel(parsed.name)}Backward0"
    return Derivative(rules, said.get("jvp"), node, **_part(said, _DERIVATIVE))


def _camel(name: str) -> str:
    return "".join(w.capitalize() for w in name.strip("_").split("_"))


def _rules(slots: tuple[str, ...], vjp: Any) -> dict[str, Rule]:
    if vjp is None:
        return {}
    if isinstance(vjp, Joint):
        rule = Rule(vjp.fn, vjp.names, True)
        return dict.fromkeys(vjp.names, rule)
    if callable(vjp):
        vjp = (vjp,)
    if isinstance(vjp, (tuple, list)):
        vjp = {n: f for n, f in zip(slots, vjp, strict=False) if f is not None}
    return {n: Rule(f, (n,), False) for n, f in vjp.items()}


def _register(made: Op, method: bool | str) -> None:
    if made.name in REGISTRY:
        raise ValueError(f"op {made.name} is declared twice")
    REGISTRY[made.name] = made
    made.run, made.__call__ = partial(dispatch, made), build_call(made)
    if method:
        attach(method if isinstance(method, str) else made.name, made.call)


def _derive_inplace(base: Op, how: InPlace) -> None:
    first, *rest = base.schema.params
    # what is written to is a tensor, also where a number may stand in the plain form
    kind = "Tensor" if first.kind == "Tensor|Number" else first.kind
    target = replace(first, kind=kind, alias="a", written=True)
    plain, derivative = base.kernel, base.derivative
    slots = tuple(p.name for p in base.schema.tensors)
    made = Op(
        base.kind,
        Schema(f"{base.name}_", (target, *rest), (Return("", "Tensor", False, "a"),)),
        replace(
            plain, ufunc="", inline=False, autocast={}, check_values=how.check_values or plain.check_values
        ),
        Derivative(
            derivative.rules if how.vjp is None else _rules(slots, how.vjp),
            derivative.jvp,
            how.node or derivative.node_name,
            how.number_nodes or derivative.number_nodes,
            derivative.refuses,
            derivative.zero_gradient_when,
        ),
        Effects(raises=base.effects.raises, waits=base.effects.waits, random=base.random),
        Surface(
            namespace=base.surface.namespace,
            method=True,
            numbers_first=base.surface.numbers_first,
            doc=f"In-place form of `{base.name}`.",
        ),
        base,
    )
    base.inplace = made
    if how.expanded is not None:
        base.expanded = Expanded(_expanded(base, how.expanded), how.warnings)
    _register(made, True)


def of_expanded(name: str, example: str) -> str:
    """PyTorch's warning where `name` writes to an expanded tensor; `example`: where brackets do."""
    return (
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
        f"operation. This also applies to advanced indexing e.g. {example}"
    )


def _expanded(base: Op, write: Callable[..., None]) -> Op:
    """The op of what an expanded tensor holds after `write`: elements that share memory have one value, so it
    may be stored in any order. It is a step of the in-place form, and nobody else's.
    """

    def impl(xp: Any, a: Any, *inputs: Any, along: Sequence[int], **attrs: Any) -> Any:
        memory = a[tuple(slice(1) if d in along else slice(None) for d in range(a.ndim))].copy()
        steps = [0 if d in along else step for d, step in enumerate(memory.strides)]
        out = xp.lib.stride_tricks.as_strided(memory, a.shape, steps)
        write(xp, out, *inputs, **attrs)
        return out

    return Op(
        "kernel",
        Schema(f"{base.name}_expanded", (*base.schema.params, ALONG), base.schema.returns),
        Kernel(impl=impl),
        Derivative({}, None, ""),
        Effects(raises=base.effects.raises, waits=base.effects.waits),
        Surface(outside=False),
    )


__all__ = [
    "BILINEAR",
    "ELEMENTWISE",
    "LINEAR",
    "REGISTRY",
    "InPlace",
    "Joint",
    "Op",
    "Rule",
    "composite",
    "elementwise",
    "kernel",
    "of_expanded",
    "stateful",
    "view",
]
