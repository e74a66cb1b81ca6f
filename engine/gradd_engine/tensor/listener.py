"""What stands at `dispatch` and is told of the ops that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ..schema import Op


class Listener(Protocol):
    """Sees each outermost op after it ran (or, for a pass that raised midway, after it failed)."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held from `before` until the op is recorded or refused: steps are recorded in the order they ran
        in.
        """

    def record(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any) -> Any:
        """`op` ran; `outputs` is a tensor, a tuple of tensors, or None. Returns what the caller gets."""

    def before(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """`op` is about to run."""

    def knows(self, t: Any) -> bool:
        """Whether steps can name the tensor."""

    def failed(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """`op` raised after it had already changed state."""

    def refused(self) -> None:
        """The op raised before it changed anything."""

    def lend(self) -> Callable[[], None]:
        """Makes the function that another thread calls to record as this one does, while this one waits."""

    def flush(self) -> None:
        """Run everything that was recorded; raises what went wrong."""
