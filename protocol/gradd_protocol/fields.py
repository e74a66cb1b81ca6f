"""Types of what messages have in their fields."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .limits import DEFAULT

_NAME = Meta(max_length=4 * DEFAULT.name_chars)
Count: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
"""A count: sequence numbers, sizes, positions."""
Name: TypeAlias = Annotated[str, _NAME]
"""A tensor's name or id; the runtime looks it up, `names` checks new ones."""

NonFinite: TypeAlias = Literal["Infinity", "-Infinity", "NaN"]
Real: TypeAlias = float | NonFinite
Complex: TypeAlias = Annotated[list[Real], Meta(min_length=2, max_length=2)]
Scalar: TypeAlias = bool | int | float | NonFinite | Complex
"""A run-time value: non-finite floats are strings, a complex number is `[re, im]`."""

CurveName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=DEFAULT.name_chars)]
CurveStep: TypeAlias = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""Where in a curve a point is."""
LoggedValue: TypeAlias = float | Name
"""A number, or the id of a tensor with one element; a float that is not finite is its name."""


class Logged(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A point of the curve `name`; without `step` its number in the curve."""

    name: CurveName
    value: LoggedValue
    step: CurveStep | None = None
