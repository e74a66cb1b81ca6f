"""The exported forms of one model: one for each mode, structure of inputs, and set of sizes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from .exported import Exported

if TYPE_CHECKING:
    from collections.abc import Iterable


class Forms:
    """A model and what was exported of it."""

    def __init__(self, model: Any, dynamic_shapes: Any = None) -> None:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"offload() takes a torch.nn.Module, not {type(model).__name__}")
        self.model = model
        self._shapes = dynamic_shapes
        self._signature = inspect.signature(model.forward)
        self._made: dict[Any, list[Exported]] = {}
        #: of the first exports, by structure: their inputs
        self._seen: dict[Any, list[list[Any]]] = {}

    def find(self, args: Any, kwargs: dict[str, Any]) -> tuple[Exported, list[Any]]:
        """The form for such inputs in the model's present modes, exported now if there is none, and the
        inputs as a flat list.
        """
        bound = self._signature.bind(*args, **kwargs)
        inputs, structure = pytree.tree_flatten((bound.args, bound.kwargs))
        key = (str(structure), tuple(m.training for m in self.model.modules()))
        made = self._made.setdefault(key, [])
        for one in made:
            if one.fits(inputs):
                return one, inputs
        examples = [_example(x) for x in inputs]
        before = self._seen.setdefault(key[0], [])
        args, kwargs = pytree.tree_unflatten(examples, structure)
        found = Exported(self.model, args, kwargs, self._free(examples, before, args, kwargs))
        before.append(examples)
        made.append(found)
        return found, inputs

    def state(self, program: Exported) -> list[Any]:
        """PyTorch's tensors that a form reads: parameters, buffers and constants."""
        return [
            program.constants[name] if name in program.constants else self.held(name)
            for name in program.state
        ]

    def held(self, name: str) -> Any:
        """The model's own tensor of that name."""
        path, _, own = name.rpartition(".")
        return getattr(self.model.get_submodule(path), own)

    def _free(self, examples: list[Any], before: Iterable[list[Any]], args: Any, kwargs: Any) -> Any:
        """Which sizes are left free: those that were asked for, else those that were others before."""
        if self._shapes is not None:
            return self._shapes
        shapes, free = torch.export.ShapesCollection(), False
        for i, x in enumerate(examples):
            if not isinstance(x, torch.Tensor):
                continue
            others = [held[i].shape for held in before if held[i].dim() == x.dim()]
            # A size of 1 broadcasts, so its export holds for it alone.
            dims = [n > 1 and any(shape[d] != n for shape in others) for d, n in enumerate(x.shape)]
            if any(dims):
                shapes[x] = [torch.export.Dim.AUTO if one else torch.export.Dim.STATIC for one in dims]
                free = True
        return shapes.dynamic_shapes(self.model, args, kwargs) if free else None


def _example(x: Any) -> Any:
    """An input for an export: only its size and dtype matter."""
    if isinstance(x, torch.Tensor) or not hasattr(x, "shape"):
        return x
    return torch.empty(tuple(x.shape), dtype=getattr(torch, x.dtype.name))
