"""Recorded steps: an op, slots for tensors, and the kinds of run-time values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gradd_engine.data import Mode
    from gradd_engine.schema import Op, Param


class RuntimeSlot(NamedTuple):
    """A run-time value of some kind in a recorded step."""

    kind: str


class Exact(NamedTuple):
    """A static number with its type and text, so that 1, 1.0, True, 0.0 and -0.0 are different programs."""

    type: str
    value: Any
    text: str


class Grad(NamedTuple):
    """The gradient of the tensor in a slot; the tag distinguishes it from a list of one slot."""

    of: int
    tag: str = "g"


class Recorded(NamedTuple):
    """One step. Arguments are output slots (0, 1, ...), inputs (-1, -2, ...), None, RuntimeSlot, Grad,
    or tuples of them.
    """

    op: str
    args: tuple[Any, ...]
    attrs: tuple[tuple[str, Any], ...]
    outputs: int
    grad: Mode
    raises: bool

    def late(self) -> int:
        """Number of its run-time values."""
        return sum(map(_late, self.args)) + sum(type(v) is RuntimeSlot for _, v in self.attrs)


def _late(a: Any) -> int:
    return int(type(a) is RuntimeSlot) or (sum(map(_late, a)) if type(a) is tuple else 0)


#: by the type of a run-time number
LATE = {
    bool: RuntimeSlot("bool"),
    int: RuntimeSlot("int"),
    float: RuntimeSlot("float"),
    complex: RuntimeSlot("complex"),
}


def kind_of(v: Any) -> str:
    """The kind of a run-time number."""
    if isinstance(v, bool):
        return "bool"
    if isinstance(v, int):
        return "int"
    return "float" if isinstance(v, float) else "complex"


#: op -> its attributes with defaults, in order of their names
_ordered: dict[Op, list[tuple[str, Param, Any]]] = {}


class _Never:
    """No attribute has this value."""


def _attributes(op: Op) -> list[tuple[str, Param, Any]]:
    found = _ordered[op] = [(p.name, p, _omitted(p)) for p in sorted(op.schema.attrs, key=lambda p: p.name)]
    return found


def _omitted(p: Param) -> Any:
    """The value that needs no mention: the default, but of run-time floats. A schedule that comes across it
    would make another program.
    """
    if p.value and p.kind == "float":
        return _Never
    return tuple(p.default) if isinstance(p.default, list) else p.default


def attrs_of(op: Op, attrs: dict[str, Any], values: list[Any]) -> tuple[tuple[str, Any], ...]:
    """An op's attributes that need a mention; run-time ones go to `values`, in order of names."""
    out: list[tuple[str, Any]] = []
    for name, p, default in _ordered.get(op) or _attributes(op):
        v = attrs[name]
        if v is default or (v.__class__ is default.__class__ and v == default):
            continue
        if p.value:
            late = LATE.get(v.__class__)
            if late is None:
                v = _plain(v)
                late = RuntimeSlot(kind_of(v))
            values.append(v)
            out.append((name, late))
        else:
            out.append((name, _static(p, v)))
    return tuple(out)


def _plain(v: Any) -> Any:
    """A NumPy scalar as a Python number."""
    return v.item() if hasattr(v, "item") else v


def _static(p: Param, v: Any) -> Any:
    kind = p.kind
    if v is None:
        return None
    if kind == "dtype":
        return v.name
    if kind == "int":
        return int(v)
    if kind in ("bool", "str"):
        return v
    if isinstance(v, (list, tuple)):
        if kind == "int[]":
            return tuple(int(e) for e in v)
        return tuple(_exact(e) for e in v)
    return _exact(v)


def _exact(v: Any) -> Any:
    v = _plain(v)
    if isinstance(v, (list, tuple)):
        return tuple(_exact(e) for e in v)
    return v if v is None or isinstance(v, str) else Exact(type(v).__name__, v, repr(v))
