"""Optimizer: parameter groups, state, and ending the batch after a step (torch.optim.Optimizer).

Source: https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from gradd_engine.backward import gradients
from gradd_engine.data import ambient, dtypes
from gradd_engine.graph import enable_grad, no_grad
from gradd_engine.ops.shared.constants import full, zeros

from .._surface import Specified
from .._tensor import Tensor, type_name
from ._hooks import HookedSteps, register_optimizer_step_post_hook, register_optimizer_step_pre_hook

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Optimizer",
    "ParamsT",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]
#: what an optimizer takes
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _ending_the_batch(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` with its hooks; when the outermost call returns, the recorded batch is sent."""

    @functools.wraps(step)
    def wrapped(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._stepping:
            return step(self, *args, **kwargs)
        self._stepping = True
        try:
            given, kwargs = self._before_step(step, (self, *args), kwargs)
            out = step(*given, **kwargs)
            self._after_step(given, kwargs)
        finally:
            self._stepping = False
        self._stepped = True
        for backend in {p.backend for group in self.param_groups for p in group["params"]}:
            backend.session.step_done()
        return out

    wrapped._ends_the_batch = True  # type: ignore[attr-defined]
    return wrapped


class Optimizer(HookedSteps):
    """Base of optimizers: subclasses define `step`, and pass their options' defaults to ``__init__``.

    `params`: tensors, (name, tensor) pairs, or dicts with a list "params" and options. ``state`` maps a
    parameter to a dict. When `step()` returns, what was recorded is sent to the session as one batch.
    """

    _stepping = False
    _stepped = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not hasattr(step, "_ends_the_batch"):
            cls.step = _ending_the_batch(step)  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type_name(params)}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._make_hooks()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group; missing options get their defaults. TypeError or ValueError for invalid parameters."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in sets will change between runs. Please use a list instead."
            )
        held = [given] if isinstance(given, Tensor) else list(given)
        names = [p[0] for p in held if isinstance(p, tuple)]
        if names:
            if len(names) != len(held):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            param_group["param_names"] = names
            held = [p[1] for p in held]
        for p in held:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type_name(p)}"
                )
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = held
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, deepcopy(value))
        if len(held) != len(set(held)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        if any(("param_names" in param_group) != ("param_names" in group) for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if 'param_names' in param_group else 'without'} names to the optimizer"
            )
        if not {p for group in self.param_groups for p in group["params"]}.isdisjoint(held):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters, in one recorded step."""
        held = [
            p
            for group in self.param_groups
            for p in group["params"]
            if p._requires_grad or p._gradient is not None or p.requires_grad
        ]
        if held:
            gradients.zero_grad(held, set_to_none=set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their gradients; defined by subclasses."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    @staticmethod
    def _loss(closure: Callable[[], Any] | None) -> Any:
        """The closure's result, with gradients enabled."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    # -- state -------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The state and the groups' options, with parameters numbered in order of the groups."""
        self._tell(self._state_dict_pre_hooks)
        order = {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        groups = [
            {
                **{k: v for k, v in group.items() if k != "params"},
                "params": [order[id(p)] for p in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {order[id(p)] if isinstance(p, Tensor) else p: held for p, held in self.state.items()}
        return self._changed(self._state_dict_post_hooks, {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a `state_dict`; ValueError if its groups differ in size from this optimizer's.

        As in PyTorch, tensors are shared, not copied, if they have the right dtype.
        """
        state_dict = self._changed(self._load_state_dict_pre_hooks, dict(state_dict))
        given = state_dict["param_groups"]
        if len(given) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for mine, theirs in zip(self.param_groups, given, strict=True):
            if len(mine["params"]) != len(theirs["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
        numbers = [i for group in given for i in group["params"]]
        params = [p for group in self.param_groups for p in group["params"]]
        of = dict(zip(numbers, params, strict=True))
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for key, held in state_dict["state"].items():
            state[of.get(key, key)] = _fitting(of[key], None, held) if key in of else held
        groups = [
            {
                **{k: v for k, v in mine.items() if k == "param_names"},
                **deepcopy({k: v for k, v in theirs.items() if k != "params"}),
                "params": mine["params"],
            }
            for mine, theirs in zip(self.param_groups, given, strict=True)
        ]
        self.__setstate__({"state": state, "param_groups": groups})
        self._tell(self._load_state_dict_post_hooks)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: all but the hooks."""
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over attributes: of a copy, or of a state that is loaded. Options that it lacks get their
        defaults.
        """
        self.__dict__.update(state)
        self._make_hooks()
        for group in self.param_groups:
            for name, value in self.defaults.items():
                if value is not required:
                    group.setdefault(name, value)

    def __repr__(self) -> str:
        groups = [
            "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            for group in self.param_groups
        ]
        body = "".join(f"\nParameter Group {i}\n{text}" for i, text in enumerate(groups))
        return f"{type(self).__name__} ({body})"


def _fitting(param: Tensor, name: str | None, value: Any) -> Any:
    """State tensors in their parameter's dtype; counts of steps keep their own."""
    if isinstance(value, dict):
        return {key: _fitting(param, key, held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitting(param, None, held) for held in value)
    if not isinstance(value, Tensor) or name == "step" or not param.dtype.is_floating_point:
        return value
    return value.to(param.dtype)


def with_gradients(group: dict[str, Any]) -> list[Any]:
    """The group's parameters that have a gradient, after making sure that the mirror agrees."""
    for p in group["params"][:1]:
        p._session.ready()
    return [p for p in group["params"] if p._gradient is not None]


def nonnegative(what: str, value: float) -> None:
    """ValueError for a negative option."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {what}: {value}")


def betas_within(betas: tuple[float, float]) -> None:
    """ValueError for a beta outside of [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def counter(p: Any, start: float = 0.0) -> Any:
    """A step count or another number, 0-dim float32, in the parameter's session."""
    with ambient(backend=p.backend):
        return full((), start, dtype=dtypes.float32) if start else zeros((), dtype=dtypes.float32)


def options(**given: Any) -> dict[str, Any]:
    """Defaults of an optimizer; NotImplementedError for a differentiable step.

    ``foreach``, ``fused``, ``capturable`` choose among PyTorch's implementations: accepted, without effect.
    """
    if given.get("differentiable"):
        raise NotImplementedError("differentiable=True is not yet supported by gradd")
    return given


class GroupedOptimizer(Optimizer):
    """An optimizer whose step is one op per group: subclasses define `_update`."""

    #: how often the session had lost steps when the state was last looked through
    _losses = 0
    #: a number of the session: the step changes nothing where it is not 0 (torch.amp.GradScaler)
    found_inf: Any = None
    #: what is said of sparse gradients where they are refused
    _no_sparse = ""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters; returns the closure's loss."""
        loss = self._loss(closure)
        with no_grad():
            for group in self.param_groups:
                params = with_gradients(group)
                if params:
                    if Specified.there_are and any(p._gradient.is_sparse for p in params):
                        self._meet_sparse(group)
                    losses = params[0]._session.wire.lost.times
                    if losses != self._losses:
                        self._forget_lost()
                        self._losses = losses
                    self._update(group, params)
        return loss

    def _skippable(self) -> bool:
        """Whether a step is nothing but its ops, over states that are there: then the session may skip it by
        `found_inf`, and nobody has to wait.
        """
        if self._called() or "step" in self.__dict__ or type(self).step is not GroupedOptimizer.step:
            return False
        held = (
            (group, [p for p in group["params"] if p._gradient is not None]) for group in self.param_groups
        )
        return all(self._settled(group, params) for group, params in held)

    def _settled(self, group: dict[str, Any], params: list[Any]) -> bool:
        """Whether `_update` makes no state, and hands `found_inf` to its op."""
        return all(self.state.get(p) for p in params)

    def _meet_sparse(self, group: dict[str, Any]) -> None:
        """RuntimeError where sparse gradients are refused."""
        if self._no_sparse:
            raise RuntimeError(self._no_sparse)

    def _forget_lost(self) -> None:
        """Drop tensors that never came to be: the step that made them did not run."""
        for state in self.state.values():
            for name, value in list(state.items()):
                if isinstance(value, Tensor) and value._lost is not None:
                    del state[name]

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        """Update those parameters of a group that have gradients."""
        raise NotImplementedError(f"{type(self).__name__} has no _update()")
