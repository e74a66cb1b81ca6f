"""The keywords of declarators: which make sense for which kind of op.

What each says stands where it is kept: `Kernel`, `Derivative`, `Effects`, `Surface`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema import Histories, Pass, StreamUse
    from .declarators import InPlace


class SurfaceWords(TypedDict, total=False):
    """Where users find an op: of every kind. ``method`` may be the method's name."""

    namespace: str
    outside: bool
    method: bool | str
    numbers_first: str
    out: bool
    doc: str


class CastWords(TypedDict, total=False):
    """How inputs are cast in mixed precision: the same on every device, or by kind of device."""

    autocast: str | dict[str, str]


class DerivativeWords(TypedDict, total=False):
    """Of what has a node of its own."""

    vjp: Any
    jvp: Any
    node: str | Callable[[dict[str, Any]], str]
    number_nodes: dict[str, str]
    refuses: Callable[[dict[str, Any]], Exception]


class ElementwiseWords(DerivativeWords, CastWords, SurfaceWords, total=False):
    """Of a kernel that computes each element from those at its place."""

    infer: Callable[..., Any]
    impl: Callable[..., Any]
    composite: Callable[..., Any]
    inplace: bool | InPlace
    ufunc: str
    of_numbers: bool
    check_values: Callable[..., None]
    raises: bool | str
    waits: bool
    shared_write: str
    uniform: bool


class KernelWords(DerivativeWords, CastWords, SurfaceWords, total=False):
    """Of any other kernel."""

    infer: Callable[..., Any]
    impl: Callable[..., Any]
    composite: Callable[..., Any]
    inplace: bool | InPlace
    infers_anew: bool
    cost: Callable[..., tuple[int, int]]
    check_values: Callable[..., None]
    check_backward: Callable[..., Any]
    zero_gradient_when: Callable[[dict[str, Any]], bool]
    raises: bool | str
    waits: bool
    random: bool
    reads_values: bool
    independent: bool
    exact: bool
    copies: bool
    uniform: bool
    reads_first: Callable[[Any, Any, Any], bool]
    shared_write: str
    unversioned: bool
    stateful: bool
    dry_run: bool


class ViewWords(DerivativeWords, CastWords, SurfaceWords, total=False):
    """Of a view."""

    infer: Callable[..., Any]
    infers_anew: bool
    cost: Callable[..., tuple[int, int]]
    conjugates: bool
    window: bool
    relative: bool
    stateful: bool
    dry_run: bool


class CompositeWords(CastWords, SurfaceWords, total=False):
    """Of an op written in recorded ops."""

    inline: bool
    dynamic: bool
    shaped_by: str
    traced: bool
    unversioned: bool
    wide: bool


class StatefulWords(SurfaceWords, total=False):
    """Of an op on autograd's own state."""

    traced: bool
    wide: bool
    backward_pass: Pass
    histories: Histories
    dry_run: bool | Callable[..., list[Any] | None]
    aliases: bool
    keeps_inputs: bool
    spares_nodes: bool
    stream: StreamUse
