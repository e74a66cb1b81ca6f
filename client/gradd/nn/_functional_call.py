"""Modules as functions of their parameters: torch.func.functional_call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._tensor import Tensor
from .module import Module

_ABSENT: Any = object()


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with the given parameters and buffers, by dotted names, instead of its own.

    `args` is a tuple of arguments, or the only one. With `tie_weights`, a tensor that the module has under
    several names is replaced under all of them; with `strict`, every name must be given and known. Raises
    ValueError and RuntimeError as PyTorch does:
    https://pytorch.org/docs/stable/generated/torch.func.functional_call.html.
    """
    given = _merged(parameter_and_buffer_dicts)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights, strict) as after:
        found = module(*positional, **(kwargs or {}))
    if isinstance(parameter_and_buffer_dicts, dict):
        # A module that assigns to its buffers changes the given ones.
        parameter_and_buffer_dicts.update({name: after[name] for name in given})
    return found


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: t for d in dicts for name, t in d.items()}


def _tied(own: dict[str, Tensor], given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The given tensors, for all names of each replaced tensor."""
    names: dict[int, list[str]] = {}
    for name, t in own.items():
        names.setdefault(id(t), []).append(name)
    out = dict(given)
    for name in given:
        same = names[id(own[name])] if name in own else [name]
        if len({id(given[n]) for n in same if n in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(same)}, which are tied. Consider "
                "using tie_weights=False"
            )
        out.update(dict.fromkeys(same, given[name]))
    return out


def _check_names(module: Module, own: dict[str, Tensor], given: dict[str, Tensor]) -> None:
    errors = []
    for what, names in (
        ("Unexpected", [n for n in given if n not in own]),
        ("Missing", [n for n in own if n not in given]),
    ):
        if names:
            errors.append(f"{what} key(s): {', '.join(map(repr, names))}.")
    if errors:
        raise RuntimeError(
            "Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(errors))
        )


@contextmanager
def replaced(
    module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[dict[str, Tensor]]:
    """Replace the module's tensors within the block; yields a dict that gets those in place at its end."""
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    tensors = _tied(own, given) if tie_weights else dict(given)
    if strict:
        _check_names(module, own, tensors)
    before: list[tuple[dict[str, Any], str, str, Any]] = []
    after: dict[str, Tensor] = {}
    try:
        for path, t in tensors.items():
            where, _, name = path.rpartition(".")
            owner = module.get_submodule(where)
            places = (owner._parameters, owner._buffers, owner.__dict__)
            place = next((p for p in places if name in p), owner.__dict__)
            before.append((place, name, path, place.get(name, _ABSENT)))
            place[name] = t
        yield after
    finally:
        for place, name, path, t in reversed(before):
            after[path] = place.pop(name) if t is _ABSENT else place[name]
            if t is not _ABSENT:
                place[name] = t
