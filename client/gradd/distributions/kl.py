"""Kullback-Leibler divergences: which function computes which pair (torch.distributions.kl).

Source: https://pytorch.org/docs/stable/distributions.html#module-torch.distributions.kl
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["kl_divergence", "register_kl"]

Pair = tuple[type, type]
_KL_REGISTRY: dict[Pair, Callable[[Any, Any], Any]] = {}
_KL_MEMOIZE: dict[Pair, Callable[[Any, Any], Any] | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator of ``fn(p, q)``, which computes KL(p || q) for these classes and classes derived from them.
    TypeError for what is no class.
    """
    if not all(isinstance(given, type) for given in (type_p, type_q)):
        raise TypeError("issubclass() arg 1 must be a class")

    def register(fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _KL_REGISTRY[type_p, type_q] = fn
        _KL_MEMOIZE.clear()
        return fn

    return register


def _closest(matches: list[Pair], first: int) -> Pair:
    """The most derived pair, compared first by the class at that place."""
    depth = [(len(m[first].__mro__), len(m[1 - first].__mro__)) for m in matches]
    return matches[depth.index(max(depth))]


def _find(p: type, q: type) -> Callable[[Any, Any], Any] | None:
    """The function of the most specific pair of classes; a RuntimeWarning if there are two of them."""
    matches = [m for m in _KL_REGISTRY if issubclass(p, m[0]) and issubclass(q, m[1])]
    if not matches:
        return None
    left, right = _closest(matches, 0), _closest(matches, 1)
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). "
            f"Please register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """KL(p || q) in nats, [batch_shape]. NotImplementedError for classes that are not registered."""
    pair = (type(p), type(q))
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _find(*pair)
    fn = _KL_MEMOIZE[pair]
    if fn is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type {pair[1].__name__}"
        )
    return fn(p, q)
