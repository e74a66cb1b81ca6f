"""Kernel compilation: the only module that may import numba, and only when the library is loaded.

A kernel is compiled for float32 and float64 when its module is imported, never during a request. Machine code
is cached beside this package, in the user's cache directory, or in NUMBA_CACHE_DIR, under a name derived from
the kernels' source, so that an edit never meets old code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

from ..progress import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., Any]")

FLOATS = (types.float32, types.float64)
#: a product and a sum may be rounded once (fused multiply-add)
CONTRACT = frozenset({"contract"})
#: sums may be reordered too, for kernels that add along rows
REORDER = frozenset({"contract", "reassoc"})
_INLINED: Any = {"fastmath": set(CONTRACT), "error_model": "numpy", "nogil": True, "forceinline": True}
_HERE = Path(__file__).parent

# Argument types of kernels, besides arrays of the float type.
#: a scalar of the float type
REAL = object()
BOOL = types.boolean
DOUBLE = types.float64
INT64 = types.int64
UINT32 = types.uint32
#: row-major 1-D arrays
INDICES = types.Array(types.int64, 1, "C")
#: a row-major matrix of integers
TABLE = types.Array(types.int64, 2, "C")
BYTES = types.Array(types.uint8, 1, "C")
DOUBLES = types.Array(types.float64, 1, "C")
SINGLES = types.Array(types.float32, 1, "C")


def _fingerprint() -> str:
    texts = (p.read_bytes() for p in sorted(_HERE.glob("*.py")))
    compiled = [t for t in texts if b"from .native import" in t]
    shared = [Path(__file__).read_bytes(), (_HERE / "gauss.py").read_bytes()]
    return hashlib.sha256(b"".join(compiled + shared)).hexdigest()[:12]


def compiler() -> str:
    """What compiles the kernels, from which code and for which CPU: what Numba's own cache goes by."""
    _, cpu, _ = cpu_target.target_context.codegen().magic_tuple()
    return f"numba-{numba.__version__}-{cpu}-{_fingerprint()}"


def _cache_dir() -> Path | None:
    """The directory for machine code; None if nothing is writable."""
    bases = [Path(numba.config.CACHE_DIR)] if numba.config.CACHE_DIR else [_HERE / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # there may be no home directory
        bases.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradd")
    for base in bases:
        place = base / f"kernels-{_fingerprint()}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            probe = place / ".probe"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        return place
    return None


_CACHE = _cache_dir()
#: how many kernels there are by now
_count = 0
#: while the library is loaded; code that is cached takes milliseconds a kernel
LOADING = Line(after=2.0)


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    # numba reads this setting when a function is declared; restore it for other users of numba
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE or "")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _type(s: Any, real: Any) -> Any:
    if s is REAL:
        return real
    return types.Array(real, s, "C") if isinstance(s, int) else s


def compiled(*signature: Any, fastmath: frozenset[str] = CONTRACT, nogil: bool = True) -> Callable[[F], F]:
    """Compile a function now, for float32 and float64.

    `signature` has one entry per argument: the number of dimensions of a row-major array of the float type,
    REAL, or a type from above. Without `nogil` it keeps the interpreter's lock: for what is over so soon that
    taking it again would cost more.
    """

    def make(fn: F) -> F:
        with _own_cache():
            made = numba.njit(
                list(dict.fromkeys(tuple(_type(s, real) for s in signature) for real in FLOATS)),
                cache=_CACHE is not None,
                nogil=nogil,
                fastmath=set(fastmath),
                error_model="numpy",
            )(fn)
        global _count
        _count += 1
        LOADING.tick(
            lambda seconds: f"compiling kernels, once for this machine: {_count} are done, {seconds:.0f} s"
        )
        return made  # type: ignore[no-any-return]

    return make


def inlined(fn: F) -> F:
    """A function for kernels to call; LLVM inlines it."""
    return numba.njit(**_INLINED)(fn)  # type: ignore[no-any-return]


@intrinsic  # type: ignore[untyped-decorator]
def wide(_: Any) -> Any:
    """In a kernel that computes more than it reads: use vectors of 512 bits, where LLVM would keep to 256
    because the first processors that had them slowed down. Those that know bfloat16 do not."""

    def mark(context: Any, builder: Any, _: Any, __: Any) -> Any:
        if "+avx512bf16" in context.codegen().magic_tuple()[2]:
            # llvmlite knows only some attributes by name; the set is written as it is
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), mark


def polynomial(real: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule, unrolled: LLVM does not unroll a loop over many coefficients."""
    names = {f"c{i}": real(c) for i, c in enumerate(coefficients)}
    text = "c0"
    for name in list(names)[1:]:
        text = f"({text}) * x + {name}"
    exec(f"def horner(x):\n    return {text}\n", names)
    return inlined(names["horner"])


def by_type(single: Any, double: Any) -> Any:
    """One function that calls `single` or `double`, inlined, by the dtype of its first argument."""

    def choose(*_: Any) -> Any:
        raise TypeError("for kernels alone")

    def overloaded(x: Any, *_: Any) -> Any:
        real = getattr(x, "dtype", x)
        return single.py_func if real == types.float32 else double.py_func if real == types.float64 else None

    overload(choose, jit_options=_INLINED, strict=False)(overloaded)
    return choose


#: a ufunc's inner loop has at most so many arguments here
OPERANDS = 3


@intrinsic  # type: ignore[untyped-decorator]
def call_inner_loop(typing: Any, row: Any) -> Any:
    """Call the inner loop that eight-byte numbers from address `row` on describe: its address, its data, the
    count, then strides and addresses of OPERANDS arguments.

    The loop gets copies of them, since it may change what it is given.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, size = ir.IntType(64), ir.IntType(64).as_pointer()
        text = ir.IntType(8).as_pointer()
        at = builder.inttoptr(args[0], size)
        places = cgutils.alloca_once(builder, ir.ArrayType(word, OPERANDS))
        steps = cgutils.alloca_once(builder, ir.ArrayType(word, OPERANDS))
        counts = cgutils.alloca_once(builder, word)

        def entry(k: int) -> Any:
            return builder.load(builder.gep(at, [ir.Constant(word, k)]))

        def part(of: Any, k: int) -> Any:
            return builder.gep(of, [ir.Constant(word, 0), ir.Constant(word, k)])

        builder.store(entry(2), counts)
        for k in range(OPERANDS):
            builder.store(entry(3 + k), part(steps, k))
            builder.store(entry(3 + OPERANDS + k), part(places, k))
        kind = ir.FunctionType(ir.VoidType(), [text.as_pointer(), size, size, text])
        loop = builder.inttoptr(entry(0), kind.as_pointer())
        data = builder.inttoptr(entry(1), text)
        first = builder.bitcast(part(places, 0), text.as_pointer())
        builder.call(loop, [first, counts, part(steps, 0), data])
        return context.get_dummy_value()

    return types.void(types.int64), build


# -- products in registers -------------------------------------------------------------------------

_FEATURES = cpu_target.target_context.codegen().magic_tuple()[2]
#: bytes of a vector
VECTOR = 64 if "+avx512f" in _FEATURES else 32
#: rows and vectors of the results that `row_products` keeps in registers
ROWS, VECTORS = (8, 3) if VECTOR == 64 else (6, 2)
#: rows of either side of `row_correlations`, likewise
GIVEN, SEEN = (4, 6) if VECTOR == 64 else (4, 2)


def _register_loop(builder: Any, count: Any, step: int, starts: list[Any], body: Any) -> list[Any]:
    """Values after ``body(k, values)`` for each k below `count` in steps; they never leave the registers."""
    before, word = builder.block, ir.IntType(64)
    loop, after = (builder.function.append_basic_block(name) for name in ("products", "products.done"))
    none = builder.icmp_signed("<=", count, ir.Constant(word, 0))
    builder.cbranch(none, after, loop)
    builder.position_at_end(loop)
    k = builder.phi(word)
    k.add_incoming(ir.Constant(word, 0), before)
    held = [builder.phi(start.type) for start in starts]
    for phi, start in zip(held, starts, strict=True):
        phi.add_incoming(start, before)
    made = body(k, held)
    following = builder.add(k, ir.Constant(word, step))
    k.add_incoming(following, loop)
    for phi, value in zip(held, made, strict=True):
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    found = []
    for start, value in zip(starts, made, strict=True):
        phi = builder.phi(start.type)
        phi.add_incoming(start, before)
        phi.add_incoming(value, loop)
        found.append(phi)
    return found


class _Vectors:
    """Code for vectors of a real type, at addresses counted in its numbers."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        self.builder, self.real = builder, context.get_value_type(real)
        self.size = real.bitwidth // 8
        self.lanes = VECTOR // self.size
        self.vector = ir.VectorType(self.real, self.lanes)

    def _at(self, base: Any, offset: Any, kind: Any) -> Any:
        if isinstance(offset, int):
            offset = ir.Constant(ir.IntType(64), offset)
        bytes_ = self.builder.mul(offset, ir.Constant(ir.IntType(64), self.size))
        return self.builder.inttoptr(self.builder.add(base, bytes_), kind.as_pointer())

    def load(self, base: Any, offset: Any) -> Any:
        return self.builder.load(self._at(base, offset, self.vector), align=self.size)

    def store(self, value: Any, base: Any, offset: Any) -> None:
        self.builder.store(value, self._at(base, offset, self.vector), align=self.size)

    def spread(self, base: Any, offset: Any) -> Any:
        """One number in all lanes."""
        number = self.builder.load(self._at(base, offset, self.real))
        none = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(none, number, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, none, zeros)

    def put(self, number: Any, base: Any, offset: Any) -> None:
        self.builder.store(number, self._at(base, offset, self.real))

    def total(self, value: Any) -> Any:
        """The sum of all lanes: of halves, of their halves, and so on."""
        lanes, index = self.lanes, ir.IntType(32)
        while lanes > 1:
            lanes //= 2
            none = ir.Constant(value.type, ir.Undefined)
            halves = [
                ir.Constant(ir.VectorType(index, lanes), list(range(first, first + lanes)))
                for first in (0, lanes)
            ]
            value = self.builder.fadd(*(self.builder.shuffle_vector(value, none, half) for half in halves))
        return self.builder.extract_element(value, ir.Constant(index, 0))

    def multiply_add(self, a: Any, b: Any, to: Any) -> Any:
        product = self.builder.fmul(a, b, flags=("contract",))
        return self.builder.fadd(to, product, flags=("contract",))


@intrinsic  # type: ignore[untyped-decorator]
def row_products(
    typing: Any, zero: Any, a: Any, b: Any, offsets: Any, count: Any, starts: Any, out: Any, apart: Any
) -> Any:
    """ROWS rows of VECTORS vectors, written to `out`, each row `apart` from the last: each starts with its
    number at `starts`, to which ``a[k, row] * b[offsets[k] :]`` is added for each k below `count`.

    All are addresses but the count, `apart` and `zero`, which says of what type the numbers are.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, a, b, offsets, count, starts, out, apart = args
        v = _Vectors(context, builder, signature.args[0])
        word = ir.IntType(64)
        places = builder.inttoptr(offsets, word.as_pointer())

        def body(k: Any, held: list[Any]) -> list[Any]:
            at = builder.load(builder.gep(places, [k]))
            seen = [v.load(b, builder.add(at, ir.Constant(word, n * v.lanes))) for n in range(VECTORS)]
            first = builder.mul(k, ir.Constant(word, ROWS))
            made = []
            for row in range(ROWS):
                factor = v.spread(a, builder.add(first, ir.Constant(word, row)))
                made += [v.multiply_add(factor, x, held[row * VECTORS + n]) for n, x in enumerate(seen)]
            return made

        begin = [v.spread(starts, row) for row in range(ROWS) for _ in range(VECTORS)]
        for n, value in enumerate(_register_loop(builder, count, 1, begin, body)):
            row, place = divmod(n, VECTORS)
            to = builder.mul(apart, ir.Constant(word, row))
            v.store(value, out, builder.add(to, ir.Constant(word, place * v.lanes)))
        return context.get_dummy_value()

    if not isinstance(zero, types.Float):
        return None
    return types.void(zero, *(types.int64,) * 7), build


@intrinsic  # type: ignore[untyped-decorator]
def row_correlations(
    _: Any, zero: Any, a: Any, apart: Any, b: Any, offsets: Any, count: Any, out: Any
) -> Any:  # fmt: skip
    """Sums of GIVEN rows, `apart` from each other from `a` on, times SEEN rows ``b[offsets[k] :]``, over
    `count` numbers in whole vectors, written to `out` one after another.

    All are addresses but the numbers and `zero`, which says of what type the rows are.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, a, apart, b, offsets, count, out = args
        v = _Vectors(context, builder, signature.args[0])
        word = ir.IntType(64)
        places = builder.inttoptr(offsets, word.as_pointer())
        at = [builder.load(builder.gep(places, [ir.Constant(word, k)])) for k in range(SEEN)]
        rows = [builder.mul(apart, ir.Constant(word, row)) for row in range(GIVEN)]

        def body(j: Any, held: list[Any]) -> list[Any]:
            given = [v.load(a, builder.add(row, j)) for row in rows]
            made = list(held)
            for k, begin in enumerate(at):
                seen = v.load(b, builder.add(begin, j))
                for row, x in enumerate(given):
                    n = row * SEEN + k
                    made[n] = v.multiply_add(x, seen, held[n])
            return made

        nothing = ir.Constant(v.vector, [0.0] * v.lanes)
        found = _register_loop(builder, count, v.lanes, [nothing] * (GIVEN * SEEN), body)
        for n, value in enumerate(found):
            v.put(v.total(value), out, n)
        return context.get_dummy_value()

    if not isinstance(zero, types.Float):
        return None
    return types.void(zero, *(types.int64,) * 6), build
