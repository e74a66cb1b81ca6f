"""Optimizer steps: the same trajectories as torch.optim, state written in place, misuse refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.data import dtypes
from gradd_engine.data.state import ambient
from gradd_engine.ops.optim import gradient_steps as optim
from gradd_engine.ops.optim.adaptive_steps import adagrad_step, rmsprop_step
from gradd_engine.ops.optim.gradient_steps import adam_step, sgd_step
from gradd_engine.ops.optim.moment_steps import nadam_step
from gradd_engine.ops.optim.rate_steps import asgd_step
from gradd_engine.schema.registry import REGISTRY
from gradd_engine.tensor.tensor import Tensor

assert ops
SHAPES = [(3, 4), (5,), ()]
STEPS = 50
#: a few last bits after 50 steps: PyTorch fuses multiplications with additions where the CPU can
CLOSE = {"float32": 4e-7, "complex64": 4e-7, "float64": 1e-14}
SGD: list[dict[str, Any]] = [
    {},
    {"weight_decay": 0.01},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.02},
    {"momentum": 0.8, "dampening": 0.3, "maximize": True},
]
ADAM: list[dict[str, Any]] = [
    {},
    {"betas": (0.8, 0.99), "eps": 1e-6},
    {"betas": (0.3, 0.9), "weight_decay": 0.03},
    {"amsgrad": True, "maximize": True},
]


RMSPROP: list[dict[str, Any]] = [
    {},
    {"alpha": 0.9, "eps": 1e-5, "weight_decay": 0.02, "maximize": True},
    {"momentum": 0.7},
    {"alpha": 0.3, "centered": True, "eps": 1e-2},
    {"momentum": 0.5, "centered": True, "eps": 1e-2},
]
ADAGRAD: list[dict[str, Any]] = [{}, {"lr_decay": 0.1, "weight_decay": 0.03}, {"eps": 1e-3, "maximize": True}]


def start(dtype: Any) -> tuple[list[Any], list[list[Any]]]:
    rng = np.random.default_rng(7)

    def draw(shape: tuple[int, ...]) -> Any:
        a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
        return np.asarray(a, dtype)

    return [draw(s) for s in SHAPES], [[draw(s) for s in SHAPES] for _ in range(STEPS)]


def make(arrays: list[Any]) -> list[Tensor]:
    return [NUMPY.from_array(a.copy()) for a in arrays]


def zeros(like: list[Tensor]) -> list[Tensor]:
    return make([np.zeros_like(t.array) for t in like])


def oracle(
    torch: Any, name: str, params: list[Any], grads: list[list[Any]], rate: Any, options: dict[str, Any]
) -> Any:
    leaves = [torch.tensor(p, requires_grad=True) for p in params]
    opt = getattr(torch.optim, name)(leaves, lr=0.1, foreach=False, **options)
    for i, gs in enumerate(grads):
        opt.param_groups[0]["lr"] = rate(i)
        for leaf, g in zip(leaves, gs, strict=True):
            leaf.grad = torch.tensor(g)
        opt.step()
    return [leaf.detach().numpy() for leaf in leaves]


def rate(step: int) -> float:
    return 0.01 * 0.97**step


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("options", SGD, ids=str)
def test_sgd_follows_torch(torch: Any, options: dict[str, Any], dtype: str) -> None:
    arrays, grads = start(dtype)
    want = oracle(torch, "SGD", arrays, grads, rate, options)
    params = make(arrays)
    buffers = zeros(params) if "momentum" in options else []
    with ambient(grad=False):
        for i, gs in enumerate(grads):
            sgd_step(params, make(gs), buffers, lr=rate(i), first=i == 0, **options)
    for p, w in zip(params, want, strict=True):
        np.testing.assert_allclose(p.array, w, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
@pytest.mark.parametrize("options", ADAM, ids=str)
def test_adam_follows_torch(torch: Any, name: str, options: dict[str, Any], dtype: str) -> None:
    arrays, grads = start(dtype)
    want = oracle(torch, name, arrays, grads, rate, options)
    params = make(arrays)
    means, squares, largest = zeros(params), zeros(params), zeros(params)
    counts = make([np.zeros((), "float32") for _ in params])
    given = dict(options)
    given["beta1"], given["beta2"] = given.pop("betas", (0.9, 0.999))
    given.setdefault("weight_decay", 0.01 if name == "AdamW" else 0.0)
    with ambient(grad=False):
        for i, gs in enumerate(grads):
            adam_step(
                params, make(gs), means, squares, counts, largest if "amsgrad" in options else [],
                lr=rate(i), decoupled=name == "AdamW", **given,
            )  # fmt: skip
    for p, w in zip(params, want, strict=True):
        np.testing.assert_allclose(p.array, w, rtol=CLOSE[dtype], atol=CLOSE[dtype])
    assert [float(c.array) for c in counts] == [STEPS] * len(SHAPES)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("options", RMSPROP, ids=str)
def test_rmsprop_follows_torch(torch: Any, options: dict[str, Any], dtype: str) -> None:
    arrays, grads = start(dtype)
    want = oracle(torch, "RMSprop", arrays, grads, rate, options)
    params = make(arrays)
    given = {k: v for k, v in options.items() if k != "centered"}
    squares, buffers, means = (zeros(params) for _ in range(3))
    counts = make([np.zeros((), "float32") for _ in params])
    with ambient(grad=False):
        for i, gs in enumerate(grads):
            rmsprop_step(
                params, make(gs), squares, counts, buffers if "momentum" in options else [],
                means if "centered" in options else [], lr=rate(i), **given,
            )  # fmt: skip
    for p, w in zip(params, want, strict=True):
        np.testing.assert_allclose(p.array, w, rtol=2 * CLOSE[dtype], atol=2 * CLOSE[dtype])
    assert [float(c.array) for c in counts] == [STEPS] * len(SHAPES)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("options", ADAGRAD, ids=str)
def test_adagrad_follows_torch(torch: Any, options: dict[str, Any], dtype: str) -> None:
    arrays, grads = start(dtype)
    want = oracle(torch, "Adagrad", arrays, grads, rate, options)
    params = make(arrays)
    sums = zeros(params)
    counts = make([np.zeros((), "float32") for _ in params])
    with ambient(grad=False):
        for i, gs in enumerate(grads):
            adagrad_step(params, make(gs), sums, counts, lr=rate(i), **options)
    for p, w in zip(params, want, strict=True):
        np.testing.assert_allclose(p.array, w, rtol=CLOSE[dtype], atol=CLOSE[dtype])
    assert [float(c.array) for c in counts] == [STEPS] * len(SHAPES)


MORE: list[tuple[str, dict[str, Any]]] = [
    ("NAdam", {}),
    ("NAdam", {"betas": (0.4, 0.9), "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {}),
    ("RAdam", {"betas": (0.4, 0.6), "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {"betas": (0.9, 0.9), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adamax", {}),
    ("Adamax", {"betas": (0.4, 0.6), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.5, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"etas": (0.3, 1.5), "step_sizes": (1e-2, 0.2), "maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lambd": 0.1, "alpha": 0.5, "t0": 10, "weight_decay": 0.1, "maximize": True}),
]
#: each one's state: 1 is one per weight, 0 one number per parameter; with its start, None for the rate
STATES: dict[str, list[tuple[int, float | None]]] = {
    "NAdam": [(1, 0), (1, 0), (0, 1)],
    "RAdam": [(1, 0), (1, 0)],
    "Adamax": [(1, 0), (1, 0)],
    "Adadelta": [(1, 0), (1, 0)],
    "Rprop": [(1, 0), (1, None)],
    "ASGD": [(1, 0), (0, 1), (0, None)],
}


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize(("name", "options"), MORE, ids=str)
def test_the_others_follow_torch(torch: Any, name: str, options: dict[str, Any], dtype: str) -> None:
    arrays, grads = start(dtype)
    want = oracle(torch, name, arrays, grads, rate, options)
    params = make(arrays)
    given = dict(options)
    for pair, names in {
        "betas": ("beta1", "beta2"),
        "etas": ("etaminus", "etaplus"),
        "step_sizes": ("step_size_min", "step_size_max"),
    }.items():
        given.update(zip(names, given.pop(pair, ()), strict=False))
    if "decoupled_weight_decay" in given:
        given["decoupled"] = given.pop("decoupled_weight_decay")
    first = rate(0)
    states = [
        make([
            np.full_like(a, (1 + 1j if a.dtype.kind == "c" else 1) * (first if begin is None else begin))
            if like else np.array(first if begin is None else begin, "float32")
            for a in arrays
        ])
        for like, begin in STATES[name]
    ]  # fmt: skip
    counts = make([np.zeros((), "float32") for _ in params])
    op = REGISTRY[f"{name.lower()}_step"]
    with ambient(grad=False):
        for i, gs in enumerate(grads):
            rates = {} if name == "Rprop" else {"lr": rate(i)}
            op.call(params, make(gs), *states, counts, **rates, **given)
    for p, w in zip(params, want, strict=True):
        np.testing.assert_allclose(p.array, w, rtol=2 * CLOSE[dtype], atol=2 * CLOSE[dtype])
    assert [float(c.array) for c in counts] == [STEPS] * len(SHAPES)


def test_halves_are_written_in_place() -> None:
    p = NUMPY.from_array(np.ones(3), dtypes.bfloat16)
    g = NUMPY.from_array(np.ones(3), dtypes.bfloat16)
    with ambient(grad=False):
        assert sgd_step([p], [g], lr=0.5) == ()
    assert p.array.astype("float32").tolist() == [0.5, 0.5, 0.5]
    assert p._vc.n == 1


def test_leaves_are_written_without_gradient_mode_only() -> None:
    (p,), (g,) = make([np.ones(2)]), make([np.ones(2)])
    p._requires_grad = True
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        sgd_step([p], [g], lr=1.0)
    assert p.array.tolist() == [1.0, 1.0]
    with ambient(grad=False):
        sgd_step([p], [g], lr=1.0)
    assert p.array.tolist() == [0.0, 0.0]
    assert p.requires_grad
    assert p.is_leaf


def test_mirror_counts_versions() -> None:
    meta = MetaBackend()
    t = [meta.from_array(np.zeros(2, "float32")) for _ in range(4)]
    step = meta.from_array(np.zeros((), "float32"))
    with ambient(grad=False):
        adam_step([t[0]], [t[1]], [t[2]], [t[3]], [step], lr=0.1)
    assert [x._vc.n for x in (*t, step)] == [1, 0, 1, 1, 1]


def test_misfits_are_refused() -> None:
    p, short = make([np.ones(2), np.ones(3)])
    step = NUMPY.from_array(np.zeros(1, "float32"))
    whole = NUMPY.from_array(np.ones(2, "int64"))
    with ambient(grad=False):
        with pytest.raises(RuntimeError, match="grads has 0 tensors for 1 params"):
            sgd_step([p], [], lr=1.0)
        with pytest.raises(RuntimeError, match=r"grads\[0\] has shape \[3\]"):
            sgd_step([p], [short], lr=1.0)
        with pytest.raises(RuntimeError, match="floating point and complex"):
            sgd_step([whole], [whole], lr=1.0)
        with pytest.raises(RuntimeError, match="0-dim float32"):
            adam_step([p], [p], [p], [p], [step], lr=1.0)
        with pytest.raises(RuntimeError, match="amsgrad alone"):
            adam_step([p], [p], [p], [p], [step], [p], lr=1.0)
        with pytest.raises(RuntimeError, match="0-dim float32"):
            rmsprop_step([p], [p], [p], [], lr=1.0)
        with pytest.raises(RuntimeError, match=r"grad_avgs\[0\] has shape \[3\]"):
            rmsprop_step([p], [p], [p], [step], [p], [short], lr=1.0)
        with pytest.raises(RuntimeError, match="0-dim float32"):
            adagrad_step([p], [p], [p], [step], lr=1.0)
        count = NUMPY.from_array(np.zeros((), "float32"))
        with pytest.raises(
            RuntimeError, match=r"nadam_step\(\): mu_products must be one 0-dim floating-point"
        ):
            nadam_step([p], [p], [p], [p], [step], [count], lr=1.0)
        with pytest.raises(RuntimeError, match=r"asgd_step\(\): etas must be one 0-dim floating-point"):
            asgd_step([p], [p], [p], [count], [], [count], lr=1.0)
    assert p._vc.n == 0


def test_large_parameters_are_updated_in_pieces_to_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((300, 200)).astype("float32") for _ in range(4)]
    results = []
    for order in ("C", "F"):  # row-major memory is worked on in pieces, the other is not
        p, g, mean, square = (np.array(v, order=order) for v in values)  # type: ignore[call-overload]
        square = np.abs(square)
        step = np.array(3.0, "float32")
        optim._adam(np, [p], [g], [mean], [square], [step], [], 0.1, 0.9, 0.99, 1e-8, 0.1, False, False, True)
        optim._sgd(np, [p], [g], [mean], 0.1, 0.9, 0.0, 0.1, True, False, False)
        results.append([np.ascontiguousarray(a) for a in (p, mean, square)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


class _Other:
    """NumPy under another name, as a GPU's namespace is."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


@pytest.mark.parametrize("xp", [np, _Other()], ids=["cpu", "gpu"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_skipped_step_writes_nothing(xp: Any, dtype: str) -> None:
    step = REGISTRY["adam_step"].kernel.impl
    assert step is not None
    options = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1, "amsgrad": False}
    options |= {"maximize": False, "decoupled": False}
    grads = [np.array([1.0, np.inf], dtype), np.array([2.0], dtype)]
    lists = [[np.ones(2, dtype), np.ones(1, dtype)] for _ in range(3)]
    counts = [np.array(3.0, "float32") for _ in grads]
    with np.errstate(all="ignore"):
        assert step(xp, lists[0], grads, *lists[1:], counts, [], np.array(1.0, "float32"), **options) == []
    assert [a.tolist() for each in lists for a in each] == [[1.0, 1.0], [1.0]] * 3
    assert counts == [3.0, 3.0]
    grads[0][1] = 1.0
    step(xp, lists[0], grads, *lists[1:], counts, [], np.array(0.0, "float32"), **options)
    assert counts == [4.0, 4.0]
    assert all((a != 1).all() for each in lists[:1] for a in each)


def test_scales_are_numbers() -> None:
    (g, count), streak = make([np.ones(2), np.zeros((), "float32")]), NUMPY.from_array(np.zeros((), "int32"))
    whole = NUMPY.from_array(np.ones(2, "int64"))
    unscale, adjust = REGISTRY["unscale_gradients"].call, REGISTRY["adjust_scale"].call
    how = {"growth": 2.0, "backoff": 0.5, "interval": 3}
    with ambient(grad=False):
        with pytest.raises(RuntimeError, match="sgd_step\\(\\): found_inf must be a 0-dim float32 tensor"):
            sgd_step([g], [g], [], g, lr=1.0)
        with pytest.raises(RuntimeError, match="only floating point and complex gradients are scaled"):
            unscale([whole], count)
        with pytest.raises(RuntimeError, match="scale must be a 0-dim float32 tensor"):
            unscale([g], g)
        with pytest.raises(RuntimeError, match="streak must be a 0-dim int32 tensor"):
            adjust(count, count, count, **how)
        adjust(count, streak, count, **how)
    assert (streak.array.item(), g._vc.n) == (1, 0)
