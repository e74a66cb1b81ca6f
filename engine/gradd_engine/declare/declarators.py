"""One op, one declaration.

    sin = op("sin(Tensor input)", infer=unary_float, impl=lambda xp, x: xp.sin(x), vjp=lambda g, input: g *
cos(input).conj(),
             jvp=ELEMENTWISE, method=True, inplace=True)

The declaration gives the function (checked signature, one choke point behind it), the method, the in-place
form, the catalogue entry that other languages read, and the rules of both differentiation modes. Rules are
written in recorded ops, never raw arrays, so higher orders cost nothing. A rule names what it needs: ``g``
(or ``grads`` for several outputs), inputs and attributes by name, ``out`` (``outs``, ``out1`` ...),
``<input>_meta`` (geometry only, nothing saved), ``needs`` (which inputs want a gradient). Only that is saved,
inputs for the gradients that are wanted, outputs always. Some rules name what they have no use for:
PyTorch's save it, and a pass refuses it where it was changed in place.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..schema import BILINEAR, ELEMENTWISE, LINEAR, REGISTRY, Joint, Op, Rule, Schema
from ..schema import schema as _schema
from .calls import build_call
from .dispatch import dispatch
from .methods import attach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: what rules mean by these names, so that inputs cannot have them
_RULE_NAMES = {"g", "grads", "needs", "out", "outs"}


def _camel(name: str) -> str:
    return "".join(w.capitalize() for w in name.strip("_").split("_"))


def _rules(op: Op, vjp: Any) -> dict[str, Rule]:
    if vjp is None:
        return {}
    if isinstance(vjp, Joint):
        rule = Rule(vjp.fn, vjp.names, True)
        return dict.fromkeys(vjp.names, rule)
    if callable(vjp):
        vjp = (vjp,)
    if isinstance(vjp, (tuple, list)):
        vjp = {n: f for n, f in zip(op.tensor_slots, vjp, strict=False) if f is not None}
    return {n: Rule(f, (n,), False) for n, f in vjp.items()}


def op(
    signature: str,
    *,
    infer: Callable[..., Any] | None = None,
    impl: Callable[..., Any] | None = None,
    vjp: Any = None,
    jvp: Any = None,
    composite: Callable[..., Any] | None = None,
    node: str | Callable[[dict[str, Any]], str] | None = None,
    number_nodes: dict[str, str] | None = None,
    method: bool | str = False,
    inplace: bool = False,
    view: bool = False,
    multi_view: bool = False,
    unsafe: bool = False,
    many: bool = False,
    random: bool = False,
    dynamic: bool = False,
    inline: bool = False,
    needs_meta: bool = False,
    conjugates: bool = False,
    refuses: Callable[[dict[str, Any]], Exception] | None = None,
    flat: Callable[[dict[str, Any]], bool] | None = None,
    infers_anew: bool = False,
    vets: Callable[..., Any] | None = None,
    checks: Callable[..., None] | None = None,
    cost: Callable[..., tuple[int, int]] | None = None,
    traced: bool = True,
    writes: str = "",
    quiet: bool = False,
    raises: bool | str = True,
    out: bool = False,
    ufunc: str = "",
    differentiable: Sequence[bool] | None = None,
    namespace: str = "",
    outside: bool = False,
    stateful: bool = False,
    doc: str = "",
) -> Op:
    """Declare an op and return it, callable.

    ``infer(*inputs, **attrs)`` gives a Meta (a list when ``many``) and raises PyTorch's errors; it is law.
    ``impl(xp, *inputs, **attrs)`` gets arrays, already cast to ``Meta.compute``. ``vjp`` is a rule, a tuple
    of rules in the order of the tensor parameters, a dict by name, or `Joint`. ``jvp`` is ELEMENTWISE,
    LINEAR, BILINEAR, or a function over ``<input>_t`` tangents (None where absent) and what a vjp may name.
    ``composite`` is the op written in recorded ops: alone it is the implementation; beside ``impl`` it gives
    the derivatives.
    ``view`` results share memory (``conjugates``: and stand for the conjugates of what it holds); an
    ``unsafe`` one is of a temporary that nobody else sees, and autograd follows it as a result of its own.
    ``writes`` names the inputs that the op changes in place by itself; where it is ``quiet`` their versions
    stay. ``out``: the function of a composite takes ``out=`` too.
    ``raises=False`` promises that no value makes ``impl`` raise, of any dtype that ``infer`` lets through;
    "not of floats", that none of a real floating dtype does. A plan leaves such a kernel out where nobody
    looks at the result, and lets it run after a write.
    ``inline`` composites are recorded as the ops inside them, and so are those of ``dynamic`` ops, whose
    shapes depend on values. ``differentiable`` flags each output of a ``many`` op. ``node`` names the
    node, or is a function of the attributes that does. ``number_nodes`` names, by parameter, the node
    where a number stands there: PyTorch's overload for numbers, which has slots for tensors alone.
    ``ufunc`` names the function of the array namespace that ``impl`` is where all parameters have their
    defaults: plans call it without a detour.
    ``refuses`` makes what a pass raises at the op's node: it has edges from all inputs, but no derivative.
    ``flat`` says of which attributes nothing depends on the inputs: the node has no edges.
    ``traced``: False for what acts on more than a plan or a traced function holds: the random stream, memory
    that moves, passes under way, forward-mode levels, what only a graph knows.
    ``infers_anew``: what ``infer`` says depends on more than geometry and parameters.
    ``vets(inputs, **attrs)`` raises what the rules would raise of inputs of that geometry: a pass whose
    bodies are skipped asks it.
    ``checks(*inputs, **attrs)`` raises what depends on the values of numbers among the inputs, of which
    ``infer`` is told the kinds alone.
    ``cost(*inputs, **attrs)`` gives the work and the bytes of temporaries where they are more than those of
    inputs and outputs (see `cost`): a session refuses what is too much before it is begun.
    ``method`` attaches a Tensor method (a string: under that name), ``inplace`` derives ``name_``.
    ``namespace`` is where users find it ("nn.functional"; "" is the top level, "-" nowhere).
    ``outside``: users do not find it, but a session takes it as a step, since within vmap and beside hooks
    rules and composites are sent op by op. What users find is taken anyway; any other step is refused.
    ``stateful`` ops act on autograd's own state and are always recorded as themselves.
    """
    parsed = _schema.parse(signature)
    made = Op(parsed)
    made.infer, made.composite = infer, composite
    if impl is not None:
        made.impl = impl
    elif not view and composite is None:
        raise ValueError(f"{made.name}: an op needs impl, composite or view")
    if impl is not None and composite is not None and infer is None:
        raise ValueError(f"{made.name}: a fused op needs infer")
    made.jvp = jvp
    if refuses is not None:
        vjp = Joint(" ".join(made.tensor_slots), lambda: ())
    made.rules = _rules(made, vjp)
    unknown = set(made.rules) - set(made.tensor_slots)
    if unknown:
        raise ValueError(f"{made.name}: rules for unknown inputs {sorted(unknown)}")
    taken = _RULE_NAMES & set(made.tensor_slots)
    if made.rules and taken:
        raise ValueError(f"{made.name}: inputs {sorted(taken)} are what rules call something else")
    made.edge_params = tuple(n for n in made.tensor_slots if n in made.rules)
    made.edge_slots = tuple(made.slot_of[n] for n in made.edge_params)
    made.node_name = node if node is not None else f"{_camel(made.name)}Backward0"
    made.number_nodes = number_nodes or {}
    made.view, made.multi_view, made.many, made.unsafe = view, multi_view, many or multi_view, unsafe
    made.random, made.dynamic, made.needs_meta = random, dynamic, needs_meta
    made.conjugates, made.refuses, made.flat = conjugates, refuses, flat
    made.inline = inline or (dynamic and composite is not None)
    made.ufunc, made.out = ufunc, out
    made.vets, made.traced, made.checks, made.cost = vets, traced, checks, cost
    made.writes, made.quiet, made.raises = tuple(writes.split()), quiet, raises
    made.written = tuple(n in made.writes for n in made.tensor_slots)
    if made.simple and not dynamic and not infers_anew:
        made.inferred = {}
    made.plain = (
        made.simple
        and infer is not None
        and differentiable is None
        and not (made.many or writes or made.inline)
        and (
            impl is not None
            if not view
            else len(made.tensor_slots) == 1 and made.inferred is not None and not unsafe
        )
    )
    made.differentiable = None if differentiable is None else tuple(differentiable)
    made.namespace, made.method = namespace, bool(method)
    made.stateful = stateful
    made.outside = outside or made.method or namespace != "-"
    made.doc = inspect.cleandoc(doc)
    if made.name in REGISTRY:
        raise ValueError(f"op {made.name} is declared twice")
    REGISTRY[made.name] = made
    made.run, made.__call__ = partial(dispatch, made), build_call(made)
    if method:
        attach(method if isinstance(method, str) else made.name, made.call)
    if inplace:
        _derive_inplace(made)
    return made


def _derive_inplace(base: Op) -> None:
    first, *rest = base.schema.params
    # what is written to is a tensor, also where a number may stand in the plain form
    target = replace(first, kind="Tensor") if first.kind == "Tensor|Number" else first
    made = Op(Schema(f"{base.name}_", (target, *rest)))
    made.base, made.rules = base, base.rules
    made.edge_params, made.edge_slots = base.edge_params, base.edge_slots
    made.infer, made.impl, made.jvp, made.composite = base.infer, base.impl, base.jvp, base.composite
    made.node_name, made.namespace, made.random = base.node_name, base.namespace, base.random
    made.refuses, made.flat, made.checks = base.refuses, base.flat, base.checks
    made.number_nodes, made.raises = base.number_nodes, base.raises
    made.needs_meta, made.writes = base.needs_meta, (first.name,)
    made.doc = f"In-place form of `{base.name}`."
    made.cost = base.cost
    base.inplace = made
    REGISTRY[made.name] = made
    made.run, made.__call__ = partial(dispatch, made), build_call(made)
    made.method = True
    attach(made.name, made.call)


__all__ = ["BILINEAR", "ELEMENTWISE", "LINEAR", "REGISTRY", "Joint", "Op", "Rule", "op"]
