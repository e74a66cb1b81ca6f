"""What constraints are, those that depend on other variables, and those made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _top as ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Constraint:
    """A region. Its events have `event_dim` dimensions; `is_discrete`: it has separate points."""

    is_discrete: Any = False
    event_dim: Any = 0
    #: `check` takes a Python number as well
    _of_numbers = False

    def check(self, value: Any) -> Any:
        """Whether each event is in it: bool, [value's shape without the last `event_dim` dimensions]."""
        raise NotImplementedError

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        """The test of `require` that is its `check`, with its bounds; None where there is none."""
        return None

    def _printed(self) -> list[Any]:
        """The texts and tensors that `repr` joins."""
        return [f"{self!r}"]

    def __repr__(self) -> str:
        return f"{self.__class__.__name__[1:]}()"


def _known(given: Any, name: str) -> Any:
    if given is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return given


class _Dependent(Constraint):
    """Stands for a region that depends on other variables."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:
        """As given; NotImplementedError if it was not."""
        return bool(_known(self._is_discrete, "is_discrete"))

    @property
    def event_dim(self) -> int:
        """As given; NotImplementedError if it was not."""
        return int(_known(self._event_dim, "event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """Another with the attributes given."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other variables, so that it cannot be checked alone."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that is a dependent constraint on its class."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        """The decorator with the attributes given."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _Wrapping(Constraint):
    """A constraint on top of another."""

    base_constraint: Constraint

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)


def _instance(constraint: Any) -> None:
    if not isinstance(constraint, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(constraint).__name__}")


class _IndependentConstraint(_Wrapping):
    """All of `reinterpreted_batch_ndims` more dimensions are in the base's region."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _instance(base_constraint)
        n = reinterpreted_batch_ndims
        if not isinstance(n, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}")
        if n < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, n

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        enough = value.ndim >= self.event_dim
        return self.base_constraint._test(value) if enough else None

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value)
        if found.ndim < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return found.reshape((*found.shape[: found.ndim - self.reinterpreted_batch_ndims], -1)).all(-1)

    def _printed(self) -> list[Any]:
        name = self.__class__.__name__[1:]
        return [f"{name}(", *self.base_constraint._printed(), f", {self.reinterpreted_batch_ndims})"]

    def __repr__(self) -> str:
        return "".join(f"{p}" for p in self._printed())


class MixtureSameFamilyConstraint(_Wrapping):
    """The region of a mixture: an event is in it that is in the region of each component."""

    def __init__(self, base_constraint: Constraint) -> None:
        _instance(base_constraint)
        self.base_constraint = base_constraint

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return found.reshape((*found.shape[: value.ndim - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


class _Joined(Constraint):
    """Constraints of parts along a dimension."""

    cseq: list[Constraint]

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(int(c.event_dim) for c in self.cseq)

    def _check_dim(self, value: Any) -> None:
        if not -value.ndim <= self.dim < value.ndim:
            raise AssertionError(f"dim {self.dim} out of range for value with {value.ndim} dimensions")


class _Cat(_Joined):
    """Constraints of parts with `lengths` (1 each, if None), as `cat` joins them."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return ops.cat(checks, self.dim)


class _Stack(_Joined):
    """A constraint for each place along a dimension, as `stack` joins them."""

    @property
    def event_dim(self) -> int:
        most = max(int(c.event_dim) for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        parts = value.unbind(self.dim)
        return ops.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=False)], self.dim)
