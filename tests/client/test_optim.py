"""Optimizers and schedules: torch.optim's trajectories through a session, one op and one batch a step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest
from gradd import nn, optim
from gradd.optim import lr_scheduler

RNG = np.random.default_rng(9)
WEIGHTS = [RNG.normal(size=s).astype("float32") for s in ((4, 6), (6,), (6, 2))]
BATCHES = [
    (RNG.normal(size=(5, 4)).astype("float32"), RNG.normal(size=(5, 2)).astype("float32")) for _ in range(20)
]


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def train(
    T: Any, make: Callable[[Any, Any], Any], schedule: Callable[[Any, Any], Any] | None = None
) -> list[Any]:
    """20 steps of a small regression; the parameters at the end, and the rates along the way."""
    a, b, c = (T.nn.Parameter(T.tensor(w)) for w in WEIGHTS)
    opt = make(T.optim, [a, b, c])
    rates = []
    plan = schedule(T.optim.lr_scheduler, opt) if schedule else None
    for x, y in BATCHES:
        opt.zero_grad()
        loss = ((((T.tensor(x) @ a + b).tanh() @ c) - T.tensor(y)) ** 2).mean()
        loss.backward()
        opt.step()
        rates.append([group["lr"] for group in opt.param_groups])
        if plan is not None:
            plan.step()
    return [*(p.detach().numpy() for p in (a, b, c)), np.asarray(rates)]


OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda o, p: o.SGD(p, lr=0.1),
    "SGD, momentum": lambda o, p: o.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    "SGD, nesterov": lambda o, p: o.SGD(p, lr=0.05, momentum=0.8, nesterov=True),
    "SGD, dampening": lambda o, p: o.SGD(p, lr=0.002, momentum=0.8, dampening=0.3, maximize=True),
    "Adam": lambda o, p: o.Adam(p, lr=0.01),
    "Adam, options": lambda o, p: o.Adam(
        p, lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.02, amsgrad=True
    ),
    "AdamW": lambda o, p: o.AdamW(p, lr=0.01, weight_decay=0.1),
    "RMSprop": lambda o, p: o.RMSprop(p, lr=0.01),
    "RMSprop, options": lambda o, p: o.RMSprop(
        p, lr=0.003, alpha=0.8, eps=1e-5, weight_decay=0.01, momentum=0.5, centered=True
    ),
    "Adagrad": lambda o, p: o.Adagrad(p, lr=0.05),
    "Adagrad, options": lambda o, p: o.Adagrad(
        p, lr=0.05, lr_decay=0.1, weight_decay=0.01, initial_accumulator_value=0.2, eps=1e-6
    ),
    "Adadelta": lambda o, p: o.Adadelta(p),
    "Adadelta, options": lambda o, p: o.Adadelta(p, lr=0.5, rho=0.7, eps=1e-4, weight_decay=0.01),
    "NAdam": lambda o, p: o.NAdam(p, lr=0.01, foreach=False),
    "NAdam, options": lambda o, p: o.NAdam(
        p, lr=0.01, betas=(0.3, 0.9), weight_decay=0.1, momentum_decay=0.1, decoupled_weight_decay=True
    ),
    "RAdam": lambda o, p: o.RAdam(p, lr=0.01),
    "RAdam, options": lambda o, p: o.RAdam(
        p, lr=0.01, betas=(0.5, 0.9), eps=1e-4, weight_decay=0.1, decoupled_weight_decay=True
    ),
    "Adamax": lambda o, p: o.Adamax(p, lr=0.01),
    "Adamax, options": lambda o, p: o.Adamax(p, lr=0.01, betas=(0.3, 0.8), weight_decay=0.1, maximize=True),
    "Rprop": lambda o, p: o.Rprop(p, lr=0.01),
    "Rprop, options": lambda o, p: o.Rprop(p, etas=(0.3, 1.5), step_sizes=(1e-3, 0.02), maximize=True),
    "ASGD": lambda o, p: o.ASGD(p, lr=0.05),
    "ASGD, options": lambda o, p: o.ASGD(p, lr=0.05, lambd=0.1, alpha=0.5, t0=5, weight_decay=0.1),
    "groups": lambda o, p: o.Adam([{"params": p[:1], "lr": 0.02}, {"params": p[1:]}], lr=0.005),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_trajectories(torch: Any, name: str) -> None:
    for got, want in zip(train(gradd, OPTIMIZERS[name]), train(torch, OPTIMIZERS[name]), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "StepLR": lambda s, o: s.StepLR(o, 5, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 3, 11], 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 7, 0.001),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, total_iters=6),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(torch: Any, name: str) -> None:
    make = OPTIMIZERS["SGD, momentum"]
    got, want = train(gradd, make, SCHEDULES[name]), train(torch, make, SCHEDULES[name])
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
    assert np.unique(got[-1]).size > 1


def test_a_schedule_resumes() -> None:
    opt = optim.SGD([nn.Parameter(gradd.ones(1))], lr=0.1)
    first = lr_scheduler.LambdaLR(opt, lambda epoch: 0.5**epoch)
    opt.step()
    first.step()
    first.step()
    state = first.state_dict()
    assert state["lr_lambdas"] == [None]
    again = lr_scheduler.LambdaLR(optim.SGD([nn.Parameter(gradd.ones(1))], lr=0.1), lambda epoch: 0.5**epoch)
    again.load_state_dict(state)
    again.step()
    assert again.get_last_lr() == [0.1 * 0.125]


def test_a_schedule_before_the_first_step_warns() -> None:
    plan = lr_scheduler.StepLR(optim.SGD([nn.Parameter(gradd.ones(1))], lr=0.1), 1)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        plan.step()
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas, but got 0"):
        lr_scheduler.LambdaLR(plan.optimizer, [])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_one_batch_and_few_steps(name: str, session: Any) -> None:
    params = [nn.Parameter(gradd.tensor(w)) for w in WEIGHTS]
    opt = OPTIMIZERS[name](optim, params)
    plan = lr_scheduler.ExponentialLR(opt, 0.9)
    seen = []
    for _ in range(4):
        before = session.stats()
        opt.zero_grad()
        sum((p * p).sum() for p in params).backward()
        opt.step()
        plan.step()
        after = session.stats()
        seen.append((after["batches"] - before["batches"], after["steps"] - before["steps"]))
    loss_steps = 2 * len(params) + len(params)  # mul, sum; add to the running sum
    assert seen[2] == seen[3] == (1, 1 + loss_steps + 1 + len(opt.param_groups))


def test_a_schedule_does_not_change_the_program(session: Any) -> None:
    p = nn.Parameter(gradd.ones(3))
    opt = optim.Adam([p], lr=0.1)
    plan = lr_scheduler.ExponentialLR(opt, 0.9)
    sizes = []
    for _ in range(5):
        before = session.stats()["bytes_sent"]
        opt.zero_grad()
        (p * p).sum().backward()
        opt.step()
        plan.step()
        sizes.append(session.stats()["bytes_sent"] - before)
    # A new program would be spelled out in its batch; the rate is a number of a few digits more or less.
    assert max(sizes[2:]) - min(sizes[2:]) < 20
    assert min(sizes[:2]) > 2 * max(sizes[2:])


def test_parameters_without_gradients_are_left_alone() -> None:
    used, unused = nn.Parameter(gradd.ones(2)), nn.Parameter(gradd.ones(2))
    for opt in (optim.SGD([used, unused], lr=0.5, momentum=0.9), optim.Adam([used, unused], lr=0.5)):
        opt.zero_grad()
        used.sum().backward()
        opt.step()
        assert unused.tolist() == [1.0, 1.0]
        assert unused not in opt.state
    assert used.tolist() != [1.0, 1.0]


def test_a_gradient_that_comes_later_begins_its_own_momentum() -> None:
    p, q = nn.Parameter(gradd.zeros(1)), nn.Parameter(gradd.zeros(1))
    opt = optim.SGD([p, q], lr=1.0, momentum=0.5)
    p.sum().backward()
    opt.step()
    (p + q).sum().backward()
    opt.step()
    assert (p.item(), q.item()) == (-1.0 - 2.5, -1.0)


@pytest.mark.parametrize("make", [
    lambda ps: optim.SGD(ps, lr=0.5, momentum=0.9),
    lambda ps: optim.Adam(ps, lr=0.5, amsgrad=True),
    lambda ps: optim.RMSprop(ps, lr=0.5, momentum=0.9),
])  # fmt: skip
def test_a_first_step_that_never_ran_leaves_no_state(session: Any, make: Callable[[Any], Any]) -> None:
    def trained(fails: bool) -> Any:
        p = gradd.ones(2, requires_grad=True)
        optimizer = make([p])
        if fails:
            session.flush()
            gradd.ones(3)[gradd.tensor([99])]
            (p * p).sum().backward()
            optimizer.step()
            with pytest.raises(IndexError):
                session.flush()
        for _ in range(2):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
        return p.tolist()

    assert trained(fails=True) == trained(fails=False)


def test_closure_and_returned_loss() -> None:
    p = nn.Parameter(gradd.ones(1))
    opt = optim.SGD([p], lr=0.25)

    def closure() -> Any:
        opt.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with gradd.no_grad():
        loss = opt.step(closure)
    assert loss.item() == 1.0
    assert p.item() == 0.5
    opt.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0]
    opt.zero_grad()
    assert p.grad is None


@pytest.mark.parametrize("name", [
    "SGD, momentum", "Adam, options", "AdamW", "Adadelta", "NAdam", "RAdam", "Adamax", "Rprop", "ASGD",
])  # fmt: skip
def test_state_dict_resumes_the_trajectory(name: str) -> None:
    def halves(resume: bool) -> Any:
        p = nn.Parameter(gradd.tensor(WEIGHTS[0]))
        opt = OPTIMIZERS[name](optim, [p])
        for i in range(6):
            if resume and i == 3:
                state = opt.state_dict()
                p = nn.Parameter(p.detach().clone())
                opt = OPTIMIZERS[name](optim, [p])
                opt.load_state_dict(state)
            opt.zero_grad()
            (p * p).sum().backward()
            opt.step()
        return p.detach().numpy()

    np.testing.assert_array_equal(halves(True), halves(False))


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_text_and_state_dict_have_torchs_form(torch: Any, name: str) -> None:

    def form(T: Any) -> Any:
        opt = OPTIMIZERS[name](T.optim, [T.nn.Parameter(T.tensor(w)) for w in WEIGHTS])
        opt.zero_grad()
        sum((p * p).sum() for group in opt.param_groups for p in group["params"]).backward()
        opt.step()
        state = opt.state_dict()
        shapes = {
            i: {k: None if v is None else (tuple(v.shape), str(v.dtype)) for k, v in held.items()}
            for i, held in state["state"].items()
        }
        return repr(opt), repr(opt.defaults), shapes, state["param_groups"]

    mine, theirs = form(gradd), form(torch)
    if name == "SGD":
        # PyTorch keeps an entry without a buffer; there is nothing to keep.
        theirs[2].clear()
    assert mine == theirs


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda p: optim.SGD([p], lr=-1.0), ValueError, "Invalid learning rate: -1.0"),
        (lambda p: optim.SGD([p], momentum=-1.0), ValueError, "Invalid momentum value: -1.0"),
        (lambda p: optim.SGD([p], weight_decay=-1.0), ValueError, "Invalid weight_decay value: -1.0"),
        (
            lambda p: optim.SGD([p], nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (lambda p: optim.Adam([p], eps=-1.0), ValueError, "Invalid epsilon value: -1.0"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), ValueError, "Invalid beta parameter at index 1: 1.0"),
        (lambda p: optim.RMSprop([p], alpha=-1), ValueError, "Invalid alpha value: -1"),
        (lambda p: optim.Adagrad([p], lr_decay=-1), ValueError, "Invalid lr_decay value: -1"),
        (lambda p: optim.Adadelta([p], rho=1.5), ValueError, "Invalid rho value: 1.5"),
        (lambda p: optim.NAdam([p], momentum_decay=-1), ValueError, "Invalid momentum_decay value: -1"),
        (lambda p: optim.RAdam([p], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda p: optim.Adamax([p], eps=-1.0), ValueError, "Invalid epsilon value: -1.0"),
        (lambda p: optim.Rprop([p], etas=(0.5, 0.9)), ValueError, "Invalid eta values: 0.5, 0.9"),
        (lambda p: optim.ASGD([p], weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda p: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (
            lambda p: optim.SGD([3]),
            TypeError,
            "optimizer can only optimize Tensors, but one of the params is int",
        ),
        (lambda p: optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (
            lambda p: optim.SGD(gradd.ones(1)),
            TypeError,
            "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
            "torch.FloatTensor",
        ),
        (
            lambda p: optim.SGD(p),
            TypeError,
            "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
            "torch.FloatTensor",
        ),
        (
            lambda p: optim.SGD([{"params": [p]}, {"params": [p]}]),
            ValueError,
            "some parameters appear in more than one parameter group",
        ),
        (
            lambda p: optim.SGD([p]).load_state_dict({"state": {}, "param_groups": []}),
            ValueError,
            "loaded state dict has a different number of parameter groups",
        ),
        (
            lambda p: optim.SGD([p], differentiable=True),
            NotImplementedError,
            "differentiable=True is not yet supported by gradd",
        ),
    ],
)
def test_misuse(make: Callable[[Any], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        make(nn.Parameter(gradd.ones(1)))
    assert str(caught.value) == message


def test_duplicates_warn_and_sets_are_refused() -> None:
    p = nn.Parameter(gradd.ones(1))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p])
    with pytest.raises(TypeError, match="organized in ordered collections"):
        optim.SGD([{"params": {p}}])


def test_own_optimizers_and_hooks(session: Any) -> None:
    class Halve(optim.Optimizer):
        def step(self, closure: Any = None) -> Any:
            with gradd.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p.mul_(group["rate"])

    p = nn.Parameter(gradd.ones(1))
    opt = Halve([("w", p)], {"rate": 0.5})
    assert opt.param_groups[0]["param_names"] == ["w"]
    calls: list[str] = []
    handle = opt.register_step_pre_hook(lambda o, args, kwargs: calls.append("pre"))
    opt.register_step_post_hook(lambda o, args, kwargs: calls.append("post"))
    before = session.stats()["batches"]
    opt.step()
    assert session.stats()["batches"] == before + 1
    handle.remove()
    opt.step()
    assert calls == ["pre", "post", "post"]
    assert p.item() == 0.25
    with pytest.raises(NotImplementedError):
        optim.Optimizer([p], {}).step()


def test_no_warnings_in_a_plain_loop() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params = train(gradd, OPTIMIZERS["Adam"], SCHEDULES["StepLR"])
    assert all(np.isfinite(p).all() for p in params)
