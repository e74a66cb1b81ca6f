"""Why an entry is below 100 %: what differs on purpose, and what is not there."""

from __future__ import annotations

#: a reason, and the entries that it holds for
REASONS: tuple[tuple[str, str], ...] = (
    (
        "a second gradient that is zero is there, where PyTorch's chunks have none",
        "nn.functional.linear_cross_entropy:chunked",
    ),
    (
        "which of equal values is named, or comes first, is left open",
        "argsort kthvalue median mode msort nanmedian sort topk",
    ),
    (
        "sums, ties and steps between in 16 bits",
        "div:trunc_rounding histc logcumsumexp msort nn.functional.grid_sample "
        "nn.functional.hinge_embedding_loss nn.functional.normalize nn.functional.soft_margin_loss",
    ),
    ("PyTorch overflows in 16 bits", "matrix_exp"),
    ("PyTorch gives some windows no gradient", "istft"),
    ("numbers in single precision, compared as if in double", "linspace:tensor_overload"),
    ("exact for far-apart numbers, where PyTorch overflows or rounds", "logcumsumexp"),
    ("PyTorch multiplies in another order than the derivative has", "cholesky_inverse"),
    ("PyTorch's weights are in single precision: their gradients are rounding errors", "cov"),
    ("PyTorch's tangent counts the triangle that the function does not read", "triangular_solve"),
    (
        "zeros of no reflections, or of a single number, where PyTorch has none",
        "linalg.det linalg.householder_product",
    ),
    ("0 at 0, where PyTorch has NaN", "linalg.norm linalg.norm:subgradients_at_zero"),
    (
        "images of 8 bits are computed in floats, and not in PyTorch's fixed point",
        "nn.functional.interpolate:bicubic nn.functional.interpolate:bilinear "
        "nn.functional.upsample_bilinear",
    ),
    ("None, not zeros, in second derivatives of nearest elements", "nn.functional.grid_sample"),
    (
        "a number that decides on shapes, or on values, cannot be read within vmap",
        "argwhere repeat_interleave",
    ),
    ("a drawn value has zeros as gradients of gradients there, none here", "normal normal:number_mean"),
    (
        "PyTorch's gradient of the input is not that of the function (gradcheck fails there)",
        "as_strided_scatter",
    ),
    ("at a pole PyTorch gives some large number", "polygamma:polygamma_n_0 polygamma:polygamma_n_1"),
    (
        "at a pole PyTorch gives some large number",
        "polygamma:polygamma_n_2 polygamma:polygamma_n_3 polygamma:polygamma_n_4 special.polygamma:"
        "special_polygamma_n_0",
    ),
    ("a power that is almost a whole number is truncated to another", "linspace logspace"),
    ("a power that is almost a whole number is truncated to another", "logspace:tensor_overload"),
    (
        "PyTorch's is up to 7e-7 off around 5",
        "special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1",
    ),
    (
        "a new tensor in the place of a view lies at offset 0, before which there is nothing",
        "as_strided:partial_views",
    ),
    ("PyTorch's is up to 1e-8 off", "special.airy_ai"),
    ("PyTorch's words are those of an assertion inside it", "narrow_copy"),
    ("PyTorch's fused kernel has no second derivative", "nn.functional.scaled_dot_product_attention"),
)


def why(name: str) -> str:
    """The reasons of an entry; "" where there are none."""
    return "; ".join(reason for reason, names in REASONS if name in names.split())
