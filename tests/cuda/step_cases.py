"""Calls of optimizer steps: many parameters of many sizes, some of 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from tests.cuda.cases import Case, Make

_SIZES: tuple[tuple[int, ...], ...] = ((3,), (), (33, 5), (0, 4), (70, 65), (1,), (4097,))


def _step(
    kept: str, found: float | None = None, many: int = 1, halves: bool = False, turned: bool = False,
    **options: Any,
) -> Make:  # fmt: skip
    """`kept` has a letter for each list after the gradients: s for state, n for counts, - for none."""

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        shapes = [s if many == 1 else (5,) for s in _SIZES * many]
        kinds = [(t, np.float16, bfloat16)[i % 3] if halves else t for i in range(len(shapes))]

        def some(scale: float, kinds: list[Any] = kinds) -> list[Any]:
            made = [np.asarray(rng.random(s) * scale).astype(k) for s, k in zip(shapes, kinds, strict=True)]
            return [np.array(a.T, order="F").T if turned else a for a in made]

        params, slopes = some(2), some(1, [np.float32 if np.dtype(k).itemsize == 2 else k for k in kinds])
        slopes = [np.asarray(g - 0.5, g.dtype) for g in slopes]
        lists: list[Any] = [params, slopes]
        for letter in kept:
            counts = [np.asarray(np.float32(i)) for i in range(len(shapes))]
            lists.append([] if letter == "-" else counts if letter == "n" else some(0.3))
        return [*lists, None if found is None else np.asarray(np.float32(found))], options

    return make


_SGD = {
    "lr": 0.1,
    "momentum": 0.0,
    "dampening": 0.0,
    "weight_decay": 0.0,
    "nesterov": False,
    "maximize": False,
}
_HELD = {**_SGD, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01, "first": False}
_ADAM = {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0, "amsgrad": False,
         "maximize": False, "decoupled": False}  # fmt: skip
_RMS = {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.0, "maximize": False}
_MORE: dict[str, Any] = {"weight_decay": 0.05, "maximize": True}

CASES = [
    Case("sgd_step", _step("-", **_SGD, first=False)),
    Case("sgd_step", _step("s", **_HELD), "held"),
    Case("sgd_step", _step("s", **{**_HELD, "first": True, "nesterov": True, "dampening": 0.0}), "first"),
    Case("sgd_step", _step("-", 1.0, **_SGD, first=False), "skipped"),
    Case("sgd_step", _step("s", halves=True, **_HELD), "halves"),
    Case("adam_step", _step("ssn-", **_ADAM), "", 256),
    Case("adam_step", _step("ssns", **{**_ADAM, **_MORE, "amsgrad": True}), "amsgrad", 256),
    Case("adam_step", _step("ssn-", 0.0, **{**_ADAM, **_MORE, "decoupled": True}), "decoupled", 256),
    Case("adam_step", _step("ssn-", 2.0, **_ADAM), "skipped"),
    Case("adam_step", _step("ssn-", many=9, **{**_ADAM, "beta1": 0.4}), "many", 256),
    Case("adam_step", _step("ssn-", halves=True, **_ADAM), "halves", 256),
    Case("rmsprop_step", _step("sn--", **_RMS), "", 64),
    Case("rmsprop_step", _step("snss", **{**_RMS, **_MORE, "momentum": 0.9, "alpha": 0.3}), "centered", 4096),
    Case("rmsprop_step", _step("sns-", 1.0, **{**_RMS, "momentum": 0.9}), "skipped"),
    Case("rmsprop_step", _step("sns-", halves=True, **{**_RMS, "momentum": 0.9}), "halves", 64),
]
