"""Samples of windows."""

from __future__ import annotations

from gradd_engine.data.dtypes import bfloat16, complex64, float16, float64, int64

from tests.ops.table import S

_PLAIN = [S(6), S(5, False), S(1), S(0), S(5, dtype=float64), S(5, dtype=float16), S(3, requires_grad=True)]
_SIGNAL = [S(6), S(5, sym=False), S(1), S(0), S(7, dtype=float64)]

SAMPLES = {
    "hann_window": [*_PLAIN, S(5, dtype=bfloat16)],
    "blackman_window": _PLAIN,
    "bartlett_window": _PLAIN,
    "hamming_window": [*_PLAIN, S(5, True, 0.5, 0.4)],
    "kaiser_window": [*_PLAIN, S(5, True, 4.0)],
    "signal.windows.hann": [*_SIGNAL, S(3, requires_grad=True)],
    "signal.windows.hamming": _SIGNAL,
    "signal.windows.blackman": _SIGNAL,
    "signal.windows.nuttall": _SIGNAL,
    "signal.windows.bartlett": _SIGNAL,
    "signal.windows.cosine": _SIGNAL,
    "signal.windows.general_cosine": [S(5, a=[0.4, 0.3, 0.2, 0.1]), S(1, a=[0.2]), S(4, a=(1,), sym=False)],
    "signal.windows.general_hamming": [*_SIGNAL, S(5, alpha=0.7)],
    "signal.windows.exponential": [
        *_SIGNAL,
        S(6, center=2.0, tau=1.5, sym=False),
        S(1, center=2.0, sym=False),
    ],
    "signal.windows.gaussian": [*_SIGNAL, S(6, std=0.7)],
    "signal.windows.kaiser": [*_SIGNAL, S(6, beta=3.0), S(6, beta=3.0, sym=False)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "hann_window": [S(-1)],
    "signal.windows.hann": [S(-1), S(4, dtype=int64), S(4, dtype=complex64)],
    "signal.windows.general_cosine": [S(4, a=[]), S(4, a=3)],
    "signal.windows.exponential": [S(4, tau=0.0), S(4, center=1.0)],
    "signal.windows.gaussian": [S(4, std=0.0)],
    "signal.windows.kaiser": [S(4, beta=-1.0)],
}
