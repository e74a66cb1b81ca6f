"""The exported forms of one model: one for each mode, autocast, structure of inputs, and set of sizes."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .exported import Exported


class Forms:
    """A model and what was exported of it."""

    def __init__(self, model: Any, dynamic_shapes: Any = None) -> None:
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"offload() takes a torch.nn.Module, not {type(model).__name__}")
        self.model = model
        self._shapes = dynamic_shapes
        self._signature = inspect.signature(model.forward)
        self._made: dict[Any, list[Exported]] = {}
        #: the sizes of what was exported, by structure, with None for what is no tensor
        self._seen: dict[str, list[list[Any]]] = {}

    def find(self, args: Any, kwargs: dict[str, Any]) -> tuple[Exported, list[Any]]:
        """The form for such inputs in the model's present modes, exported now if there is none, and the
        inputs as a flat list.
        """
        bound = self._signature.bind(*args, **kwargs)
        inputs, structure = pytree.tree_flatten((bound.args, bound.kwargs))
        modes = (*_autocast(), *(module.training for module in self.model.modules()))
        key = (str(structure), modes)
        made = self._made.setdefault(key, [])
        for one in made:
            if one.fits(inputs):
                return one, inputs
        examples = [_example(x) for x in inputs]
        args, kwargs = pytree.tree_unflatten(examples, structure)
        # What was asked for is about the arguments that were given first.
        asked = self._shapes is not None and key[0] == next(iter(self._seen), key[0])
        shapes = self._shapes if asked else self._free(key[0], examples, args, kwargs)
        found = Exported(self.model, args, kwargs, shapes)
        self._seen.setdefault(key[0], []).append([getattr(x, "shape", None) for x in examples])
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

    def _free(self, structure: str, examples: list[Any], args: Any, kwargs: Any) -> Any:
        """Which sizes an export leaves free: those that were others before."""
        shapes, free = torch.export.ShapesCollection(), False
        for i, x in enumerate(examples):
            if not isinstance(x, torch.Tensor):
                continue
            seen = (held[i] for held in self._seen.get(structure, ()))
            others = [shape for shape in seen if shape is not None and len(shape) == x.dim()]
            # A size of 1 broadcasts, so its export holds for it alone.
            dims = [n > 1 and any(shape[d] != n for shape in others) for d, n in enumerate(x.shape)]
            if any(dims):
                shapes[x] = [torch.export.Dim.AUTO if one else torch.export.Dim.STATIC for one in dims]
                free = True
        return shapes.dynamic_shapes(self.model, args, kwargs) if free else None


def _autocast() -> list[Any]:
    """To what dtype PyTorch casts now, for each kind of device: an export has the casts."""
    kinds = ("cpu", "cuda")
    return [torch.is_autocast_enabled(kind) and torch.get_autocast_dtype(kind) for kind in kinds]


def _example(x: Any) -> Any:
    """An input for an export, a tensor of its own: it would take one that comes twice for one input."""
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    return torch.empty(tuple(x.shape), dtype=getattr(torch, x.dtype.name)) if hasattr(x, "shape") else x
