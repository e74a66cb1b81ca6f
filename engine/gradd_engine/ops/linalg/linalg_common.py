"""Shared by the linear algebra ops: argument checks, layouts, and errors of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, contiguous_strides, dtypes
from ...declare import PUBLIC, attach, kernel
from ...kernels import LinAlgError as LinAlgError
from ...schema import named
from ...tensor import Tensor
from ..index import dynamic
from ..shape import transpose
from ..shared import conj, return_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...data import DType, Shape


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix of a batch."""
    return conj(transpose(x, -2, -1))


def re(x: Any) -> Any:
    """The real part; real tensors are returned unchanged."""
    return named.real(x) if x.dtype.is_complex else x


def column_major(shape: Shape) -> Shape:
    """The strides of a batch of column-major matrices, as LAPACK writes them."""
    if len(shape) < 2:
        return contiguous_strides(shape)
    strides = list(contiguous_strides(shape))
    strides[-2], strides[-1] = 1, max(shape[-2], 1)
    return tuple(strides)


def columns(shape: Any, dtype: DType) -> Meta:
    """The geometry of matrices written by LAPACK."""
    return Meta(tuple(shape), dtype, column_major(tuple(shape)))


def matrices(A: Tensor, name: str, arg: str = "A") -> None:
    """Raise RuntimeError unless `A` has at least two dimensions."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {arg} must have at least 2 dimensions.")


def floating(A: Tensor, name: str, low: bool = False) -> None:
    """Raise RuntimeError unless `A` is floating-point or complex; 16-bit dtypes are refused unless `low`."""
    if A.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype.title}"
        )
    if A.dtype.is_half and not low:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {A.dtype.title}")


def square(A: Tensor, name: str, arg: str = "A") -> None:
    """Raise RuntimeError unless `A` has square matrices."""
    matrices(A, name, arg)
    if A.shape[-1] != A.shape[-2]:
        # The message says A whatever the argument's name.
        lead = f"{name}: " if name else ""
        raise RuntimeError(
            f"{lead}A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} "
            "matrices"
        )


def square_floating(A: Tensor, name: str) -> None:
    """Check both `square` and `floating`."""
    square(A, name)
    floating(A, name)


def same_dtype(a: Tensor, b: Tensor, name: str, first: str = "A", second: str = "B") -> None:
    """Raise RuntimeError if two tensors differ in dtype."""
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} of type "
            f"{a.dtype.title} and {second} of type {b.dtype.title} instead"
        )


def _first(xp: Any, info: Any) -> Any:
    flat = info.reshape(-1).astype(xp.int64)
    if not flat.size:
        return xp.zeros((), xp.int64)
    at = xp.argmax(flat != 0)
    return xp.where(flat[at] != 0, at * 2**31 + flat[at], 0)


_first_failure = kernel(
    "linalg_first_failure(Tensor info) -> Tensor",
    infer=lambda info: Meta((), dtypes.int64),
    impl=_first,
    namespace="-",
    outside=True,
    doc="0, or 2**31 times the index of the first matrix of a batch that failed, plus its info.",
)

_REASONS: dict[str, Callable[[int], str]] = {
    "inv": lambda k: (
        f"The diagonal element {k} is zero, the inversion could not be completed because the input matrix is "
        "singular."
    ),
    "solve": lambda k: "The solver failed because the input matrix is singular.",
    "cholesky": lambda k: (
        "The factorization could not be completed because the input is not positive-definite (the leading "
        f"minor of order {k} is not positive-definite)."
    ),
    "ldl_factor": lambda k: (
        f"D[{k},{k}] is zero and using it on ldl_solve would result in a division by zero. To factorize such "
        "a matrix, call linalg.ldl_factor_ex"
    ),
    "lu_factor": lambda k: (
        f"U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. If you still want "
        "to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)"
    ),
}


def check(info: Tensor, name: str, reason: str, error: type[RuntimeError] = LinAlgError) -> None:
    """Read `info` and raise `error` if a matrix failed; without values (meta tensors) nothing is raised."""
    info = dynamic.every_sample(info)
    try:
        found = int(dynamic.read(_first_failure(info)))
    except dynamic.ShapeDependsOnValuesError:
        return
    if found:
        batch, k = divmod(found, 2**31)
        where = f"(Batch element {batch}): " if info.ndim else ""
        raise error(f"{name}: {where}{_REASONS[reason](k)}")


def tupled(call: Callable[..., Any], name: str, fields: str, *places: tuple[str, str]) -> Callable[..., Any]:
    """Publish `call` at `places` (namespace, name), returning a named tuple; "Tensor" is a method."""
    made = return_type(name, fields)

    def named_call(*args: Any, **kwargs: Any) -> Any:
        return made(*call(*args, **kwargs))

    named_call.__name__ = named_call.__qualname__ = places[0][1]
    named_call.__dict__["__wrapped__"] = call
    named_call.__doc__ = f"See torch.{'.'.join(places[0]).strip('.')}: {', '.join(fields.split())}."
    publish(named_call, *places)
    return named_call


def publish(call: Callable[..., Any], *places: tuple[str, str]) -> None:
    """Publish `call` at `places` (namespace, name); the namespace "Tensor" makes it a method."""
    for space, known in places:
        if space == "Tensor":
            attach(known, call)
        else:
            PUBLIC[space, known] = call
