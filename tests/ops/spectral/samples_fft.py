"""Samples of torch.fft."""

from __future__ import annotations

from gradd_engine.data.dtypes import float64, int64

from tests.ops.table import S, T

LOW = "float32 int64 bool complex64"
REAL = "float32 int64 bool"
#: of one dimension: points, dimension, norm
_ONE = [((), {}), ((3,), {}), ((7, 0), {}), ((), {"dim": 0, "norm": "ortho"}), ((), {"norm": "forward"})]
#: of several: sizes, dimensions, norm
_SEVERAL = [
    ((), {}),
    (([3, 5],), {}),
    (([-1, 2], [0, 2]), {"norm": "ortho"}),
    ((), {"dim": [1, 0], "norm": "forward"}),
]


def _one(dtypes: str, complex: bool) -> list:
    some = [S(T(4, 6), *args, **attrs) for args, attrs in _ONE]
    first = some[0].dtypes(dtypes)
    return [first.complex_too() if complex else first, *(s.dtypes("") for s in some[1:]), S(T(1)).dtypes("")]


def _several(dtypes: str, complex: bool) -> list:
    some = [S(T(3, 4, 5), *args, **attrs) for args, attrs in _SEVERAL]
    first = some[0].dtypes(dtypes)
    return [first.complex_too() if complex else first, *(s.dtypes("") for s in some[1:])]


def _two(dtypes: str, complex: bool) -> list:
    first = S(T(2, 3, 4)).dtypes(dtypes)
    return [first.complex_too() if complex else first, S(T(3, 4), [4, 3], [1, 0]).dtypes("")]


_SHIFTS = [S(T(5)), S(T(4, 5), 1).dtypes(""), S(T(4, 5), [0, 1]).dtypes("")]

SAMPLES = {
    **{f"fft.{name}": _one(LOW, True) for name in ("fft", "ifft")},
    **{f"fft.{name}": _one(REAL, False) for name in ("rfft", "ihfft")},
    **{f"fft.{name}": [s for s in _one(LOW, True) if s.args[0].shape != (1,)] for name in ("irfft", "hfft")},
    **{f"fft.{name}": _several(LOW, True) for name in ("fftn", "ifftn", "irfftn", "hfftn")},
    **{f"fft.{name}": _several(REAL, False) for name in ("rfftn", "ihfftn")},
    **{f"fft.{name}": _two(LOW, True) for name in ("fft2", "ifft2", "irfft2", "hfft2")},
    **{f"fft.{name}": _two(REAL, False) for name in ("rfft2", "ihfft2")},
    "fft.fftshift": _SHIFTS,
    "fft.ifftshift": _SHIFTS,
    "fft.fftfreq": [
        S(5),
        S(4, 0.5),
        S(1),
        S(0),
        S(4, dtype=float64),
        S(4, requires_grad=True),
        S(3),
    ],
    "fft.rfftfreq": [S(5), S(4, 0.5), S(1), S(4, dtype=float64)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "fft.fft": [S(T(3), 0), S(T(3), norm="x"), S(T(3), dim=2), S(T()), S(T(0))],
    "fft.rfft": [S(T(3, dtype="complex64")), S(T(3), -2)],
    "fft.irfft": [S(T(1)), S(T(3), 0)],
    "fft.fftn": [S(T(3, 4), [2], [0, 1]), S(T(3), dim=[0, 0]), S(T(3), [1, 2]), S(T(3), [0])],
    "fft.rfftn": [S(T(3, dtype="complex64")), S(T(3), dim=[])],
    "fft.ihfftn": [S(T(3, dtype="complex64"))],
    "fft.irfftn": [S(T(1)), S(T(3), dim=[])],
    "fft.fftshift": [S(T()), S(T(3), 1)],
    "fft.fftfreq": [S(4, dtype=int64)],
}
