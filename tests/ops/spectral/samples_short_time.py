"""Samples of stft and istft."""

from __future__ import annotations

from typing import Any

from tests.ops.table import S, T

_LOW = "float32 complex64"


def _stft(*args: Any, **attrs: Any) -> Any:
    return S(*args, return_complex=True, **attrs).dtypes("").no_graph()


SAMPLES = {
    "stft": [
        _stft(T(2, 20), 8, window=T(8)).dtypes(_LOW),
        _stft(T(20), 8, 3, 5, T(5), normalized=True),
        _stft(T(17), 6, 2, window=T(6, grad=False), center=False),
        _stft(T(20), 8, window=T(8, grad=False), pad_mode="constant"),
        _stft(T(20), 8, window=T(8, grad=False), pad_mode="replicate"),
        _stft(T(20), 8, window=T(8, grad=False), pad_mode="circular"),
        _stft(T(20), 8, window=T(8, grad=False), onesided=False),
        _stft(T(12, dtype="complex128"), 4, window=T(4, grad=False)),
    ],
    "istft": [
        S(T(2, 5, 6, dtype="complex128"), 8, window=T(8, low=0.5)).dtypes("").no_graph(),
        S(T(5, 6, dtype="complex128"), 8, 3, 6, T(6, low=0.5, grad=False), length=17).dtypes("").no_graph(),
        S(T(5, 6, dtype="complex128"), 8, window=T(8, low=0.5, grad=False), length=12, normalized=True)
        .dtypes("")
        .no_graph(),
        S(T(8, 6, dtype="complex128"), 8, window=T(8, low=0.5, grad=False), center=False)
        .dtypes("")
        .no_graph(),
        S(T(8, 6, dtype="complex128"), 8, window=T(8, low=0.5, grad=False), return_complex=True)
        .dtypes("")
        .no_graph(),
    ],
    "istft_envelope": [S(T(2, 3, low=0.5)).dtypes("").torch(lambda torch, x: x.clone()).no_graph()],
}

_W = T(4, grad=False)
#: calls that raise, with the oracle's class and message
ERRORS = {
    "stft": [
        S(T(9, grad=False), 4, window=_W),
        S(T(2, 3, 9), 4, window=_W, return_complex=True, center=False),
        S(T(3), 4, window=_W, return_complex=True, center=False),
        S(T(9), 4, 0, window=_W, return_complex=True),
        S(T(9), 4, 1, 5, window=_W, return_complex=True),
        S(T(9), 4, window=T(3), return_complex=True),
        S(T(9), 40, window=T(40), return_complex=True),
        S(T(9, dtype="int64"), 4, window=_W, return_complex=True, center=False),
        S(T(9, dtype="complex64"), 4, window=_W, onesided=True, center=False),
    ],
    "istft": [
        S(T(3, 3), 4, window=_W),
        S(T(3, 3, dtype="complex64"), 8, window=T(8)),
        S(T(3, 3, dtype="complex64"), 4, 5, window=_W),
        S(T(3, 3, dtype="complex64"), 4, window=T(3)),
        S(T(3, dtype="complex64"), 4, window=_W, onesided=True),
    ],
}
VALUE_ERRORS = {
    "istft": [S(T(3, 3, dtype="complex64"), 4, window=T(4, low=0.0, high=1e-12))],
}
