"""What a notebook shows of a module: the parts that have parameters, and how many these are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _notebook
from .parameter import is_lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .module import Module

_HEADS = ("part", "module", "parameters", "elements")


def html_of(module: Module) -> str:
    """Known without a wait."""
    parameters = list(module.parameters())
    known = [p for p in parameters if not is_lazy(p)]
    facts: dict[str, object] = {"elements": f"{sum(p.numel() for p in known):,}"}
    frozen = sum(p.numel() for p in known if not p.requires_grad)
    if frozen:
        facts["frozen"] = f"{frozen:,}"
    if len(known) < len(parameters):
        facts["not known yet"] = f"{len(parameters) - len(known)} parameters"
    facts["mode"] = "training" if module.training else "evaluation"
    return _notebook.shown(module._get_name(), facts, _notebook.table(_rows(module), _HEADS))


def _rows(module: Module) -> Iterator[tuple[str, str, str, str]]:
    for name, part in module.named_modules():
        own = {key: p for key, p in part._parameters.items() if p is not None}
        if own:
            shapes = ", ".join(f"{key} {'?' if is_lazy(p) else tuple(p.shape)}" for key, p in own.items())
            count = sum(p.numel() for p in own.values() if not is_lazy(p))
            yield name, f"{part._get_name()}({part.extra_repr()})", shapes, f"{count:,}"
