"""Run-time values while a plan is traced: numbers that remember where they came from.

A traced number that is only passed on becomes an argument of the plan. One whose value is used (compared,
converted, computed with) becomes a *guard*: the plan holds for exactly that value.
"""

from __future__ import annotations

from typing import Any


class TraceFailed(Exception):
    """This program cannot be planned and runs eagerly."""


class Guards:
    """The run-time values that a trace looked at, by position in the batch."""

    def __init__(self) -> None:
        self.places: set[int] = set()


_LOOKS = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
    "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__", "__neg__", "__pos__",
    "__abs__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__hash__", "__bool__",
    "__int__", "__float__", "__index__", "__trunc__", "__floor__", "__ceil__", "__round__", "__and__",
    "__or__", "__xor__", "__lshift__", "__rshift__", "__invert__", "__divmod__", "__rdivmod__",
    "__complex__", "__repr__", "__str__", "__format__", "conjugate", "is_integer", "hex",
)  # fmt: skip


def _looking(base: type, name: str) -> Any:
    plain = getattr(base, name)

    def look(self: Any, *args: Any) -> Any:
        self.guards.places.add(self.place)
        return plain(self, *args)

    return look


def _traced(base: type) -> Any:
    body: dict[str, Any] = {name: _looking(base, name) for name in _LOOKS if hasattr(base, name)}
    return type(f"Traced{base.__name__.capitalize()}", (base,), body)


_CLASSES = {int: _traced(int), float: _traced(float), complex: _traced(complex)}
TRACED = tuple(_CLASSES.values())


def traced(value: Any, place: int, guards: Guards) -> Any:
    """`value` as a number that knows its position; a bool is guarded at once, as it has no subclasses."""
    if isinstance(value, bool):
        guards.places.add(place)
        return value
    made = _CLASSES[type(value)](value)
    made.place = place
    made.guards = guards
    return made


def place_of(value: Any) -> int | None:
    """The position of an untouched traced number; None for any other value."""
    return value.place if isinstance(value, TRACED) else None


def plain(value: Any) -> Any:
    """The number itself, without a guard."""
    if isinstance(value, _CLASSES[int]):
        return int.__add__(value, 0)
    if isinstance(value, _CLASSES[float]):
        return float.__mul__(value, 1.0)
    if isinstance(value, _CLASSES[complex]):
        return complex(value.real, value.imag)
    return value


class Offset(int):
    """An offset decided at replay: ``local`` elements after the start of ``block``.

    Its int value is that of the trace. It can be added to; using its value in any other way guards the
    run-time values it depends on (``places``), or fails if there are none.
    """

    block: Any
    local: int
    places: frozenset[int] | None
    guards: Guards | None

    @classmethod
    def begin(cls, at: int, block: Any, places: frozenset[int] | None, guards: Guards | None) -> Offset:
        """The start of `block`, a window or an input; `places` is None if no run-time values decide it."""
        made = cls(at)
        made.block, made.local, made.places, made.guards = block, 0, places, guards
        return made

    def __add__(self, other: int) -> Offset:
        by = looked(other)
        made = Offset(int.__add__(self, by))
        made.block, made.local = self.block, self.local + by
        made.places, made.guards = self.places, self.guards
        return made

    __radd__ = __add__

    def look(self) -> int:
        """The number; from now on the plan depends on it."""
        if self.places is None or self.guards is None:
            raise TraceFailed("an offset that only the replay knows was used as a number")
        self.guards.places.update(self.places)
        return int.__add__(self, 0)


def _looking_at(name: str) -> Any:
    of_int = getattr(int, name)

    def look(self: Offset, *args: Any) -> Any:
        return of_int(self.look(), *map(looked, args))

    return look


for _name in _LOOKS:
    if hasattr(int, _name) and _name not in ("__add__", "__radd__"):
        setattr(Offset, _name, _looking_at(_name))


def looked(value: Any) -> Any:
    """`value` as a plain number, guarded."""
    if isinstance(value, Offset):
        return value.look()
    if isinstance(value, TRACED):
        value.guards.places.add(value.place)
        return plain(value)
    if isinstance(value, (list, tuple)):
        return type(value)(looked(v) for v in value)
    return value


def local(offset: int) -> int:
    """An offset relative to the start of its block."""
    return offset.local if isinstance(offset, Offset) else offset
