"""Real and imaginary parts and conjugates. Gradients follow PyTorch's conjugate Wirtinger convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides, read_only
from ...declare import LINEAR, attach_as_is, composite, elementwise, kernel, public, view
from ...schema import named
from ...tensor import Tensor
from ..shared import broadcast, same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema import Op


conj_physical: Op = elementwise(
    "conj_physical(Tensor input) -> Tensor",
    infer=same,
    impl=lambda xp, a: xp.conjugate(a),
    vjp=lambda g: conj_physical(g),
    jvp=LINEAR,
    method=True,
    inplace=True,
    doc="The element-wise conjugate, computed at once (torch.conj_physical).",
    raises=False,
)


def _part(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), dtypes.to_real(input.dtype), preserved_strides(input))


def _to_complex_infer(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), dtypes.to_complex(input.dtype), preserved_strides(input))


real = elementwise(
    "real(Tensor input) -> Tensor",
    infer=_part,
    impl=lambda xp, a: xp.real(a).copy(),
    vjp=lambda g, input_meta: from_real(g) if input_meta.dtype.is_complex else g,
    jvp=LINEAR,
    node="RealBackward0",
    namespace="-",
    outside=True,
    doc="The real part, as a copy.",
    raises=False,
)

from_real: Op = elementwise(
    "from_real(Tensor input) -> Tensor",
    infer=_to_complex_infer,
    impl=lambda xp, a: a + xp.zeros_like(a) * 1j,
    vjp=lambda g: real(g),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="A complex tensor with the given real part.",
    raises=False,
)


def _parts_infer(real: Tensor, imag: Tensor) -> Meta:
    meta = broadcast(real, imag)
    for t in (real, imag):
        if t.dtype not in (dtypes.float32, dtypes.float64):
            raise RuntimeError(
                "Expected both inputs to be Half, Float or Double tensors but got "
                f"{real.dtype.title} and {imag.dtype.title}"
            )
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype.title} but got scalar type {imag.dtype.title} for "
            "second argument"
        )
    meta.dtype = dtypes.to_complex(meta.dtype)
    return meta


def _joined(xp: Any, a: Any, b: Any) -> Any:
    shape = xp.broadcast_shapes(a.shape, b.shape)
    out = xp.empty(shape, xp.result_type(a.dtype, xp.complex64))
    out.real, out.imag = a, b
    return out


def _real(g: Any) -> Any:
    return real(g)


def _imag(g: Any) -> Any:
    return real(g * -1j)


complex_op: Op = kernel(
    "complex(Tensor real, Tensor imag) -> Tensor",
    infer=_parts_infer,
    impl=_joined,
    vjp=(lambda g, real, imag: _real(g), lambda g, real, imag: _imag(g)),
    jvp=lambda real_t, imag_t, out: _complex_jvp(real_t, imag_t, out),
    doc="A complex tensor from its real and imaginary parts (torch.complex).",
    raises=False,
)


def _complex_jvp(real_t: Any, imag_t: Any, out: Any) -> Any:
    if imag_t is None:
        total = from_real(real_t)
    else:
        turned = from_real(imag_t) * 1j
        total = turned if real_t is None else from_real(real_t) + turned
    return named.expand(total, list(out.shape))


def _polar_jvp(abs_t: Any, angle_t: Any, angle: Any, out: Any) -> Any:
    total = None
    if abs_t is not None:
        total = complex_op(abs_t * named.cos(angle), abs_t * named.sin(angle))
    if angle_t is not None:
        turned = from_real(angle_t) * (out * 1j)
        total = turned if total is None else total + turned
    return total


polar: Op = kernel(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    infer=lambda abs, angle: _parts_infer(abs, angle),
    impl=lambda xp, a, b: _joined(xp, a * xp.cos(b), a * xp.sin(b)),
    vjp=(
        lambda g, out: real(conj_physical(g) * named.sgn(out)),
        lambda g, out: real(conj_physical(g) * (out * 1j)),
    ),
    jvp=_polar_jvp,
    doc="A complex tensor from absolute values and angles (torch.polar).",
    raises=False,
    autocast={"cpu": "float32"},
)

# -- views -----------------------------------------------------------------------------------------

conj_op: Op = view(
    "conj(Tensor(a) input) -> Tensor(a)",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, input.strides, input.offset),
    conjugates=True,
    vjp=lambda g: conj_physical(g),
    jvp=lambda input_t: conj_physical(input_t),
    namespace="-",
    outside=True,
    doc="The conjugate as a view, computed on use (torch.conj).",
    relative=True,
)


@public(method=True)
def conj(input: Tensor) -> Any:
    """See torch.conj: a view; real tensors are returned unchanged."""
    return conj_op(input) if input.dtype.is_complex else input


@public(method=True)
def resolve_conj(input: Tensor) -> Any:
    """See torch.resolve_conj: the tensor itself; of a conjugate view, a computed copy."""
    return named.clone(input) if input.is_conj() else input


@public(method=True)
def resolve_neg(input: Tensor) -> Any:
    """See torch.resolve_neg: the tensor itself, as negatives are never views here."""
    return input


@public(method=True)
def is_neg(input: Tensor) -> bool:
    """See torch.is_neg: False, as negatives are never views here."""
    return False


@public()
def is_conj(input: Tensor) -> bool:
    """Whether this is a conjugate view that is not yet computed (torch.is_conj)."""
    return input.is_conj()


@public()
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex (torch.is_complex)."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"is_complex(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return input.is_complex()


def _real_parts_infer(input: Tensor) -> Meta:
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    strides = (*(2 * s for s in input.strides), 1)
    return Meta((*input.shape, 2), dtypes.to_real(input.dtype), strides, input.offset * 2)


real_parts: Op = view(
    "real_parts(Tensor(a) input) -> Tensor(a)",
    infer=_real_parts_infer,
    vjp=lambda g: complex_pairs(g.contiguous()),
    node="ViewAsRealBackward0",
    namespace="-",
    outside=True,
    doc="The memory of complex numbers as pairs of real numbers.",
)


def _view_as_real(input: Tensor) -> Any:
    if input.is_conj():
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so "
            "you can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor "
            "will NOT alias the original."
        )
    return real_parts(input)


view_as_real: Op = composite(
    "view_as_real(Tensor input) -> Tensor",
    body=_view_as_real,
    doc="A view of complex numbers as pairs of real numbers in a new last dimension (torch.view_as_real).",
)


def _complex_pairs_infer(input: Tensor) -> Meta:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {input.dtype.title}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if input.strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in input.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    strides = tuple(s // 2 for s in input.strides[:-1])
    return Meta(tuple(input.shape[:-1]), dtypes.to_complex(input.dtype), strides, input.offset // 2)


complex_pairs: Op = view(
    "complex_pairs(Tensor(a) input) -> Tensor(a)",
    infer=_complex_pairs_infer,
    vjp=lambda g: real_parts(resolve_conj(g).contiguous()),
    jvp=lambda input_t: complex_pairs(input_t.contiguous()),
    node="ViewAsComplexBackward0",
    namespace="-",
    outside=True,
    doc="Pairs of real numbers in the last dimension as complex numbers.",
)
view_as_complex: Op = composite(
    "view_as_complex(Tensor input) -> Tensor",
    body=complex_pairs.call,
    doc="A view of pairs of real numbers as complex numbers (torch.view_as_complex).",
    autocast={"cpu": "float32"},
)


@public(name="real")
def real_of(input: Tensor) -> Any:
    """See torch.real: a view of the real parts; real tensors are returned unchanged."""
    if not input.dtype.is_complex:
        return input
    return named.select(real_parts(conj(input) if input.is_conj() else input), -1, 0)


@public(name="imag")
def imag_of(input: Tensor) -> Any:
    """See torch.imag: a view of the imaginary parts; of a conjugate view, their negatives, computed.

    RuntimeError for real tensors.
    """
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if input.is_conj():
        return named.neg(named.select(real_parts(conj(input)), -1, 1))
    return named.select(real_parts(input), -1, 1)


def _set_part(part: Callable[[Tensor], Any]) -> Callable[[Tensor, Any], None]:
    def assign(self: Tensor, value: Any) -> None:
        target: Any = part(resolve_conj(self))
        if isinstance(value, Tensor):
            target.copy_(value)
        else:
            target.fill_(value)

    return assign


attach_as_is("real", property(real_of, _set_part(real_of)))
attach_as_is("imag", property(imag_of, _set_part(imag_of)))


@public(method=True)
def adjoint(input: Tensor) -> Any:
    """See torch.adjoint: a conjugated view with the last two dimensions swapped."""
    return conj(named.transpose(input, -2, -1))


def _mh(self: Tensor) -> Any:
    """`adjoint` (torch.Tensor.mH)."""
    if self.ndim < 2:
        raise RuntimeError(
            f"tensor.mH is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor."
        )
    return adjoint(self)


def _h(self: Tensor) -> Any:
    """`adjoint` of a matrix (torch.Tensor.H)."""
    if self.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.")
    return adjoint(self) if self.ndim else conj(self)


attach_as_is("mH", property(_mh))
attach_as_is("H", property(_h))
read_only(Tensor, "H", "mH")
