"""Checkpoints: a part of the forward that saves nothing and is recomputed in backward.

There are two kinds, as in PyTorch (https://pytorch.org/docs/stable/checkpoint.html): non-reentrant, by
packing saved tensors (`backward/saved_hooks.py`), and reentrant, by a `Function` whose backward runs its own
pass. Both run the user's function in the user's process; its ops are recorded like any others.
"""

from __future__ import annotations

import warnings
import weakref
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from ..backward import backward, saved_tensors_hooks
from ..data import ambient, state
from ..declare import flat_tensors, separate_casts
from ..graph import enable_grad, no_grad
from ..tensor import Tensor
from .function import Function
from .function_node import BackwardNode
from .seeding import restore_rng, stored_rng

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]

_PASSED = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch "
    "2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is "
    "recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)


class CheckpointError(RuntimeError):
    """The recomputation differs from the forward."""


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """No contexts for the forward and its recomputation."""
    return nullcontext(), nullcontext()


class _Early:
    """Whether a recomputation stops once it has everything needed."""

    on = True


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context that sets whether recomputations stop once all saved tensors are available."""
    before, _Early.on = _Early.on, bool(enable)
    try:
        yield
    finally:
        _Early.on = before


@contextmanager
def _stream_of(token: Tensor | None) -> Iterator[None]:
    """Context in which the random stream starts where it was when `token` was made."""
    if token is None:
        yield
        return
    now = restore_rng(token)
    try:
        yield
    finally:
        restore_rng(now)


@contextmanager
def _cast_as(casting: Any) -> Iterator[None]:
    """Context in which inputs are cast as they were in the forward."""
    with ambient(casting=casting), separate_casts():
        yield


def _token(args: Any, preserve: bool) -> Tensor | None:
    like = next(flat_tensors(args), None)
    return None if like is None or not preserve else stored_rng(like)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)``, and recompute its saved tensors in backward
    (torch.utils.checkpoint.checkpoint).

    `use_reentrant`: recompute in a separate pass, which supports neither ``autograd.grad`` nor ``inputs=``;
    UserWarning if not given. `determinism_check`: "default" compares shapes and dtypes of recomputed tensors,
    "none" nothing. CheckpointError, a RuntimeError, if they differ. ValueError for wrong arguments.
    """
    if use_reentrant is None:
        warnings.warn(_PASSED, UserWarning, stacklevel=2)
        use_reentrant = True
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    if not use_reentrant:
        frame = _Frame(function, args, kwargs, context_fn, determinism_check, early_stop)
        return frame.forward(preserve_rng_state)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a Sequential, or a list of functions, in `segments` parts, with all but the last checkpointed
    (torch.utils.checkpoint.checkpoint_sequential).
    """
    if use_reentrant is None:
        said = _PASSED.replace("checkpoint:", "checkpoint.checkpoint_sequential:").replace(
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
            "In version 2.9 we will raise an exception if use_reentrant is not passed.",
        )
        warnings.warn(said, UserWarning, stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(parts) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            _chain(parts[start:end]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return _chain(parts[end:])(input)


def _chain(parts: Sequence[Any]) -> Callable[[Any], Any]:
    def run(input: Any) -> Any:
        for part in parts:
            input = part(input)
        return input

    return run


# -- without re-entry ----------------------------------------------------------------------------------


class _Place:
    """The placeholder of a saved tensor; `made` holds what each pass recomputed, to be unpacked once."""

    __slots__ = ("__weakref__", "made", "meta")

    def __init__(self, t: Tensor) -> None:
        self.meta = _meta(t)
        self.made: WeakKeyDictionary[Any, Tensor | None] = WeakKeyDictionary()


class _Look:
    """Replaces the pass if a tensor is unpacked outside of one."""


def _meta(t: Tensor) -> dict[str, Any]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


class _Enough(Exception):
    """The recomputation has everything needed."""


class _Frame:
    """One checkpointed call."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context_fn: Contexts,
        check: str,
        early_stop: bool,
    ) -> None:
        self._call = (function, args, kwargs)
        self._check = check
        self._early = early_stop and _Early.on
        self._outer, self._again = context_fn()
        self._token: Tensor | None = None
        self._casting: Any = None
        self._places: list[weakref.ref[_Place]] = []
        self._inputs = BackwardNode()
        #: passes for which the function was recomputed
        self._passes: WeakSet[Any] = WeakSet()

    def forward(self, preserve: bool) -> Any:
        """Run the function; its nodes save placeholders instead of tensors."""
        function, args, kwargs = self._call
        if not state.grad:
            return function(*args, **kwargs)
        self._inputs.keep([a if isinstance(a, Tensor) else None for a in args])
        self._token = _token((*args, *kwargs.values()), preserve)
        self._casting = state.casting
        with saved_tensors_hooks(self._pack, self._unpack), self._outer:
            return function(*args, **kwargs)

    def _pack(self, t: Tensor) -> _Place:
        place = _Place(t)
        self._places.append(weakref.ref(place))
        return place

    def _unpack(self, place: _Place) -> Tensor:
        task = state.task or _Look()
        if task not in self._passes:
            self._recompute(task)
            self._passes.add(task)
        made = place.made.get(task)
        if made is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
                "once. If you are calling ctx.saved_tensors in backward, make sure to do so only once. "
                "Otherwise please open an issue with details on your use case."
            )
        place.made[task] = None
        return made

    def _recompute(self, task: Any) -> None:
        function, args, kwargs = self._call
        made: list[Tensor] = []
        due = len(self._places)

        def pack(t: Tensor) -> Tensor:
            # Detached, as a node that saves its own output would be a reference cycle.
            t = _detach(t) if t.requires_grad else t
            made.append(t)
            if self._early and len(made) == due:
                raise _Enough
            return t

        again = zip(args, self._inputs.saved_tensors, strict=True)
        given = [a if t is None else t for a, t in again]
        # As in PyTorch, the user's context sees the exception that stops the recomputation.
        with suppress(_Enough), ExitStack() as stack:
            stack.enter_context(_stream_of(self._token))
            stack.enter_context(self._again)
            stack.enter_context(enable_grad())
            stack.enter_context(_cast_as(self._casting))
            stack.enter_context(saved_tensors_hooks(pack, lambda t: t))
            function(*given, **kwargs)
        if len(made) != due:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original "
                f"forward and recomputation.\nNumber of tensors saved during forward: {due}\nNumber of "
                f"tensors saved during recomputation: {len(made)}."
            )
        self._hand_out(task, made)

    def _hand_out(self, task: Any, made: list[Tensor]) -> None:
        different = []
        for i, (ref, t) in enumerate(zip(self._places, made, strict=True)):
            place = ref()
            if place is None:
                continue
            found = _meta(t)
            if self._check == "default" and place.meta != found:
                different.append(
                    f"tensor at position {i}:\nsaved metadata: {place.meta}\nrecomputed metadata: {found}\n"
                )
            place.made[task] = t
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata "
                "than during the forward pass.\n" + "".join(different) + ".\n"
            )


def _detach(t: Tensor) -> Tensor:
    """`t` without history."""
    with no_grad():
        out: Tensor = t.detach()  # type: ignore[attr-defined]
    return out


# -- with re-entry -------------------------------------------------------------------------------------


class CheckpointFunction(Function):
    """Runs the function without history, and again with history in backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        if not any(t.requires_grad for t in args if isinstance(t, Tensor)):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=4,
            )
        ctx.function, ctx.args, ctx.casting = function, args, state.casting
        ctx.token = _token(args, preserve)
        ctx.save_for_backward(*[a if isinstance(a, Tensor) else None for a in args])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        task = state.task
        if task.captured is not None or task.targeted:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing "
                "an `inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        args = [
            a if t is None else _detach(t).requires_grad_(t.requires_grad)  # type: ignore[attr-defined]
            for a, t in zip(ctx.args, ctx.saved_tensors, strict=True)
        ]
        with _stream_of(ctx.token), enable_grad(), _cast_as(ctx.casting):
            found = ctx.function(*args)
        outputs = found if isinstance(found, tuple) else (found,)
        pairs = [
            (o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in args])
