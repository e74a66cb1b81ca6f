"""What ops compute of an element that are no compositions of ufuncs, as C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .expressions import HELD, cast, literal, named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: from the dtypes' characters of an op's operands and of its result, and its attributes
    Maker = Callable[[Sequence[str], str, Mapping[str, Any]], "ElementLines | None"]


class ElementLines(NamedTuple):
    """How many of an op's operands it reads, the last ones, and the lines that compute its result: names of
    these operands, then of lines before, are written as ``{0}``, ``{1}`` and so on, random keys as ``{key}``.
    """

    reads: int
    #: (expression, dtype's character)
    lines: tuple[tuple[str, str], ...]
    random: bool = False


def cast_lines(name: str, before: str, after: str) -> tuple[tuple[str, str], ...]:
    """The line of a cast; none where there is nothing to do."""
    text = cast(name, before, after)
    assert text is not None
    return () if before == after else ((text, after),)


def _moved(given: Sequence[str], made: str, attrs: Mapping[str, Any]) -> ElementLines:
    return ElementLines(1, cast_lines("{0}", given[-1], made))


def _filled(number: int) -> Maker:
    def fill(given: Sequence[str], made: str, attrs: Mapping[str, Any]) -> ElementLines:
        text = cast(literal(np.int64(number)), "q", made)
        assert text is not None
        return ElementLines(0, ((text, made),))

    return fill


def _mask(given: Sequence[str], made: str, attrs: Mapping[str, Any]) -> ElementLines | None:
    """What dropout multiplies element i by."""
    if made not in "fd" or attrs["features"]:
        return None
    numbers = ", ".join(literal(np.float64(x)) for x in (attrs["p"], 1 / (1 - attrs["p"])))
    return ElementLines(0, ((f"kept_at<{HELD[made]}>(i, {numbers}, {{key}})", made),), random=True)


def _computed(text: str, *numbers: str) -> Maker:
    """For floating-point operands x and y of type T, and attributes whose names are in braces."""

    def compute(given: Sequence[str], made: str, attrs: Mapping[str, Any]) -> ElementLines | None:
        worked = "f" if made in "eE" else made
        if worked not in "fd" or set(given) != {worked}:
            return None
        found = text
        for name in numbers:
            if not isinstance(attrs[name], (int, float)):
                return None
            found = found.replace(f"{{{name}}}", literal(np.dtype(worked).type(attrs[name])))
        many = len(given)
        found = named(found, [f"{{{n}}}" for n in range(many)], worked)
        return ElementLines(many, ((found, worked), *cast_lines(f"{{{many}}}", worked, made)))

    return compute


def _either(none: str, tanh: str) -> Maker:
    """For GELU, by how it is approximated."""
    known = {"none": _computed(none), "tanh": _computed(tanh)}
    return lambda given, made, attrs: known[attrs["approximate"]](given, made, attrs)


ELEMENTS: dict[str, Maker] = {
    "clone": _moved,
    "contiguous_copy": _moved,
    "dropout_mask": _mask,
    "elu": _computed("elu_of(x, {alpha}, {scale}, {input_scale})", "alpha", "scale", "input_scale"),
    "fill": _moved,
    "gelu": _either("gelu_of(x)", "bent_gelu(x)"),
    "gelu_backward": _either("x * gelu_slope(y)", "x * bent_slope(y)"),
    "leaky_relu": _computed("leaky_of(x, {negative_slope})", "negative_slope"),
    "ones": _filled(1),
    "ones_like": _filled(1),
    "relu": _computed("relu_of(x)"),
    "sigmoid": _computed("logistic(x)"),
    "sigmoid_backward": _computed("x * (((T)1 - y) * y)"),
    "silu": _computed("silu_of(x)"),
    "silu_backward": _computed("x * silu_slope(y)"),
    "tanh_backward": _computed("x * ((T)1 - y * y)"),
    "threshold_backward": _computed("above(x, y, {threshold})", "threshold"),
    "to_copy": _moved,
    "zeros": _filled(0),
    "zeros_like": _filled(0),
}

#: ops that add to a product where their numbers are 1, and the two ops that do the same
SPLITS = {"addmm": ("mm", "add")}
