"""Parts of a declared op: how it computes, where users find it, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .infer_cache import InferCache


@dataclass(slots=True, kw_only=True)
class Kernel:
    """How results are computed."""

    #: ``infer(*inputs, **attrs)`` gives a Meta (a list for several results) and raises PyTorch's errors
    infer: Callable[..., Any] | None = None
    #: ``impl(xp, *inputs, **attrs)`` gets arrays, already cast to ``Meta.compute``
    impl: Callable[..., Any] | None = None
    #: the op written in recorded ops
    composite: Callable[..., Any] | None = None
    #: a composite is recorded as the ops inside it
    inline: bool = False
    #: the function of the array namespace that `impl` is where all parameters have their defaults
    ufunc: str = ""
    #: ``cost(*inputs, **attrs)``: work and bytes of temporaries beyond those of inputs and outputs
    cost: Callable[..., tuple[int, int]] | None = None
    #: ``check_values(*inputs, **attrs)`` raises what depends on the values of numbers among the inputs
    check_values: Callable[..., None] | None = None
    #: a view that stands for the conjugates of what it holds
    conjugates: bool = False
    #: what `infer` says depends on more than geometry and parameters
    infers_anew: bool = False


@dataclass(slots=True, kw_only=True)
class Surface:
    """Where users find an op."""

    #: "nn.functional", "linalg"; "" is the top level, "-" nowhere, a bar stands between several
    namespace: str = ""
    #: it is a method of tensors too
    method: bool = False
    #: a step of a program may call it, from wherever the program comes
    outside: bool = True
    #: the function of a composite takes ``out=`` too
    out: bool = False
    #: PyTorch computes it of numbers alone, as of tensors
    of_numbers: bool = False
    doc: str = ""


class Caches:
    """What is remembered of calls of an op."""

    __slots__ = ("inferred", "known", "recipes")

    def __init__(self, infers: bool) -> None:
        #: what `infer` said, by geometry and parameters; None where that is not all it depends on
        self.inferred: dict[tuple[Any, ...], Any] | None = {} if infers else None
        #: of a plain op or view: what it makes of inputs of each geometry
        self.known: dict[tuple[Any, ...], InferCache] = {}
        #: what nodes save and how they run their rules, by overload and wanted inputs
        self.recipes: dict[Any, Any] = {}
