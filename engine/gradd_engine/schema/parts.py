"""Parts of a declared op: its computation, its public surface and its caches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .infer_cache import InferCache
    from .op import Op


@dataclass(slots=True, kw_only=True)
class Kernel:
    """How results are computed."""

    #: ``infer(*inputs, **attrs)`` returns a Meta (a list for several results) or raises PyTorch's errors
    infer: Callable[..., Any] | None = None
    #: ``impl(xp, *inputs, **attrs)`` gets arrays already cast to ``Meta.compute``
    impl: Callable[..., Any] | None = None
    #: the op written in recorded ops
    composite: Callable[..., Any] | None = None
    #: a composite whose inner ops are recorded instead of itself
    inline: bool = False
    #: the array namespace's function that equals `impl` if all parameters have their defaults
    ufunc: str = ""
    #: ``cost(*inputs, **attrs)``: work and bytes of temporaries, beyond inputs and outputs
    cost: Callable[..., tuple[int, int]] | None = None
    #: ``check_values(*inputs, **attrs)`` raises errors that depend on the values of numbers among the inputs
    check_values: Callable[..., None] | None = None
    #: a view that conjugates its input
    conjugates: bool = False
    #: how inputs are cast in mixed precision, by kind of device: "lower", "float32", "float32 result" (its
    #: ``dtype``, if it has one), "widest" (float32 where one of them is), "as given" (so are those of the ops
    #: inside it) or "refused"
    autocast: dict[str, str] = field(default_factory=dict)
    #: the result of `infer` depends on more than geometry and parameters
    infers_anew: bool = False


@dataclass(slots=True, kw_only=True)
class Surface:
    """Where users find an op."""

    #: "nn.functional", "linalg" etc.; "" is the top level, "-" means nowhere, and "|" separates several
    namespace: str = ""
    #: also a method of tensors
    method: bool = False
    #: may be a step of a program, wherever the program comes from
    outside: bool = True
    #: the function takes ``out=`` too, where only one of a kernel with one result would
    out: bool = False
    #: PyTorch also computes it from numbers alone
    of_numbers: bool = False
    #: the keywords whose numbers PyTorch also takes by position, before the tensors that they scale
    numbers_first: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Expanded:
    """How an in-place form writes to an expanded tensor, whose elements share memory."""

    #: gives what the tensor holds then: takes what the form takes, and `along`, the dimensions that share
    op: Op
    #: ``warnings(*inputs, **attrs)``: what it warns of, since PyTorch is to refuse it one day
    warnings: Callable[..., Sequence[str]]


class Caches:
    """Caches about the calls of an op."""

    __slots__ = ("inferred", "known", "recipes", "windows")

    def __init__(self, infers: bool) -> None:
        #: results of `infer`, by geometry and parameters; None if they depend on more than that
        self.inferred: dict[tuple[Any, ...], Any] | None = {} if infers else None
        #: of a plain op or view: its entry for each geometry of the inputs
        self.known: dict[tuple[Any, ...], InferCache] = {}
        #: for a view whose place is a run-time value: one for each geometry, wherever it begins
        self.windows: dict[tuple[Any, ...], InferCache] = {}
        #: what nodes save and how they run their rules, by overload and wanted inputs
        self.recipes: dict[Any, Any] = {}
