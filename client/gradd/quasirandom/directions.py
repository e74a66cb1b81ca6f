"""The direction numbers of Sobol sequences, by S. Joe and F. Y. Kuo (criterion D(6)).

Each dimension after the first has a primitive polynomial modulo 2 and as many initial numbers as its degree
s; the others follow by a recurrence. ``directions.bin`` has these for every primitive polynomial up to degree
15, in the order of the table: as little-endian bits the s - 1 inner coefficients, and of the initial number
m_i, which is odd and below 2^i, what is above its lowest bit, for i = 2, ..., s.
Source: https://web.maths.unsw.edu.au/~fkuo/sobol/ (see NOTICE); the recurrence is that of "Notes on
generating Sobol' sequences", https://web.maths.unsw.edu.au/~fkuo/sobol/joe-kuo-notes.pdf
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

#: bits of a number
BITS = 30
#: how many primitive polynomials there are of degree 1, 2, ...
_COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800)
#: how many dimensions the table has
MOST = 1 + sum(_COUNTS)


@cache
def _bits() -> np.ndarray[Any, Any]:
    octets = np.frombuffer((Path(__file__).parent / "directions.bin").read_bytes(), np.uint8)
    return np.unpackbits(octets, bitorder="little")


def directions(count: int) -> np.ndarray[Any, Any]:
    """int64 [count, 30]: for each dimension its direction numbers v_1, v_2, ..., as multiples of 2^-30."""
    found = np.zeros((count, BITS), np.int64)
    found[0] = 1
    dimension, at = 1, 0
    for degree, several in enumerate(_COUNTS, 1):
        now = min(several, count - dimension)
        if now <= 0:
            break
        sizes = [degree - 1, *range(1, degree)]
        table = _bits()[at : at + now * sum(sizes)].reshape(now, -1).astype(np.int64)
        at += several * sum(sizes)
        ends = np.cumsum(sizes)
        parts = [
            table[:, end - size : end] @ (1 << np.arange(size, dtype=np.int64))
            for end, size in zip(ends, sizes, strict=True)
        ]
        numbers = found[dimension : dimension + now]
        numbers[:, 0] = 1
        for i, part in enumerate(parts[1:], 1):
            numbers[:, i] = 2 * part + 1
        _continue(numbers, parts[0], degree)
        dimension += now
    return found << np.arange(BITS - 1, -1, -1)


def _continue(numbers: np.ndarray[Any, Any], inner: np.ndarray[Any, Any], degree: int) -> None:
    """The numbers m_i for i > degree, of those before."""
    for i in range(degree, BITS):
        new = numbers[:, i - degree] ^ (numbers[:, i - degree] << degree)
        for k in range(1, degree):
            taken = (inner >> (degree - 1 - k)) & 1
            new ^= taken * (numbers[:, i - k] << k)
        numbers[:, i] = new
