"""The base of all distributions (torch.distributions.distribution).

Source: https://pytorch.org/docs/stable/distributions.html#distribution
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import Size
from gradd_engine.graph import no_grad

from .. import _top as ops
from .._tensor import Tensor
from . import constraints
from ._checks import demand, demand_within, known_number
from .utils import lazy_property

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Distribution"]

_ROOM = __name__.rpartition(".")[0]
#: the classes of this room that are no distributions yet
_ABSTRACT = ("Distribution", "ExponentialFamily")


class Distribution:
    """A distribution over tensors of `event_shape`, independent along `batch_shape`.

    `validate_args`: whether parameters, and values given to `log_prob`, are checked against `arg_constraints`
    and `support`; None is the default, see `set_default_validate_args`. Values are not waited for: PyTorch's
    ValueError arrives where errors of recorded operations do, at the next read, with the line that made the
    distribution as its cause. Numbers are checked at once.
    Source: https://pytorch.org/docs/stable/distributions.html#torch.distributions.distribution.Distribution
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    #: attributes that `expand` expands, beside those in `arg_constraints`
    _also_expanded: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check values: True at first, except under ``python -O``.
        ValueError for anything but a bool.
        """
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            given = self.arg_constraints
        except NotImplementedError:
            given = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in given.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue
            value = getattr(self, name)
            number = known_number(value) if constraint._of_numbers else None
            known = None if number is None else constraint.check(number)
            if known is not None and not isinstance(known, Tensor) and known:
                continue
            told = f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
            parts = [
                told + "of distribution ",
                *self._printed(),
                " to satisfy the constraint ",
                *constraint._printed(),
                ", but found invalid values:\n",
            ]
            if known is None:
                demand_within(constraint, parts, value)
            else:
                demand(known, parts, value)

    @property
    def batch_shape(self) -> Size:
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one of them."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraints of the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean, [batch_shape, event_shape]."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The likeliest value, [batch_shape, event_shape]."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance, [batch_shape, event_shape]."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation, [batch_shape, event_shape]."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draws without gradient, [sample_shape, batch_shape, event_shape]."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draws that are a differentiable function of the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample` of shape (n,); deprecated, as in PyTorch."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density or mass at `value`, [sample_shape, batch_shape]."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value whose `cdf` is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution along a first dimension, `expand`: over the batch."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy in nats, [batch_shape]."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy, [batch_shape]."""
        return ops.exp(self.entropy())

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The distribution with its parameters expanded to `batch_shape`, without new memory or checks.
        NotImplementedError for a subclass of one's own with an `__init__` of its own.
        """
        own = next(c for c in type(self).__mro__ if c.__module__.startswith(_ROOM + "."))
        if own.__name__ in _ABSTRACT:
            raise NotImplementedError
        new = self._get_checked_instance(own, _instance)
        batch_shape = Size(batch_shape)
        expanded = {*self.arg_constraints, *self._also_expanded}
        for name, value in self.__dict__.items():
            if not isinstance(value, Tensor):
                new.__dict__[name] = value
            elif name in expanded:
                rest = value.shape[len(self._batch_shape) :]
                new.__dict__[name] = value.expand(batch_shape + rest)
        new._batch_shape = batch_shape
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """ValueError for what is no tensor, for a shape that does not fit, and, without waiting for it, for
        values outside of the support.
        """
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.shape, self._event_shape
        if shape[len(shape) - len(event) :] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
        expected = self._batch_shape + event
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j not in (1, i):
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        told = f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the "
        demand_within(
            support,
            [
                told + "support (",
                *support._printed(),
                ") of the distribution ",
                *self._printed(),
                ", but found invalid values:\n",
            ],
            value,
        )

    def _printed(self) -> list[Any]:
        """The texts and tensors that `repr` joins."""
        if type(self).__repr__ is not Distribution.__repr__:
            return [repr(self)]
        parts: list[Any] = [self.__class__.__name__, "("]
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                parts += ["" if len(parts) == 2 else ", ", f"{name}: "]
                parts.append(value if value.numel() == 1 else f"{value.size()}")
        return [*parts, ")"]

    def __repr__(self) -> str:
        return "".join(f"{p}" for p in self._printed())
