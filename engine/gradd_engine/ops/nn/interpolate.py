"""interpolate in each of its modes, and the older upsample.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import warn
from ...declare import public
from .adaptive import adaptive_avg_pool3d
from .avgpool import adaptive_avg_pool1d, adaptive_avg_pool2d
from .resampling import nearest, weighted

if TYPE_CHECKING:
    from ...tensor import Tensor

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
#: modes of weighted sums: the filter, and the input's dimensions
_WEIGHTED = {
    "linear": ("linear", 3),
    "bilinear": ("linear", 4),
    "bicubic": ("cubic", 4),
    "lanczos": ("lanczos", 4),
    "trilinear": ("linear", 5),
}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}


@public("nn.functional")
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Signals, images or volumes in another size, by one of seven modes."""
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if recompute_scale_factor and size is not None and scale_factor is None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    space = list(input.shape[2:])
    wanted, steps = _resized(space, size, scale_factor, bool(recompute_scale_factor) or mode == "area")
    filtered, needs = _WEIGHTED.get(mode, ("", 0))
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if input.ndim not in (3, 4, 5) or mode not in _MODES.split(" | "):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
            f"{_MODES} (got {mode})"
        )
    if mode in ("nearest", "nearest-exact"):
        return nearest(input, size=wanted, steps=steps, exact=mode == "nearest-exact")
    if mode == "area":
        return _AREA[input.ndim](input, wanted)
    if needs != input.ndim:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {needs}D input")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    corners = bool(align_corners)
    if corners:
        steps = [(s - 1) / (n - 1) if n > 1 else 0.0 for s, n in zip(space, wanted, strict=True)]
    return weighted(input, size=wanted, how=filtered, corners=corners, antialias=antialias, steps=steps)


def _resized(space: list[int], size: Any, scale: Any, recompute: bool) -> tuple[list[int], list[float]]:
    """The new size, and the step in the source between neighbouring results."""
    if size is not None and scale is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale is None:
        raise ValueError("either size or scale_factor should be defined")
    many, given = ("output size", size) if scale is None else ("scale_factor", scale)
    if isinstance(given, (list, tuple)) and len(given) != len(space):
        raise ValueError(
            "Input and "
            + ("output" if scale is None else "scale_factor")
            + " must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{space} and {many} of {'' if scale is None else 'shape '}{given}. Please provide input tensor "
            "in (N, C, d1, d2, ...,dK) format and "
            + ("output size in (o1, o2, ...,oK)" if scale is None else "scale_factor in (s1, s2, ...,sK)")
            + " format."
        )
    each = list(given) if isinstance(given, (list, tuple)) else [given] * len(space)
    if scale is None:
        wanted = [int(n) for n in each]
        return wanted, [s / n if n else 0.0 for s, n in zip(space, wanted, strict=True)]
    wanted = [int(s * f) for s, f in zip(space, each, strict=True)]
    if recompute:
        return wanted, [s / n if n else 0.0 for s, n in zip(space, wanted, strict=True)]
    return wanted, [1.0 / f if f else 0.0 for f in each]


def _warn(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@public("nn.functional")
def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """See torch.nn.functional.upsample, which interpolate replaced."""
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("nn.functional")
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """See torch.nn.functional.upsample_nearest, which interpolate replaced."""
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor)


@public("nn.functional")
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """See torch.nn.functional.upsample_bilinear, which interpolate replaced."""
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)
