"""The samples of the op table, and what the checks need of them: arguments as specs, made for both sides.

    SAMPLES = {"add": [S(T(2, 3), T(3)), S(T(2), 2.0, alpha=3)], "linalg.vector_norm": [...]}

A key is a public name (with its namespace where it needs one to be told apart), or the name of an op that is
not public. The samples of ``ops/<room>/<file>.py`` are in ``<room>/samples_<file>.py``, with `ERRORS`,
calls that raise, and `VALUE_ERRORS`, calls that raise only where there are values.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradd_engine.assembly  # noqa: F401 - declares what acts on autograd's state too
import numpy as np
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.data import dtypes
from gradd_engine.data.layout import Meta, contiguous_strides
from gradd_engine.declare.declarators import REGISTRY
from gradd_engine.declare.surface import functions
from gradd_engine.tensor.tensor import Tensor

META = MetaBackend()
LAYOUTS = ("contiguous", "transposed", "sliced")


@dataclass(frozen=True)
class Spec:
    """A tensor argument: random values in [low, high), or `values`; `floating` ones take the dtype tested."""

    shape: tuple[int, ...]
    low: float = -1.5
    high: float = 1.5
    dtype: str = "float64"
    grad: bool = True
    values: Any = None
    positive_definite: bool = False

    @property
    def floating(self) -> bool:
        """Whether the dtype may be changed by a dtype check."""
        return self.dtype == "float64"


def T(*shape: int, low: float = -1.5, high: float = 1.5, dtype: str = "float64", grad: bool = True) -> Spec:
    """A random tensor; `grad`: it is differentiated. Other dtypes than float64 stay what they are."""
    return Spec(shape, low, high, dtype, grad)


def V(values: Any, dtype: str = "float64", grad: bool = True) -> Spec:
    """A tensor of these values."""
    return Spec(np.shape(values), dtype=dtype, grad=grad, values=values)


def I(  # noqa: E743
    shape_or_values: Any, high: int | None = None, dtype: str = "int64", low: int = 0
) -> Spec:
    """An integer tensor: of these values, or random in [low, high) of that shape."""
    if high is None:
        return Spec(np.shape(shape_or_values), dtype=dtype, grad=False, values=shape_or_values)
    shape = (shape_or_values,) if isinstance(shape_or_values, int) else tuple(shape_or_values)
    return Spec(shape, low, high, dtype, False)


ALL_DTYPES = ("float32", "bfloat16", "float16", "int64", "bool", "complex64")


@dataclass(frozen=True)
class Sample:
    """One call and what is checked of it."""

    args: tuple[Any, ...]
    attrs: dict[str, Any]
    jvp: bool = True
    second: bool = True
    first: bool = True
    graph: bool = True
    smooth: bool = True
    own: bool = False
    layouts: bool = True
    inplace: bool = True
    values: bool = True
    complex: bool = False
    only: tuple[str, ...] = ALL_DTYPES
    tolerance: float = 1e-6
    half_tolerance: float = 2e-2
    oracle: Callable[..., Any] | None = None
    fn: Callable[..., Any] | None = None
    meta: bool = True
    is_dynamic: bool = False

    def no_grad(self) -> Sample:
        """Nothing is differentiated."""
        return replace(self, first=False, jvp=False, second=False)

    def fails(self) -> Sample:
        """The call raises: only that is compared."""
        return replace(self.no_grad(), inplace=False)

    def no_jvp(self) -> Sample:
        """No forward mode."""
        return replace(self, jvp=False)

    def no_second(self) -> Sample:
        """No second order."""
        return replace(self, second=False)

    def kink(self) -> Sample:
        """A point without a derivative: gradients are the oracle's choice, differences say nothing."""
        return replace(self, smooth=False)

    def own_gradient(self) -> Sample:
        """Differentiable here, not in the oracle."""
        return replace(self, own=True)

    def no_graph(self) -> Sample:
        """Node names are not compared with the oracle's."""
        return replace(self, graph=False)

    def no_layouts(self) -> Sample:
        """Contiguous inputs only."""
        return replace(self, layouts=False)

    def no_inplace(self) -> Sample:
        """The in-place form is not tried."""
        return replace(self, inplace=False)

    def no_values(self) -> Sample:
        """Geometry alone is compared with the oracle (random ops, uninitialised memory)."""
        return replace(self, values=False, first=False, jvp=False, second=False, inplace=False)

    def dynamic(self) -> Sample:
        """The result's shape depends on values: shapes alone do not say it."""
        return replace(self, is_dynamic=True)

    def dtypes(self, names: str = "") -> Sample:
        """Which other dtypes are tried, of float32 bfloat16 float16 int64 bool complex64; all unless said."""
        return replace(self, only=tuple(names.split()))

    def complex_too(self) -> Sample:
        """Derivatives are checked for complex128 too."""
        return replace(self, complex=True)

    def tol(self, tolerance: float, half: float = 2e-2) -> Sample:
        """Tolerances: of values and derivatives in float64, of values in 16-bit floats."""
        return replace(self, tolerance=tolerance, half_tolerance=half)

    def torch(self, spelling: Callable[..., Any]) -> Sample:
        """The oracle's spelling: ``lambda torch, *args, **attrs: ...``."""
        return replace(self, oracle=spelling)

    def calls(self, fn: Callable[..., Any]) -> Sample:
        """Another function than the one the key names."""
        return replace(self, fn=fn)

    def no_meta(self) -> Sample:
        """The call needs values."""
        return replace(self, meta=False)


def S(*args: Any, **attrs: Any) -> Sample:
    """A sample: the arguments of a call, tensors as `T`, `V`, `I`."""
    return Sample(args, attrs)


def files() -> dict[str, Any]:
    """The files of samples as modules, by the file of their ops: ``"nn/losses"``."""
    return {
        f"{path.parent.name}/{path.stem.removeprefix('samples_')}": importlib.import_module(
            f"tests.ops.{path.parent.name}.{path.stem}"
        )
        for path in sorted(Path(__file__).parent.glob("*/samples_*.py"))
    }


def collected(table: str) -> dict[str, list[Sample]]:
    """A table of all files; a key may be in one file only."""
    found: dict[str, list[Sample]] = {}
    for file in files().values():
        some = getattr(file, table, {})
        twice = set(found) & set(some)
        assert not twice, f"twice in {table}: {sorted(twice)}"
        found.update(some)
    return found


def samples() -> dict[str, list[Sample]]:
    """The samples of all files."""
    return collected("SAMPLES")


assert ops.__all__, "importing the families declares them"
PUBLIC = functions()


def place(key: str) -> tuple[str, str]:
    """The namespace and name that a key stands for: "Tensor" has methods, "-" the ops that are not public."""
    space, _, name = key.rpartition(".")
    if space or ("", name) in PUBLIC:
        return space, name
    unnamed = "-" if name in REGISTRY else "Tensor"
    return next((known for known, public in PUBLIC if public == name), unnamed), name


def lookup(key: str) -> Callable[..., Any]:
    """The function a key names."""
    space, name = place(key)
    if space == "Tensor":
        return getattr(Tensor, name)  # type: ignore[no-any-return]
    return REGISTRY[name].call if space == "-" else PUBLIC[space, name]


def oracle(torch: Any, key: str) -> Callable[..., Any]:
    """The oracle's function of that name."""
    space, _, name = key.rpartition(".")
    ours = sorted(place for place, known in PUBLIC if known == name)
    places = [space] if space else [*ours, "", "nn.functional", "linalg", "special", "Tensor"]
    for place in places:
        module = torch
        for part in place.split(".") if place else []:
            module = getattr(module, part)
        if hasattr(module, name):
            return getattr(module, name)  # type: ignore[no-any-return]
    raise LookupError(f"torch has no {key}; give the sample a .torch(...)")


# -- realisation --------------------------------------------------------------------------------------------


def specs(x: Any) -> Iterator[Spec]:
    """All specs in (nested) arguments, in order."""
    if isinstance(x, Spec):
        yield x
    elif isinstance(x, (list, tuple)):
        for e in x:
            yield from specs(e)
    elif isinstance(x, dict):
        for e in x.values():
            yield from specs(e)


def swap(x: Any, values: Iterator[Any], turn: Callable[[Any], Any] = lambda x: x) -> Any:
    """`x` with its specs replaced, in order, and everything else passed through `turn`."""
    if isinstance(x, Spec):
        return next(values)
    if isinstance(x, (list, tuple)):
        return type(x)(swap(e, values, turn) for e in x)
    if isinstance(x, dict):
        return {k: swap(v, values, turn) for k, v in x.items()}
    return turn(x)


def arrays(key: str, number: int, sample: Sample, dtype: str | None = None) -> list[Any]:
    """The values of a sample's tensors: the same in each process and for both sides."""
    rng = np.random.default_rng(zlib.crc32(f"{key}/{number}".encode()))
    return [_array(s, rng, dtype) for s in specs((sample.args, sample.attrs))]


def _array(s: Spec, rng: np.random.Generator, dtype: str | None) -> Any:
    name = dtype if dtype is not None and s.floating else s.dtype
    target = dtypes.by_name(name)
    if s.values is not None:
        a = np.array(s.values)
    elif target.category == dtypes.INT:
        a = rng.integers(int(s.low), max(int(s.high), int(s.low) + 1), s.shape)
        if dtype is not None and s.floating:
            a = np.where(a == 0, 1, a)
    elif target is dtypes.bool_:
        a = rng.random(s.shape) < 0.5
    else:
        a = rng.uniform(s.low, s.high, s.shape)
        if target.is_complex:
            a = a + 1j * rng.uniform(0.2, 0.9, s.shape)
    with np.errstate(invalid="ignore"):  # nan and inf as integers: whatever NumPy makes of them
        return np.asarray(a).astype(target.np)


def geometry(shape: Sequence[int], layout: str) -> tuple[tuple[int, ...], int, int]:
    """Strides, offset and number of stored elements of a tensor laid out so."""
    n = len(shape)
    if layout == "transposed" and n >= 2:
        order = tuple(reversed(range(n)))
        inner = contiguous_strides([shape[i] for i in order])
        return tuple(inner[n - 1 - i] for i in range(n)), 0, int(np.prod(shape))
    if layout == "sliced" and n >= 1:
        wide = [*shape[:-1], shape[-1] * 2]
        strides = contiguous_strides(wide)
        return (*strides[:-1], 2), 1, int(np.prod(wide)) + 1
    return contiguous_strides(shape), 0, int(np.prod(shape))


def _store(a: Any, layout: str) -> tuple[Any, tuple[int, ...], int]:
    strides, offset, count = geometry(a.shape, layout)
    flat = np.zeros(max(count, 1), a.dtype)
    item = a.dtype.itemsize
    np.ndarray(a.shape, a.dtype, flat, offset * item, [s * item for s in strides])[...] = a
    return flat, strides, offset


def ours(a: Any, layout: str = "contiguous", grad: bool = False, backend: Any = NUMPY) -> Tensor:
    """A tensor of these values in that layout: a leaf."""
    flat, strides, offset = _store(a, layout)
    base = backend.from_array(flat)
    t = base
    if layout != "contiguous" or tuple(a.shape) != flat.shape:
        t = backend.view(base, Meta(tuple(a.shape), base.dtype, strides, offset))
    t._requires_grad = grad and t.dtype.differentiable
    return t


def theirs(torch: Any, a: Any, layout: str = "contiguous", grad: bool = False) -> Any:
    """The same tensor for the oracle."""
    flat, strides, offset = _store(a, layout)
    dtype = getattr(torch, dtypes.from_numpy(a.dtype).name)
    store = (
        torch.from_numpy(flat.view(np.int16)).view(dtype)
        if dtype is torch.bfloat16
        else torch.from_numpy(flat)
    )
    t = store.as_strided(a.shape, strides, offset).detach()
    return t.requires_grad_() if grad and (t.is_floating_point() or t.is_complex()) else t


def to_numpy(t: Any) -> Any:
    """The values of a tensor of either side; 16-bit floats as float32."""
    if isinstance(t, Tensor):
        return t.array.astype(np.float32) if t.dtype.is_half else t.backend.to_numpy(t)
    t = t.detach()
    return (t.float() if str(t.dtype) in ("torch.bfloat16", "torch.float16") else t).numpy(force=True)


def flat(found: Any) -> list[Any]:
    """The outputs of a call, of either side, as a flat list."""
    if isinstance(found, (list, tuple)) and not hasattr(found, "numel"):
        return [o for e in found for o in flat(e)]
    return [found]
