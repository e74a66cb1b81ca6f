"""Jacobians, Hessians and products with them, for functions of tensors.

Source: https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api. A function takes tensors
and returns a tensor or a tuple of them; results are nested like these, outputs before inputs, with a tuple
only where the caller used one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..backward import autograd as _ops
from ..backward import run_grad
from ..batching import REQUIRES, refuse, vmap
from ..data import ambient, state
from ..graph import enable_grad, set_grad_enabled
from ..ops.create import eye, finished
from ..ops.index import stack
from ..ops.shape import detach
from ..ops.shared import zeros_like
from ..tensor import Tensor
from . import forward_ad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[..., Any]
    Grads = Sequence[Tensor | None]

_OUTPUTS = "outputs of the user-provided function"
_STRICT = "This is not allowed in strict mode"

#: messages of strict mode for a missing gradient, by what was differentiated
_MISSING = {
    "output": f"The output of the user-provided function is independent of input {{i}}. {_STRICT}.",
    "vjp": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when "
    f"using the double backward trick to compute forward mode gradients. {_STRICT}.",
    "jacobian": f"The jacobian of the user-provided function is independent of input {{i}}. {_STRICT}.",
    "hessian": "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. "
    f"{_STRICT} as it prevents from using the double backward trick to replace forward mode AD.",
}
#: messages of strict mode for a tensor that does not require grad, by what it is
_UNTRACKED = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode.",
    "gradients": "The gradient with respect to input {i} is independent of the inputs of the user-provided "
    f"function. {_STRICT}.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
    f"respect to input {{i}} is independent of the input. {_STRICT}. You should ensure that your function is "
    "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
    "function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {i} is independent of the "
    f"input. {_STRICT}. You should ensure that your function is thrice differentiable and that the hessian "
    "depends on the inputs.",
}


class _Call:
    """One call of `name` with its options; derivatives are with respect to ``inputs``."""

    def __init__(self, name: str, create: bool, strict: bool) -> None:
        self.name = name
        self.create = create
        self.strict = strict
        self.inputs: tuple[Tensor, ...] = ()
        self.outputs: tuple[Tensor, ...] = ()
        #: whether the caller used tuples
        self.tuples = {"inputs": False, _OUTPUTS: False, "v": False}

    def several(self, x: Any, what: str) -> tuple[Tensor, ...]:
        """`x` as a tuple; TypeError unless it is a tensor or a tuple of tensors."""
        self.tuples[what] = isinstance(x, tuple)
        found = x if isinstance(x, tuple) else (x,)
        for i, e in enumerate(found):
            if not isinstance(e, Tensor):
                where = f"value at index {i}" if isinstance(x, tuple) else f"given {what}"
                raise TypeError(
                    f"The {what} given to {self.name} must be either a Tensor or a tuple of Tensors but the "
                    f"{where} has type {type(e)}."
                )
        return found

    def take(self, inputs: Any) -> None:
        """Take fresh aliases of `inputs`, as the function may also use the same tensors otherwise."""
        self.inputs = tuple(self._fresh(t, True) for t in self.several(inputs, "inputs"))

    def run(self, func: Function) -> None:
        """Call the function."""
        self.outputs = self.several(func(*self.inputs), _OUTPUTS)
        self.check(self.outputs, "outputs")

    def direction(self, v: Any, like: str) -> tuple[Tensor, ...] | None:
        """`v`, which must have the shapes of ``inputs`` or ``outputs``; may be None for a single element."""
        given = self.inputs if like == "inputs" else self.outputs
        if v is None:
            if len(given) == 1 and given[0].numel() == 1:
                return None
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor "
                "with a single element."
                if like == "inputs"
                else "The vector v can only be None if the user-provided function returns a single Tensor "
                "with a single element."
            )
        found = tuple(self._fresh(t, False) for t in self.several(v, "v"))
        tupled = self.tuples["inputs" if like == "inputs" else _OUTPUTS]
        if len(found) != len(given):
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(given)} but got {len(found)}."
                if tupled
                else "The given v should contain a single Tensor."
            )
        for i, (t, g) in enumerate(zip(found, given, strict=True)):
            if tuple(t.shape) != tuple(g.shape):
                entry = f"Entry {i} in v" if tupled else "v"
                raise RuntimeError(f"{entry} has invalid size: should be {g.shape} but got {t.shape}.")
        return found

    def single(self) -> None:
        """Raise RuntimeError unless the function returned one tensor of one element."""
        if self.tuples[_OUTPUTS]:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        if self.outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self.name} should contain a single element"
            )

    def check(self, tensors: Grads, what: str) -> None:
        """In strict mode, raise RuntimeError if a tensor is missing or does not require grad."""
        if not self.strict:
            return
        for i, t in enumerate(tensors):
            if t is None:
                raise RuntimeError(_MISSING["output"].format(i=i))
            if not t.requires_grad:
                raise RuntimeError(_UNTRACKED[what].format(i=i))

    def filled(self, grads: Grads, like: Sequence[Tensor], of: str) -> tuple[Tensor, ...]:
        """`grads`, with zeros for missing ones; in strict mode RuntimeError."""
        found = []
        for i, (g, t) in enumerate(zip(grads, like, strict=True)):
            if g is None and self.strict:
                raise RuntimeError(_MISSING[of].format(i=i))
            if g is not None and self.strict and self.create and not g.requires_grad:
                what = "jacobian" if of in ("output", "vjp") else "hessian"
                raise RuntimeError(
                    f"The {what} of the user-provided function is independent of input {i}. {_STRICT} when "
                    "create_graph=True."
                )
            found.append(zeros_like(t) if g is None else g)
        return tuple(found)

    def result(self, found: Any, *levels: str) -> Any:
        """Nested tuples as the caller nests (``levels`` of them); without history unless `create_graph`."""
        if isinstance(found, Tensor):
            return found if self.create else detach(found)
        parts = tuple(self.result(e, *levels[1:]) for e in found)
        return parts if self.tuples[levels[0]] else parts[0]

    def answer(self, product: tuple[Tensor, ...], like: str) -> tuple[Any, Any]:
        """Output and product, nested as the caller nests."""
        return self.result(self.outputs, _OUTPUTS), self.result(product, like)

    def recording(self) -> Any:
        """The grad mode of the last pass: on if its result may be differentiated."""
        return set_grad_enabled(self.create or state.grad)

    def _fresh(self, t: Tensor, track: bool) -> Tensor:
        if self.create and t.requires_grad:
            out: Tensor = t.view_as(t)  # type: ignore[attr-defined]
            return out
        refuse(REQUIRES)
        return _ops.requires_grad_(detach(t), track)


def _gradients(
    outputs: Grads,
    inputs: Sequence[Tensor],
    cotangents: Grads | None,
    create: bool,
    keep: bool | None = None,
    batched: bool = False,
) -> Grads:
    """Gradients, or None if there are none; outputs without history are skipped."""
    given = cotangents or [None] * len(outputs)
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    found: Grads = run_grad(
        [o for o, _ in pairs],
        list(inputs),
        [g for _, g in pairs],
        retain_graph=keep,
        create_graph=create,
        allow_unused=True,
        is_grads_batched=batched,
    )
    return found


def _leaves(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Zeros to differentiate a linear function at; their values do not matter."""
    return tuple(finished(zeros_like(detach(t)), True) for t in tensors)


def basis(t: Tensor) -> Tensor:
    """The unit directions of `t`, of shape ``(numel, *shape)``."""
    n = t.numel()
    with ambient(backend=t.backend):
        out: Tensor = eye(n, dtype=t.dtype).reshape((n, *t.shape))
        return out


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, and the product of `v` (of the output's shape) with its Jacobian at `inputs`.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.vjp.html.
    """
    call = _Call("vjp", create_graph, strict)
    with enable_grad():
        call.take(inputs)
        call.run(func)
        weights = call.direction(v, "outputs")
    with call.recording():
        found = _gradients(call.outputs, call.inputs, weights, create_graph)
        product = call.filled(found, call.inputs, "output")
    return call.answer(product, "inputs")


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, and the product of its Jacobian at `inputs` with `v` (of the inputs' shape).

    This takes two reverse passes; `gradd.func.jvp` takes one forward pass. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.jvp.html.
    """
    call = _Call("jvp", create_graph, strict)
    with enable_grad():
        call.take(inputs)
        direction = call.direction(v, "inputs")
        call.run(func)
        weights = _leaves(call.outputs)
        gradients = _gradients(call.outputs, call.inputs, weights, True)
        call.check(gradients, "gradients")
    with call.recording():
        found = _gradients(gradients, weights, direction, create_graph)
        product = call.filled(found, call.outputs, "vjp")
    return call.answer(product, _OUTPUTS)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of a scalar `func`, and the product of `v` with its Hessian at `inputs`.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.vhp.html.
    """
    call = _Call("vhp", create_graph, strict)
    with enable_grad():
        direction, gradients = _gradient_of(call, func, inputs, v)
    with call.recording():
        found = _gradients(gradients, call.inputs, direction, create_graph)
        product = call.filled(found, call.inputs, "jacobian")
    return call.answer(product, "inputs")


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of a scalar `func`, and the product of its Hessian at `inputs` with `v`.

    This takes three reverse passes; `vhp` takes two. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html.
    """
    call = _Call("hvp", create_graph, strict)
    with enable_grad():
        direction, gradients = _gradient_of(call, func, inputs, v)
        weights = _leaves(call.inputs)
        second = _gradients(gradients, call.inputs, weights, True)
    with call.recording():
        found = _gradients(second, weights, direction, create_graph)
        product = call.filled(found, call.inputs, "hessian")
    return call.answer(product, "inputs")


def _gradient_of(call: _Call, func: Function, inputs: Any, v: Any) -> tuple[Any, Grads]:
    """The direction of a Hessian product, and the scalar function's gradient."""
    call.take(inputs)
    direction = call.direction(v, "inputs")
    call.run(func)
    call.single()
    gradients = _gradients(call.outputs, call.inputs, None, True)
    call.check(gradients, "jacobian")
    return direction, gradients


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func` at `inputs`: for each output and input, a tensor of both shapes joined.

    A reverse pass per element of the output; with `vectorize` one pass over all of them or, with
    ``strategy="forward-mode"``, one call over all directions of each input. See
    https://pytorch.org/docs/stable/generated/torch.autograd.functional.jacobian.html.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
            '"reverse-mode".'
        )
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, strict, vectorize)
    call = _Call("jacobian", create_graph, strict)
    with enable_grad():
        call.take(inputs)
        call.run(func)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`."
            )
        rows = _all_rows if vectorize else _rows
        found = [rows(call, i, out) for i, out in enumerate(call.outputs)]
        return call.result(found, _OUTPUTS, "inputs")


def _all_rows(call: _Call, number: int, out: Tensor) -> list[Tensor]:
    """The Jacobian of one output for each input, in one pass over a batch of cotangents."""
    inputs: tuple[Any, ...] = call.inputs
    found: Any = _gradients([out], inputs, [basis(out)], call.create, keep=True, batched=True)
    return [
        t.new_zeros((*out.shape, *t.shape)) if g is None else g.reshape((*out.shape, *t.shape))
        for g, t in zip(found, inputs, strict=True)
    ]


def _rows(call: _Call, number: int, out: Tensor) -> list[Tensor]:
    """Like `_all_rows`, by one pass per element, which supports strict mode."""
    flat: Any = out.reshape(-1)  # type: ignore[attr-defined]
    rows: list[Grads] = []
    for k in range(out.numel()):
        one = flat[k]
        found = _gradients([one], call.inputs, None, call.create, keep=True)
        for i, g in enumerate(found):
            if g is None and call.strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {i}. {_STRICT}."
                )
            if g is not None and call.strict and call.create and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {number}. {_STRICT} "
                    "when create_graph=True."
                )
        rows.append([zeros_like(t) if g is None else g for g, t in zip(found, call.inputs, strict=True)])
    return [
        stack([row[i] for row in rows]).reshape((*out.shape, *t.shape)) for i, t in enumerate(call.inputs)
    ]


def _forward_jacobian(func: Function, inputs: Any, create: bool, strict: bool, vectorize: bool) -> Any:
    if create or strict:
        option = "create_graph" if create else "strict"
        kind = NotImplementedError if create else RuntimeError
        raise kind(
            f'torch.autograd.functional.jacobian: `{option}=True` and `strategy="forward-mode"` are not '
            f"supported together (yet). Please either set `{option}=False` or "
            '`strategy="reverse-mode"`.'
        )
    # The inputs may be tracked: the result keeps whatever history it gets.
    call = _Call("jacobian", True, False)
    given = call.several(inputs, "inputs")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )

    def push(at: int, direction: Tensor) -> tuple[Tensor, ...]:
        with forward_ad.level() as level:
            duals = [level.dual(t, direction if i == at else zeros_like(t)) for i, t in enumerate(given)]
            pairs = [level.unpack(t) for t in call.several(func(*duals), _OUTPUTS)]
        return tuple(zeros_like(p) if t is None else t for p, t in pairs)

    columns: list[Any] = [vmap(partial(push, at))(basis(t)) for at, t in enumerate(given)]
    found = [
        [c.movedim(0, -1).reshape((*c.shape[1:], *t.shape)) for c, t in zip(some, given, strict=True)]
        for some in zip(*columns, strict=True)
    ]
    result = call.result(found, _OUTPUTS, "inputs")
    if not call.tuples["inputs"]:
        return result
    # PyTorch returns lists here, and tuples everywhere else.
    return [list(row) for row in result] if call.tuples[_OUTPUTS] else list(result)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar `func` at `inputs`: for each pair of inputs, a tensor of both shapes joined.

    See https://pytorch.org/docs/stable/generated/torch.autograd.functional.hessian.html.
    """
    call = _Call("hessian", create_graph, strict)
    given = call.several(inputs, "inputs")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*given: Tensor) -> Tensor:
        call.run(lambda: func(*given))
        call.single()
        return call.outputs[0].reshape(())  # type: ignore[attr-defined, no-any-return]

    def gradient(*given: Tensor) -> tuple[Tensor, ...]:
        if outer_jacobian_strategy == "forward-mode":
            given = tuple(_ops.requires_grad_(t) for t in given)
        found: tuple[Tensor, ...] = jacobian(scalar, given, create_graph=True)
        call.check(found, "jacobian")
        return found

    found = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    if call.tuples["inputs"]:
        return found
    ((only,),) = found
    return only


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
