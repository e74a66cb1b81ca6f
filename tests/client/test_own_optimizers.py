"""Optimizers as people write them, from PyTorch's public names alone; hooks around steps and states."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn, optim
from gradd.optim import optimizer as optimizers

RNG = np.random.default_rng(2)
WEIGHTS = [RNG.normal(size=s).astype("float32") for s in ((4, 6), (6,), (6, 2))]
X, Y = RNG.normal(size=(5, 4)).astype("float32"), RNG.normal(size=(5, 2)).astype("float32")


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def _lion(T: Any) -> Any:
    class Lion(T.optim.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any, lr: float = 1e-4, betas: Any = (0.9, 0.99), decay: float = 0.0):
            if lr <= 0.0:
                raise ValueError(f"Invalid learning rate: {lr}")
            super().__init__(params, {"lr": lr, "betas": betas, "decay": decay})

        @T.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> Any:
            loss = None
            if closure is not None:
                with T.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                beta1, beta2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["exp_avg"] = T.zeros_like(p, memory_format=T.preserve_format)
                    mean = state["exp_avg"]
                    p.data.mul_(1 - group["lr"] * group["decay"])
                    update = mean.clone().mul_(beta1).add(p.grad, alpha=1 - beta1).sign_()
                    p.add_(update, alpha=-group["lr"])
                    mean.mul_(beta2).add_(p.grad, alpha=1 - beta2)
            return loss

    return Lion


def _muon(T: Any) -> Any:
    def orthogonal(g: Any, steps: int = 5) -> Any:
        a, b, c = 3.4445, -4.7750, 2.0315
        x = g / (g.norm() + 1e-7)
        tall = x.size(0) > x.size(1)
        x = x.T if tall else x
        for _ in range(steps):
            gram = x @ x.T
            x = a * x + (b * gram + c * gram @ gram) @ x
        return x.T if tall else x

    class Muon(T.optim.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any, lr: float = 0.02, momentum: float = 0.95, nesterov: bool = True):
            groups = [
                {"params": [p for p in params if p.ndim == 2], "flat": False},
                {"params": [p for p in params if p.ndim != 2], "flat": True, "lr": lr / 10},
            ]
            super().__init__(groups, {"lr": lr, "momentum": momentum, "nesterov": nesterov})

        def __setstate__(self, state: Any) -> None:
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("nesterov", True)

        @T.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> Any:
            loss = None if closure is None else T.enable_grad()(closure)()
            for group in self.param_groups:
                for p in group["params"]:
                    g, state = p.grad, self.state[p]
                    if "step" not in state:
                        state["step"] = 0
                        state["momentum_buffer"] = T.zeros_like(g)
                    state["step"] += 1
                    buffer = state["momentum_buffer"]
                    buffer.lerp_(g, 1 - group["momentum"])
                    g = g.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
                    if not group["flat"]:
                        g = orthogonal(g) * max(1, p.size(-2) / p.size(-1)) ** 0.5
                    p.add_(g.view_as(p), alpha=-group["lr"])
            return loss

    return Muon


def _sharp(T: Any) -> Any:
    class Sharp(T.optim.Optimizer):  # type: ignore[misc, name-defined]
        """Two passes a step: the gradient is that of a point uphill. It shares another's groups."""

        def __init__(self, params: Any, rho: float = 0.05, **options: Any):
            super().__init__(params, {"rho": rho, **options})
            self.base = T.optim.SGD(self.param_groups, **options)
            self.param_groups = self.base.param_groups
            self.defaults.update(self.base.defaults)

        @T.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> Any:
            assert closure is not None
            closure = T.enable_grad()(closure)
            loss = closure()
            held = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
            norm = T.norm(T.stack([p.grad.norm(p=2) for p in held]), p=2)
            for p in held:
                self.state[p]["before"] = p.data.clone()
                p.add_(p.grad * (self.param_groups[0]["rho"] / (norm + 1e-12)))
            closure()
            for p in held:
                p.data = self.state[p]["before"]
            self.base.step()
            return loss

    return Sharp


OWN: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "Lion": (_lion, {"lr": 0.01, "decay": 0.1}),
    "Muon": (_muon, {"lr": 0.05}),
    "Sharp": (_sharp, {"lr": 0.05, "momentum": 0.9}),
}


def _trained(T: Any, name: str, steps: int = 8, resume: bool = False) -> list[Any]:
    make, options = OWN[name]
    params = [T.nn.Parameter(T.tensor(w)) for w in WEIGHTS]
    opt = make(T)(params, **options)
    schedule = T.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
    losses: list[Any] = []

    def closure() -> Any:
        opt.zero_grad()
        a, b, c = params
        loss = (((T.tensor(X) @ a + b).tanh() @ c - T.tensor(Y)) ** 2).mean()
        loss.backward()
        return loss

    for i in range(steps):
        if resume and i == 3:
            state = copy.deepcopy(opt.state_dict())
            opt = make(T)(params, **options)
            opt.load_state_dict(state)
            schedule.optimizer = opt
        losses.append(opt.step(closure))
        schedule.step()
    return [[loss.item() for loss in losses], *(p.detach().reshape(-1).tolist() for p in params)]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("resume", [False, True], ids=["straight", "resumed"])
@pytest.mark.parametrize("name", OWN)
def test_they_follow_torch(oracle: Callable[..., Any], name: str, resume: bool) -> None:
    def found(T: Any) -> Any:
        return _trained(T, name, resume=resume)

    for mine, theirs in zip(found(gradd), oracle(found), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=5e-4, atol=5e-5)


@pytest.mark.parametrize("name", ["Lion", "Muon"])
def test_their_steps_wait_for_nothing_and_are_planned(name: str, session: Any) -> None:
    make, options = OWN[name]
    params = [nn.Parameter(gradd.tensor(w)) for w in WEIGHTS]
    opt = make(gradd)(params, **options)
    with session.profile() as profile:
        for _ in range(6):
            opt.zero_grad()
            sum((p * p).sum() for p in params).backward()
            opt.step()
    assert [batch.how for batch in profile.batches][3:] == ["planned"] * 3
    assert profile.round_trips == 1  # the profile's own
    assert opt.state[params[0]]


def _hooked(T: Any) -> list[Any]:
    calls: list[Any] = []
    p = T.nn.Parameter(T.ones(2))
    opt, other = T.optim.SGD([p], lr=0.5, momentum=0.5), T.optim.SGD([T.nn.Parameter(T.ones(1))])
    module = sys.modules[T.optim.Optimizer.__module__]  # not to be had as an attribute

    def note(name: str, result: Any = None) -> Callable[..., Any]:
        def hook(o: Any, *rest: Any) -> Any:
            calls.append([name, o is opt, [len(r) for r in rest]])
            return result

        return hook

    handles = [
        opt.register_step_pre_hook(note("before")),
        opt.register_step_post_hook(note("after")),
        module.register_optimizer_step_pre_hook(note("all before")),
        module.register_optimizer_step_post_hook(note("all after")),
    ]
    opt.register_state_dict_pre_hook(note("saving"))
    opt.register_state_dict_pre_hook(note("saving first"), prepend=True)
    opt.register_state_dict_post_hook(note("saved"))
    opt.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    opt.register_state_dict_post_hook(note("saved first"), prepend=True)
    opt.register_load_state_dict_pre_hook(lambda o, state: {k: v for k, v in state.items() if k != "more"})
    opt.register_load_state_dict_pre_hook(note("loading"))
    opt.register_load_state_dict_pre_hook(note("loading first"), prepend=True)
    opt.register_load_state_dict_post_hook(note("loaded"))
    opt.register_load_state_dict_post_hook(note("loaded first"), prepend=True)
    p.sum().backward()
    opt.step()
    other.step()
    state = opt.state_dict()
    opt.load_state_dict(state)
    for handle in handles:
        handle.remove()
    opt.step()
    twin = copy.deepcopy(opt)
    twin.step()
    calls.append(["end", sorted(state), p.tolist(), twin.param_groups[0]["params"][0].tolist()])
    return calls


@pytest.mark.oracle
def test_hooks_are_called_as_torchs_are(oracle: Callable[..., Any]) -> None:
    assert _hooked(gradd) == oracle(_hooked)


@pytest.mark.oracle
def test_a_hook_before_a_step_may_change_what_it_gets(oracle: Callable[..., Any]) -> None:
    def found(T: Any) -> Any:
        p = T.nn.Parameter(T.ones(1))
        opt = T.optim.SGD([p], lr=0.5)

        def closure() -> Any:
            opt.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        opt.register_step_pre_hook(lambda o, args, kwargs: (args[:1], {"closure": closure}))
        loss = opt.step(lambda: 1 / 0).item()
        opt.register_step_pre_hook(lambda o, args, kwargs: "x")
        with pytest.raises(RuntimeError) as caught:
            opt.step()
        return [loss, p.tolist(), str(caught.value).partition(" must ")[2]]

    assert found(gradd) == oracle(found)


@pytest.mark.oracle
def test_names_of_parameters_and_states_that_are_nested(oracle: Callable[..., Any]) -> None:
    def found(T: Any) -> Any:
        a, b = T.nn.Parameter(T.ones(1, dtype=T.float64)), T.nn.Parameter(T.ones(1))
        opt = T.optim.SGD([("a", a)], lr=0.5)
        opt.state[a] = {"deep": {"x": [T.ones(1), 2], "step": T.ones(1)}, "y": (T.ones(1),)}
        state = opt.state_dict()
        del state["param_groups"][0]["param_names"]
        del state["param_groups"][0]["nesterov"]
        opt.load_state_dict(state)
        held = opt.state[a]
        seen = [opt.param_groups[0]["param_names"], str(held["deep"]["x"][0].dtype)]
        seen += [str(held["deep"]["step"].dtype), str(held["y"][0].dtype), held["deep"]["x"][1]]
        for wrong in (
            lambda: opt.add_param_group({"params": [b]}),
            lambda: T.optim.SGD([("a", a), b]),
            lambda: T.optim.SGD([a]).add_param_group({"params": [("b", b)]}),
        ):
            with pytest.raises(ValueError) as caught:  # noqa: PT011
                wrong()
            seen.append(str(caught.value))
        return seen

    assert found(gradd) == oracle(found)


def test_public_names_of_the_module() -> None:
    assert optimizers.Optimizer is optim.Optimizer
    assert repr(optimizers.required) == "<required parameter>"
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        optim.Optimizer([nn.Parameter(gradd.ones(1))], {"lr": optimizers.required})
