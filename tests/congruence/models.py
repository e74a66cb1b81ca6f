"""What random scripts do with layers, optimizers, traced functions, and writes that turn a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
from gradd import nn


def turn(s: Any) -> None:
    """A tensor gets another geometry in place, and its graph with it."""
    t = s.any()
    if s.chance(0.3):
        t = t[:]
        s.keep(t)
    with gradd.enable_grad() if t.requires_grad else s.mode():
        match s.rng.randrange(5):
            case 0:
                t.t_()
            case 1:
                t.unsqueeze_(s.rng.choice([0, -1, 1]))
            case 2:
                t.squeeze_()
            case 3:
                t.squeeze_(s.rng.choice([0, -1]))
            case _:
                t.transpose_(0, -1)


def put(s: Any) -> None:
    """Numbers and pieces are written into a tensor, or into a copy of it."""
    t, other = s.any(), s.any()
    number = s.rng.choice([0.5, 2, True, -1.5])
    with s.mode():
        match s.rng.randrange(10):
            case 0:
                t.copy_(number)
            case 1:
                t.fill_diagonal_(number)
            case 2:
                t[-1] = number
            case 3:
                t[..., :1] = other
            case 4:
                t.masked_fill_(t > 0, number)
            case 5:
                t.lerp_(other, s.rng.choice([0.25, 1.0]))
            case 6:
                t.clamp_(-0.5, 0.5)
            case 7:
                s.keep(t.select_scatter(other, 0, s.rng.choice([0, -1])))
            case 8:
                s.keep(t.slice_scatter(other, 0, s.rng.randrange(2)))
            case _:
                s.keep(t.diagonal_scatter(other))


def descend(s: Any) -> None:
    """Some steps of an optimizer, perhaps with clipped gradients, loaded state or another learning rate."""
    leaves = list({id(t): t for t in (s.leaf(), s.leaf())}.values())
    makers: list[Callable[..., Any]] = [
        lambda ps: gradd.optim.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.1),
        lambda ps: gradd.optim.AdamW(ps, lr=0.1, amsgrad=True),
        lambda ps: gradd.optim.RMSprop(ps, lr=0.1, momentum=s.rng.choice([0.0, 0.5]), centered=True),
        lambda ps: gradd.optim.Adagrad(ps, lr=0.1, lr_decay=0.1),
        lambda ps: gradd.optim.NAdam(ps, lr=0.1, weight_decay=0.1),
        lambda ps: gradd.optim.RAdam(ps, lr=0.1, betas=(0.5, 0.9)),
        lambda ps: gradd.optim.Adamax(ps, lr=0.1),
        lambda ps: gradd.optim.Adadelta(ps, rho=0.5),
        lambda ps: gradd.optim.Rprop(ps, lr=0.1),
        lambda ps: gradd.optim.ASGD(ps, lr=0.1, t0=1),
    ]
    optimizer = s.rng.choice(makers)(leaves)
    kept = None
    for _ in range(s.rng.randrange(1, 4)):
        optimizer.zero_grad(set_to_none=s.chance(0.5))
        loss = sum((p * p).sum() for p in leaves)
        loss.backward()
        if s.chance(0.3):
            s.keep(nn.utils.clip_grad_norm_(leaves, 0.5))
        elif s.chance(0.2):
            nn.utils.clip_grad_value_(leaves, 0.1)
        optimizer.step()
        if s.chance(0.2):
            optimizer.param_groups[0]["lr"] *= 0.5
        if kept is not None:
            optimizer.load_state_dict(kept)
        kept = optimizer.state_dict() if s.chance(0.2) else None


def layer(s: Any) -> None:
    """A layer, perhaps with hooks, is trained for a step or two."""
    kinds: list[Callable[[], Any]] = [
        lambda: nn.Linear(3, 2),
        lambda: nn.RNN(3, 2, nonlinearity=s.rng.choice(["tanh", "relu"])),
        lambda: nn.LSTM(3, 2, batch_first=True),
        lambda: nn.GRU(3, 2, bidirectional=True),
        lambda: nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)),
        lambda: nn.Sequential(nn.LayerNorm(3), nn.GELU()),
        lambda: nn.MultiheadAttention(3, 1),
    ]
    module = s.rng.choice(kinds)()
    for p in list(module.parameters())[: s.rng.randrange(2)]:
        p.requires_grad_(False)
    handles = []
    if s.chance(0.4):
        handles.append(
            module.register_full_backward_hook(
                s.rng.choice([lambda m, gi, go: None, lambda m, gi, go: tuple(g and g * 2 for g in gi)])
                if s.chance(0.5)
                else lambda m, gi, go: s.keep(*gi)
            )
        )
    if s.chance(0.3):
        handles.append(module.register_full_backward_pre_hook(lambda m, go: None))
    if s.chance(0.3):
        handles.append(module.register_forward_hook(lambda m, args, out: s.keep(args[0])))
    attends = isinstance(module, nn.MultiheadAttention)
    x = gradd.rand(4, 3) if attends or s.chance(0.5) else s.any()
    for n in range(s.rng.randrange(1, 4)):
        if n == 2:
            module.eval()
        with s.mode():
            out = module(x, x, x) if attends else module(x)
        first = out[0] if isinstance(out, tuple) else out
        s.keep(first)
        if first.requires_grad:
            first.sum().backward()
        if s.chance(0.5):
            with gradd.no_grad():
                for p in module.parameters():
                    if p.grad is not None:
                        p.sub_(p.grad, alpha=0.1)
        if s.chance(0.4):
            module.zero_grad(set_to_none=s.chance(0.5))
        if s.chance(0.2):
            s.session.step_done()
    for handle in handles:
        handle.remove()


def traced(s: Any) -> None:
    """A function that is traced, called with this and that; what it names changes in between."""
    t, other, by = s.any(), s.leaf(), 2.0
    kind = s.rng.randrange(5)

    @gradd.function
    def call(x: Any) -> Any:
        y = (x * other * by).sin()
        if kind == 1:
            y.sum().backward()
        elif kind == 2:
            with gradd.no_grad():
                other.mul_(0.5)
        elif kind == 3:
            x.add_(by)
            return y, x[:1]
        elif kind == 4:
            return gradd.autograd.grad(y.sum(), [other], create_graph=True)
        return y

    for _ in range(s.rng.randrange(2, 6)):
        with s.mode() if s.chance(0.2) else gradd.enable_grad():
            found = call(t)
        s.keep(*(found if isinstance(found, tuple) else (found,)))
        match s.rng.randrange(9):
            case 0:
                t = s.any()
            case 1:
                by += 1.0
            case 2:
                other.grad = None
            case 3:
                other.requires_grad_(s.chance(0.5))
            case 4:
                found = None
            case 5:
                s.held[-1].sum().backward()
            case 6:
                s.held[-1].add_(1)
            case _:
                pass


MODELS: dict[Callable[[Any], None], float] = {turn: 1, put: 2, descend: 0.5, layer: 0.5, traced: 0.6}
