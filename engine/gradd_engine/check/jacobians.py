"""Products with a function's Jacobian: by differences, by reverse mode, by forward mode.

Everything is only recorded here. Values are read together at the end (`Reading`), so checking a remote
function costs one round trip, whatever the size of its Jacobian. Source of the method:
https://pytorch.org/docs/stable/notes/gradcheck.html
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backward import autograd, grad_op
from ..data import ambient
from ..schema import named
from ..tensor import Tensor
from ..transforms import forward_ad

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Array = np.ndarray[Any, Any]
    Function = Callable[..., Any]
    #: returns noted values; call it after the fetch
    Noted = Callable[[], list[Array]]

#: maximum number of tensors to concatenate in one step
_TOGETHER = 1000


def unrecorded() -> ambient:
    """A context for the check's own arithmetic, without history."""
    return ambient(grad=False)


def floating(found: Any) -> list[Tensor]:
    """The outputs of a function that could have a derivative; AttributeError for a non-tensor."""
    some = found if isinstance(found, (tuple, list)) else (found,)
    for o in some:
        if not isinstance(o, Tensor):
            raise AttributeError(f"'{type(o).__name__}' object has no attribute 'requires_grad'")
    return [o for o in some if o.dtype.differentiable]


class Reading:
    """Tensors whose values are needed: noted one by one, fetched all at once."""

    def __init__(self) -> None:
        self._rows: list[Tensor] = []
        self._blocks: list[Tensor] = []
        self._size = 0
        self._values: Array = np.zeros(0)

    def note(self, tensors: Sequence[Tensor]) -> Noted:
        """Keep the current values of `tensors`; the result returns them after `fetch`, as one flat array
        each.

        They are concatenated in one dtype that holds every value exactly.
        """
        slots = []
        for t in tensors:
            slots.append((self._size, self._size + t.numel(), t.dtype.np))
            self._size += t.numel()
        if tensors:
            with unrecorded():
                self._rows.append(named.cat([named.reshape(t, [-1]) for t in tensors]))
                if len(self._rows) == _TOGETHER:
                    self._blocks.append(named.cat(self._rows))
                    self._rows = []

        def values() -> list[Array]:
            return [_cast(self._values[first:last], dtype) for first, last, dtype in slots]

        return values

    def fetch(self) -> None:
        """Read everything noted."""
        if self._size:
            with unrecorded():
                whole = named.cat([*self._blocks, *self._rows])
            self._values = whole.backend.to_numpy(whole)


def _cast(a: Array, dtype: Any) -> Array:
    real = np.iscomplexobj(a) and np.dtype(dtype).kind != "c"
    return (a.real if real else a).astype(dtype)


def basis(like: Tensor, scale: complex) -> tuple[Tensor, ...]:
    """For each element of `like`, a tensor of its geometry with `scale` there and zero elsewhere."""
    count = like.numel()
    if not count:
        return ()
    with unrecorded():
        diagonal = like.backend.from_array(np.full(count, scale, like.dtype.np), like.dtype)
        square = named.reshape(named.diag_embed(diagonal), [count, *like.shape])
        return named.unbind(square, 0)  # type: ignore[no-any-return]


def tensor_like(like: Tensor, values: Array) -> Tensor:
    """A tensor with the geometry of `like` and these values."""
    array = values.reshape(tuple(like.shape)).astype(like.dtype.np)
    return like.backend.from_array(array, like.dtype)


class Moves:
    """The outputs of a function as input `at` is perturbed in place, both ways along each of `steps`.

    `eps` is the length of a step; `axes` says that steps go along single elements, so that an error can name
    one. Raises AssertionError if an output changes shape or dtype.
    """

    def __init__(
        self,
        fn: Function,
        inputs: Sequence[Any],
        at: int,
        steps: Sequence[Tensor],
        eps: float,
        axes: bool,
        reading: Reading,
    ) -> None:
        self._eps = eps
        self._pairs: list[tuple[Noted, Noted]] = []
        x: Tensor = inputs[at]
        # Through an alias with its own version: graphs that saved the input are still needed.
        here = autograd.data(x)
        with unrecorded():
            home = named.clone(here)
        try:
            for k, step in enumerate(steps):
                ends = []
                for move in (named.sub, named.add):
                    with unrecorded():
                        named.copy_(here, move(home, step))
                    outputs = floating(fn(*inputs))
                    ends.append((outputs, reading.note(outputs)))
                (low, before), (high, after) = ends
                self._compare(low, high, f"on index {_index(k, x)} " if axes else "")
                self._pairs.append((before, after))
        finally:
            with unrecorded():
                named.copy_(here, home)

    def _compare(self, low: Sequence[Tensor], high: Sequence[Tensor], where: str) -> None:
        for a, b in zip(low, high, strict=False):
            for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
                if x != y:
                    raise AssertionError(
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                        f"{where}by {self._eps}, but got: {what}s {x} and {y}."
                    )

    @cached_property
    def slopes(self) -> list[Array]:
        """Central differences: per floating-point output an array of a row per step. Call after the fetch."""
        rows = []
        for before, after in self._pairs:
            with np.errstate(all="ignore"):
                rows.append([(b - a) / (2 * self._eps) for a, b in zip(before(), after(), strict=True)])
        return [np.stack(column) for column in zip(*rows, strict=True)]


def _index(k: int, x: Tensor) -> tuple[int, ...]:
    """The index that step k moves; imaginary steps of a complex tensor follow the real ones."""
    return tuple(int(i) for i in np.unravel_index(k % x.numel(), tuple(x.shape)))


class Pulled:
    """Gradients of one output with respect to inputs, for each of several cotangents.

    ``same_dtypes``: every gradient has the dtype of its input.
    """

    def __init__(
        self, output: Tensor, inputs: Sequence[Tensor], cotangents: Sequence[Tensor], reading: Reading
    ) -> None:
        self.same_dtypes = True
        self._inputs = inputs
        self._found: list[tuple[list[bool], Noted]] = []
        for v in cotangents:
            grads = grad_op.grad(output, inputs, v, retain_graph=True, allow_unused=True)
            for g, x in zip(grads, inputs, strict=True):
                self.same_dtypes &= g is None or g.dtype is x.dtype
            there = [g is not None for g in grads]
            self._found.append((there, reading.note([g for g in grads if g is not None])))

    @cached_property
    def columns(self) -> list[Array]:
        """For each input an array with a column per cotangent, or zeros. Call after the fetch."""
        out = [np.zeros((x.numel(), len(self._found)), x.dtype.np) for x in self._inputs]
        for k, (there, values) in enumerate(self._found):
            arrays = iter(values())
            for jacobian, some in zip(out, there, strict=True):
                if some:
                    jacobian[:, k] = next(arrays)
        return out


def pushed(
    fn: Function, inputs: Sequence[Any], tangents: Mapping[int, Tensor | None]
) -> list[tuple[Tensor, Tensor | None]]:
    """The floating-point outputs of `fn` and their tangents, given tangents for inputs by position.

    None means an input without a tangent, which differs from a tangent of zeros.
    """
    with forward_ad.dual_level():
        given = list(inputs)
        for at, t in tangents.items():
            plain = named.detach(inputs[at])
            given[at] = plain if t is None else forward_ad.make_dual(plain, t)
        return [(o, forward_ad.unpack_dual(o).tangent) for o in floating(fn(*given))]


class Pushed:
    """Tangents of all outputs, for each of several tangents of input `at`; those of `others` are zero.

    ``same_dtypes``: tangents are complex exactly if their outputs are.
    """

    def __init__(
        self,
        fn: Function,
        inputs: Sequence[Any],
        others: Sequence[int],
        at: int,
        tangents: Sequence[Tensor],
        reading: Reading,
    ) -> None:
        self.same_dtypes = True
        self._found: list[list[Array | Noted]] = []
        with unrecorded():
            zeros: dict[int, Tensor | None] = {i: named.zeros_like(inputs[i]) for i in others}
        for tangent in tangents:
            row: list[Array | Noted] = []
            for o, t in pushed(fn, inputs, {**zeros, at: tangent}):
                self.same_dtypes &= t is None or t.dtype.is_complex == o.dtype.is_complex
                row.append(np.zeros(o.numel(), o.dtype.np) if t is None else reading.note([t]))
            self._found.append(row)

    @cached_property
    def rows(self) -> list[Array]:
        """For each floating-point output an array with a row per tangent. Call after the fetch."""
        return [
            np.stack([a if isinstance(a, np.ndarray) else a()[0] for a in column])
            for column in zip(*self._found, strict=True)
        ]


@dataclass(frozen=True)
class Part:
    """The real or imaginary part of complex numbers, and the unit in its direction."""

    name: str
    unit: complex

    def of(self, a: Array) -> Array:
        """This part of complex numbers; real ones unchanged."""
        return (a.real if self is REAL else a.imag) if np.iscomplexobj(a) else a


REAL, IMAGINARY = Part("real", 1.0), Part("imaginary", 1.0j)


@dataclass
class Tolerances:
    """The step size, and the tolerances for results."""

    eps: float
    atol: float
    rtol: float
    nondet: float
    check_dtypes: bool


class Subject:
    """A function at a point: its inputs and outputs.

    `fast`: derivatives are compared along one random direction instead of every element.
    """

    def __init__(self, fn: Function, inputs: tuple[Any, ...], limits: Tolerances, fast: bool) -> None:
        self.fn, self.inputs, self.limits, self.fast = fn, inputs, limits, fast
        self.reading = Reading()
        #: positions of the inputs to differentiate with respect to
        self.places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self.wanted: list[Tensor] = [inputs[i] for i in self.places]
        found = floating(fn(*inputs))
        self.any_complex = any(o.dtype.is_complex for o in found)
        #: positions of differentiable outputs among the floating-point ones
        self.differentiable = [i for i, o in enumerate(found) if o.requires_grad]
        self.outputs = [found[i] for i in self.differentiable]
        chance = np.random.default_rng(0)
        #: random directions: one per real input, and one for each part of a complex input
        self.u = [{part: _unit(chance, x) for part in parts(x)} for x in self.wanted]
        self.v = [_unit(chance, o) for o in self.outputs]
        self._moves: list[Moves] | None = None

    def moves(self) -> list[Moves]:
        """The outputs as each input is perturbed: recorded once, for the checks of both modes."""
        if self._moves is None:
            eps = self.limits.eps
            self._moves = []
            for j, at in enumerate(self.places):
                steps = [s for part in parts(self.wanted[j]) for s in self.directions(j, part, eps)]
                self._moves.append(Moves(self.fn, self.inputs, at, steps, eps, not self.fast, self.reading))
        return self._moves

    def directions(self, j: int, part: Part, length: float = 1.0) -> tuple[Tensor, ...]:
        """The directions in which this part of input `j` is perturbed."""
        x = self.wanted[j]
        if not self.fast:
            return basis(x, length * part.unit)
        return (tensor_like(x, length * self.u[j][part] * part.unit),)

    def cotangents(self, i: int, part: Part) -> tuple[Tensor, ...]:
        """Cotangents that select the elements of output `i`, or a random sum of them, in this part."""
        o = self.outputs[i]
        return (tensor_like(o, self.v[i] * part.unit),) if self.fast else basis(o, part.unit)

    def slopes(self, i: int, j: int, part: Part) -> Array:
        """Differences of output `i` as this part of input `j` is perturbed: a row per direction."""
        found = self.moves()[j].slopes
        if not found:  # an empty input has no directions
            return np.zeros((0, self.outputs[i].numel()), self.outputs[i].dtype.np)
        rows = found[self.differentiable[i]]
        half = len(rows) // len(parts(self.wanted[j]))
        return rows[:half] if part is REAL else rows[half:]


def parts(t: Tensor) -> tuple[Part, ...]:
    """The parts of a tensor's numbers."""
    return (REAL, IMAGINARY) if t.dtype.is_complex else (REAL,)


def turns(tensors: Sequence[Tensor], any_complex: bool) -> list[list[tuple[int, Part]]]:
    """Which part of which tensors to check, in PyTorch's order: first imaginary parts and real tensors, then
    real parts of complex tensors.
    """
    numbered = list(enumerate(tensors))
    if not any_complex:
        return [[(i, REAL) for i, _ in numbered]]
    return [
        [(i, IMAGINARY if t.dtype.is_complex else REAL) for i, t in numbered],
        [(i, REAL) for i, t in numbered if t.dtype.is_complex],
    ]


def _unit(chance: np.random.Generator, like: Tensor) -> Array:
    found = chance.random(like.numel())
    return found / np.linalg.norm(found)
