"""The methods that declarations attach to tensors, typed.

Written by `make face` from the declarations of ops.
"""

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import type as _type
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeAlias, overload

from gradd_engine.data.device import Device as _device
from gradd_engine.data.dtypes import DType as _dtype
from gradd_engine.data.layout import MemoryFormat as memory_format
from gradd_engine.data.layout import Size
from gradd_engine.tensor.nodes import RemovableHandle
from gradd_engine.tensor.tensor import Tensor as EngineTensor

from gradd import return_types
from gradd._surface.facts import layout as _layout
from gradd._surface.generator import Generator
from gradd._surface.storages import UntypedStorage
from gradd._surface.typed_storages import TypedStorage
from gradd._tensor.tensor import Tensor

_Number: TypeAlias = _int | _float | complex

class Methods(EngineTensor):
    """A tensor with its operators and methods."""

    def __hash__(self) -> _int: ...
    @property
    def H(self) -> Tensor:
        """`adjoint` of a matrix.

        https://pytorch.org/docs/stable/generated/torch.Tensor.H.html
        """
    @H.setter
    def H(self, value: Tensor | _Number) -> None: ...
    @property
    def T(self) -> Tensor:
        """All dimensions reversed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.T.html
        """
    @T.setter
    def T(self, value: Tensor | _Number) -> None: ...
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | _Number) -> Tensor: ...
    def __and__(self, other: Tensor | _Number) -> Tensor: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: _bool = False) -> Tensor: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Tensor | _Number) -> Tensor: ...
    def __ge__(self, other: Tensor | _Number) -> Tensor: ...
    def __getitem__(self, key: Any) -> Tensor: ...
    def __gt__(self, other: Tensor | _Number) -> Tensor: ...
    def __iadd__(self, other: Tensor | _Number) -> Self: ...
    def __iand__(self, other: Tensor | _Number) -> Self: ...
    def __ifloordiv__(self, other: Tensor | _Number) -> Self: ...
    def __ilshift__(self, other: Tensor | _Number) -> Self: ...
    def __imod__(self, other: Tensor | _Number) -> Self: ...
    def __imul__(self, other: Tensor | _Number) -> Self: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | _Number) -> Self: ...
    def __ipow__(self, other: Tensor | _Number) -> Self: ...
    def __irshift__(self, other: Tensor | _Number) -> Self: ...
    def __isub__(self, other: Tensor | _Number) -> Self: ...
    def __itruediv__(self, other: Tensor | _Number) -> Self: ...
    def __ixor__(self, other: Tensor | _Number) -> Self: ...
    def __le__(self, other: Tensor | _Number) -> Tensor: ...
    def __lshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __lt__(self, other: Tensor | _Number) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __mod__(self, other: Tensor | _Number) -> Tensor: ...
    def __mul__(self, other: Tensor | _Number) -> Tensor: ...
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | _Number) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Tensor | _Number) -> Tensor: ...
    def __radd__(self, other: Tensor | _Number) -> Tensor: ...
    def __rand__(self, other: Tensor | _Number) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | _Number) -> Tensor: ...
    def __rlshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor: ...
    def __rmod__(self, other: Tensor | _Number) -> Tensor: ...
    def __rmul__(self, other: Tensor | _Number) -> Tensor: ...
    def __ror__(self, other: Tensor | _Number) -> Tensor: ...
    def __rpow__(self, other: Tensor | _Number) -> Tensor: ...
    def __rrshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rsub__(self, other: Tensor | _Number) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | _Number) -> Tensor: ...
    def __rxor__(self, other: Tensor | _Number) -> Tensor: ...
    def __setitem__(self, key: Any, value: Tensor | _Number) -> None: ...
    def __sub__(self, other: Tensor | _Number) -> Tensor: ...
    def __truediv__(self, other: Tensor | _Number) -> Tensor: ...
    def __xor__(self, other: Tensor | _Number) -> Tensor: ...
    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """Absolute value; the gradient at 0 is 0.

        Shape: the input's. dtype: the input's; float32 of complex numbers.
        Raises NotImplementedError for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.abs.html
        """

    def abs_(self) -> Self:
        """In-place form of `abs`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.abs_.html
        """

    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """Absolute value; the gradient at 0 is 0.

        Shape: the input's. dtype: the input's; float32 of complex numbers.
        Raises NotImplementedError for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.absolute.html
        """

    def absolute_(self) -> Self:
        """In-place form of `abs`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.absolute_.html
        """

    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise acos; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.acos.html
        """

    def acos_(self) -> Self:
        """In-place form of `acos`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.acos_.html
        """

    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise acosh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.acosh.html
        """

    def acosh_(self) -> Self:
        """In-place form of `acosh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.acosh_.html
        """

    def add(self, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """input + alpha * other.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError: Boolean alpha only supported for Boolean results.
        Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
          number.
        Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex
          number.

        https://pytorch.org/docs/stable/generated/torch.Tensor.add.html
        """

    def add_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """In-place form of `add`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.add_.html
        """

    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """beta * input + alpha * the sum of matrix products.

        Raises RuntimeError: expand(...{...}, size=...): the number of sizes provided (...) must be
          greater or equal to the ...
        Raises RuntimeError: The expanded size of the tensor (...) isn't allowed in a leading, non-
          existing dimension ...
        Raises RuntimeError: The expanded size of the tensor (...) must match the existing size
          (...) at non-singleton ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.addbmm.html
        """

    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """In-place form of `addbmm`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addbmm_.html
        """

    def addcdiv(
        self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """input + value * tensor1 / tensor2.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: Integer division with addcdiv is no longer supported, and in a future
          release addcdiv will ...
        Raises RuntimeError: value cannot be converted to type ... without overflow

        https://pytorch.org/docs/stable/generated/torch.Tensor.addcdiv.html
        """

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Self:
        """In-place form of `addcdiv`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addcdiv_.html
        """

    def addcmul(
        self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """input + value * tensor1 * tensor2.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: value cannot be converted to type ... without overflow

        https://pytorch.org/docs/stable/generated/torch.Tensor.addcmul.html
        """

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Self:
        """In-place form of `addcmul`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addcmul_.html
        """

    def addmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """beta * input + alpha * mat1 @ mat2.

        Shapes: (3, 3), (3, 3), (3, 3) -> (3, 3). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: self and mat2 must have the same dtype, but got ... and ...
        Raises RuntimeError: mat1 and mat2 must have the same dtype, but got ... and ...
        Raises RuntimeError: mat1 must be a matrix, got ...-D tensor

        https://pytorch.org/docs/stable/generated/torch.Tensor.addmm.html
        """

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """In-place form of `addmm`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addmm_.html
        """

    def addmv(
        self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """beta * input + alpha * mat @ vec.

        Raises RuntimeError: vector + matrix @ vector expected, got ..., ..., ...
        Raises RuntimeError: size mismatch, got input (...), mat (...x...), vec (...)
        Raises RuntimeError: addmv input tensors must have the same dtype, but got ..., ..., and ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.addmv.html
        """

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """In-place form of `addmv`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addmv_.html
        """

    def addr(
        self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """beta * input + alpha * vec1 outer vec2.

        Shapes: (3,), (3,), (3,) -> (3, 3). dtype: the input's.
        Raises RuntimeError: expand(...{...}, size=...): the number of sizes provided (...) must be
          greater or equal to the ...
        Raises RuntimeError: The expanded size of the tensor (...) isn't allowed in a leading, non-
          existing dimension ...
        Raises RuntimeError: The expanded size of the tensor (...) must match the existing size
          (...) at non-singleton ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.addr.html
        """

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """In-place form of `addr`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.addr_.html
        """

    def adjoint(self) -> Tensor:
        """A conjugated view with the last two dimensions swapped.

        https://pytorch.org/docs/stable/generated/torch.Tensor.adjoint.html
        """

    def all(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether every element is true, over `dim` or over all.

        Shapes: (2, 3) -> (). dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.all.html
        """

    def allclose(
        self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
    ) -> _bool:
        """A Python bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.allclose.html
        """

    def amax(
        self, dim: _int | Sequence[_int] = (), keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The maximum over dimensions; ties share the gradient evenly.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.amax.html
        """

    def amin(
        self, dim: _int | Sequence[_int] = (), keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The minimum over dimensions; ties share the gradient evenly.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.amin.html
        """

    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> return_types.aminmax:
        """The smallest and the largest element.

        Shapes: (2, 3) -> (), (). dtype: the input's, the input's.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: aminmax(): cannot compute aminmax over an empty dimension as the
          operation has no identity.
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.aminmax.html
        """

    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """The angle in the complex plane; 0 or pi for real numbers.

        Shape: the input's. dtype: float32.

        https://pytorch.org/docs/stable/generated/torch.Tensor.angle.html
        """

    def any(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether any element is true, over `dim` or over all.

        Shapes: (2, 3) -> (). dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.any.html
        """

    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Write what a Python function makes of each element. Waits for the values. RuntimeError for a
        tensor that requires a gradient, TypeError where no number comes.

        https://pytorch.org/docs/stable/generated/torch.Tensor.apply_.html
        """

    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise acos; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arccos.html
        """

    def arccos_(self) -> Self:
        """In-place form of `acos`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arccos_.html
        """

    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise acosh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arccosh.html
        """

    def arccosh_(self) -> Self:
        """In-place form of `acosh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arccosh_.html
        """

    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise asin; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arcsin.html
        """

    def arcsin_(self) -> Self:
        """In-place form of `asin`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arcsin_.html
        """

    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise asinh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arcsinh.html
        """

    def arcsinh_(self) -> Self:
        """In-place form of `asinh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arcsinh_.html
        """

    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise atan; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctan.html
        """

    def arctan2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point (other, input); its gradient at the origin is 0.

        Shape: the inputs', broadcast. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctan2.html
        """

    def arctan2_(self, other: Tensor) -> Self:
        """In-place form of `atan2`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctan2_.html
        """

    def arctan_(self) -> Self:
        """In-place form of `atan`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctan_.html
        """

    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise atanh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctanh.html
        """

    def arctanh_(self) -> Self:
        """In-place form of `atanh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.arctanh_.html
        """

    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """The index of the maximum, the first of ties.

        Shapes: (2, 3) -> (). dtype: int64.
        Raises RuntimeError for bools and complex numbers.
        Raises IndexError: ...(): Expected reduction dim to be specified for input.numel() == 0.
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.argmax.html
        """

    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """The index of the minimum, the first of ties.

        Shapes: (2, 3) -> (). dtype: int64.
        Raises RuntimeError for bools and complex numbers.
        Raises IndexError: ...(): Expected reduction dim to be specified for input.numel() == 0.
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.argmin.html
        """

    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Tensor:
        """The indices that sort along `dim`.

        Shape: the input's. dtype: int64.
        Raises RuntimeError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.argsort.html
        """

    def argwhere(self) -> Tensor:
        """The indices of nonzero elements, one per row: int64 of shape (count, ndim).

        https://pytorch.org/docs/stable/generated/torch.Tensor.argwhere.html
        """

    def as_strided(
        self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = None
    ) -> Tensor:
        """Any strides over the input's memory.

        Shapes: (2, 3) -> (1,). dtype: the input's.
        Raises RuntimeError: mismatch in length of strides and shape
        Raises RuntimeError: as_strided: Negative strides are not supported at the moment, got
          strides: ...
        Raises RuntimeError: setStorage: sizes ..., strides ..., storage offset ..., and itemsize
          ... requiring a storage ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.as_strided.html
        """

    def as_strided_(
        self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = None
    ) -> Self:
        """Other strides over the same memory, in place.

        Shapes: (2, 3) -> (1,). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.as_strided_.html
        """

    def as_strided_scatter(
        self,
        src: Tensor,
        size: _int | Sequence[_int],
        stride: _int | Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """A dense tensor (offset 0) with part of its memory replaced; strides and offset in elements.

        Shape: that of the inputs, which is one. dtype: the input's.
        Raises RuntimeError: mismatch in length of strides and shape
        Raises RuntimeError: as_strided: Negative strides are not supported at the moment, got
          strides: ...
        Raises RuntimeError: setStorage: sizes ..., strides ..., storage offset ..., and itemsize
          ... requiring a storage ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.as_strided_scatter.html
        """

    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise asin; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.asin.html
        """

    def asin_(self) -> Self:
        """In-place form of `asin`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.asin_.html
        """

    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise asinh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.asinh.html
        """

    def asinh_(self) -> Self:
        """In-place form of `asinh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.asinh_.html
        """

    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise atan; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atan.html
        """

    def atan2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point (other, input); its gradient at the origin is 0.

        Shape: the inputs', broadcast. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atan2.html
        """

    def atan2_(self, other: Tensor) -> Self:
        """In-place form of `atan2`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atan2_.html
        """

    def atan_(self) -> Self:
        """In-place form of `atan`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atan_.html
        """

    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise atanh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atanh.html
        """

    def atanh_(self) -> Self:
        """In-place form of `atanh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.atanh_.html
        """

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Sequence[Tensor] | Tensor | None = None,
        *,
        retain_variables: _bool | None = None,
    ) -> None:
        """Gradient of this tensor with respect to graph leaves. `gradient`: a tensor of exactly this
        shape; needed unless this tensor has one element. `retain_variables`: see `backward`.

        Raises RuntimeError: `inputs` argument to `backward()` cannot be empty.

        https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html
        """

    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _Number = 1,
        alpha: _Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """beta * input + alpha * batch1 @ batch2.

        Raises RuntimeError: batch1 must be a 3D tensor
        Raises RuntimeError: batch2 must be a 3D tensor
        Raises RuntimeError: Expected size for first two dimensions of batch2 tensor to be: ... but
          got: ....

        https://pytorch.org/docs/stable/generated/torch.Tensor.baddbmm.html
        """

    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Self:
        """In-place form of `baddbmm`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.baddbmm_.html
        """

    def bernoulli(self, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """Ones with the probabilities in the input, otherwise zeros.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bernoulli.html
        """

    def bernoulli_(self, p: _float | Tensor = 0.5, *, generator: Generator | None = None) -> Self:
        """Set each element to 1 with probability `p`, a number or a tensor of them, otherwise 0.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bernoulli_.html
        """

    def bfloat16(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.bfloat16.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bfloat16.html
        """

    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each number occurs in a vector of non-negative integers.

        Raises RuntimeError: minlength should be >= 0
        Raises NotImplementedError: "bincount_cpu" not implemented for '...'
        Raises RuntimeError: weights should be 1-d and have the same length as input

        https://pytorch.org/docs/stable/generated/torch.Tensor.bincount.html
        """

    def bitwise_and(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Bitwise, on integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_and.html
        """

    def bitwise_and_(self, other: Tensor | _Number) -> Self:
        """In-place form of `bitwise_and`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_and_.html
        """

    def bitwise_left_shift(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Bitwise, on integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_left_shift.html
        """

    def bitwise_left_shift_(self, other: Tensor | _Number) -> Self:
        """In-place form of `bitwise_left_shift`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_left_shift_.html
        """

    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """Bitwise not, logical not for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_not.html
        """

    def bitwise_not_(self) -> Self:
        """In-place form of `bitwise_not`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_not_.html
        """

    def bitwise_or(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Bitwise, on integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_or.html
        """

    def bitwise_or_(self, other: Tensor | _Number) -> Self:
        """In-place form of `bitwise_or`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_or_.html
        """

    def bitwise_right_shift(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Bitwise, on integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_right_shift.html
        """

    def bitwise_right_shift_(self, other: Tensor | _Number) -> Self:
        """In-place form of `bitwise_right_shift`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_right_shift_.html
        """

    def bitwise_xor(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Bitwise, on integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_xor.html
        """

    def bitwise_xor_(self, other: Tensor | _Number) -> Self:
        """In-place form of `bitwise_xor`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bitwise_xor_.html
        """

    def bmm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Batched matrix products.

        Shapes: (2, 3, 4), (2, 4, 5) -> (2, 3, 5). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: batch1 must be a 3D tensor
        Raises RuntimeError: batch2 must be a 3D tensor
        Raises RuntimeError: Expected size for first two dimensions of batch2 tensor to be: ... but
          got: ....

        https://pytorch.org/docs/stable/generated/torch.Tensor.bmm.html
        """

    def bool(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bool.html
        """

    @overload
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """A view of the input, broadcast to `size`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.broadcast_to.html
        """
    @overload
    def broadcast_to(self, *size: _int) -> Tensor: ...
    def bucketize(self, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False) -> Tensor:
        """The index of each number's bucket between sorted boundaries, int64 or int32.

        https://pytorch.org/docs/stable/generated/torch.Tensor.bucketize.html
        """

    def byte(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.uint8.

        https://pytorch.org/docs/stable/generated/torch.Tensor.byte.html
        """

    def cauchy_(
        self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None
    ) -> Self:
        """In-place form of `cauchy`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cauchy_.html
        """

    def ccol_indices(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ccol_indices.html
        """

    def cdouble(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.complex128.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cdouble.html
        """

    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise ceil; the gradient is 0.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.
        Raises NotImplementedError: ... is not supported for complex inputs

        https://pytorch.org/docs/stable/generated/torch.Tensor.ceil.html
        """

    def ceil_(self) -> Self:
        """In-place form of `ceil`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ceil_.html
        """

    def celu_(self, alpha: _Number = 1.0) -> Self:
        """In-place form of `celu`."""

    def cfloat(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.complex64.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cfloat.html
        """

    def chalf(self, memory_format: memory_format | None = None) -> Tensor:
        """Raises NotImplementedError: there is no complex32 here.

        https://pytorch.org/docs/stable/generated/torch.Tensor.chalf.html
        """

    def char(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.int8.

        https://pytorch.org/docs/stable/generated/torch.Tensor.char.html
        """

    def cholesky(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """A triangular factor; LinAlgError unless `input` is positive-definite.

        Shapes: (3, 3) -> (3, 3). dtype: the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cholesky.html
        """

    def cholesky_inverse(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """The inverse of the matrix whose Cholesky factor is `input`.

        Shapes: (3, 3) -> (3, 3). dtype: the input's.
        Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ...
          matrices

        https://pytorch.org/docs/stable/generated/torch.Tensor.cholesky_inverse.html
        """

    def cholesky_solve(self, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """X of A X = input, where input2 is a Cholesky factor of A.

        Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
        Raises RuntimeError: b should have at least 2 dimensions, but has ... dimensions instead
        Raises RuntimeError: u should have at least 2 dimensions, but has ... dimensions instead
        Raises RuntimeError: Expected b and A to have the same dtype, but found b of type ... and A
          of type ... instead.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cholesky_solve.html
        """

    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` parts of equal size along `dim`.

        dtype: the input's.
        Raises RuntimeError: chunk expects at least a 1-dimensional tensor
        Raises RuntimeError: chunk expects `chunks` to be greater than 0, got: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.chunk.html
        """

    def clamp(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Values clamped to [min, max]; the gradient at a bound is 1.

        Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
        Raises NotImplementedError: ... is not supported for complex types

        https://pytorch.org/docs/stable/generated/torch.Tensor.clamp.html
        """

    def clamp_(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Self:
        """In-place form of `clamp`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.clamp_.html
        """

    def clamp_max(self, max: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Values clamped from above.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
        Raises NotImplementedError: ... is not supported for complex types
        """

    def clamp_max_(self, max: Tensor | _Number) -> Self:
        """In-place form of `clamp_max`."""

    def clamp_min(self, min: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Values clamped from below.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
        Raises NotImplementedError: ... is not supported for complex types
        """

    def clamp_min_(self, min: Tensor | _Number) -> Self:
        """In-place form of `clamp_min`."""

    def clip(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Values clamped to [min, max]; the gradient at a bound is 1.

        Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
        Raises NotImplementedError: ... is not supported for complex types

        https://pytorch.org/docs/stable/generated/torch.Tensor.clip.html
        """

    def clip_(self, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Self:
        """In-place form of `clamp`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.clip_.html
        """

    def clone(self, *, memory_format: memory_format | None = None) -> Tensor:
        """A copy with history, laid out like the input unless a format is given.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.clone.html
        """

    def coalesce(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.coalesce.html
        """

    def col_indices(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.col_indices.html
        """

    def conj(self) -> Tensor:
        """The conjugate as a view, computed on use. A view; real tensors are returned unchanged.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.conj.html
        """

    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """The element-wise conjugate, computed at once.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.conj_physical.html
        """

    def conj_physical_(self) -> Self:
        """In-place form of `conj_physical`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.conj_physical_.html
        """

    def contiguous(self, memory_format: memory_format = ...) -> Tensor:
        """`self` if it already has the memory format, row-major by default, otherwise a copy in it.
        RuntimeError if the format needs another number of dimensions.

        https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html
        """

    def copy_(self, other: Tensor | _Number, non_blocking: _bool = False) -> Self:
        """Copy `other`, a number or a tensor that expands to this shape, into this tensor, in its
        dtype. `non_blocking` has no effect: a session runs everything in order. TypeError for
        anything else.

        https://pytorch.org/docs/stable/generated/torch.Tensor.copy_.html
        """

    def copysign(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The magnitude of `input` with the sign of `other`.

        Shape: the inputs', broadcast. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.copysign.html
        """

    def copysign_(self, other: Tensor | _Number) -> Self:
        """In-place form of `copysign`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.copysign_.html
        """

    def corrcoef(self) -> Tensor:
        """The correlation coefficients of variables, one per row.

        https://pytorch.org/docs/stable/generated/torch.Tensor.corrcoef.html
        """

    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise cos; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cos.html
        """

    def cos_(self) -> Self:
        """In-place form of `cos`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cos_.html
        """

    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise cosh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cosh.html
        """

    def cosh_(self) -> Self:
        """In-place form of `cosh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cosh_.html
        """

    def count_nonzero(self, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None) -> Tensor:
        """The number of nonzero elements.

        Shapes: (2, 3) -> (). dtype: int64.

        https://pytorch.org/docs/stable/generated/torch.Tensor.count_nonzero.html
        """

    def cov(
        self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
    ) -> Tensor:
        """The covariance matrix of variables, one per row.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cov.html
        """

    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """Without `dim`, along the first dimension of size 3.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cross.html
        """

    def crow_indices(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.crow_indices.html
        """

    def cummax(self, dim: _int) -> return_types.cummax:
        """The cumulative maximum along `dim` and its index, the last of ties.

        Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
        Raises NotImplementedError for complex numbers.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.cummax.html
        """

    def cummin(self, dim: _int) -> return_types.cummin:
        """The cumulative minimum along `dim` and its index, the last of ties.

        Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
        Raises NotImplementedError for complex numbers.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.cummin.html
        """

    def cumprod(self, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
        """Cumulative product along `dim`; the gradient is exact with zeros.

        Shapes: (2, 3) -> (2, 3). dtype: the input's; int64 of bools.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.cumprod.html
        """

    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Self:
        """In-place form of `cumprod`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cumprod_.html
        """

    def cumsum(self, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
        """Cumulative sum along `dim`; bools and integers give int64.

        Shapes: (2, 3) -> (2, 3). dtype: the input's; int64 of bools.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.cumsum.html
        """

    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Self:
        """In-place form of `cumsum`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.cumsum_.html
        """

    def data_ptr(self) -> _int:
        """Where the first element is, 0 without elements. The address is made up: it tells which
        tensors share memory.

        https://pytorch.org/docs/stable/generated/torch.Tensor.data_ptr.html
        """

    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """Degrees to radians.

        Shape: the input's. dtype: float32.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... is not supported for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.deg2rad.html
        """

    def deg2rad_(self) -> Self:
        """In-place form of `deg2rad`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.deg2rad_.html
        """

    def dense_dim(self) -> _int:
        """The number of dimensions of a dense tensor.

        https://pytorch.org/docs/stable/generated/torch.Tensor.dense_dim.html
        """

    def det(self, *, out: Tensor | None = None) -> Tensor:
        """The determinants of square matrices.

        Shapes: (3, 3) -> (). dtype: the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.det.html
        """

    def detach(self) -> Tensor:
        """An alias without history that shares memory and version counter.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html
        """

    def detach_(self) -> Self:
        """Cut this tensor from its graph.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError: Can't detach views in-place. Use detach() instead. If you are using
          DistributedDataParallel ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.detach_.html
        """

    def diag(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The diagonal of a matrix, or a matrix with a given diagonal.

        Shapes: (2, 3) -> (2,). dtype: the input's.
        Raises RuntimeError: diag(): Supports 1D or 2D tensors. Got ...D

        https://pytorch.org/docs/stable/generated/torch.Tensor.diag.html
        """

    def diag_embed(
        self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Tensor | None = None
    ) -> Tensor:
        """The last dimension as the diagonal of two new ones.

        Shapes: (2, 3) -> (2, 3, 3). dtype: the input's.
        Raises RuntimeError: diagonal dimensions cannot be identical ..., ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.diag_embed.html
        """

    def diagflat(self, offset: _int = 0) -> Tensor:
        """A matrix with all elements on its diagonal.

        Shapes: (2, 3) -> (6, 6). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.diagflat.html
        """

    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonal of two dimensions, as a last dimension.

        Shapes: (2, 3) -> (2,). dtype: the input's.
        Raises RuntimeError: diagonal dimensions cannot be identical ..., ...
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.diagonal.html
        """

    def diagonal_scatter(
        self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None
    ) -> Tensor:
        """A copy with a diagonal replaced by `src`.

        Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
          slice size = ...
        Raises RuntimeError: diagonal dimensions cannot be identical ..., ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.diagonal_scatter.html
        """

    def diff(
        self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None
    ) -> Tensor:
        """Differences of neighbours along `dim`, taken `n` times.

        https://pytorch.org/docs/stable/generated/torch.Tensor.diff.html
        """

    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """The derivative of lgamma.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.digamma.html
        """

    def digamma_(self) -> Self:
        """In-place form of `digamma`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.digamma_.html
        """

    def dist(self, other: Tensor, p: _Number = 2, *, out: Tensor | None = None) -> Tensor:
        """The p-norm of the difference.

        Shapes: (2, 3), (2, 3) -> (). dtype: float32.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: norm(): input dtype should be either floating point or complex. Got ...
          instead.

        https://pytorch.org/docs/stable/generated/torch.Tensor.dist.html
        """

    def div(
        self, other: Tensor | _Number, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Division; without `rounding_mode` integers give the default float type.

        Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
        Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but
          found '...'

        https://pytorch.org/docs/stable/generated/torch.Tensor.div.html
        """

    def div_(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Self:
        """In-place form of `div`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.div_.html
        """

    def divide(
        self, other: Tensor | _Number, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Division; without `rounding_mode` integers give the default float type.

        Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
        Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but
          found '...'

        https://pytorch.org/docs/stable/generated/torch.Tensor.divide.html
        """

    def divide_(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Self:
        """In-place form of `div`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.divide_.html
        """

    def dot(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The dot product of two vectors, without conjugation.

        Shapes: (3,), (3,) -> (). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: 1D tensors expected, but got ...D and ...D tensors
        Raises RuntimeError: dot : expected both vectors to have same dtype, but found ... and ...
        Raises RuntimeError: inconsistent tensor size, expected tensor [...] and src [...] to have
          the same number of ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.dot.html
        """

    def double(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.float64.

        https://pytorch.org/docs/stable/generated/torch.Tensor.double.html
        """

    @overload
    def dsplit(self, indices_or_sections: _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along a dimension: a number of equal ones, or cut at indices.

        https://pytorch.org/docs/stable/generated/torch.Tensor.dsplit.html
        """
    @overload
    def dsplit(self, *, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def dsplit(self, *, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: ...
    def elu_(self, alpha: _Number = 1.0, scale: _Number = 1.0, input_scale: _Number = 1.0) -> Self:
        """In-place form of `elu`."""

    def eq(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input == other.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.eq.html
        """

    def eq_(self, other: Tensor | _Number) -> Self:
        """In-place form of `eq`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.eq_.html
        """

    def equal(self, other: Tensor) -> _bool:
        """Whether shape and elements are the same, as a Python bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.equal.html
        """

    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """The error function.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erf.html
        """

    def erf_(self) -> Self:
        """In-place form of `erf`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erf_.html
        """

    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """1 - erf(input).

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erfc.html
        """

    def erfc_(self) -> Self:
        """In-place form of `erfc`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erfc_.html
        """

    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of the error function.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erfinv.html
        """

    def erfinv_(self) -> Self:
        """In-place form of `erfinv`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.erfinv_.html
        """

    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise exp; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.exp.html
        """

    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise exp2; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.exp2.html
        """

    def exp2_(self) -> Self:
        """In-place form of `exp2`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.exp2_.html
        """

    def exp_(self) -> Self:
        """In-place form of `exp`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.exp_.html
        """

    @overload
    def expand(self, size: Sequence[_int], *, implicit: _bool = False) -> Tensor:
        """Dimensions of size 1 repeated without memory.

        Raises RuntimeError: expand(...{...}, size=...): the number of sizes provided (...) must be
          greater or equal to the ...
        Raises RuntimeError: The expanded size of the tensor (...) isn't allowed in a leading, non-
          existing dimension ...
        Raises RuntimeError: The expanded size of the tensor (...) must match the existing size
          (...) at non-singleton ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.expand.html
        """
    @overload
    def expand(self, *size: _int, implicit: _bool = False) -> Tensor: ...
    def expand_as(self, other: Tensor) -> Tensor:
        """A view expanded to the shape of `other`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.expand_as.html
        """

    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise expm1; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.expm1.html
        """

    def expm1_(self) -> Self:
        """In-place form of `expm1`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.expm1_.html
        """

    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """In-place form of `exponential`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.exponential_.html
        """

    def fill_(self, value: Tensor | _Number) -> Self:
        """In-place form of `fill`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html
        """

    def fill_diagonal_(self, fill_value: _Number, wrap: _bool = False) -> Self:
        """Fill the diagonal with a number, in place.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fill_diagonal_.html
        """

    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise trunc; the gradient is 0.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.
        Raises NotImplementedError: ... is not supported for complex inputs

        https://pytorch.org/docs/stable/generated/torch.Tensor.fix.html
        """

    def fix_(self) -> Self:
        """In-place form of `trunc`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fix_.html
        """

    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions `start_dim` to `end_dim` merged; the tensor itself if there is nothing to merge.
        A 1-D tensor is returned itself.

        Shapes: (2, 3) -> (6,). dtype: the input's.
        Raises RuntimeError: flatten() has invalid args: start_dim cannot come after end_dim
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.flatten.html
        """

    @overload
    def flip(self, dims: Sequence[_int]) -> Tensor:
        """The tensor with `dims` reversed.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: dim ... appears multiple times in the list of dims

        https://pytorch.org/docs/stable/generated/torch.Tensor.flip.html
        """
    @overload
    def flip(self, *axes: _int) -> Tensor: ...
    def fliplr(self) -> Tensor:
        """The tensor with its second dimension reversed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fliplr.html
        """

    def flipud(self) -> Tensor:
        """The tensor with its first dimension reversed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.flipud.html
        """

    def float(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.float32.

        https://pytorch.org/docs/stable/generated/torch.Tensor.float.html
        """

    def float_power(self, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """input ** exponent in double precision.

        Shape: the inputs', broadcast. dtype: float64; complex128 of complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.float_power.html
        """

    def float_power_(self, exponent: Tensor | _Number) -> Self:
        """The in-place form of `float_power`; RuntimeError unless the tensor is in double precision.

        https://pytorch.org/docs/stable/generated/torch.Tensor.float_power_.html
        """

    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise floor; the gradient is 0.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.
        Raises NotImplementedError: ... is not supported for complex inputs

        https://pytorch.org/docs/stable/generated/torch.Tensor.floor.html
        """

    def floor_(self) -> Self:
        """In-place form of `floor`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.floor_.html
        """

    def floor_divide(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The quotient rounded down; it has no derivative.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.floor_divide.html
        """

    def floor_divide_(self, other: Tensor | _Number) -> Self:
        """In-place form of `floor_divide`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.floor_divide_.html
        """

    def fmax(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of two, or the other one if one is nan; a tie goes to the first.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fmax.html
        """

    def fmin(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two, or the other one if one is nan; a tie goes to the first.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fmin.html
        """

    def fmod(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The remainder of trunc division.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fmod.html
        """

    def fmod_(self, other: Tensor | _Number) -> Self:
        """In-place form of `fmod`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.fmod_.html
        """

    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """The fractional part, with the sign of the input.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.frac.html
        """

    def frac_(self) -> Self:
        """In-place form of `frac`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.frac_.html
        """

    def frexp(self) -> return_types.frexp:
        """A fraction in [1/2, 1) and a power of two for each number. Mantissa and exponent (int32).

        Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int32.
        Raises RuntimeError for integers, bools and complex numbers.
        Raises RuntimeError: torch.frexp() only supports floating-point dtypes

        https://pytorch.org/docs/stable/generated/torch.Tensor.frexp.html
        """

    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """out[i][j] = input[index[i][j]][j] for dim 0. The gradient is always dense, `sparse_grad` is
        ignored.

        Shapes: (2, 3), (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: gather(): Expected dtype int32/int64 for index
        Raises RuntimeError: Index tensor must have the same number of dimensions as input tensor
        Raises RuntimeError: Size does not match at dimension ... expected index ... to be no larger
          than self ... apart from ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.gather.html
        """

    def gcd(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The non-negative greatest common divisor.

        https://pytorch.org/docs/stable/generated/torch.Tensor.gcd.html
        """

    def gcd_(self, other: Tensor) -> Self:
        """In-place form of `gcd`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.gcd_.html
        """

    def ge(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input >= other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ge.html
        """

    def ge_(self, other: Tensor | _Number) -> Self:
        """In-place form of `ge`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ge_.html
        """

    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """In-place form of `geometric`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.geometric_.html
        """

    def geqrf(self, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
        """R, and below it Householder reflections whose product is Q, with their factors. A, tau.

        Shapes: (2, 3) -> (2, 3), (2,). dtype: the input's, the input's.
        Raises NotImplementedError for integers and bools.
        Raises RuntimeError: torch.geqrf: input must have at least 2 dimensions.
        Raises NotImplementedError: "geqrf_cpu" not implemented for '...'

        https://pytorch.org/docs/stable/generated/torch.Tensor.geqrf.html
        """

    def ger(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The outer product of two vectors.

        Shapes: (3,), (3,) -> (3, 3). dtype: the input's.
        Raises RuntimeError: outer: Expected 1-D argument ..., but got ...-D

        https://pytorch.org/docs/stable/generated/torch.Tensor.ger.html
        """

    def get_device(self) -> _int:
        """The number of the session's GPU, -1 for a CPU.

        https://pytorch.org/docs/stable/generated/torch.Tensor.get_device.html
        """

    def greater(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input > other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.greater.html
        """

    def greater_(self, other: Tensor | _Number) -> Self:
        """In-place form of `gt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.greater_.html
        """

    def greater_equal(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input >= other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.greater_equal.html
        """

    def greater_equal_(self, other: Tensor | _Number) -> Self:
        """In-place form of `ge`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.greater_equal_.html
        """

    def gt(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input > other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.gt.html
        """

    def gt_(self, other: Tensor | _Number) -> Self:
        """In-place form of `gt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.gt_.html
        """

    def half(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.float16.

        https://pytorch.org/docs/stable/generated/torch.Tensor.half.html
        """

    def hardshrink(self, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
        """0 within [-lambd, lambd].

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.
        Raises RuntimeError: lambda must be in range [0, ...] for input dtype ..., but found ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.hardshrink.html
        """

    def hardsigmoid_(self) -> Self:
        """In-place form of `hardsigmoid`."""

    def hardswish_(self) -> Self:
        """In-place form of `hardswish`."""

    def hardtanh_(self, min_val: _Number = -1.0, max_val: _Number = 1.0) -> Self:
        """In-place form of `hardtanh`."""

    def hash_tensor(
        self,
        dim: _int | Sequence[_int] | None = None,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
        out: Tensor | None = None,
    ) -> Tensor:
        """The exclusive or of the elements' bits, widened to 64. uint64, over `dim` or over all;
        floats count as float64, integers as int64. `mode` is 0: there is no other way to hash.

        Shapes: (2, 3) -> (). dtype: uint64.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: Unknown hash_tensor mode: ...
        Raises NotImplementedError: "xor_sum_cpu" not implemented for '...'
        Raises RuntimeError: hash_tensor: Expected reduction dim to be specified for input.numel()
          == 0. Specify the ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.hash_tensor.html
        """

    def heaviside(self, values: Tensor, *, out: Tensor | None = None) -> Tensor:
        """0 below zero, 1 above, and `values` at zero; it has no derivative.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: heaviside is not yet implemented for complex tensors.
        Raises RuntimeError: heaviside is not yet implemented for tensors with different dtypes.

        https://pytorch.org/docs/stable/generated/torch.Tensor.heaviside.html
        """

    def heaviside_(self, values: Tensor) -> Self:
        """In-place form of `heaviside`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.heaviside_.html
        """

    def histc(
        self, bins: _int = 100, min: _Number = 0, max: _Number = 0, *, out: Tensor | None = None
    ) -> Tensor:
        """A histogram, over the range of the values if `min` equals `max`.

        Shapes: (2, 3) -> (100,). dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.
        Raises NotImplementedError: "histogram_cpu" not implemented for '...'
        Raises RuntimeError: torch.histogram(): bins must be > 0, but got ... for dimension 0
        Raises RuntimeError: torch.histc: range of [..., ...] is not finite

        https://pytorch.org/docs/stable/generated/torch.Tensor.histc.html
        """

    def histogram(
        self,
        bins: Any,
        *,
        range: Sequence[_float] | None = None,
        weight: Tensor | None = None,
        density: _bool = False,
    ) -> return_types.histogram:
        """How many elements fall into each bin, or their weights, and the edges.

        https://pytorch.org/docs/stable/generated/torch.Tensor.histogram.html
        """

    @overload
    def hsplit(self, indices_or_sections: _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along a dimension: a number of equal ones, or cut at indices.

        https://pytorch.org/docs/stable/generated/torch.Tensor.hsplit.html
        """
    @overload
    def hsplit(self, *, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def hsplit(self, *, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: ...
    def hypot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """sqrt(input**2 + other**2).

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.hypot.html
        """

    def hypot_(self, other: Tensor) -> Self:
        """In-place form of `hypot`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.hypot_.html
        """

    def i0(self, *, out: Tensor | None = None) -> Tensor:
        """The modified Bessel function of order 0.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.i0.html
        """

    def i0_(self) -> Self:
        """In-place form of `i0`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.i0_.html
        """

    def igamma(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The regularized lower incomplete gamma function.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.igamma.html
        """

    def igamma_(self, other: Tensor) -> Self:
        """In-place form of `igamma`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.igamma_.html
        """

    def igammac(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The regularized upper incomplete gamma function.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.igammac.html
        """

    def igammac_(self, other: Tensor) -> Self:
        """In-place form of `igammac`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.igammac_.html
        """

    @property
    def imag(self) -> Tensor:
        """A view of the imaginary parts; of a conjugate view, their negatives, computed. RuntimeError
        for real tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.imag.html
        """
    @imag.setter
    def imag(self, value: Tensor | _Number) -> None: ...
    def index_add(
        self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """A copy with slices of `alpha * source` added at the given indices.

        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises IndexError: index_add_(): Index is supposed to be a vector, but got dim: ... with
          type: ... and size: ...
        Raises RuntimeError: index_add_(): Expected dtype int32/int64 for index but got: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_add.html
        """

    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Number = 1) -> Self:
        """In-place form of `index_add`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html
        """

    def index_copy(self, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
        """A copy with slices of `source` written at the given indices.

        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises IndexError: index_copy_(): Index should have dimension 1 or 0 (got ...)
        Raises IndexError: index_copy_(): When source and destination are not scalars, their
          dimensionality must match. ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_copy.html
        """

    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """In-place form of `index_copy`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html
        """

    def index_fill(
        self, dim: _int, index: Tensor, value: Tensor | _Number, *, out: Tensor | None = None
    ) -> Tensor:
        """A copy with one value written to the slices at the given indices.

        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: index_fill_ only supports a 0-dimensional value tensor, but got tensor
          with ... dimension(s).
        Raises IndexError: index_fill_(): Expected dtype int64 for index.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill.html
        """

    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Self:
        """In-place form of `index_fill`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html
        """

    def index_put(
        self, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False
    ) -> Tensor:
        """A copy with elements replaced, or added to, at index tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_put.html
        """

    def index_put_(self, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False) -> Self:
        """The in-place form of `index_put`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html
        """

    def index_reduce(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with slices of `source` reduced into those at the given indices.

        Raises RuntimeError: index_reduce(): Expected reduce to be one of prod, mean, amax or amin
          but got ....
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: index_reduce_(): Expected dtype int32/int64 for index but got: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_reduce.html
        """

    def index_reduce_(
        self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True
    ) -> Self:
        """In-place form of `index_reduce`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_reduce_.html
        """

    def index_select(self, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The slices along `dim` at the given indices.

        Shapes: (2, 3), (3,) -> (2, 3). dtype: the input's.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises IndexError: index_select(): Index is supposed to be a vector
        Raises RuntimeError: index_select(): Expected dtype int32 or int64 for index

        https://pytorch.org/docs/stable/generated/torch.Tensor.index_select.html
        """

    def indices(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.indices.html
        """

    def inner(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Dot products along the last dimensions.

        Shapes: (2, 3), (2, 3) -> (2, 2). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: inner() the last dimension must match on both input tensors but got
          shapes ... and ...
        Raises RuntimeError: both dimension lists should have same length
        Raises RuntimeError: contracted dimensions need to match, but first has size ... in dim ...
          and second has size ... ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.inner.html
        """

    def int(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.int32.

        https://pytorch.org/docs/stable/generated/torch.Tensor.int.html
        """

    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """The inverses of square matrices; LinAlgError if one is singular.

        Shapes: (3, 3) -> (3, 3). dtype: the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.inverse.html
        """

    def is_coalesced(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_coalesced.html
        """

    @property
    def is_cpu(self) -> _bool:
        """Whether the session computes on a CPU.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_cpu.html
        """

    @property
    def is_ipu(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_ipu.html
        """

    @property
    def is_maia(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_maia.html
        """

    @property
    def is_meta(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_meta.html
        """

    @property
    def is_mkldnn(self) -> _bool:
        """False of a session's tensors."""

    @property
    def is_mps(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_mps.html
        """

    @property
    def is_mtia(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_mtia.html
        """

    def is_neg(self) -> _bool:
        """False, as negatives are never views here.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_neg.html
        """

    @property
    def is_nested(self) -> _bool:
        """False of a session's tensors."""

    def is_nonzero(self) -> _bool:
        """The truth value of the only element; RuntimeError unless there is exactly one."""

    def is_pinned(self, device: _device | str | _int | None = None) -> _bool:
        """False: its memory is the daemon's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_pinned.html
        """

    @property
    def is_quantized(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_quantized.html
        """

    def is_same_size(self, other: Tensor) -> _bool:
        """Whether both have the same shape."""

    def is_set_to(self, tensor: Any) -> _bool:
        """Whether both have the same memory and geometry.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_set_to.html
        """

    def is_shared(self) -> _bool:
        """Whether processes share its memory: they do where the session's device is a GPU, as in
        PyTorch, and never else.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_shared.html
        """

    def is_signed(self) -> _bool:
        """Whether the dtype is signed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_signed.html
        """

    @property
    def is_sparse(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_sparse.html
        """

    @property
    def is_sparse_csr(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_sparse_csr.html
        """

    @property
    def is_vulkan(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_vulkan.html
        """

    @property
    def is_xpu(self) -> _bool:
        """False of a session's tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.is_xpu.html
        """

    def isclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Whether |input - other| <= atol + rtol * |other|.

        Shape: the inputs', broadcast. dtype: bool.
        Raises RuntimeError: ... did not match ...
        Raises RuntimeError: ... must be greater than or equal to zero, but got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.isclose.html
        """

    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is finite.

        Shape: the input's. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isfinite.html
        """

    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is infinite.

        Shape: the input's. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isinf.html
        """

    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is nan.

        Shape: the input's. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isnan.html
        """

    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is -inf.

        Shape: the input's. dtype: bool.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... does not support complex inputs.
        Raises NotImplementedError: signbit is not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isneginf.html
        """

    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is +inf.

        Shape: the input's. dtype: bool.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... does not support complex inputs.
        Raises NotImplementedError: signbit is not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isposinf.html
        """

    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the imaginary part is 0.

        Shape: the input's. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.isreal.html
        """

    def istft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | None = None,
        center: _bool = True,
        normalized: _bool = False,
        onesided: _bool | None = None,
        length: _int | None = None,
        return_complex: _bool = False,
    ) -> Tensor:
        """The signals of which `stft` made spectra.

        Raises RuntimeError: istft requires a complex-valued input tensor matching the output from
          stft with return_complex=True.
        Raises RuntimeError: Complex windows are incompatible with return_complex=False

        https://pytorch.org/docs/stable/generated/torch.Tensor.istft.html
        """

    @property
    def itemsize(self) -> _int:
        """Bytes per element.

        https://pytorch.org/docs/stable/generated/torch.Tensor.itemsize.html
        """

    def kron(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The Kronecker product.

        Shapes: (2, 3), (2, 3) -> (4, 9). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.kron.html
        """

    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> return_types.kthvalue:
        """The `k`-th smallest element along `dim`, and its index.

        Shapes: (2, 3) -> (2,), (2,). dtype: the input's, int64.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: kthvalue(): selected number k out of range for dimension ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.kthvalue.html
        """

    @property
    def layout(self) -> _layout:
        """The memory layout."""

    def lcm(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The non-negative least common multiple.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lcm.html
        """

    def lcm_(self, other: Tensor) -> Self:
        """In-place form of `lcm`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lcm_.html
        """

    def ldexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """input * 2**other.

        Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ldexp.html
        """

    def ldexp_(self, other: Tensor) -> Self:
        """In-place form of `ldexp`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ldexp_.html
        """

    def le(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input <= other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.le.html
        """

    def le_(self, other: Tensor | _Number) -> Self:
        """In-place form of `le`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.le_.html
        """

    def leaky_relu_(self, negative_slope: _float = 0.01) -> Self:
        """In-place form of `leaky_relu`."""

    def lerp(self, end: Tensor, weight: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """input + weight * (end - input); dtypes must agree.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers and bools.
        Raises RuntimeError: expected dtype ... for `...` but got dtype ...
        Raises RuntimeError: value cannot be converted to type ... without overflow

        https://pytorch.org/docs/stable/generated/torch.Tensor.lerp.html
        """

    def lerp_(self, end: Tensor, weight: Tensor | _Number) -> Self:
        """In-place form of `lerp`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lerp_.html
        """

    def less(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input < other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.less.html
        """

    def less_(self, other: Tensor | _Number) -> Self:
        """In-place form of `lt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.less_.html
        """

    def less_equal(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input <= other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.less_equal.html
        """

    def less_equal_(self, other: Tensor | _Number) -> Self:
        """In-place form of `le`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.less_equal_.html
        """

    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the gamma function's absolute value.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lgamma.html
        """

    def lgamma_(self) -> Self:
        """In-place form of `lgamma`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lgamma_.html
        """

    def log(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise log; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log.html
        """

    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise log10; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log10.html
        """

    def log10_(self) -> Self:
        """In-place form of `log10`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log10_.html
        """

    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise log1p; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log1p.html
        """

    def log1p_(self) -> Self:
        """In-place form of `log1p`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log1p_.html
        """

    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise log2; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log2.html
        """

    def log2_(self) -> Self:
        """In-place form of `log2`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log2_.html
        """

    def log_(self) -> Self:
        """In-place form of `log`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log_.html
        """

    def log_normal_(
        self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None
    ) -> Self:
        """In-place form of `log_normal`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.log_normal_.html
        """

    def log_softmax(self, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of softmax along `dim`.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.
        """

    def logaddexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """log(exp(input) + exp(other)).

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logaddexp.html
        """

    def logaddexp2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """log2(2**input + 2**other).

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logaddexp2.html
        """

    def logcumsumexp(self, dim: _int, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the cumulative sum of exponentials along `dim`.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises NotImplementedError for integers and bools.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.logcumsumexp.html
        """

    def logdet(self) -> Tensor:
        """Logarithms of determinants, nan if negative.

        Shapes: (3, 3) -> (). dtype: the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logdet.html
        """

    def logical_and(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Logical and; nonzero counts as true.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_and.html
        """

    def logical_and_(self, other: Tensor) -> Self:
        """In-place form of `logical_and`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_and_.html
        """

    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the input is 0.

        Shape: the input's. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_not.html
        """

    def logical_not_(self) -> Self:
        """In-place form of `logical_not`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_not_.html
        """

    def logical_or(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Logical or; nonzero counts as true.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_or.html
        """

    def logical_or_(self, other: Tensor) -> Self:
        """In-place form of `logical_or`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_or_.html
        """

    def logical_xor(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Logical exclusive or; nonzero counts as true.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_xor.html
        """

    def logical_xor_(self, other: Tensor) -> Self:
        """In-place form of `logical_xor`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logical_xor_.html
        """

    def logit(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """log(x / (1 - x)), with x clamped to [eps, 1 - eps].

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logit.html
        """

    def logit_(self, eps: _float | None = None) -> Self:
        """In-place form of `logit`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logit_.html
        """

    def logsumexp(
        self, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """log(sum(exp(input))) over `dim`.

        Shapes: (2, 3) -> (2,). dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.logsumexp.html
        """

    def long(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.int64.

        https://pytorch.org/docs/stable/generated/torch.Tensor.long.html
        """

    def lt(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input < other.

        Shape: the inputs', broadcast. dtype: bool.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lt.html
        """

    def lt_(self, other: Tensor | _Number) -> Self:
        """In-place form of `lt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lt_.html
        """

    @overload
    def lu(self, pivot: _bool = True, get_infos: Literal[False] = False) -> tuple[Tensor, Tensor]:
        """LU and pivots, and info if `get_infos`; a zero pivot is no error."""
    @overload
    def lu(self, pivot: _bool = True, *, get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]: ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The solution of a linear system from its LU factors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.lu_solve.html
        """

    @property
    def mH(self) -> Tensor:
        """`adjoint`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mH.html
        """
    @mH.setter
    def mH(self, value: Tensor | _Number) -> None: ...
    @property
    def mT(self) -> Tensor:
        """The last two dimensions swapped; RuntimeError for a vector.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mT.html
        """
    @mT.setter
    def mT(self, value: Tensor | _Number) -> None: ...
    def map2_(self, x: Tensor, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Self:
        """As `apply_`, of each element and those of two more tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.map2_.html
        """

    def map_(self, tensor: Any, callable: Callable[[Any, Any], Any]) -> Self:
        """As `apply_`, of each element and another tensor's, which is broadcast.

        https://pytorch.org/docs/stable/generated/torch.Tensor.map_.html
        """

    def masked_fill(self, mask: Tensor, value: Tensor | _Number) -> Tensor:
        """A copy with `value` where the mask is true.

        Raises RuntimeError: masked_fill_ only supports a 0-dimensional value tensor, but got tensor
          with ... dimension(s).
        Raises RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype ...
        Raises RuntimeError: value cannot be converted to type ... without overflow

        https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
        """

    def masked_fill_(self, mask: Tensor, value: Tensor | _Number) -> Self:
        """In-place form of `masked_fill`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill_.html
        """

    def masked_scatter(self, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
        """A copy with the masked elements replaced by those of `source`, in order.

        Raises RuntimeError: masked_scatter: expected self and source to have same dtypes but got...
          and ...
        Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at
          non-singleton dimension ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter.html
        """

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """In-place form of `masked_scatter`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html
        """

    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements that a mask selects, as a vector.

        Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at
          non-singleton dimension ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.masked_select.html
        """

    def matmul(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of vectors, matrices or batches of them.

        Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: both arguments to matmul need to be at least 1D, but they are ...D and
          ...D

        https://pytorch.org/docs/stable/generated/torch.Tensor.matmul.html
        """

    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices.

        Shapes: (3, 3) -> (3, 3). dtype: the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.matrix_exp.html
        """

    def matrix_power(self, n: _int, *, out: Tensor | None = None) -> Tensor:
        """The `n`-th power of square matrices, of the inverse if `n` < 0.

        Shapes: (3, 3) -> (3, 3). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.matrix_power.html
        """

    @overload
    def max(self) -> Tensor:
        """The maximum over all, of two tensors, or along `dim` as values and indices. Over all
        elements; along `dim`, with indices; or of two tensors.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.max.html
        """
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> return_types.max: ...
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    def maximum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of two, nan if either is nan; a tie halves the gradient.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.maximum.html
        """

    def mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Mean over `dim` or over all; floating-point and complex only.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: mean(): could not infer output dtype. ... must be either a floating
          point or complex dtype. Got: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.mean.html
        """

    @overload
    def median(self) -> Tensor:
        """The median over all elements, or along `dim` as values and indices. Of all, or along `dim`
        with indices.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.median.html
        """
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> return_types.median: ...
    @overload
    def min(self) -> Tensor:
        """The minimum over all, of two tensors, or along `dim` as values and indices. Over all
        elements; along `dim`, with indices; or of two tensors.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.min.html
        """
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> return_types.min: ...
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    def minimum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two, nan if either is nan; a tie halves the gradient.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.minimum.html
        """

    def mish_(self) -> Self:
        """In-place form of `mish`."""

    def mm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of two matrices.

        Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: self must be a matrix
        Raises RuntimeError: mat2 must be a matrix
        Raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (...x... and ...x...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.mm.html
        """

    def mode(self, dim: _int = -1, keepdim: _bool = False) -> return_types.mode:
        """The most frequent value along `dim`, the smallest of ties, and its index.

        Shapes: (2, 3) -> (2,), (2,). dtype: the input's, int64.
        Raises NotImplementedError for complex numbers.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
          Specify the reduction dim ...
        Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mode.html
        """

    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """Dimensions moved to other positions; a view.

        https://pytorch.org/docs/stable/generated/torch.Tensor.moveaxis.html
        """

    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """Dimensions moved to other positions; a view.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: movedim: Invalid source or destination dims: source (... dims) should
          contain the same number of ...
        Raises RuntimeError: movedim: repeated dim in `...` (...)
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.movedim.html
        """

    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """Values sorted along the first dimension.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.msort.html
        """

    def mul(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Element-wise product.

        Shape: the inputs', broadcast. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mul.html
        """

    def mul_(self, other: Tensor | _Number) -> Self:
        """In-place form of `mul`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mul_.html
        """

    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        out: Tensor | None = None,
        generator: Generator | None = None,
    ) -> Tensor:
        """Indices drawn by the weights in each row.

        Shapes: (2, 3) -> (2, 1). dtype: int64.
        Raises RuntimeError for integers, bools and complex numbers.
        Raises RuntimeError: prob_dist must be 1 or 2 dim
        Raises RuntimeError: multinomial only supports floating-point dtypes for input, got: ...
        Raises RuntimeError: number of categories cannot exceed 2^24

        https://pytorch.org/docs/stable/generated/torch.Tensor.multinomial.html
        """

    def multiply(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Element-wise product.

        Shape: the inputs', broadcast. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.multiply.html
        """

    def multiply_(self, other: Tensor | _Number) -> Self:
        """In-place form of `mul`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.multiply_.html
        """

    def mv(self, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of a matrix and a vector.

        Shapes: (2, 3), (3,) -> (2,). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: vector + matrix @ vector expected, got ..., ..., ...
        Raises RuntimeError: size mismatch, got input (...), mat (...x...), vec (...)
        Raises RuntimeError: addmv input tensors must have the same dtype, but got ..., ..., and ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.mv.html
        """

    def mvlgamma(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p.

        Shape: the input's. dtype: float32.
        Raises RuntimeError for bools.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: The input tensor may not be a boolean tensor.
        Raises RuntimeError: p has to be greater than or equal to 1
        Raises RuntimeError: mvlgamma: p has to be at most ..., but got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.mvlgamma.html
        """

    def mvlgamma_(self, p: _int) -> Self:
        """In-place form of `mvlgamma`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.mvlgamma_.html
        """

    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """nan and infinities replaced, by default with 0 and the dtype's limits.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nan_to_num.html
        """

    def nan_to_num_(
        self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None
    ) -> Self:
        """In-place form of `nan_to_num`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nan_to_num_.html
        """

    def nanmean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Mean that ignores nan.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises RuntimeError for integers, bools and complex numbers.
        Raises RuntimeError: nanmean(): expected input to have floating point or complex dtype but
          got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.nanmean.html
        """

    @overload
    def nanmedian(self) -> Tensor:
        """The nanmedian over all elements, or along `dim` as values and indices. Of all, or along
        `dim` with indices.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nanmedian.html
        """
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> return_types.nanmedian: ...
    def nanquantile(
        self,
        q: Tensor | _Number,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = "linear",
        out: Tensor | None = None,
    ) -> Tensor:
        """The `q`-th quantiles, over all or along `dim`.

        Shapes: (2, 3), (3,) -> (3,). dtype: the input's.
        Raises RuntimeError for integers, bools and complex numbers.
        Raises RuntimeError: ...() q must be in the range [0, 1] but got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.nanquantile.html
        """

    def nansum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Sum with nan counted as 0.

        Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: nansum does not support complex inputs

        https://pytorch.org/docs/stable/generated/torch.Tensor.nansum.html
        """

    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """`length` elements of `dim` from `start`. `start` may be a one-element integer tensor, which
        is read.

        Shapes: (2, 3) -> (2, 1). dtype: the input's.
        Raises RuntimeError: narrow() cannot be applied to a 0-dim tensor.
        Raises RuntimeError: narrow(): length must be non-negative.
        Raises IndexError: start out of range (expected to be in range of [..., ...], but got ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.narrow.html
        """

    def narrow_copy(self, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
        """As `narrow`, copied.

        Shapes: (2, 3) -> (2, 1). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.narrow_copy.html
        """

    def ne(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input != other.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ne.html
        """

    def ne_(self, other: Tensor | _Number) -> Self:
        """In-place form of `ne`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ne_.html
        """

    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise negation.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError for bools.
        Raises RuntimeError: Negation, the `-` operator, on a bool tensor is not supported. If you
          are trying to invert a ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.neg.html
        """

    def neg_(self) -> Self:
        """In-place form of `neg`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.neg_.html
        """

    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise negation.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError for bools.
        Raises RuntimeError: Negation, the `-` operator, on a bool tensor is not supported. If you
          are trying to invert a ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.negative.html
        """

    def negative_(self) -> Self:
        """In-place form of `neg`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.negative_.html
        """

    def new(self, *given: Any, device: _device | str | _int | None = None) -> Tensor:
        """A tensor of the same dtype: of the sizes given, which hold anything, or of a list's values
        (torch.Tensor.new, deprecated).
        """

    @overload
    def new_empty(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """As torch.empty, of this tensor's dtype unless one is given.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_empty.html
        """
    @overload
    def new_empty(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor: ...
    def new_empty_strided(
        self,
        size: _int | Sequence[_int],
        stride: _int | Sequence[_int],
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """As torch.empty_strided, of this tensor's dtype unless one is given.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_empty_strided.html
        """

    def new_full(
        self,
        size: _int | Sequence[_int],
        fill_value: _Number,
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """As torch.full, of this tensor's dtype unless one is given.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_full.html
        """

    @overload
    def new_ones(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """As torch.ones, of this tensor's dtype unless one is given.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_ones.html
        """
    @overload
    def new_ones(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor: ...
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A leaf with these values, of this tensor's dtype by default.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_tensor.html
        """

    @overload
    def new_zeros(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """As torch.zeros, of this tensor's dtype unless one is given.

        https://pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html
        """
    @overload
    def new_zeros(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        device: _device | str | _int | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor: ...
    def nextafter(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The next floating-point number towards `other`.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nextafter.html
        """

    def nextafter_(self, other: Tensor) -> Self:
        """In-place form of `nextafter`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nextafter_.html
        """

    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """The indices of nonzero elements, one per row.

        https://pytorch.org/docs/stable/generated/torch.Tensor.nonzero.html
        """
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    def nonzero_static(self, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
        """The indices of the first `size` nonzero elements, one per row, then rows of `fill_value`.

        Shapes: (2, 3) -> (1, 2). dtype: int64.
        Raises RuntimeError: nonzero_static: 'size' must be an non-negative integer

        https://pytorch.org/docs/stable/generated/torch.Tensor.nonzero_static.html
        """

    def norm(
        self,
        p: _Number | str | None = "fro",
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Vector norms over any dimensions, and matrix norms given by name.

        https://pytorch.org/docs/stable/generated/torch.Tensor.norm.html
        """

    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """In-place form of `normal`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.normal_.html
        """

    def not_equal(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """Whether input != other.

        Shape: the inputs', broadcast. dtype: bool.

        https://pytorch.org/docs/stable/generated/torch.Tensor.not_equal.html
        """

    def not_equal_(self, other: Tensor | _Number) -> Self:
        """In-place form of `ne`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.not_equal_.html
        """

    def orgqr(self, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The first columns of a product of Householder reflections.

        Raises RuntimeError: ...: input must have at least 2 dimensions.
        Raises RuntimeError: ...: input.shape[-2] must be greater than or equal to input.shape[-1]
        Raises RuntimeError: ...: input.shape[-1] must be greater than or equal to tau.shape[-1]

        https://pytorch.org/docs/stable/generated/torch.Tensor.orgqr.html
        """

    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: _bool = True,
        transpose: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The product of Householder reflections, or its adjoint, with a matrix.

        Raises RuntimeError: ...: other.shape[...] must be greater than or equal to tau.shape[-1]
        Raises RuntimeError: ...: other.shape[...] must be equal to input.shape[-2]
        Raises RuntimeError: ...: tau.shape[-1] must be equal to min(other.shape[...],
          input.shape[-1])

        https://pytorch.org/docs/stable/generated/torch.Tensor.ormqr.html
        """

    def outer(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The outer product of two vectors.

        Shapes: (3,), (3,) -> (3, 3). dtype: the input's.
        Raises RuntimeError: outer: Expected 1-D argument ..., but got ...-D

        https://pytorch.org/docs/stable/generated/torch.Tensor.outer.html
        """

    @overload
    def permute(self, dims: Sequence[_int]) -> Tensor:
        """Dimensions in another order.

        Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
          match the length of the ...
        Raises RuntimeError: permute(): duplicate dims are not allowed.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.permute.html
        """
    @overload
    def permute(self, *dims: _int) -> Tensor: ...
    def pin_memory(self, device: _device | str | _int | None = None) -> Tensor:
        """Itself: its memory is the daemon's. PyTorch refuses it without a GPU.

        https://pytorch.org/docs/stable/generated/torch.Tensor.pin_memory.html
        """

    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The pseudo-inverse of matrices.

        https://pytorch.org/docs/stable/generated/torch.Tensor.pinverse.html
        """

    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma.

        Shape: the input's. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.polygamma.html
        """

    def polygamma_(self, n: _int) -> Self:
        """In-place form of `polygamma`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.polygamma_.html
        """

    def positive(self) -> Tensor:
        """The input itself; RuntimeError for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.positive.html
        """

    def pow(self, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """input ** exponent, where at least one is a tensor.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.pow.html
        """

    def pow_(self, exponent: Tensor | _Number) -> Self:
        """The in-place form of `pow`.

        Shape: that of the inputs, which is one. dtype: the input's.
        Raises NotImplementedError for bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.pow_.html
        """

    def prelu(self, weight: Tensor) -> Tensor:
        """leaky_relu with one learned slope, or one per channel.

        Shapes: (2, 3), (3,) -> (2, 3). dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.
        Raises RuntimeError: prelu: Type promoting not supported. Got ... and ...
        Raises RuntimeError: prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim =
          ...
        Raises RuntimeError: Not allow zero-dim input tensor.
        """

    def prod(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Product over one dimension or over all; the gradient is exact with zeros.

        Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.prod.html
        """

    def put(
        self, index: Tensor, source: Tensor, accumulate: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """A copy with elements written, or added, at row-major positions.

        Shape: that of the inputs, which is one. dtype: the input's.
        Raises RuntimeError: ...(): Expected a long tensor for index, but got ...
        Raises RuntimeError: put_(): self and source expected to have the same dtype, but got
          self.dtype = ... and ...
        Raises IndexError: put_(): Expected source and index to have the same number of elements,
          but got source.numel() = ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.put.html
        """

    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """In-place form of `put`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.put_.html
        """

    def qr(self, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.qr:
        """Q and R of input = Q R. Q, R.

        Shapes: (2, 3) -> (2, 2), (2, 3). dtype: the input's, the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.qr.html
        """

    def quantile(
        self,
        q: Tensor | _Number,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = "linear",
        out: Tensor | None = None,
    ) -> Tensor:
        """The `q`-th quantiles, over all or along `dim`.

        Shapes: (2, 3), (3,) -> (3,). dtype: the input's.
        Raises RuntimeError for integers, bools and complex numbers.
        Raises RuntimeError: ...() q must be in the range [0, 1] but got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.quantile.html
        """

    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """Radians to degrees.

        Shape: the input's. dtype: float32.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: ... is not supported for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.rad2deg.html
        """

    def rad2deg_(self) -> Self:
        """In-place form of `rad2deg`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.rad2deg_.html
        """

    def random_(self, *args: _int, generator: Generator | None = None) -> Self:
        """``random_(from=0, to=None)`` or ``random_(to)``.

        https://pytorch.org/docs/stable/generated/torch.Tensor.random_.html
        """

    def random_integers_(self, low: _int, high: _int) -> Self:
        """In-place form of `random_integers`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.random_integers_.html
        """

    def ravel(self) -> Tensor:
        """The elements as a vector; a view if strides allow.

        https://pytorch.org/docs/stable/generated/torch.Tensor.ravel.html
        """

    @property
    def real(self) -> Tensor:
        """The real part, as a copy. A view of the real parts; real tensors are returned unchanged.

        Shape: the input's. dtype: the input's; float32 of complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.real.html
        """
    @real.setter
    def real(self, value: Tensor | _Number) -> None: ...
    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise reciprocal; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.reciprocal.html
        """

    def reciprocal_(self) -> Self:
        """In-place form of `reciprocal`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.reciprocal_.html
        """

    def record_stream(self, stream: Any) -> None:
        """Has no effect: what is recorded runs in its order.

        https://pytorch.org/docs/stable/generated/torch.Tensor.record_stream.html
        """

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """See Tensor.register_hook; RuntimeError when `t` needs no gradient.

        https://pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
        """

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """See Tensor.register_post_accumulate_grad_hook; RuntimeError on non-leaf tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html
        """

    def reinforce(self, reward: Any) -> None:
        """RuntimeError: the score of a sample is the gradient of its log-probability times the reward."""

    def relu(self, *, out: Tensor | None = None) -> Tensor:
        """The input where positive, otherwise 0; the gradient at 0 is 0.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError for bools.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: Boolean inputs not supported for relu
        Raises NotImplementedError: clamp is not supported for complex types
        """

    def relu_(self) -> Self:
        """In-place form of `relu`."""

    def remainder(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """The remainder of floor division.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.remainder.html
        """

    def remainder_(self, other: Tensor | _Number) -> Self:
        """In-place form of `remainder`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.remainder_.html
        """

    def renorm(self, p: _Number, dim: _int, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor:
        """Slices along `dim` scaled down to a p-norm of at most `maxnorm`.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: renorm: non-positive-norm not supported
        Raises RuntimeError: renorm: expected maxnorm to be >= 0 but got ...
        Raises RuntimeError: renorm: input needs at least 2 dimensions, got ... dimensions

        https://pytorch.org/docs/stable/generated/torch.Tensor.renorm.html
        """

    def renorm_(self, p: _Number, dim: _int, maxnorm: _Number) -> Self:
        """In-place form of `renorm`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.renorm_.html
        """

    @overload
    def repeat(self, repeats: Sequence[_int]) -> Tensor:
        """The tensor repeated along each dimension.

        Shapes: (3,) -> (3,). dtype: the input's.
        Raises RuntimeError: Number of dimensions of repeat dims can not be smaller than number of
          dimensions of tensor
        Raises RuntimeError: Trying to create tensor with negative dimension ...: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.repeat.html
        """
    @overload
    def repeat(self, *repeats: _int) -> Tensor: ...
    def repeat_interleave(
        self, repeats: _int | None = None, dim: _int | None = None, *, output_size: _int | None = None
    ) -> Tensor:
        """Each element repeated `repeats` times (torch.repeat_interleave with one number). A tensor of
        repeats is summed and its sum read, unless `output_size` is given.

        Shapes: (2, 3) -> (6,). dtype: the input's.
        Raises RuntimeError: Repeats must be non-negative
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.repeat_interleave.html
        """

    def requires_grad_(self, requires_grad: _bool = True) -> Self:
        """Change whether gradients are kept for this leaf.

        https://pytorch.org/docs/stable/generated/torch.Tensor.requires_grad_.html
        """

    @overload
    def reshape(self, shape: Sequence[_int]) -> Tensor:
        """The same elements in another shape; a view if strides allow.

        Raises RuntimeError: only one dimension can be inferred
        Raises RuntimeError: invalid shape dimension ... at index ... of shape ...
        Raises RuntimeError: cannot reshape tensor of 0 elements into shape ... because the
          unspecified dimension size -1 can ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.reshape.html
        """
    @overload
    def reshape(self, *shape: _int) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """The same elements in the shape of `other`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.reshape_as.html
        """

    @overload
    def resize_(self, size: Sequence[_int]) -> Self:
        """Change the shape over the same memory. If that is too small, the tensor moves to new memory:
        its elements, then zeros; its views keep the old memory. RuntimeError for tensors that
        require grad.

        Shapes: (2, 3) -> (1,). dtype: the input's.
        Raises RuntimeError: cannot resize variables that require grad
        Raises RuntimeError: Inplace update to inference tensor outside InferenceMode is not
          allowed.You can make a clone to ...
        Raises RuntimeError: Trying to create tensor with negative dimension ...: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.resize_.html
        """
    @overload
    def resize_(self, *size: _int) -> Self: ...
    def resize_as_(self, the_template: Tensor, *, memory_format: memory_format | None = None) -> Self:
        """`memory_format` is ignored.

        https://pytorch.org/docs/stable/generated/torch.Tensor.resize_as_.html
        """

    def resize_as_sparse_(self, *given: Any) -> Self:
        """Of sparse tensors; NotImplementedError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.resize_as_sparse_.html
        """

    def resolve_conj(self) -> Tensor:
        """The tensor itself; of a conjugate view, a computed copy.

        https://pytorch.org/docs/stable/generated/torch.Tensor.resolve_conj.html
        """

    def resolve_neg(self) -> Tensor:
        """The tensor itself, as negatives are never views here.

        https://pytorch.org/docs/stable/generated/torch.Tensor.resolve_neg.html
        """

    def retain_grad(self) -> None:
        """Let a non-leaf keep its gradient in ``.grad``; see torch.Tensor.retain_grad.

        Raises RuntimeError: can't retain_grad on Tensor that has requires_grad=False

        https://pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html
        """

    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Elements shifted along dimensions, wrapping around.

        Shape: the input's. dtype: the input's.
        Raises RuntimeError: shifts and dimensions must align. shifts: ..., dims:...
        Raises RuntimeError: shifts and dimensions must align. shifts: ..., dims:0
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.roll.html
        """

    def rot90(
        self, k: _int = 1, dims: _int | Sequence[_int] = (0, 1), *, out: Tensor | None = None
    ) -> Tensor:
        """A rotation by `k` times 90 degrees, from the first of `dims` to the second.

        Shapes: (2, 3) -> (3, 2). dtype: the input's.
        Raises RuntimeError: expected total rotation dims == 2, but got dims = ...
        Raises RuntimeError: expected total dims >= 2, but got total dims = ...
        Raises RuntimeError: expected rotation dims to be different, but got dim0 = ... and dim1 =
          ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.rot90.html
        """

    def round(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """Round to the nearest integer, halves to even, or to `decimals` places.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.round.html
        """

    def round_(self, *, decimals: _int = 0) -> Self:
        """In-place form of `round`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.round_.html
        """

    def row_indices(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.row_indices.html
        """

    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise rsqrt; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.rsqrt.html
        """

    def rsqrt_(self) -> Self:
        """In-place form of `rsqrt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.rsqrt_.html
        """

    def rsub(self, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """other - alpha * input.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for bools.
        Raises RuntimeError: Boolean alpha only supported for Boolean results.
        Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
          number.
        Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex
          number.
        """

    @overload
    def scatter(
        self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: str | None = None
    ) -> Tensor:
        """A copy with elements of `src`, or one number, written at `index` along `dim`. Writes ``src``
        or ``value``; adds or multiplies with it by ``reduce``.

        Shapes: (2, 3), (2, 3), (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: ...(): Expected dtype int32/int64 for index
        Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype
        Raises RuntimeError: Index tensor must have the same number of dimensions as self tensor

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter.html
        """
    @overload
    def scatter(self, dim: _int, index: Tensor, *, value: _Number, reduce: str | None = None) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | _Number, *, reduce: str | None = None) -> Self:
        """In-place form of `scatter`. Writes ``src`` or ``value``; adds or multiplies with it by
        ``reduce``.

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html
        """
    @overload
    def scatter_(self, dim: _int, index: Tensor, *, value: _Number, reduce: str | None = None) -> Self: ...
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
        """A copy with elements of `src` added at `index` along `dim`.

        Shapes: (2, 3), (2, 3), (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: ...(): Expected dtype int32/int64 for index
        Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype
        Raises RuntimeError: Index tensor must have the same number of dimensions as self tensor

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add.html
        """

    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """In-place form of `scatter_add`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_add_.html
        """

    def scatter_reduce(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with elements of `src` reduced into it at `index` along `dim`.

        Raises RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got ...
        Raises RuntimeError: ...(): Expected dtype int32/int64 for index
        Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce.html
        """

    def scatter_reduce_(
        self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True
    ) -> Self:
        """In-place form of `scatter_reduce`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html
        """

    def select(self, dim: _int, index: _int) -> Tensor:
        """The slice at one index of `dim`, without that dimension.

        Shapes: (2, 3) -> (2,). dtype: the input's.
        Raises IndexError: select() cannot be applied to a 0-dim tensor.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises IndexError: select(): index ... out of range for tensor of size ... at dimension ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.select.html
        """

    def select_scatter(self, src: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
        """A copy with one index of `dim` replaced by `src`.

        Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
          slice size = ...
        Raises IndexError: select() cannot be applied to a 0-dim tensor.
        Raises IndexError: select(): index ... out of range for tensor of size ... at dimension ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.select_scatter.html
        """

    def set_(
        self,
        source: _int | Sequence[_int] | None = None,
        storage_offset: _int = 0,
        size: _int | Sequence[_int] | None = None,
        stride: _int | Sequence[_int] | None = None,
    ) -> Self:
        """Make it share the memory of a tensor or storage, or have none. RuntimeError for another
        dtype, and for a leaf that requires grad, outside of no_grad.

        https://pytorch.org/docs/stable/generated/torch.Tensor.set_.html
        """

    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """z / |z|, 0 at 0.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sgn.html
        """

    def sgn_(self) -> Self:
        """In-place form of `sgn`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sgn_.html
        """

    def share_memory_(self) -> Self:
        """Itself. Warns once: the memory is the daemon's, so a process that is started works on the
        session's own tensors after a fork, and on copies of what is pickled.

        https://pytorch.org/docs/stable/generated/torch.Tensor.share_memory_.html
        """

    def short(self, memory_format: memory_format | None = None) -> Tensor:
        """`self` as torch.int16.

        https://pytorch.org/docs/stable/generated/torch.Tensor.short.html
        """

    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise sigmoid; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sigmoid.html
        """

    def sigmoid_(self) -> Self:
        """In-place form of `sigmoid`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sigmoid_.html
        """

    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1, and 0 for nan.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for complex numbers.
        Raises NotImplementedError: Unlike NumPy, torch.sign is not intended to support complex
          numbers. Please use torch.sgn instead.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sign.html
        """

    def sign_(self) -> Self:
        """In-place form of `sign`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sign_.html
        """

    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the sign bit is set.

        Shape: the input's. dtype: bool.
        Raises NotImplementedError for complex numbers.
        Raises RuntimeError: ... does not support complex inputs.
        Raises NotImplementedError: signbit is not implemented for complex tensors.

        https://pytorch.org/docs/stable/generated/torch.Tensor.signbit.html
        """

    def silu_(self) -> Self:
        """In-place form of `silu`."""

    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise sin; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sin.html
        """

    def sin_(self) -> Self:
        """In-place form of `sin`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sin_.html
        """

    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sinc.html
        """

    def sinc_(self) -> Self:
        """In-place form of `sinc`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sinc_.html
        """

    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise sinh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sinh.html
        """

    def sinh_(self) -> Self:
        """In-place form of `sinh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sinh_.html
        """

    @overload  # type: ignore[override]
    def size(self, dim: None = None) -> Size:
        """The shape, or one dimension of it.

        https://pytorch.org/docs/stable/generated/torch.Tensor.size.html
        """
    @overload
    def size(self, dim: _int) -> _int: ...
    def slice_scatter(
        self,
        src: Tensor,
        dim: _int = 0,
        start: _int | None = None,
        end: _int | None = None,
        step: _int = 1,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with a slice of `dim` replaced by `src`.

        Shape: that of the inputs, which is one. dtype: the input's.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
          slice size = ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.slice_scatter.html
        """

    def slogdet(self, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
        """The signs of determinants and the logarithms of their absolute values. Sign, logabsdet.

        Shapes: (3, 3) -> (), (). dtype: the input's, float32.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.slogdet.html
        """

    def smm(self, mat2: Tensor) -> Tensor:
        """The product of a sparse and a dense matrix, sparse. RuntimeError for a dense first one.

        https://pytorch.org/docs/stable/generated/torch.Tensor.smm.html
        """

    def softmax(self, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
        """exp(input), normalised to sum to 1 along `dim`.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises NotImplementedError for integers, bools and complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.softmax.html
        """

    def sort(
        self, dim: _int = -1, descending: _bool = False, stable: _bool | None = None
    ) -> return_types.sort:
        """Values sorted along `dim`, and their indices; always stable.

        Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
        Raises RuntimeError for complex numbers.
        Raises RuntimeError: Sort does not support complex dtypes on CPU
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.sort.html
        """

    def sparse_dim(self) -> _int:
        """0 of a dense tensor.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sparse_dim.html
        """

    def sparse_mask(self, mask: Any) -> Tensor:
        """What is at the places of a sparse tensor, in its layout. RuntimeError for another size,
        TypeError for a dense mask.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sparse_mask.html
        """

    def sparse_resize_(self, *given: Any) -> Self:
        """Of sparse tensors; NotImplementedError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sparse_resize_.html
        """

    def sparse_resize_and_clear_(self, *given: Any) -> Self:
        """Of sparse tensors; NotImplementedError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sparse_resize_and_clear_.html
        """

    def split(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of one size, or of the given sizes, along `dim`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.split.html
        """

    def split_with_sizes(self, split_sizes: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of the given sizes along `dim`.

        Raises RuntimeError: split_with_sizes expects at least a 1-dimensional tensor
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: split_with_sizes expects split_sizes have only non-negative entries,
          but got split_sizes=...
        """

    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise sqrt; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sqrt.html
        """

    def sqrt_(self) -> Self:
        """In-place form of `sqrt`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sqrt_.html
        """

    def square(self, *, out: Tensor | None = None) -> Tensor:
        """input * input.

        Shape: the input's. dtype: the input's; int64 of bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.square.html
        """

    def square_(self) -> Self:
        """In-place form of `square`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.square_.html
        """

    def squeeze(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Dimensions of size 1 removed: all, one, or the given ones.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.squeeze.html
        """

    def squeeze_(self, dim: _int | Sequence[_int] | None = None) -> Self:
        """Dimensions of size 1 removed, in place.

        Shape: the input's. dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.squeeze_.html
        """

    def sspaddmm(self, mat1: Any, mat2: Tensor, *, beta: _float = 1, alpha: _float = 1) -> Tensor:
        """``beta * input + alpha * mat1 @ mat2``, sparse. RuntimeError unless the first two are.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sspaddmm.html
        """

    def std(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _Number | None = None,
    ) -> Tensor:
        """Standard deviation over `dim` or over all.

        Shapes: (2, 3) -> (). dtype: float32.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: ... only support floating point and complex dtypes

        https://pytorch.org/docs/stable/generated/torch.Tensor.std.html
        """

    def stft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | None = None,
        center: _bool = True,
        pad_mode: str = "reflect",
        normalized: _bool = False,
        onesided: _bool | None = None,
        return_complex: _bool | None = None,
        align_to_window: _bool | None = None,
    ) -> Tensor:
        """The spectra of overlapping windows of signals.

        Raises RuntimeError: stft align_to_window should only be set when center = false
        Raises RuntimeError: stft requires the return_complex parameter be given for real inputs,
          and will further require ...
        Raises NotImplementedError: Unrecognised padding mode ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.stft.html
        """

    def storage(self) -> TypedStorage:
        """The elements in the memory that it shares with its views. Warns once, since PyTorch
        deprecates it.

        https://pytorch.org/docs/stable/generated/torch.Tensor.storage.html
        """

    def storage_type(self) -> _type[Tensor]:
        """The class of its typed storage.

        https://pytorch.org/docs/stable/generated/torch.Tensor.storage_type.html
        """

    @overload  # type: ignore[override]
    def stride(self, dim: None = None) -> tuple[_int, ...]:
        """The strides in elements, or one of them.

        https://pytorch.org/docs/stable/generated/torch.Tensor.stride.html
        """
    @overload
    def stride(self, dim: _int) -> _int: ...
    def sub(self, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """input - alpha * other.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for bools.
        Raises RuntimeError: Boolean alpha only supported for Boolean results.
        Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
          number.
        Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex
          number.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sub.html
        """

    def sub_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """In-place form of `sub`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sub_.html
        """

    def subtract(self, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """input - alpha * other.

        Shape: the inputs', broadcast. dtype: the input's.
        Raises RuntimeError for bools.
        Raises RuntimeError: Boolean alpha only supported for Boolean results.
        Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
          number.
        Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex
          number.

        https://pytorch.org/docs/stable/generated/torch.Tensor.subtract.html
        """

    def subtract_(self, other: Tensor | _Number, *, alpha: _Number = 1) -> Self:
        """In-place form of `sub`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.subtract_.html
        """

    def sum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Sum over `dim` or over all; bools and integers give int64.

        Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sum.html
        """

    @overload
    def sum_to_size(self, size: Sequence[_int]) -> Tensor:
        """Sum over the dimensions along which `size` broadcasts to the input.

        Shapes: (2, 3) -> (1,). dtype: the input's; int64 of bools.
        Raises RuntimeError: size {...} is not expandable to size {...}.

        https://pytorch.org/docs/stable/generated/torch.Tensor.sum_to_size.html
        """
    @overload
    def sum_to_size(self, *size: _int) -> Tensor: ...
    def svd(
        self, some: _bool = True, compute_uv: _bool = True, *, out: Sequence[Tensor] | None = None
    ) -> return_types.svd:
        """U, S and V of input = U diag(S) V^H. U, S, V.

        Shapes: (2, 3) -> (2, 2), (2,), (3, 2). dtype: the input's, float32, the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.svd.html
        """

    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two dimensions swapped; a view.

        https://pytorch.org/docs/stable/generated/torch.Tensor.swapaxes.html
        """

    def swapaxes_(self, axis0: _int, axis1: _int) -> Self:
        """Two dimensions swapped, in place.

        https://pytorch.org/docs/stable/generated/torch.Tensor.swapaxes_.html
        """

    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions swapped; a view.

        https://pytorch.org/docs/stable/generated/torch.Tensor.swapdims.html
        """

    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """Two dimensions swapped, in place.

        https://pytorch.org/docs/stable/generated/torch.Tensor.swapdims_.html
        """

    def t(self) -> Tensor:
        """The transpose of a matrix.

        Shapes: (2, 3) -> (3, 2). dtype: the input's.
        Raises RuntimeError: t() expects a tensor with <= 2 dimensions, but self is ...D
        Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
          match the length of the ...
        Raises RuntimeError: permute(): duplicate dims are not allowed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.t.html
        """

    def t_(self) -> Self:
        """The matrix transposed, in place.

        Shapes: (2, 3) -> (3, 2). dtype: the input's.
        Raises RuntimeError: t_() expects a tensor with <= 2 dimensions, but self is ...D

        https://pytorch.org/docs/stable/generated/torch.Tensor.t_.html
        """

    def take(self, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements at row-major positions.

        Shape: that of the inputs, which is one. dtype: the input's.
        Raises RuntimeError: ...(): Expected a long tensor for index, but got ...
        Raises IndexError: take(): tried to take from an empty tensor

        https://pytorch.org/docs/stable/generated/torch.Tensor.take.html
        """

    def take_along_dim(
        self, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """Elements at indices along a dimension, broadcast over the others.

        Shapes: (2, 3), (2, 3) -> (6,). dtype: the input's.
        Raises RuntimeError: torch.take_along_dim(): dtype of indices should be Long but got ...
        Raises RuntimeError: torch.take_along_dim(): input and indices should have the same number
          of dimensions, but got ... ...
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.take_along_dim.html
        """

    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise tan; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tan.html
        """

    def tan_(self) -> Self:
        """In-place form of `tan`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tan_.html
        """

    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise tanh; integers give the default float type.

        Shape: the input's. dtype: the input's; float32 of integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tanh.html
        """

    def tanh_(self) -> Self:
        """In-place form of `tanh`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tanh_.html
        """

    @overload
    def tensor_split(
        self, indices_or_sections: _int | Sequence[_int] | Tensor, dim: _int = 0
    ) -> tuple[Tensor, ...]:
        """Parts between given indices, or that many nearly equal ones, along `dim`. A tensor of
        indices or sections is read.

        dtype: the input's, the input's.
        Raises RuntimeError: tensor_split expected at least a 1-dimensional tensor, but got a tensor
          with 0 dims
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: number of sections must be larger than 0, got ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.tensor_split.html
        """
    @overload
    def tensor_split(self, *, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, *, indices: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, *, tensor_indices_or_sections: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
    def threshold_(self, threshold: _Number, value: _Number) -> Self:
        """In-place form of `threshold`."""

    @overload
    def tile(self, dims: Sequence[_int]) -> Tensor:
        """torch.Tensor.tile.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tile.html
        """
    @overload
    def tile(self, *dims: _int) -> Tensor: ...
    def to_dense(self, dtype: Any = None, *, masked_grad: _bool | None = None) -> Tensor:
        """Itself, since it is dense.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_dense.html
        """

    def to_device(self, device: _device | str | _int | None, *, stream: Any = None) -> Tensor:
        """Itself, since a session has one device (the array API standard's method).

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_device.html
        """

    def to_sparse(
        self,
        sparse_dim: Any = None,
        *,
        layout: _layout | None = None,
        blocksize: Any = None,
        dense_dim: _int | None = None,
    ) -> Tensor:
        """A sparse tensor of the elements that are not zero, or of those that a sparse one specifies,
        in coordinate format or in a `layout`. RuntimeError for dimensions that it cannot have.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse.html
        """

    def to_sparse_bsc(self, blocksize: Any, dense_dim: _int | None = None) -> Tensor:
        """In blocks, with compressed columns. RuntimeError where they do not fit.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_bsc.html
        """

    def to_sparse_bsr(self, blocksize: Any, dense_dim: _int | None = None) -> Tensor:
        """In blocks, with compressed rows. RuntimeError where they do not fit.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_bsr.html
        """

    def to_sparse_coo(self) -> Tensor:
        """As `to_sparse`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_coo.html
        """

    def to_sparse_csc(self, dense_dim: _int | None = None) -> Tensor:
        """With compressed columns. RuntimeError for fewer than two dimensions.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_csc.html
        """

    def to_sparse_csr(self, dense_dim: _int | None = None) -> Tensor:
        """With compressed rows. RuntimeError for fewer than two dimensions.

        https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_csr.html
        """

    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> return_types.topk:
        """The `k` largest (or smallest) elements along `dim`, sorted, and their indices. The result is
        always sorted, whatever `sorted` says.

        Shapes: (2, 3) -> (2, 1), (2, 1). dtype: the input's, int64.
        Raises RuntimeError for bools and complex numbers.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: selected index k out of range
        Raises RuntimeError: topk does not support complex dtypes on CPU

        https://pytorch.org/docs/stable/generated/torch.Tensor.topk.html
        """

    def trace(self, *, out: Tensor | None = None) -> Tensor:
        """The sum of a matrix's diagonal.

        Shapes: (2, 3) -> (). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises NotImplementedError: "trace" not implemented for 'Bool'
        Raises RuntimeError: trace: expected a matrix, but got tensor with dim ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.trace.html
        """

    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions swapped.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
          match the length of the ...
        Raises RuntimeError: permute(): duplicate dims are not allowed.

        https://pytorch.org/docs/stable/generated/torch.Tensor.transpose.html
        """

    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """Two dimensions swapped, in place.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.transpose_.html
        """

    def triangular_solve(
        self,
        A: Tensor,
        upper: _bool = True,
        transpose: _bool = False,
        unitriangular: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.triangular_solve:
        """X of A X = input for triangular A, and A itself. Solution, cloned_coefficient.

        Shapes: (3, 3), (3, 3) -> (3, 3), (3, 3). dtype: the input's, the input's.
        Raises RuntimeError for integers and bools.

        https://pytorch.org/docs/stable/generated/torch.Tensor.triangular_solve.html
        """

    def tril(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The lower triangle of matrices, with zeros above.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: ...: input tensor must have at least 2 dimensions

        https://pytorch.org/docs/stable/generated/torch.Tensor.tril.html
        """

    def tril_(self, diagonal: _int = 0) -> Self:
        """In-place form of `tril`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.tril_.html
        """

    def triu(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The upper triangle of matrices, with zeros below.

        Shapes: (2, 3) -> (2, 3). dtype: the input's.
        Raises RuntimeError: ...: input tensor must have at least 2 dimensions

        https://pytorch.org/docs/stable/generated/torch.Tensor.triu.html
        """

    def triu_(self, diagonal: _int = 0) -> Self:
        """In-place form of `triu`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.triu_.html
        """

    def true_divide(
        self, other: Tensor | _Number, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Division; without `rounding_mode` integers give the default float type.

        Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
        Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but
          found '...'

        https://pytorch.org/docs/stable/generated/torch.Tensor.true_divide.html
        """

    def true_divide_(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Self:
        """In-place form of `div`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.true_divide_.html
        """

    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """Element-wise trunc; the gradient is 0.

        Shape: the input's. dtype: the input's.
        Raises NotImplementedError for bools and complex numbers.
        Raises NotImplementedError: ... is not supported for complex inputs

        https://pytorch.org/docs/stable/generated/torch.Tensor.trunc.html
        """

    def trunc_(self) -> Self:
        """In-place form of `trunc`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.trunc_.html
        """

    def type_as(self, other: Tensor) -> Tensor:
        """`t` in the dtype of `other`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.type_as.html
        """

    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """All slices along `dim`.

        dtype: the input's, the input's.
        Raises IndexError: Dimension specified as 0 but tensor has no dimensions
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.unbind.html
        """

    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
        """One dimension split into several.

        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: unflatten: sizes must be non-empty
        Raises RuntimeError: unflatten: Provided sizes ... don't multiply up to the size of dim ...
          (...) in the input tensor

        https://pytorch.org/docs/stable/generated/torch.Tensor.unflatten.html
        """

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` elements of `dimension`, `step` apart, as a last dimension.

        Shapes: (2, 3) -> (2, 3, 1). dtype: the input's.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)
        Raises RuntimeError: size is ... but must be >= 0
        Raises RuntimeError: maximum size for tensor at dimension ... is ... but size is ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html
        """

    def uniform_(self, *args: _Number, generator: Generator | None = None) -> Self:
        """In-place form of `uniform`. ``uniform_(from=0, to=1)``.

        https://pytorch.org/docs/stable/generated/torch.Tensor.uniform_.html
        """

    @overload
    def unique(self, sorted: _bool = True, *, dim: _int | None = None) -> Tensor:
        """Elements are always sorted, whatever `sorted` says, as in PyTorch on a CPU.

        https://pytorch.org/docs/stable/generated/torch.Tensor.unique.html
        """
    @overload
    def unique(
        self,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any: ...
    @overload
    def unique_consecutive(self, *, dim: _int | None = None) -> Tensor:
        """Each run of equal elements once, with their groups and run lengths if requested.

        https://pytorch.org/docs/stable/generated/torch.Tensor.unique_consecutive.html
        """
    @overload
    def unique_consecutive(
        self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None
    ) -> Any: ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Copies of at most `chunks` parts of equal size.

        dtype: the input's.
        Raises RuntimeError: chunk expects at least a 1-dimensional tensor
        Raises RuntimeError: chunk expects `chunks` to be greater than 0, got: ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.unsafe_chunk.html
        """

    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Copies of parts of `split_size` elements of `dim`.

        dtype: the input's, the input's.
        Raises RuntimeError: split expects at least a 1-dimensional tensor
        Raises RuntimeError: split expects split_size be non-negative, but got split_size=...
        Raises RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension size
          of ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.unsafe_split.html
        """

    def unsafe_split_with_sizes(
        self, split_sizes: _int | Sequence[_int], dim: _int = 0
    ) -> tuple[Tensor, ...]:
        """Copies of parts of the given sizes along `dim`.

        Raises RuntimeError: split_with_sizes expects at least a 1-dimensional tensor
        Raises RuntimeError: split_with_sizes expects split_sizes have only non-negative entries,
          but got split_sizes=...
        Raises RuntimeError: split_with_sizes expects split_sizes to sum exactly to ... (input
          tensor's size at dimension ...
        """

    def unsqueeze(self, dim: _int) -> Tensor:
        """A dimension of size 1 inserted.

        Shapes: (2, 3) -> (2, 1, 3). dtype: the input's.
        Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got
          ...)

        https://pytorch.org/docs/stable/generated/torch.Tensor.unsqueeze.html
        """

    def unsqueeze_(self, dim: _int) -> Self:
        """A dimension of size 1 inserted, in place.

        Shapes: (2, 3) -> (2, 1, 3). dtype: the input's.

        https://pytorch.org/docs/stable/generated/torch.Tensor.unsqueeze_.html
        """

    def untyped_storage(self) -> UntypedStorage:
        """The memory that it shares with its views.

        https://pytorch.org/docs/stable/generated/torch.Tensor.untyped_storage.html
        """

    def values(self) -> Tensor:
        """Of sparse tensors; RuntimeError for others.

        https://pytorch.org/docs/stable/generated/torch.Tensor.values.html
        """

    def var(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _Number | None = None,
    ) -> Tensor:
        """Variance over `dim` or over all, divided by the count minus `correction` (1 by default).

        Shapes: (2, 3) -> (). dtype: float32.
        Raises RuntimeError for integers and bools.
        Raises RuntimeError: ... only support floating point and complex dtypes

        https://pytorch.org/docs/stable/generated/torch.Tensor.var.html
        """

    def vdot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The dot product of two vectors, the first conjugated.

        Shapes: (3,), (3,) -> (). dtype: the input's.
        Raises NotImplementedError for bools.
        Raises RuntimeError: 1D tensors expected, but got ...D and ...D tensors
        Raises RuntimeError: dot : expected both vectors to have same dtype, but found ... and ...
        Raises RuntimeError: inconsistent tensor size, expected tensor [...] and src [...] to have
          the same number of ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.vdot.html
        """

    @overload
    def view(self, size: Sequence[_int], *, dtype: Any = None) -> Tensor:
        """The same elements in another shape, without a copy.

        Raises RuntimeError: only one dimension can be inferred
        Raises RuntimeError: invalid shape dimension ... at index ... of shape ...
        Raises RuntimeError: cannot reshape tensor of 0 elements into shape ... because the
          unspecified dimension size -1 can ...

        https://pytorch.org/docs/stable/generated/torch.Tensor.view.html
        """
    @overload
    def view(self, *size: _int, dtype: Any = None) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """A view in the shape of `other`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.view_as.html
        """

    @property
    def volatile(self) -> _bool:
        """False: volatile was removed (a UserWarning says so)."""

    @overload
    def vsplit(self, indices_or_sections: _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along a dimension: a number of equal ones, or cut at indices.

        https://pytorch.org/docs/stable/generated/torch.Tensor.vsplit.html
        """
    @overload
    def vsplit(self, *, sections: _int) -> tuple[Tensor, ...]: ...
    @overload
    def vsplit(self, *, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: ...
    def where(self, condition: Tensor, other: Tensor | _Number) -> Tensor:
        """`input` where the condition is true, otherwise `other`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.where.html
        """

    def xlogy(self, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
        """input * log(other), 0 where the input is 0.

        Shape: the inputs', broadcast. dtype: float32.
        Raises NotImplementedError for complex numbers.

        https://pytorch.org/docs/stable/generated/torch.Tensor.xlogy.html
        """

    def xlogy_(self, other: Tensor | _Number) -> Self:
        """In-place form of `xlogy`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.xlogy_.html
        """

    def zero_(self) -> Self:
        """In-place form of `zero`.

        https://pytorch.org/docs/stable/generated/torch.Tensor.zero_.html
        """
