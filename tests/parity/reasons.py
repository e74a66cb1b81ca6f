"""Why an entry is below 100 %: what differs on purpose, and what is not there."""

from __future__ import annotations

#: a reason, and the entries that it holds for
REASONS: tuple[tuple[str, str], ...] = (
    (
        "which of equal values is named, or comes first, is left open",
        "argsort kthvalue median mode msort nanmedian sort topk",
    ),
    (
        "sums, ties and steps between in 16 bits",
        "logcumsumexp msort nn.functional.grid_sample nn.functional.hinge_embedding_loss "
        "nn.functional.normalize nn.functional.soft_margin_loss",
    ),
    ("PyTorch overflows in 16 bits", "matrix_exp"),
    ("exact for far-apart numbers, where PyTorch overflows or rounds", "logcumsumexp"),
    (
        "the imaginary part of what is given for a real diagonal counts for nothing here",
        "cholesky linalg.cholesky linalg.cholesky_ex",
    ),
    ("PyTorch multiplies in another order than the derivative has", "cholesky_inverse"),
    ("PyTorch's weights are in single precision: their gradients are rounding errors", "cov"),
    ("PyTorch's tangent counts the triangle that the function does not read", "triangular_solve"),
    (
        "zeros of no reflections, or of a single number, where PyTorch has none",
        "linalg.det linalg.householder_product",
    ),
    ("0 at 0, where PyTorch has NaN", "linalg.norm"),
    ("no tangents of the full matrices of one that is not square", "linalg.svd svd"),
    (
        "images of 8 bits are computed in floats, and not in PyTorch's fixed point",
        "nn.functional.interpolate:bicubic nn.functional.interpolate:bilinear "
        "nn.functional.upsample_bilinear",
    ),
    ("None, not zeros, in second derivatives of nearest elements", "nn.functional.grid_sample"),
    (
        "a number that decides on shapes, or on values, cannot be read within vmap",
        "argwhere histc linspace:tensor_overload logspace:tensor_overload repeat_interleave",
    ),
    ("no complex uniform numbers", "uniform"),
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
    ("its samples pass a function of PyTorch's", "nn.functional.triplet_margin_with_distance_loss"),
    (
        "not there",
        "hash_tensor linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve "
        "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d "
        "nn.functional.linear_cross_entropy nn.functional.linear_cross_entropy:chunked "
        "nn.functional.linear_cross_entropy:chunked_none nn.functional.silu:complex resize_as_ "
        "sparse.mm:reduce sparse.sampled_addmm",
    ),
    ("PyTorch makes int64 of int32 where nothing is summed, too", "sum_to_size"),
    ("no `reduce=` in scatter: scatter_add and scatter_reduce are there", "scatter"),
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
