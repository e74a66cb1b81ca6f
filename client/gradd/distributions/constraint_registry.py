"""Which transform leads from all numbers to a constraint (torch.distributions.constraint_registry).

Source: https://pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraint_registry
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from . import constraints, transforms

if TYPE_CHECKING:
    from collections.abc import Callable

    Factory = Callable[[Any], Any]

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Factories of transforms, by the class of a constraint."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Register ``factory(constraint)`` for a constraint's class, or be its decorator. TypeError for
        anything but a constraint or a class of them.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform to a constraint. NotImplementedError for a class that is not registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


#: to bijective transforms
biject_to = ConstraintRegistry()
#: to transforms that may have more numbers than they need, which suits optimizers
transform_to = ConstraintRegistry()


def _only(registry: ConstraintRegistry, *kinds: Any) -> Callable[[Factory], Factory]:
    """Registers in one of them."""

    def register(factory: Factory) -> Factory:
        for kind in kinds:
            registry.register(kind, factory)
        return factory

    return register


def _both(*kinds: Any) -> Callable[[Factory], Factory]:
    """Registers in both."""
    return lambda factory: _only(biject_to, *kinds)(_only(transform_to, *kinds)(factory))


@_both(constraints.real)
def _real(constraint: Any) -> Any:
    return transforms.identity_transform


@_both(constraints.positive, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    bound = constraint.lower_bound
    exp = transforms.ExpTransform()
    return transforms.ComposeTransform([exp, transforms.AffineTransform(bound, 1)])


@_both(constraints.less_than)
def _below(constraint: Any) -> Any:
    exp = transforms.ExpTransform()
    return transforms.ComposeTransform([exp, transforms.AffineTransform(constraint.upper_bound, -1)])


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and (low, high) == (0, 1):
        return sigmoid
    return transforms.ComposeTransform([sigmoid, transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@_only(biject_to, constraints.simplex)
def _simplex_by_sticks(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@_only(transform_to, constraints.simplex)
def _simplex(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@_only(transform_to, constraints.lower_cholesky)
def _lower_cholesky(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@_only(transform_to, constraints.positive_definite, constraints.positive_semidefinite)
def _positive_definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


def _register_joined(registry: ConstraintRegistry) -> None:
    """Register what is made of other constraints."""

    def independent(c: Any) -> Any:
        return transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)

    def cat(c: Any) -> Any:
        return transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)

    def stack(c: Any) -> Any:
        return transforms.StackTransform([registry(part) for part in c.cseq], c.dim)

    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_register_joined(biject_to)
_register_joined(transform_to)
