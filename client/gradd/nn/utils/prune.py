"""Pruning: weights times masks of ones and zeros (torch.nn.utils.prune).

Behaviour and messages follow https://pytorch.org/docs/stable/nn.html#utilities and its tutorial on pruning.
A method that takes a share of what is left of a pruned tensor waits for a round trip: its mask is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

from ..._surface import namespace
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity",
    "is_pruned", "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip

_TOP = namespace("")


class BasePruningMethod(ABC):
    """A forward pre-hook that computes ``<name>`` from ``<name>_orig`` and ``<name>_mask``.

    A subclass says by `PRUNING_TYPE` ("unstructured", "structured" or "global") what of an earlier mask it is
    given, and defines `compute_mask`.
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: Any

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask of the shape of `t`, the importances: `default_mask` with further zeros."""

    def apply_mask(self, module: Any) -> Any:
        """The pruned tensor."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a tensor of `module`, by `importance_scores` or its own values; also one that is pruned.

        The method made gets the other arguments. Returns what is now registered.
        """
        method = _with_earlier(module, name, cls(*args, **kwargs))
        original = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        scores = original if importance_scores is None else importance_scores
        again = isinstance(method, PruningContainer)
        if again:
            before = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            before = _TOP["ones_like"](original)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not again:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """`t`, pruned, without a module."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, got "
                f"{importance_scores.shape} vs {t.shape}"
            )
        scores = t if importance_scores is None else importance_scores
        before = _TOP["ones_like"](t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=before)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor a parameter again; it stays pruned."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _with_earlier(module: Any, name: str, method: BasePruningMethod) -> BasePruningMethod:
    """`method`, or a container of it and those registered before, which are taken out."""
    hooks = module._forward_pre_hooks
    found = [n for n, h in hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
            "PruningContainer."
        )
    method._tensor_name = name
    for number in found:
        earlier = hooks.pop(number)
        container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
        container.add_pruning_method(method)
        return container
    return method


class PruningContainer(BasePruningMethod):
    """Methods in the order in which they were applied to one tensor."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method; TypeError for anything else, ValueError if it is for another tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The last method's mask of what the earlier ones left."""
        method = self._pruning_methods[-1]
        left = self._left(method, t, default_mask)
        made = default_mask.to(t.dtype).clone()
        made[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(made.dtype)
        return made

    def _left(self, method: Any, t: Any, mask: Any) -> Any:
        """An index of what a method is given."""
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            return mask == 1
        if kind == "global":
            return (slice(None),) * t.dim()
        if kind != "structured":
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
            )
        rank = t.dim()
        dim = method.dim + rank if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {rank}")
        kept = mask.sum(dim=[d for d in range(rank) if d != dim]) != 0
        return tuple(kept if d == dim else slice(None) for d in range(rank))


class _Unpruned(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """`default_mask`."""
        return default_mask


Identity = _Unpruned


class _OfAmount(BasePruningMethod):
    """Prunes an amount: a share of 0 to 1, or a number."""

    amount: Any

    def __init__(self, amount: Any) -> None:
        whole = isinstance(amount, Integral)
        if not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if float(amount) < 0 or (float(amount) > 1 and not whole):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
            )
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size` are pruned; ValueError if that is more than there are."""
        amount: Any = self.amount
        if not isinstance(amount, Integral):
            return round(float(amount) * size)
        if int(amount) > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return int(amount)


class _Unstructured(_OfAmount):
    PRUNING_TYPE = "unstructured"

    def _importance(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros at the least important elements."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            least = _TOP["topk"](self._importance(t).reshape(-1), k=count, largest=False).indices
            mask.view(-1)[least] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _importance(self, t: Any) -> Any:
        return _TOP["rand_like"](t)


class L1Unstructured(_Unstructured):
    """Prunes the elements nearest to 0."""

    def _importance(self, t: Any) -> Any:
        return t.abs()


class _Structured(_OfAmount):
    PRUNING_TYPE = "structured"
    dim: int

    def _importance(self, t: Any) -> Any:
        """A number for each slice along `dim`."""
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros at the least important slices along `dim`."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        most = _TOP["topk"](self._importance(t), k=size - count, largest=True).indices
        mask = _TOP["zeros_like"](t).index_fill_(self.dim, most, 1)
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Structured):
    """Prunes slices along `dim` at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _importance(self, t: Any) -> Any:
        return _TOP["rand"](t.shape[self.dim])


class LnStructured(_Structured):
    """Prunes the slices along `dim` with the least `n`-norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _importance(self, t: Any) -> Any:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return _TOP["norm"](t, p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Give a tensor a mask of ones. Returns `module`."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune an amount (a share, or a number) of elements at random. Returns `module`."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune an amount (a share, or a number) of elements: those nearest to 0. Returns `module`."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune an amount (a share, or a number) of slices along `dim`, at random. Returns `module`."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune an amount (a share, or a number) of slices along `dim`: those of the least `n`-norm.

    Returns `module`.
    """
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune tensors, given as pairs of modules and names, as if they were one.

    `pruning_method`: an unstructured one, which gets the other arguments; `importance_scores`: by pair.
    TypeError for anything else.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    tensors = [getattr(module, name) for module, name in pairs]
    importances = parameters_to_vector([scores.get(at, t) for at, t in zip(pairs, tensors, strict=True)])
    masks = [getattr(module, name + "_mask", None) for module, name in pairs]
    before = parameters_to_vector(
        [_TOP["ones_like"](t) if m is None else m for t, m in zip(tensors, masks, strict=True)]
    )
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    found = container.compute_mask(importances, before).split([t.numel() for t in tensors])
    for (module, name), tensor, mask in zip(pairs, tensors, found, strict=True):
        custom_from_mask(module, name, mask=mask.view_as(tensor))


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune a tensor by a mask of its shape. Returns `module`."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make a pruned tensor a parameter again, which stays pruned. Returns `module`.

    ValueError if it is not pruned.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether `module` or one below it has a pruned tensor."""
    hooks = (hook for m in module.modules() for hook in m._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
