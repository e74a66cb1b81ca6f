"""Images and volumes read at the places of a grid: grid_sample, and the grid of an affine map.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel, warn
from ...declare import composite, kernel, public
from ...schema import named
from ..elementwise import add, div, mul, rsub, sub, where
from ..shape import to_dtype
from ..shared import checked, constant_in, np_dtype, zeros
from .places import read

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor

# -- sampling --------------------------------------------------------------------------------------


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    """Raise PyTorch's errors for what does not fit together."""
    if input.shape[:1] != grid.shape[:1]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if not grid.ndim or grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid "
            f"with sizes {list(grid.shape)}"
        )
    for i, n in enumerate(input.shape[2:], 2):
        if n == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {i} being empty"
            )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input "
            f"with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and input.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if grid.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.title} but found {grid.dtype.title}")
    if not input.dtype.is_floating_point:
        kernel = f"grid_sampler_{input.ndim - 2}d_cpu_kernel_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")


def _place(x: Any, size: int, corners: bool) -> Any:
    """The place among `size` elements of what is from -1 to 1."""
    if corners:
        return mul(add(x, 1.0), (size - 1) / 2)
    return div(sub(mul(add(x, 1.0), size), 1.0), 2.0)


def _reflected(x: Any, size: int, corners: bool) -> Any:
    """Places beyond the borders, or the border elements' centers with `corners`, folded back."""
    low, span = (0.0, size - 1.0) if corners else (-0.5, float(size))
    if span == 0:
        return mul(x, 0.0)
    x = sub(x, low).abs()
    flips = x.detach().div(span).floor()
    rest = sub(x, mul(flips, span))
    return add(where(flips.remainder(2).eq(0), rest, rsub(rest, span)), low)


def _inside(x: Any, size: int, padding: str, corners: bool) -> Any:
    """A place moved to where the elements are; one so far out that nothing is near stays there."""
    if padding == "zeros":
        # further out is nothing either, and integers have an end; NaN is out as well
        return where(x.eq(x), x, -4.0).clamp(-4.0, size + 3.0)
    if padding == "reflection":
        x = _reflected(x, size, corners)
    x = where(x.eq(x), x, 0.0)
    # on the border there is no derivative already, otherwise than that of clamp
    return where(x.gt(0).logical_and(x.lt(size - 1)), x, x.detach().clamp(0.0, size - 1.0))


def _cubic(t: Any) -> list[Any]:
    """The weights of four neighbours at distances 1 + t, t, 1 - t, 2 - t: Keys' kernel of -0.75."""
    a = -0.75

    def near(x: Any) -> Any:
        return add(mul(mul(sub(mul(x, a + 2), a + 3), x), x), 1.0)

    def far(x: Any) -> Any:
        return sub(mul(add(mul(sub(mul(x, a), 5 * a), x), 8 * a), x), 4 * a)

    return [far(add(t, 1.0)), near(t), near(rsub(t, 1.0)), far(rsub(t, 2.0))]


def _taps(x: Any, size: int, mode: str, padding: str, corners: bool) -> list[tuple[Any, Any]]:
    """The neighbours of places along a dimension: whole numbers as floats, and weights."""
    x = _place(x, size, corners)
    if mode == "bicubic":
        if padding != "reflection":
            x = _inside(x, size, "zeros", corners)
        begin = x.detach().floor()
        return [(add(begin, i - 1.0), w) for i, w in enumerate(_cubic(sub(x, begin)))]
    x = _inside(x, size, padding, corners)
    if mode == "nearest":
        return [(x.detach().round(), add(mul(x.detach(), 0.0), 1.0))]
    begin = x.detach().floor()
    after = sub(x, begin)
    return [(begin, rsub(after, 1.0)), (add(begin, 1.0), after)]


def _bounded(tap: tuple[Any, Any], size: int, mode: str, padding: str, corners: bool) -> tuple[Any, Any]:
    """A neighbour's number, and its weight: 0 outside."""
    at, weight = tap
    if padding == "zeros":
        inside = at.ge(0).logical_and(at.le(size - 1))
        weight = where(inside, weight, 0.0)
    elif mode == "bicubic":
        at = _inside(at, size, padding, corners)
    return to_dtype(at.clamp(0, size - 1), dtypes.int64), weight


def _grid_sampler(input: Any, grid: Any, mode: str, padding: str, corners: bool) -> Any:
    _check(input, grid, mode)
    n, c, *space = input.shape
    shape = [n, c, *grid.shape[1:-1]]
    if not numel(shape):
        return constant_in(constant_in(zeros(shape, dtype=input.dtype), input), grid)
    dtype = input.dtype
    if dtype.is_half:
        input, grid = to_dtype(input, dtypes.float32), to_dtype(grid, dtypes.float32)
    flat = input.reshape([n, c, numel(space)])
    points = numel(grid.shape[1:-1])
    grid_of = grid.reshape([n, points, len(space)])
    each = []
    for d, size in enumerate(space):
        taps = _taps(grid_of.select(2, len(space) - 1 - d), size, mode, padding, corners)
        each.append([_bounded(tap, size, mode, padding, corners) for tap in taps])
    places, weights = [], []
    for corner in product(*each):
        (at, weight), *rest = corner
        for (more, other), size in zip(rest, space[1:], strict=True):
            at = add(mul(at, size), more)
            weight = mul(weight, other)
        places.append(at)
        weights.append(weight)
    found = read(flat, named.stack(places, 1), named.stack(weights, 1))
    if mode == "nearest":
        found = constant_in(found, grid)
    return to_dtype(found.reshape(shape), dtype)


sampler: Op = composite(
    "grid_sampler(Tensor input, Tensor grid, *, str mode, str padding, bool corners) -> Tensor",
    body=_grid_sampler,
    namespace="-",
    outside=True,
    doc="[N, C, (D,) H, W] read at the places of a grid [N, ..., 2 or 3] from -1 to 1, x first: `mode` "
    "bilinear, nearest or bicubic, `padding` zeros, border or reflection.",
    autocast={"cpu": "float32", "cuda": "widest"},
)


def _warn(words: str) -> None:
    warn(words)


_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
    "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
    "details."
)


@public("nn.functional")
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Images or volumes read at the places of a grid, whose numbers go from -1 to 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn(_CHANGED)
    return sampler(input, grid, mode=mode, padding=padding_mode, corners=bool(align_corners))


# -- affine grids ----------------------------------------------------------------------------------


def _base_infer(size: list[int], corners: bool, dtype: Any) -> Meta:
    if len(size) not in (2, 3) or not dtype.is_floating_point:
        raise RuntimeError(f"affine_grid_base(): {list(size)} is no size of a grid of {dtype}")
    return Meta(checked((numel(size), len(size) + 1)), dtype)


def _base(xp: Any, size: list[int], corners: bool, dtype: Any) -> Any:
    found = xp.ones((*size, len(size) + 1), np_dtype(dtype))
    for d, n in enumerate(size):
        places = xp.linspace(-1, 1, n) if n > 1 else xp.zeros(n)
        places = places if corners else places * ((n - 1) / max(n, 1))
        shape = [1] * len(size)
        shape[d] = n
        found[..., len(size) - 1 - d] = places.reshape(shape)
    return found.reshape(-1, len(size) + 1) if found.size else found.reshape(0, len(size) + 1)


base: Op = kernel(
    "affine_grid_base(*, int[] size, bool corners, dtype dtype) -> Tensor",
    infer=_base_infer,
    impl=_base,
    namespace="-",
    outside=True,
    doc="The places of all elements of `size`, from -1 to 1, x first, and a 1: [elements, dimensions + 1].",
    raises=False,
)


def _affine(theta: Any, size: list[int], align_corners: bool) -> Any:
    n, _, *space = size
    places = base(size=space, corners=align_corners, dtype=theta.dtype)
    many = places.unsqueeze(0).expand(n, *places.shape)
    return named.bmm(many, theta.transpose(1, 2)).reshape([n, *space, len(space)])


generator: Op = composite(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
    body=_affine,
    namespace="",
    doc="The places that affine maps [N, 2, 3] or [N, 3, 4] give for outputs of `size` [N, C, (D,) H, W].",
)


def _matrices(theta: Any, size: list[int], rows: int) -> None:
    if theta.ndim != 3 or tuple(theta.shape[-2:]) != (rows, rows + 1):
        raise ValueError(
            f"Expected a batch of {rows}D affine matrices of shape Nx{rows}x{rows + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )


@public("nn.functional")
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The grid of places that affine maps give, for `grid_sample`."""
    if align_corners is None:
        _warn(_CHANGED)
    sizes = list(size)
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(sizes) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    _matrices(theta, size, len(sizes) - 2)
    if align_corners and min(sizes[2:]) == 1:
        _warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the documentation of "
            "affine_grid for details."
        )
    elif min(sizes) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return generator(theta, sizes, bool(align_corners))
