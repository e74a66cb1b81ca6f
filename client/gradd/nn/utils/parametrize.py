"""Tensors of a module computed from others by modules (torch.nn.utils.parametrize).

Behaviour and messages follow https://pytorch.org/tutorials/intermediate/parametrizations.html
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradd_engine.graph import no_grad

from ..._tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip


class _Cache:
    """Computed tensors by module and name, within `cached`."""

    depth = 0
    found: dict[tuple[int, str], Tensor] = {}  # noqa: RUF012 - one for the process


@contextmanager
def cached() -> Iterator[None]:
    """Within it, a parametrized tensor is computed once, however often it is used."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.found.clear()


def _keep(module: Module, name: str, tensor: Tensor) -> None:
    """Register a parameter or buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The modules that compute a tensor, the first from the originals, each other from the one before.

    `original`, or `original0`, `original1` ... if the first `right_inverse` returns several tensors.
    ValueError if they change the tensor's dtype or shape, unless `unsafe`.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        made: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        made = module.right_inverse(made)
                    except NotImplementedError:
                        continue
        if not isinstance(made, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(made).__name__}"
            )
        self.is_tensor = isinstance(made, Tensor)
        self.ntensors = 1 if isinstance(made, Tensor) else len(made)
        if isinstance(made, Tensor):
            if dtype != made.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {made.dtype}"
                )
            original.data = made
            _keep(self, "original", original)
        else:
            for i, part in enumerate(made):
                self._keep_part(i, part, original)
        if not unsafe:
            self._check(shape, dtype)

    def _keep_part(self, i: int, part: Any, original: Tensor) -> None:
        if not isinstance(part, Tensor):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got element {i} of the sequence with type {type(part).__name__}."
            )
        if isinstance(original, Parameter):
            part = Parameter(part, original.requires_grad)
        _keep(self, f"original{i}", part.requires_grad_(original.requires_grad))

    def _check(self, shape: Any, dtype: Any) -> None:
        found = self()
        if not isinstance(found, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
        for what, before, after in (("dtype", dtype, found.dtype), ("shape", shape, found.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` "
                    f"flag is enabled.\nunparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the tensor becomes `value`, by the modules' `right_inverse`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                    f"while `original` has dtype {self.original.dtype}"
                )
            self.original.data = value
            return
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                f"Got a sequence of length {len(value)}."
            )
        for i, part in enumerate(value):
            held = getattr(self, f"original{i}")
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {i} of type {type(part).__name__}."
                )
            if held.dtype != part.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {part.dtype} "
                    f"while `original{i}` has dtype {held.dtype}"
                )
            held.data = part

    def forward(self) -> Any:
        """The tensor."""
        first, *others = self
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        x = first(*(getattr(self, name) for name in names))
        for module in others:
            x = module(x)
        return x


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    made = memo[id(self)] = self.__new__(type(self))
    made.__dict__ = copy.deepcopy(self.__dict__, memo)
    return made


def _unsaved(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _give_class(module: Module) -> None:
    """A class of its own, for its parametrized tensors."""
    kind = type(module)
    own = {"__getstate__": _unsaved, "__module__": kind.__module__}
    if not hasattr(kind, "__deepcopy__"):
        own["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), own)


def _give_property(module: Module, name: str) -> None:
    def computed(self: Any) -> Any:
        compute = self.parametrizations[name]
        if not _Cache.depth:
            return compute()
        key = (id(module), name)
        if key not in _Cache.found:
            _Cache.found[key] = compute()
        return _Cache.found[key]

    def assigned(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(computed, assigned))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Compute a parameter or buffer of `module` by a module, from what was there; returns `module`.

    If it has one already, the new one takes its result. Assigning to the tensor needs a `right_inverse`.
    ValueError if it changes the dtype or shape, unless `unsafe`, or if there is no such tensor.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(parametrization, tensor_name, getattr(module, tensor_name))
        held = module.parametrizations[tensor_name]
        held.append(parametrization)
        held.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_next(parametrization: Any, name: str, before: Tensor) -> None:
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` "
                f"flag is enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{name}, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{what}: {getattr(before, what)}\nreturned {what}: {getattr(back, what)}"
            )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether `module`, or its tensor of that name, has a parametrization."""
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make the tensor plain again: as computed, or as the original if not `leave_parametrized`.

    ValueError if it has no parametrization, or would be left with several originals. Returns `module`.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name)
    elif leave_parametrized:
        computed = getattr(module, tensor_name)
        original = Parameter(computed) if computed.requires_grad else computed
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class of `module` without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Any, to_module: Any, tensor_name: str | None = None
) -> Any:
    """Give `to_module` the parametrizations of another, all or those of one tensor, and their originals."""
    held = from_module.parametrizations if is_parametrized(from_module) else {}
    for name in list(held) if tensor_name is None else [tensor_name][: len(held)]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in held[name]:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for part in (
            ["original"] if held[name].is_tensor else [f"original{i}" for i in range(held[name].ntensors)]
        ):
            setattr(target, part, getattr(held[name], part))
    return to_module
