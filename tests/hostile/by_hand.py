"""Valid calls of the ops that no sample runs, and of those that act on autograd's own state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from gradd_engine.data import dtypes

from .valid import Call, Given


def _t(*shape: int) -> Given:
    count = int(np.prod(shape))
    return Given((np.arange(count).reshape(shape) / 8 + 0.5).astype(np.float32), dtypes.float32)


def _i(values: Any) -> Given:
    return Given(np.asarray(values, np.int64), dtypes.int64)


def _call(op: str, *inputs: Any, outputs: int = 1, **attrs: Any) -> Call:
    return Call(op, inputs, attrs, outputs)


#: what only an op of the engine makes; `trial.made` knows how
_LEAF, _HISTORY, _EDGE, _LEVEL, _RNG, _DUAL = (
    replace(_t(3), layout=name) for name in ("leaf", "history", "edge", "level", "rng", "dual")
)
_SCALAR = replace(_t(), layout="history")


def calls() -> Iterator[Call]:
    """All of them."""
    yield from _kernels()
    yield from _state()
    yield from _passes()
    yield from _steps()


def _kernels() -> Iterator[Call]:
    a, b = _t(2, 3), _t(2, 3)
    yield _call("pow_", a, 2.0)
    yield _call("pow_", a, b)
    yield _call("max_pool2d_pick", _t(2, 4, 4), _i([[[0, 3], [5, 15]], [[1, 2], [4, 8]]]))
    kept = {"dims": [1], "eps": 1e-5}
    yield _call("standardized", a, _t(2, 1), _t(2, 1), **kept)
    yield _call("standardize_backward", a, b, _t(2, 1), _t(2, 1), **kept)
    for weight in (None, _t(3)):
        yield _call(
            "native_layer_norm_backward", a, b, _t(2, 1), _t(2, 1), weight, wanted=[True, True, True],
            normalized_shape=[3], eps=1e-5, outputs=3,
        )  # fmt: skip
        how = {"normalized_shape": [3], "eps": 1e-5}
        yield _call("native_rms_norm", a, weight, **how, outputs=2)
        yield _call("native_rms_norm_backward", a, b, _t(2, 1), weight, wanted=[True, True], **how, outputs=2)
    for groups, size in ((0, (1, 4, 1)), (2, (3, 2, 1))):
        yield _call(
            "channel_norm_backward", _t(3, 4, 20), _t(3, 4, 20), _t(*size), _t(*size), _t(4),
            wanted=[True, True, True], groups=groups, eps=1e-5, outputs=3,
        )  # fmt: skip
    heads = _t(1, 2, 3, 4)
    for mask in (None, _t(3, 3)):
        yield _call("attend", heads, heads, heads, mask, causal=False, scale=0.5)
        yield _call("attend_backward", heads, heads, heads, heads, mask, causal=False, scale=0.5, outputs=3)
    whole = {"back": False, "wanted": [True, True, True, True], "batch_sizes": None}
    yield _call(
        "recurrent_layer_backward", _t(4, 2, 3), _t(2, 3), None, _t(2, 3), [_t(2, 3), _t(2, 3)], _t(12, 3),
        _t(4, 2, 15), kind="lstm", **whole, outputs=5,
    )  # fmt: skip
    yield _call(
        "recurrent_layer_backward", _t(3, 3), None, _t(3, 15), None, [_t(2, 3)], _t(9, 3), _t(3, 15),
        kind="gru", **{**whole, "back": True, "batch_sizes": [2, 1]}, outputs=4,
    )  # fmt: skip
    yield _call("pick", a, _i([0, 2]), dim=1, keepdim=False)
    yield _call("pick", a, _i([[0], [2]]), dim=1, keepdim=True)
    for name in ("max", "min"):
        yield _call(name, a, None, dim=None, keepdim=False)
        yield _call(name, a, b, dim=None, keepdim=False)
        yield _call(name, a, None, dim=1, keepdim=True, outputs=2)
    for name in ("median", "nanmedian"):
        yield _call(name, a, dim=None, keepdim=False)
        yield _call(name, a, dim=1, keepdim=True, outputs=2)
    yield _call("index_put_", a, [_i([0, 1])], _t(3), accumulate=False)
    yield _call("index_put_", a, [_i([0, 1]), _i([2, 2])], _t(2), accumulate=True)
    for name, numbers in (
        ("normal", {"mean": 0.0, "std": 1.0}), ("uniform", {"low": 0.0, "high": 1.0}),
        ("exponential", {"lambd": 1.0}), ("cauchy", {"median": 0.0, "sigma": 1.0}),
        ("log_normal", {"mean": 1.0, "std": 2.0}), ("geometric", {"p": 0.5}),
        ("random_integers", {"low": 0, "high": 9}),
    ):  # fmt: skip
        for form in (name, f"{name}_"):
            yield _call(form, a, **numbers)
    yield _call("resize_", a, size=[3, 4])
    yield _call("getitem", a, [], index=[1])
    yield _call("setitem", a, [], 2.0, index=[0])
    yield _call("setitem", a, [], _t(3), index=[0])
    yield _call("unsqueeze_", a, dim=0)
    yield _call("squeeze_", _t(1, 3), dim=None)
    yield _call("t_", a)
    yield _call("transpose_", a, dim0=0, dim1=1)
    yield _call("as_strided_", a, size=[2, 2], stride=[2, 1], storage_offset=1)


def _state() -> Iterator[Call]:
    a = _t(3)
    yield _call("set_grad", _LEAF, _t(3), outputs=0)
    yield _call("get_grad", _LEAF)
    yield _call("zero_grad", [_LEAF, a], set_to_none=False, outputs=0)
    yield _call("undefined_grad", a)
    yield _call("set_grad_dtype", _LEAF, dtype=dtypes.float64, outputs=0)
    yield _call("set_requires_grad", a, requires_grad=True, outputs=0)
    yield _call("retain_grad", _HISTORY, outputs=0)
    yield _call("increment_version", [a, _LEAF], outputs=0)
    for name in ("share", "data", "detach"):
        yield _call(name, _HISTORY)
    yield _call("untracked_alias", _HISTORY, requires_grad=True)
    yield _call("set_data", a, _t(3), outputs=0)
    yield _call("detach_", _HISTORY)
    yield _call("set_history", [a], [_LEAF], name="Mine", numbers=[0], width=1, dirty=[], kept=[], outputs=0)
    yield _call("edge", _HISTORY)
    yield _call("with_history", a, _EDGE)
    yield _call("edge_behind", _EDGE, path=[], output_nr=None)
    yield _call("edge_behind", _EDGE, path=[0], output_nr=0)
    yield _call("saved", _EDGE, name="self", index=None)
    yield _call("call_node", _EDGE, [_t(3)], [])
    yield _call("enter_dual_level", depth=0)
    yield _call("exit_dual_level", _LEVEL, outputs=0)
    yield _call("make_dual", a, _t(3), _LEVEL)
    yield _call("hold_tangent", a, _t(3), _LEVEL, outputs=0)
    yield _call("dual_primal_view", _DUAL)
    yield _call("dual_primal", a, _LEVEL)
    yield _call("dual_tangent", a, _LEVEL)
    yield _call("delayed_error", [_LEAF], message="late")
    yield _call("saved_at", _HISTORY, at=0)
    yield _call("drop_saved", _HISTORY, at=0, outputs=0)
    yield _call("manual_seed", seed=5, outputs=0)
    yield _call("renew", _HISTORY, outputs=0)
    yield _call("stored_rng", a)
    yield _call("restore_rng", _RNG, outputs=0)


def _passes() -> Iterator[Call]:
    how: dict[str, Any] = {"retain_graph": None, "create_graph": False}
    yield _call("backward", [_SCALAR], None, None, **how, outputs=0)
    yield _call("backward", [_HISTORY], [_t(3)], None, **how, outputs=0)
    more = {"allow_unused": True, "materialize_grads": False}
    yield _call("grad", [_HISTORY], [_LEAF], [_t(3)], **how, **more, is_grads_batched=False)
    yield _call("begin_backward", [_HISTORY], [_t(3)], None, **how, check_nan=False)
    yield _call("begin_grad", [_HISTORY], [_LEAF], [_t(3)], **how, **more, check_nan=False)
    yield _call("resume_pass", _EDGE, None, nodes=0, at="", node="")


def _steps() -> Iterator[Call]:
    p, step = [_t(2, 3), _t(4)], [_t(), _t()]
    alike = [_t(2, 3), _t(4)]
    sgd = {
        "lr": 0.1, "momentum": 0.9, "dampening": 0.0, "weight_decay": 0.1, "nesterov": False,
        "maximize": False, "first": False,
    }  # fmt: skip
    yield _call("sgd_step", p, alike, [], None, **{**sgd, "momentum": 0.0}, outputs=0)
    yield _call("sgd_step", p, alike, alike, None, **sgd, outputs=0)
    yield _call("sgd_step", p, alike, alike, _t(), **sgd, outputs=0)
    adam: dict[str, Any] = {
        "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1, "amsgrad": False,
        "maximize": False, "decoupled": True,
    }  # fmt: skip
    yield _call("adam_step", p, alike, alike, alike, step, [], None, **adam, outputs=0)
    yield _call(
        "adam_step", p, alike, alike, alike, step, alike, None, **{**adam, "amsgrad": True}, outputs=0
    )
    rms = {
        "lr": 0.1, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.9, "maximize": False
    }  # fmt: skip
    yield _call("rmsprop_step", p, alike, alike, step, alike, alike, None, **rms, outputs=0)
    yield _call("rmsprop_step", p, alike, alike, step, [], [], None, **{**rms, "momentum": 0.0}, outputs=0)
    ada = {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-10, "maximize": False}
    yield _call("adagrad_step", p, alike, alike, step, None, **ada, outputs=0)
    moments: dict[str, Any] = {
        "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1, "maximize": False
    }  # fmt: skip
    nadam = {**moments, "momentum_decay": 4e-3, "decoupled": True}
    yield _call("nadam_step", p, alike, alike, alike, step, step, None, **nadam, outputs=0)
    yield _call("radam_step", p, alike, alike, alike, step, None, **moments, decoupled=False, outputs=0)
    yield _call("adamax_step", p, alike, alike, alike, step, None, **moments, outputs=0)
    delta = {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.1, "maximize": False}
    yield _call("adadelta_step", p, alike, alike, alike, step, None, **delta, outputs=0)
    sizes = {"step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2, "maximize": False}
    yield _call("rprop_step", p, alike, alike, alike, step, None, **sizes, outputs=0)
    asgd = {"lr": 0.1, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0.1, "maximize": False}
    yield _call("asgd_step", p, alike, alike, step, step, step, None, **asgd, outputs=0)
    yield _call("unscale_gradients", alike, _t())
    yield _call(
        "adjust_scale", _t(), Given(np.ones((), np.int32), dtypes.int32), _t(), growth=2.0, backoff=0.5,
        interval=3, outputs=0,
    )  # fmt: skip
