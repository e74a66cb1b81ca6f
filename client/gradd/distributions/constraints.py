"""Regions that parameters and values are in (torch.distributions.constraints).

`check` gives a bool tensor without waiting for values.
Source: https://pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints
"""

from __future__ import annotations

from typing import Any

from gradd_engine.data import dtypes

from .. import _top as ops
from .._surface import finfo
from .._tensor import Tensor
from ._constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    is_dependent,
)
from .utils import linalg

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return ("truth",)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Bounded(Constraint):
    """A region with the bounds that are its arguments."""

    _of_numbers = True

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)

    def _printed(self) -> list[Any]:
        parts: list[Any] = [self.__class__.__name__[1:], "("]
        for name, bound in self.__dict__.items():
            parts.append(f"{'' if len(parts) == 2 else ', '}{name}=")
            parts.append(bound if isinstance(bound, Tensor) else f"{bound}")
        return [*parts, ")"]

    def __repr__(self) -> str:
        return "".join(f"{p}" for p in self._printed())


class _Above(_Bounded):
    lower_bound: Any

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)


class _Below(_Bounded):
    upper_bound: Any

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)


class _Between(_Bounded):
    lower_bound: Any
    upper_bound: Any

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)


def _of_bounds(test: str, *bounds: Any) -> tuple[Any, ...] | None:
    """The test of `require` with bounds that are numbers; None where one is a tensor."""
    return (test, *map(float, bounds)) if all(isinstance(b, (int, float)) for b in bounds) else None


def _whole(value: Any, within: Any) -> Any:
    """Whether numbers are whole and `within`; integers need no look."""
    if isinstance(value, Tensor) and not value.dtype.is_floating_point:
        return within
    return (value % 1 == 0) & within


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value, (self.lower_bound <= value) & (value <= self.upper_bound))

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        whole = not value.dtype.is_floating_point
        return _of_bounds("between", self.lower_bound, self.upper_bound) if whole else None


class _IntegerLessThan(_Below):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value, value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value, value >= self.lower_bound)


class _Real(Constraint):
    _of_numbers = True

    def check(self, value: Any) -> Any:
        return value == value

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return ("number",)


class _GreaterThan(_Above):
    def check(self, value: Any) -> Any:
        return self.lower_bound < value

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return _of_bounds("above", self.lower_bound)


class _GreaterThanEq(_Above):
    def check(self, value: Any) -> Any:
        return self.lower_bound <= value

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return _of_bounds("from", self.lower_bound)


class _LessThan(_Below):
    def check(self, value: Any) -> Any:
        return value < self.upper_bound

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return _of_bounds("below", self.upper_bound)


class _Interval(_Between):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return _of_bounds("between", self.lower_bound, self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)

    def _test(self, value: Any) -> tuple[Any, ...] | None:
        return _of_bounds("between, without the end", self.lower_bound, self.upper_bound)


class _Simplex(Constraint):
    """Not negative, with the sum 1 in the last dimension."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts whose sum is at most the bound, as PyTorch checks it."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


def _all_of_matrix(found: Any) -> Any:
    return found.flatten(-2).all(-1)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return _all_of_matrix(value.tril() == value)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """The factor of a correlation matrix: its rows have length 1."""

    def check(self, value: Any) -> Any:
        # Errors grow with the size; ten times that is allowed, as in PyTorch.
        allowed = finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = linalg["vector_norm"](value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= allowed).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=dtypes.bool_)


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return _all_of_matrix(ops.isclose(value, value.mT, atol=1e-6))


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return super().check(value) & linalg["eigvalsh"](value.detach()).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return super().check(value) & linalg["cholesky_ex"](value.detach()).info.eq(0)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
