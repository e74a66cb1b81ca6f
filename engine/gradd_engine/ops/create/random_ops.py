"""Random tensors.

Each op draws one random step, whatever its size. An element depends on the seed, the step's number and the
element's index, so backends and optimisations cannot change a stream.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ...data import Meta, ambient, broadcast_shapes, dtypes, format_name, holds, preserved_strides
from ...declare import attach, kernel, public
from ...schema import named
from ...tensor import Tensor
from ..elementwise import add, mul
from ..shared import checked, fits, like, sized, zeros_like
from .draws import check_range, hits, integers, normal_array, permutation, uniform_array
from .factories import like_function, made, sized_function, sizes

if TYPE_CHECKING:
    from ...data import DType


def _floating(meta: Meta, kernel: str, complex_too: bool = False) -> Meta:
    if meta.dtype.category != dtypes.FLOAT and not (complex_too and meta.dtype.is_complex):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{meta.dtype.title}'")
    return meta


rand_op = kernel(
    "rand(int[] size, *, dtype? dtype=None) -> Tensor",
    infer=lambda size, dtype: _floating(sized(size, dtype), "check_uniform_bounds", True),
    impl=lambda xp, size, dtype, meta, key: uniform_array(xp, key, meta),
    random=True,
    exact=True,
    doc="Uniform numbers in [0, 1) (torch.rand).",
    raises=False,
    independent=True,
    reads_values=False,
)
randn_op = kernel(
    "randn(int[] size, *, dtype? dtype=None) -> Tensor",
    infer=lambda size, dtype: _floating(sized(size, dtype), "normal_kernel_cpu", True),
    impl=lambda xp, size, dtype, meta, key: normal_array(xp, key, meta),
    random=True,
    doc="Standard normal numbers (torch.randn).",
    raises=False,
    independent=True,
    reads_values=False,
)
rand_like_op = kernel(
    "rand_like(Tensor input, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
    infer=lambda input, dtype, memory_format: _floating(
        like(input, dtype, memory_format), "check_uniform_bounds", True
    ),
    impl=lambda xp, a, dtype, memory_format, meta, key: uniform_array(xp, key, meta),
    random=True,
    doc="Uniform numbers in [0, 1), in the input's shape (torch.rand_like).",
    raises=False,
    independent=True,
    reads_values=False,
)
randn_like_op = kernel(
    "randn_like(Tensor input, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
    infer=lambda input, dtype, memory_format: _floating(
        like(input, dtype, memory_format), "normal_kernel_cpu", True
    ),
    impl=lambda xp, a, dtype, memory_format, meta, key: normal_array(xp, key, meta),
    random=True,
    doc="Standard normal numbers in the input's shape (torch.randn_like).",
    raises=False,
    independent=True,
    reads_values=False,
)


def _randint_infer(low: int, high: int, size: Any, dtype: DType | None) -> Meta:
    check_range(low, high, dtype or dtypes.int64)
    return Meta(checked(size), dtype or dtypes.int64)


def _randint_like_infer(
    input: Tensor, low: int, high: int, dtype: DType | None, memory_format: str | None
) -> Meta:
    check_range(low, high, dtype or input.dtype)
    return like(input, dtype, memory_format)


randint_op = kernel(
    "randint(value int low, value int high, int[] size, *, dtype? dtype=None) -> Tensor",
    infer=_randint_infer,
    impl=lambda xp, low, high, size, dtype, meta, key: integers(xp, key, low, high, meta),
    random=True,
    exact=True,
    doc="Integers from `low` (inclusive) to `high` (exclusive) (torch.randint).",
    independent=True,
    reads_values=False,
)
randint_like_op = kernel(
    "randint_like(Tensor input, value int low, value int high, *, dtype? dtype=None, "
    "str? memory_format=None) -> Tensor",
    infer=_randint_like_infer,
    impl=lambda xp, a, low, high, dtype, memory_format, meta, key: integers(xp, key, low, high, meta),
    random=True,
    doc="Integers from `low` (inclusive) to `high` (exclusive), in the input's shape (torch.randint_like).",
    independent=True,
    reads_values=False,
)


def _randperm_infer(n: int, dtype: DType | None) -> Meta:
    dtype = dtype or dtypes.int64
    if n > 0:
        fits(n - 1, dtype)
    if dtype is dtypes.float16 and n > 2049:
        raise RuntimeError("n cannot be greater than 2049 for Half type.")
    return Meta(checked([n]), dtype)


randperm_op = kernel(
    "randperm(int n, *, dtype? dtype=None) -> Tensor",
    infer=_randperm_infer,
    impl=lambda xp, n, dtype, key: permutation(xp, key, n),
    random=True,
    exact=True,
    doc="A random permutation of the integers below `n` (torch.randperm).",
    reads_values=False,
)

rand = sized_function("rand", rand_op, "See torch.rand.")
randn = sized_function("randn", randn_op, "See torch.randn.")
rand_like = like_function("rand_like", rand_like_op, "See torch.rand_like.")
randn_like = like_function("randn_like", randn_like_op, "See torch.randn_like.")


@public(
    creates=True,
    forms=(
        "(high: int, size: Sequence[int], *, out=None, dtype=None, device=None, requires_grad=False, "
        "layout=None, pin_memory=False)",
        "(low: int, high: int, size: Sequence[int], *, out=None, dtype=None, device=None, "
        "requires_grad=False, layout=None, pin_memory=False)",
    ),
)
def randint(
    *args: Any,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **kw: Any,
) -> Any:
    """See torch.randint: ``randint(high, size)`` or ``randint(low, high, size)``."""
    names = (
        ("high", "size") if len(args) < 2 or isinstance(args[1], (list, tuple)) else ("low", "high", "size")
    )
    given = dict(zip(names, args, strict=False)) | kw
    if set(given) - {"low", "high", "size"} or not {"high", "size"} <= set(given):
        raise TypeError("randint() received an invalid combination of arguments")
    shape = sizes("randint", (given["size"],))
    creator = functools.partial(randint_op, given.get("low", 0), given["high"], shape)
    return made("randint", creator, dtype, dtypes.int64, requires_grad, out=out, device=device, layout=layout)


@public(
    forms=(
        "(input: Tensor, high: int | Tensor, *, dtype=None, device=None, requires_grad=False, layout=None, "
        "memory_format=None, pin_memory=False)",
        "(input: Tensor, low: int, high: int, *, dtype=None, device=None, requires_grad=False, layout=None, "
        "memory_format=None, pin_memory=False)",
    )
)
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.randint_like: ``randint_like(input, high)`` or ``randint_like(input, low, high)``."""
    first, last = (0, low) if high is None else (0 if low is None else low, high)
    form = format_name("randint_like", memory_format)
    creator = functools.partial(randint_like_op, input, first, last, memory_format=form)
    return made("randint_like", creator, dtype, input.dtype, requires_grad, device=device, layout=layout)


@public(creates=True)
def randperm(
    n: int,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.randperm."""
    creator = functools.partial(randperm_op, n)
    return made(
        "randperm", creator, dtype, dtypes.int64, requires_grad, out=out, device=device, layout=layout
    )


# -- filling ---------------------------------------------------------------------------------------


def _no_gradient(g: Any) -> Any:
    return zeros_like(g)


def _no_tangent(input_t: Any) -> Any:
    return None if input_t is None else zeros_like(input_t)


def _same(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), input.dtype, preserved_strides(input))


def _normal_infer(input: Tensor, mean: float, std: float) -> Meta:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    return _floating(_same(input), "normal_kernel_cpu", True)


def _uniform_infer(input: Tensor, low: float, high: float) -> Meta:
    meta = _floating(_same(input), "check_uniform_bounds", True)
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    return meta


def _exponential_infer(input: Tensor, lambd: float) -> Meta:
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return _floating(_same(input), "exponential_kernel")


def _probability(input: Tensor, p: float) -> Meta:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _bernoulli_meta(input, "bernoulli_scalar_cpu_")


def _bernoulli_meta(input: Tensor, kernel: str, integers: bool = True) -> Meta:
    if input.dtype.is_complex or (not integers and input.dtype.category < dtypes.FLOAT):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
    return Meta(tuple(input.shape), input.dtype)


kernel(
    "normal(Tensor input, value float mean=0.0, value float std=1.0) -> Tensor",
    infer=_normal_infer,
    impl=lambda xp, a, mean, std, meta, key: normal_array(xp, key, meta, lambda z: z * std + mean),
    vjp=_no_gradient,
    jvp=_no_tangent,
    random=True,
    inplace=True,
    namespace="-",
    outside=True,
    doc="Normal numbers in the input's shape, as `normal_` stores them.",
    independent=True,
    reads_values=False,
)
_fill_uniform = kernel(
    "uniform(Tensor input, value float low=0.0, value float high=1.0) -> Tensor",
    infer=_uniform_infer,
    impl=lambda xp, a, low, high, meta, key: uniform_array(
        xp, key, meta, lambda u: u * (high - low) + (complex(low, low) if meta.dtype.is_complex else low)
    ),
    vjp=_no_gradient,
    jvp=_no_tangent,
    random=True,
    inplace=True,
    namespace="-",
    outside=True,
    doc="Uniform numbers in the input's shape, both parts of complex ones, as `uniform_` stores them.",
    independent=True,
    reads_values=False,
)
kernel(
    "exponential(Tensor input, value float lambd=1.0) -> Tensor",
    infer=_exponential_infer,
    impl=lambda xp, a, lambd, meta, key: uniform_array(xp, key, meta, lambda u: -xp.log(1 - u) / lambd),
    vjp=_no_gradient,
    jvp=_no_tangent,
    random=True,
    inplace=True,
    namespace="-",
    outside=True,
    doc="Exponentially distributed numbers in the input's shape, as `exponential_` stores them.",
    independent=True,
    reads_values=False,
)
_fill_bernoulli = kernel(
    "bernoulli_number(Tensor input, value float p=0.5) -> Tensor",
    infer=_probability,
    impl=lambda xp, a, p, meta, key: hits(xp, key, p, meta),
    vjp=_no_gradient,
    jvp=_no_tangent,
    random=True,
    inplace=True,
    node="BernoulliBackward2",
    namespace="-",
    outside=True,
    doc="Ones with probability `p`, otherwise zeros, in the input's shape.",
    independent=True,
    reads_values=False,
)


def _bernoulli_impl(xp: Any, a: Any, meta: Meta, key: Any) -> Any:
    text = (
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)"
    )
    holds(~((a >= 0) & (a <= 1)), RuntimeError, text, "bernoulli")
    return hits(xp, key, a, meta)


_bernoulli = kernel(
    "bernoulli(Tensor input) -> Tensor",
    infer=lambda input: _bernoulli_meta(input, "bernoulli_tensor_cpu_p_", integers=False),
    impl=_bernoulli_impl,
    vjp=_no_gradient,
    jvp=_no_tangent,
    random=True,
    doc="Ones with the probabilities in the input, otherwise zeros (torch.bernoulli).",
    independent=True,
)


@public(method=True, out=True)
def bernoulli(input: Any, p: float | None = None) -> Any:
    """See torch.bernoulli."""
    return _bernoulli(input) if p is None else _fill_bernoulli(input, p)


def _uniform_method(self: Any, *args: Any, **kw: Any) -> Any:
    """See torch.Tensor.uniform_: ``uniform_(from=0, to=1)``."""
    given = dict(zip(("from", "to"), args, strict=False)) | kw
    if len(args) > 2 or set(given) - {"from", "to"}:
        raise TypeError("uniform_() received an invalid combination of arguments")
    assert _fill_uniform.inplace is not None
    return _fill_uniform.inplace(self, given.get("from", 0.0), given.get("to", 1.0))


attach("uniform_", _uniform_method, "(*args: Number)")


def _bernoulli_method(self: Any, p: Any = 0.5) -> Any:
    """Set each element to 1 with probability `p`, a number or a tensor of them, otherwise 0
    (torch.Tensor.bernoulli_).
    """
    if isinstance(p, Tensor):
        return named.copy_(self, _bernoulli(p.expand(*self.shape)))  # type: ignore[attr-defined]
    assert _fill_bernoulli.inplace is not None
    return _fill_bernoulli.inplace(self, p)


attach("bernoulli_", _bernoulli_method, "(p: float | Tensor = 0.5)")


@public(
    creates=True,
    forms=(
        "(mean: Tensor, std: Tensor | Number = 1.0, *, out=None)",
        "(mean: Number, std: Tensor, *, out=None)",
        "(mean: Number, std: Number, size: Sequence[int], *, out=None, dtype=None, device=None, "
        "requires_grad=False, layout=None, pin_memory=False)",
    ),
)
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    out: Any = None,
    dtype: DType | None = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """See torch.normal: scalars with a size, or tensors of means, standard deviations, or both."""
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        shape = sizes("normal", (size,))

        def make(dtype: DType) -> Any:
            return add(mul(randn_op(shape, dtype=dtype), std), mean)

        usual = dtypes.default_dtype()
        return made("normal", make, dtype, usual, requires_grad, out=out, device=device, layout=layout)
    if isinstance(std, Tensor) and std.dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if isinstance(std, Tensor):
        if std.numel():
            words = "normal expects all elements of std >= 0.0"
            named.require(std, [], words, test="from", bounds=[0.0], error="RuntimeError")
    elif std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    wide = broadcast_shapes(*(tuple(x.shape) if isinstance(x, Tensor) else () for x in (mean, std)))
    kind = dtypes.result_type([x for x in (mean, std) if isinstance(x, Tensor)])
    with ambient(backend=(mean if isinstance(mean, Tensor) else std).backend):
        noise = randn(list(wide), dtype=kind)
    found = add(mul(noise, std), mean)
    return found if out is None else made("normal", lambda dtype: found, None, found.dtype, out=out)
