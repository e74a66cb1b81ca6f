"""Sobol sequences (torch.quasirandom.SobolEngine).

Points are computed in the session: none of it is read. Source: I. A. Antonov and V. M. Saleev, "An economic
method of computing LP tau-sequences", 1979 (points in the order of the Gray code).
"""

from __future__ import annotations

from typing import Any

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.schema import named

from .._surface import DRAWING, Generator, namespace, tensor
from .directions import BITS, MOST, directions


class SobolEngine:
    """Draws the points of a Sobol sequence in [0, 1)^dimension (torch.quasirandom.SobolEngine), the same as
    PyTorch's without `scramble`.

    With `scramble`, numbers are turned by random matrices and shifted, drawn with `seed` or from the
    session's stream. ValueError unless `dimension` is in [1, 3667], the table's part that gradd has.
    """

    MAXBIT = BITS
    MAXDIM = MOST

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate: Any = tensor(directions(dimension))
        if scramble:
            self._scramble()
        else:
            self.shift: Any = namespace("")["zeros"]([dimension], dtype=dtypes.int64)
        self.quasi: Any = self.shift.clone()
        self.num_generated = 0

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """The next `n` points, [n, dimension], of `dtype` or the default dtype; also in `out`, if given."""
        dtype = dtypes.default_dtype() if dtype is None else dtype
        with no_grad():
            points = self._points(self.num_generated, n)
            if n:
                self.quasi = points[-1]
            result = points.to(dtypes.float64).mul(2.0**-BITS).to(dtype)
        self.num_generated += n
        if out is None:
            return result
        return out.resize_(result.shape).copy_(result)

    def _points(self, first: int, n: int) -> Any:
        """Points number `first` and on, as int64 [n, dimension]."""
        number = namespace("")["arange"](first, first + n).unsqueeze(1)
        code = named.bitwise_xor(number, named.bitwise_right_shift(number, 1))
        found = named.expand(self.shift, [n, self.dimension])
        for bit in range((first + n - 1).bit_length()):
            there = named.bitwise_and(named.bitwise_right_shift(code, bit), 1)
            found = named.bitwise_xor(found, named.mul(there, self.sobolstate[:, bit]))
        return found

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """The next 2^m points. ValueError unless there are then 2^k in all, for some k."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+"
                f"2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Pass over `n` points."""
        self.num_generated += n
        with no_grad():
            self.quasi = self._points(self.num_generated - 1, 1)[0] if self.num_generated else self.quasi
        return self

    def _scramble(self) -> None:
        """Turn the direction numbers by random lower triangular matrices, and draw a shift."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        draw, count = DRAWING["randint"], namespace("")["arange"]
        size = [self.dimension, BITS]
        with no_grad():
            weights = named.bitwise_left_shift(named.ones_like(count(BITS)), count(BITS))
            self.shift = draw(2, size, generator=generator).mul(weights).sum(1)
            down = BITS - 1 - count(BITS)
            turn = draw(2, [*size, BITS], generator=generator).tril(-1) + namespace("")["eye"](BITS)
            parts = named.bitwise_and(named.bitwise_right_shift(self.sobolstate.unsqueeze(2), down), 1)
            turned = named.matmul(parts.to(dtypes.float32), named.transpose(turn, 1, 2).to(dtypes.float32))
            bits = named.bitwise_and(turned.to(dtypes.int64), 1)
            self.sobolstate = bits.mul(named.bitwise_left_shift(named.ones_like(down), down)).sum(2)

    def __repr__(self) -> str:
        told = [f"dimension={self.dimension}"]
        told += ["scramble=True"] if self.scramble else []
        told += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(told)})"
