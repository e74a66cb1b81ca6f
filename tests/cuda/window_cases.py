"""Calls of convolutions and of means over windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cuda.cases import Case, Make


def _numbers(rng: np.random.Generator, t: Any, shape: tuple[int, ...]) -> Any:
    return rng.normal(0, 1, shape).astype(t)


def _places(size: tuple[int, ...], kernel: tuple[int, ...], how: dict[str, list[int]]) -> tuple[int, ...]:
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, how["stride"], how["padding"], how["dilation"], strict=True)
    )


def _convolutions(
    shape: tuple[int, ...],
    outs: int,
    kernel: tuple[int, ...],
    name: str,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    bias: bool = True,
) -> list[Case]:
    """One convolution in its three forms; the strides of later axes are larger by one if they are not 1."""
    dims, (n, c, *size) = len(kernel), shape
    how = {
        "stride": [stride + (i if stride > 1 else 0) for i in range(dims)],
        "padding": [min(padding, k // 2 + padding // 2) for k in kernel],
        "dilation": [dilation] * dims,
    }
    result = (n, outs, *_places(tuple(size), kernel, how))
    weight = (outs, c // groups, *kernel)

    def forward(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        more = _numbers(rng, t, (outs,)) if bias else None
        # not row-major
        x = np.moveaxis(_numbers(rng, t, (n, *size, c)), -1, 1)
        return [x, _numbers(rng, t, weight), more], {**how, "groups": groups}

    def transposed(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        more = _numbers(rng, t, (c,)) if bias else None
        given = [_numbers(rng, t, result), _numbers(rng, t, weight), more]
        return given, {**how, "size": size, "groups": groups}

    def for_weight(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        given = [_numbers(rng, t, result), _numbers(rng, t, shape)]
        return given, {**how, "kernel": list(kernel), "groups": groups}

    return [
        Case("convolution", forward, name, 256),
        Case("convolution_transpose", transposed, name, 256),
        Case("convolution_weight", for_weight, name, 1024),
    ]


def _means(shape: tuple[int, ...], back: bool, ceil: bool = False, **how: Any) -> Make:
    usual = {"padding": [0] * len(how["kernel_size"]), "count_include_pad": True, "divisor_override": None}
    given = {**usual, "stride": how["kernel_size"], "ceil_mode": ceil, **how}

    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        if not back:
            return [_numbers(rng, t, shape)], given
        dims = len(how["kernel_size"])
        places = []
        for n, k, s, p in zip(
            shape[-dims:], given["kernel_size"], given["stride"], given["padding"], strict=True
        ):
            many = (n + 2 * p - k + (s - 1 if ceil else 0)) // s + 1
            places.append(many - 1 if ceil and (many - 1) * s >= n + p else many)
        return [_numbers(rng, t, (*shape[:-dims], *places))], {"size": list(shape[-dims:]), **given}

    return make


def _parts(shape: tuple[int, ...], outs: list[int], back: bool) -> Make:
    def make(rng: np.random.Generator, t: Any) -> tuple[list[Any], dict[str, Any]]:
        dims = len(outs)
        if back:
            return [_numbers(rng, t, (*shape[:-dims], *outs))], {"size": list(shape[-dims:])}
        return [_numbers(rng, t, shape)], {"output_size": outs}

    return make


_POOLS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("usual", (2, 3, 8, 9), {"kernel_size": [2, 2]}),
    ("overlapping", (2, 3, 7, 9), {"kernel_size": [3, 2], "stride": [1, 1]}),
    ("apart", (3, 7, 9), {"kernel_size": [1, 2], "stride": [3, 4]}),
    ("padded", (2, 3, 7, 8), {"kernel_size": [3, 4], "stride": [2, 3], "padding": [1, 2]}),
    (
        "inside",
        (2, 3, 7, 8),
        {
            "kernel_size": [3, 4], "stride": [2, 3], "padding": [1, 2], "ceil": True,
            "count_include_pad": False,
        },
    ),
    ("ceil", (1, 9, 10), {"kernel_size": [2, 4], "stride": [2, 3], "padding": [1, 1], "ceil": True}),
    ("divisor", (2, 6, 6), {"kernel_size": [3, 3], "padding": [1, 1], "divisor_override": 7}),
    ("volume", (2, 5, 6, 7), {"kernel_size": [2, 3, 2], "padding": [1, 1, 0], "ceil": True}),
]  # fmt: skip
_ADAPTIVE: list[tuple[tuple[int, ...], list[int]]] = [
    ((2, 3, 7, 9), [3, 4]),
    ((3, 5, 4), [7, 4]),
    ((2, 5, 6, 7), [3, 8, 2]),
]

CASES = [
    *_convolutions((3, 3, 7, 9), 5, (3, 2), "usual", padding=1),
    *_convolutions((2, 2, 13), 6, (4,), "line", stride=2, padding=1, bias=False),
    *_convolutions((2, 4, 5, 6, 4), 6, (2, 3, 2), "volume", stride=2, padding=1, groups=2),
    *_convolutions((2, 6, 11, 12), 4, (3, 3), "wide", stride=2, padding=2, dilation=2, groups=2),
    *_convolutions((1, 4, 14, 9), 4, (2, 3), "jumps", stride=4, dilation=2),
    *_convolutions((2, 5, 9, 8), 5, (3, 3), "depthwise", padding=1, groups=5),
    *_convolutions((2, 3, 9, 8), 6, (4, 3), "twice", stride=2, padding=1, groups=3),
    *_convolutions((2, 70, 6, 5), 70, (1, 1), "points"),
    *_convolutions((2, 70, 7, 5), 66, (3, 3), "channels", padding=1, bias=False),
    *_convolutions((1, 128, 5, 4), 20, (3, 3), "parts", padding=1),
    *_convolutions((3, 4, 26, 25), 5, (2, 2), "places"),
    *_convolutions((3, 2, 26, 25), 2, (5, 3), "narrow places", padding=2, groups=2),
    *(Case(f"avg_pool{2 + (n == 'volume')}d_windows", _means(s, False, **h), n) for n, s, h in _POOLS),
    *(Case(f"avg_pool{2 + (n == 'volume')}d_backward", _means(s, True, **h), n) for n, s, h in _POOLS),
    *(
        Case(f"adaptive_avg_pool{len(o)}d_{form}", _parts(s, o, form == "backward"), f"{s}-{o}")
        for s, o in _ADAPTIVE
        for form in ("windows", "backward")
    ),
]
