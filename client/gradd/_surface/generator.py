"""Random streams, as torch.Generator (https://pytorch.org/docs/stable/generated/torch.Generator.html).

A session has one stream. Any other generator is a position in it: the session's stream is set to it for each
draw and reset afterwards, with recorded steps, not round trips.
"""

from __future__ import annotations

import functools
import secrets
import weakref
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Any

from gradd_engine.custom import seeding
from gradd_engine.data import SEED, ambient, dtypes
from gradd_engine.ops.shared.constants import empty
from gradd_engine.schema import REGISTRY, type_name

from .._session import current
from .._tensor import Tensor
from .functions import namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradd_engine.data import Device

    from .._session import Session

#: the seeds that this client gave each session's stream
_seeds: weakref.WeakKeyDictionary[Session, int] = weakref.WeakKeyDictionary()
#: marks a token here; the position itself is in the session
_PLACE = object()


class Generator:
    """A random stream in the session that is current when it is created, for ``generator=``."""

    #: its position; None for the session's own stream, and before the first use
    _place: Any = None
    _own = True

    def __init__(self, device: Any = None) -> None:
        self._session = current()
        self._seed = SEED

    @property
    def device(self) -> Device:
        """The session's device."""
        return self._session.backend.device

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream; negative seeds count from 2**64. Returns the generator."""
        known = index(seed) % (1 << 64)
        with ambient(backend=self._session.backend):
            before = self._here() if self._own else None
            seeding.manual_seed(index(seed))
            if before is not None:
                self._place = seeding.restore_rng(before)
        if self._own:
            self._seed = known
        else:
            _seeds[self._session] = known
        return self

    def seed(self) -> int:
        """Restart the stream with a random seed, and return the seed."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def initial_seed(self) -> int:
        """The seed that this client gave the stream, or the default seed."""
        return self._seed if self._own else _seeds.get(self._session, SEED)

    def get_state(self) -> Any:
        """A token of the stream's position, for `set_state`: uint8, without elements."""
        with ambient(backend=self._session.backend):
            if self._own and self._place is None:
                self.manual_seed(self._seed)
            token = self._place if self._own else self._here()
        token._holds = _PLACE
        return token

    def set_state(self, new_state: Any) -> Generator:
        """Reset the stream to a position from `get_state`; TypeError or RuntimeError for anything else."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        if new_state.dtype is dtypes.uint8 and new_state._holds is not _PLACE:
            raise RuntimeError("this tensor holds no RNG state: only what get_rng_state() gives does")
        with ambient(backend=self._session.backend):
            before = seeding.restore_rng(new_state)
            if self._own:
                self._place = seeding.restore_rng(before)
        return self

    def _here(self) -> Any:
        """A token of the session's position."""
        return seeding.stored_rng(empty([0], dtype=dtypes.uint8))

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        """A context in which the session draws from this stream."""
        if not self._own:
            yield
            return
        before = seeding.restore_rng(self.get_state())
        try:
            yield
        finally:
            self._place = seeding.restore_rng(before)


class _Default(Generator):
    """The own stream of whichever session is current (torch.default_generator)."""

    _own = False

    def __init__(self) -> None:
        """Of no session."""

    @property
    def _session(self) -> Session:  # type: ignore[override]  # each time anew
        return current()


default_generator = _Default()


def manual_seed(seed: Any) -> Generator:
    """Restart the current session's random stream, and return it (torch.manual_seed)."""
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """The seed of the current session's random stream (torch.initial_seed)."""
    return default_generator.initial_seed()


def seed() -> int:
    """Restart the current session's random stream with a random seed, and return the seed (torch.seed)."""
    return default_generator.seed()


def get_rng_state() -> Any:
    """A token of the position of the current session's random stream (torch.get_rng_state)."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Reset the current session's random stream to a token's position (torch.set_rng_state)."""
    default_generator.set_state(new_state)


def _with_generator(fn: Callable[..., Any], most: int | None = None) -> Callable[..., Any]:
    """`fn` with the keyword ``generator``: None for the session's own stream. Behind the `most` arguments
    that `fn` takes by their place, it needs no name, as in PyTorch's `poisson` and `binomial`.
    """

    @functools.wraps(fn)
    def draw(*args: Any, generator: Generator | None = None, **kwargs: Any) -> Any:
        if len(args) - 1 == most and (args[-1] is None or isinstance(args[-1], Generator)):
            *args, generator = args  # type: ignore[assignment]
        if generator is None:
            return fn(*args, **kwargs)
        if not isinstance(generator, Generator):
            raise TypeError(
                f"{fn.__name__}(): argument 'generator' must be torch.Generator, not {type_name(generator)}"
            )
        with generator._drawing():
            return fn(*args, **kwargs)

    return draw


#: the functions of the top level that draw
DRAWING: dict[str, Callable[..., Any]] = {
    name: _with_generator(fn, sum(not p.keyword_only for p in REGISTRY[name].schema.params))
    for name, fn in namespace("").items()
    if name in REGISTRY and REGISTRY[name].random
}
#: the methods that do
_METHODS = (
    "bernoulli", "multinomial", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_",
    "normal_", "random_", "uniform_",
)  # fmt: skip


def drawing_methods() -> dict[str, Callable[..., Any]]:
    """The methods that draw, with the keyword ``generator``."""
    return {name: _with_generator(getattr(Tensor, name)) for name in _METHODS}
