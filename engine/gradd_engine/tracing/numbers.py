"""Run-time values while a plan is traced: numbers that know where they came from.

A traced number that is handed on untouched becomes an argument of the plan. One that is looked at (compared,
converted, computed with) becomes a *guard*: the plan holds for exactly that value.
"""

from __future__ import annotations

from typing import Any


class TraceFailed(Exception):
    """This program cannot be planned; it runs eagerly."""


class Guards:
    """Which run-time values a trace looked at, by their place in the batch."""

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
    """`value` as a number that knows its place; a bool is guarded at once, since bool has no subclasses."""
    if isinstance(value, bool):
        guards.places.add(place)
        return value
    made = _CLASSES[type(value)](value)
    made.place = place
    made.guards = guards
    return made


def place_of(value: Any) -> int | None:
    """Where an untouched traced number came from; None for any other value."""
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
    """The offset of a window: 0, plus whatever the window's start is at replay. It may be added to, never
    taken off.
    """

    def __add__(self, other: int) -> Offset:
        return Offset(int.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        raise TraceFailed("an offset that depends on a run-time value was used as a number")

    __rsub__ = __mul__ = __rmul__ = __sub__
