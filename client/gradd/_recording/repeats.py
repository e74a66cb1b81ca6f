"""What is remembered of an op that a script repeats: what it was called with, and what it gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.data import DType, Size
from gradd_engine.declare import flat_tensors

from .._program import RuntimeSlot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import Mode
    from gradd_engine.schema import Op

    from .._program import Recorded

#: attributes of these are compared by class and value
_PLAIN = frozenset({type(None), bool, int, str, DType})
LISTS = frozenset({list, tuple, Size})
_NUMBERS = frozenset({bool, int, float})


class InputForm(NamedTuple):
    """Of an input: what decides, with its values, what an op makes of it. Where in its memory it begins does
    not: views begin as far from there.
    """

    dtype: DType
    shape: Size
    strides: tuple[int, ...]
    #: whether it is a leaf that requires grad
    leaf: bool
    #: whether it was made in inference mode
    inference: bool
    #: whether it has a node
    node: bool


def form_of(t: Any) -> InputForm:
    """That of a tensor."""
    return InputForm(t._dtype, t._shape, t.strides, t._requires_grad, t._vc.inference, t._fn is not None)


def placed(inputs: Sequence[Any]) -> list[Any]:
    """What an op in place leaves as it is, if it is to be answered: forms of tensors, and where they lie."""
    return [(form_of(t), t.offset, id(t._storage)) for t in flat_tensors(inputs)]


class Attribute(NamedTuple):
    """A parameter that is no tensor. `late`: its value is one of the batch's."""

    name: str
    value: Any
    late: bool
    #: the value that the step would not mention
    default: Any

    def again(self, value: Any, exact: bool) -> bool:
        """Whether the step is the same with this value; `exact`: and so is what the op does."""
        kind = value.__class__
        if kind in LISTS:
            old = self.value
            if old.__class__ not in LISTS or len(value) != len(old):
                return False
            return all(
                a.__class__ is b.__class__ in _NUMBERS and alike(a, b)
                for a, b in zip(value, old, strict=True)
            )
        if kind is not self.value.__class__:
            return False
        if self.late and not exact:
            return bool(value != self.default)
        return bool(value == self.value) and (kind in _PLAIN or (kind is float and alike(value, self.value)))


class OutputForm(NamedTuple):
    """One tensor that an op gives."""

    shape: Size
    strides: tuple[int, ...]
    #: from that of its source
    offset: int
    dtype: DType
    nbytes: int
    #: the input, or the place in a list, whose memory it is in; None for memory of its own
    source: tuple[int, int] | None
    #: it is that input
    same: bool
    #: it counts that input's versions
    versions: bool
    #: it is a view of that input
    based: bool
    creation: str | None
    #: it has a node, of which it is the output of this number
    tracked: bool
    nr: int
    #: that node's name
    name: str
    #: what it is a view of, where that is no input: a tensor that nobody else has
    base: OutputForm | None = None


class Repeat:
    """An op at one place of a program."""

    __slots__ = (
        "args", "attrs", "draws", "exact", "geometry", "late", "leaves", "many", "mode", "number", "op",
        "requiring", "results", "step", "tracked", "writes",
    )  # fmt: skip

    def __init__(self, op: Op, step: Recorded, geometry: tuple[Any, ...]) -> None:
        self.op, self.step, self.geometry = op, step, geometry
        #: slots of tensors, None, kinds of numbers, and tuples of these
        self.args: tuple[Any, ...] = step.args
        self.mode: Mode = step.grad
        self.attrs: tuple[Attribute, ...] = ()
        #: None where the op gives a single tensor
        self.results: tuple[OutputForm | None, ...] = ()
        self.many = False
        self.tracked = False
        #: it takes run-time numbers in place of tensors
        self.late = any(type(a) is RuntimeSlot for a in flat(step.args))
        #: what it does may depend on its numbers
        self.exact = op.composite is not None
        #: the inputs that are leaves, each by its place and that in a list (-1: it is in none)
        self.requiring: tuple[tuple[int, int], ...] = tuple(
            (at, nr)
            for at, given in enumerate(geometry)
            for nr, form in (enumerate(given) if type(given) is tuple else [(-1, given)])
            if type(form) is InputForm and form.leaf
        )
        #: the inputs that it writes to
        self.writes: tuple[int, ...] = ()
        #: of a pass that frees its graph: the slots of the leaves there
        self.leaves: tuple[int, ...] | None = None
        #: of any pass: how many ops with nodes its batch has before it
        self.number: int | None = None
        #: how often it draws from the random stream
        self.draws = 0


def flat(args: Sequence[Any]) -> list[Any]:
    """The arguments of a step, those in lists too."""
    return [a for arg in args for a in (arg if arg.__class__ is tuple else (arg,))]


def alike(a: float, b: float) -> bool:
    """Whether two numbers of one class are the same: zeros differ in their signs."""
    return a == b and (a != 0 or repr(a) == repr(b))


def plain(x: Any) -> bool:
    """Whether what an op makes of a tensor is decided by its geometry and node alone."""
    return not (x._conj or x._tangents or x._stands is not None or x._sparse)


def fresh(x: Any) -> bool:
    """Whether a tensor of an earlier batch has no history."""
    return x._fn is None and (x._base is None or not x._base.requires_grad)
