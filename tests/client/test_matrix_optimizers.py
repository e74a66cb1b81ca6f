"""Muon and Adafactor: PyTorch's steps, state, text and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest

RNG = np.random.default_rng(8)
SHAPES = [(4, 3), (3, 5), (2, 3, 4), (5,), ()]
START = [RNG.normal(size=shape).astype("float32") for shape in SHAPES]
STEPS = [[RNG.normal(size=shape).astype("float32") for shape in SHAPES] for _ in range(4)]

MUONS: dict[str, dict[str, Any]] = {
    "plain": {"lr": 0.1},
    "no nesterov": {"lr": 0.1, "nesterov": False, "weight_decay": 0.0},
    "as AdamW": {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
}
FACTORS: dict[str, dict[str, Any]] = {
    "plain": {},
    "options": {"lr": 0.1, "weight_decay": 0.1, "maximize": True, "d": 1.5, "eps": (1e-6, 0.1)},
    "decay": {"beta2_decay": -0.3, "foreach": False},
}


def stepped(T: Any, name: str, options: dict[str, Any], count: int) -> tuple[list[Any], Any]:
    params = [T.nn.Parameter(T.tensor(v)) for v in START[:count]]
    opt = getattr(T.optim, name)(params, **options)
    for grads in STEPS:
        for p, g in zip(params, grads, strict=False):
            p.grad = T.tensor(g)
        opt.step()
    state = opt.state_dict()
    flat = {f"{i} {k}": v.tolist() for i, held in state["state"].items() for k, v in held.items()}
    return [p.tolist() for p in params], (flat, repr(opt), [sorted(g) for g in state["param_groups"]])


def compare(got: Any, want: Any, tolerance: float) -> None:
    for a, b in zip(got[0], want[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert got[1][1:] == want[1][1:]
    assert list(got[1][0]) == list(want[1][0])
    for key, value in want[1][0].items():
        np.testing.assert_allclose(got[1][0][key], value, rtol=tolerance, atol=tolerance, err_msg=key)


@pytest.mark.parametrize("name", MUONS)
def test_muon_steps_as_torch(oracle: Callable[..., Any], name: str) -> None:
    want = oracle(lambda torch: stepped(torch, "Muon", MUONS[name], 2))
    with gradd.connect("local:"):
        # The iteration is in bfloat16, whose sums depend on their order.
        compare(stepped(gradd, "Muon", MUONS[name], 2), want, 5e-3)


@pytest.mark.parametrize("name", FACTORS)
def test_adafactor_steps_as_torch(oracle: Callable[..., Any], name: str) -> None:
    want = oracle(lambda torch: stepped(torch, "Adafactor", FACTORS[name], 5))
    with gradd.connect("local:"):
        compare(stepped(gradd, "Adafactor", FACTORS[name], 5), want, 1e-5)


def test_steps_wait_for_nothing() -> None:
    with gradd.connect("local:") as session:
        p = gradd.nn.Parameter(gradd.tensor(START[0]))
        p.grad = gradd.tensor(STEPS[0][0])
        both = [gradd.optim.Muon([p]), gradd.optim.Adafactor([p])]
        before = session.stats()["round_trips"]
        for opt in both:
            opt.step()
        assert session.stats()["round_trips"] == before


REFUSED = {
    "Muon([m], lr=-1)": "Learning rate should be >= 0 but is: -1",
    "Muon([m], momentum=-1)": "momentum should be >= 0 but is: -1",
    "Muon([m], weight_decay=-1)": "weight decay should be >= 0 but is: -1",
    "Muon([m], adjust_lr_fn='x')": "Adjust learning rate function x is not supported",
    "Muon([v])": ("Muon only supports 2D parameters whereas we found a parameter with size: torch.Size([2])"),
    "Adafactor([m], lr=-1)": "Learning rate should be >= 0 but is: -1",
    "Adafactor([m], beta2_decay=1)": "beta2_decay should be <= 0 but is: 1",
    "Adafactor([m], eps=(-1, 0))": "epsilon1 should be >= 0 but is: -1",
    "Adafactor([m], eps=(None, -1))": "epsilon2 should be >= 0 but is: -1",
    "Adafactor([m], d=0.5)": "Clipping threshold d should be >= 1 but is: 0.5",
    "Adafactor([m], weight_decay=-1)": "weight_decay should be >= 0 but is: -1",
}


@pytest.mark.parametrize("call", REFUSED)
def test_bad_options_are_refused(T: Any, call: str) -> None:
    m, v = T.nn.Parameter(T.ones(2, 2)), T.nn.Parameter(T.ones(2))
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        eval(f"T.optim.{call}", {"T": T, "m": m, "v": v})
    assert str(raised.value) == REFUSED[call]
