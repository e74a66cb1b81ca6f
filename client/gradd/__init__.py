"""The SDK: PyTorch's API, computed in a session of a gradd daemon.

import gradd as torch

x = torch.tensor([[1.0, 2.0]], requires_grad=True)
(x @ x.T).sum().backward()
x.grad.numpy()
"""

from math import e, inf, nan, pi
from typing import Any as _Any

from gradd_engine.backward import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_warn_always_enabled,
    set_anomaly_enabled,
    set_warn_always,
)
from gradd_engine.batching.vmap import vmap
from gradd_engine.data import Device as _Device
from gradd_engine.data import Device as device
from gradd_engine.data import DType as dtype
from gradd_engine.data import MemoryFormat as memory_format
from gradd_engine.data import Size, channels_last, channels_last_3d, contiguous_format, preserve_format
from gradd_engine.data import dtypes as _dtypes
from gradd_engine.graph import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradd_engine.tensor import set_printoptions
from gradd_protocol.version import VERSION as __version__

from . import _C as _C
from . import __config__ as __config__
from . import _dynamo as _dynamo
from . import _inductor as _inductor
from . import _utils as _utils
from . import (
    accelerator,
    amp,
    ao,
    array_api,
    autograd,
    backends,
    compiler,
    cpu,
    cuda,
    distributed,
    distributions,
    fft,
    func,
    functional,
    functorch,
    fx,
    hub,
    jit,
    library,
    linalg,
    masked,
    mps,
    mtia,
    multiprocessing,
    nn,
    onnx,
    optim,
    overrides,
    parallel,
    profiler,
    quasirandom,
    random,
    return_types,
    serialization,
    signal,
    sparse,
    special,
    storage,
    testing,
    types,
    utils,
    version,
    xpu,
)
from ._checks import _check as _check
from ._checks import _check_index as _check_index
from ._checks import _check_is_size as _check_is_size
from ._checks import _check_not_implemented as _check_not_implemented
from ._checks import _check_type as _check_type
from ._checks import _check_value as _check_value
from ._checks import _check_with as _check_with
from ._exceptions import (
    AcceleratorError,
    ConnectionFailed,
    GraddError,
    LostWriteWarning,
    NotAllowed,
    OutOfMemoryError,
    RecordedHere,
    ServerError,
    SessionClosed,
    SessionLost,
    TimedOut,
)
from ._files import load, save
from ._function import function
from ._session import Session, aconnect, connect, set_default_dtype
from ._session import current as current_session
from ._session import delete_session as delete_session
from ._session import watch as _watch
from ._surface import FOREACH as _FOREACH
from ._surface import STORAGES as _STORAGES
from ._surface import (
    Generator,
    TypedStorage,
    UntypedStorage,
    are_deterministic_algorithms_enabled,
    as_tensor,
    asarray,
    default_generator,
    finfo,
    from_dlpack,
    from_numpy,
    frombuffer,
    get_default_device,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    get_rng_state,
    iinfo,
    initial_seed,
    is_deterministic_algorithms_warn_only_enabled,
    is_storage,
    is_tensor,
    layout,
    manual_seed,
    seed,
    set_default_device,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_rng_state,
    sparse_bsc,
    sparse_bsc_tensor,
    sparse_bsr,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo,
    sparse_coo_tensor,
    sparse_csc,
    sparse_csc_tensor,
    sparse_csr,
    sparse_csr_tensor,
    strided,
    tensor,
    use_deterministic_algorithms,
)
from ._surface import attach as _attach
from ._symbols import (
    SymBool,
    SymFloat,
    SymInt,
    sym_float,
    sym_int,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
    sym_sqrt,
    sym_sum,
)
from ._tensor import Tensor
from ._top import *  # noqa: F403 - a name for each declared op
from ._top import __all__ as _functions
from ._torch import from_torch, offload
from ._unlisted import *  # noqa: F403 - names with an underscore
from .amp import GradScaler
from .amp.autocast_mode import (
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_autocast_gpu_dtype,
)
from .compiler import compile
from .cuda.streams import Event, Stream
from .library import ops
from .sparse import dsmm, hsmm, hspmm, saddmm, smm, spmm, sspaddmm

_attach()
_watch()
#: adds a dimension in an index, as in NumPy
newaxis = None
#: what PyTorch tells of its build: LAPACK and transforms are there, whose they are is the daemon's matter
has_lapack, has_spectral, has_mkl, has_openmp = True, True, False, False

bfloat16, float16, float32, float64 = (_dtypes.bfloat16, _dtypes.float16, _dtypes.float32, _dtypes.float64)
int8, int16, int32, int64 = _dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64
uint8, uint16, uint32, uint64 = _dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64
complex64, complex128 = _dtypes.complex64, _dtypes.complex128
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
bool = _dtypes.bool_
get_default_dtype = _dtypes.default_dtype
BFloat16Storage, HalfStorage, FloatStorage, DoubleStorage = (
    _STORAGES["BFloat16Storage"], _STORAGES["HalfStorage"], _STORAGES["FloatStorage"],
    _STORAGES["DoubleStorage"],
)  # fmt: skip
BoolStorage, ByteStorage, CharStorage, ShortStorage, IntStorage, LongStorage = (
    _STORAGES["BoolStorage"], _STORAGES["ByteStorage"], _STORAGES["CharStorage"],
    _STORAGES["ShortStorage"], _STORAGES["IntStorage"], _STORAGES["LongStorage"],
)  # fmt: skip
ComplexFloatStorage, ComplexDoubleStorage = (
    _STORAGES["ComplexFloatStorage"], _STORAGES["ComplexDoubleStorage"],
)  # fmt: skip


def get_device_module(device: _Any = None) -> _Any:
    """The module of a kind of device, ``gradd.cuda`` for ``cuda:0``; of the session's for None
    (torch.get_device_module). RuntimeError for what is no device.
    """
    if device is not None and not isinstance(device, (str, _Device)):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = current_session().backend.device.type if device is None else _Device(device).type
    found = globals().get(kind)
    if found is None:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
        )
    return found


def result_type(a: _Any, b: _Any) -> dtype:
    """The dtype of an operation on both (torch.result_type)."""
    return _dtypes.result_type([a, b])


__all__ = [
    "AcceleratorError", "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage",
    "ComplexDoubleStorage", "ComplexFloatStorage", "ConnectionFailed", "DoubleStorage", "Event",
    "FloatStorage", "Generator", "GradScaler", "GraddError", "HalfStorage", "IntStorage", "LongStorage",
    "LostWriteWarning", "NotAllowed", "OutOfMemoryError", "RecordedHere", "ServerError", "Session",
    "SessionClosed", "SessionLost", "ShortStorage", "Size", "Stream", "SymBool", "SymFloat", "SymInt",
    "Tensor", "TimedOut", "TypedStorage", "UntypedStorage", "__version__", "accelerator", "aconnect",
    "amp", "ao", "are_deterministic_algorithms_enabled", "array_api", "as_tensor", "asarray", "autocast",
    "autocast_decrement_nesting", "autocast_increment_nesting", "autograd", "backends", "bfloat16",
    "bool", "cdouble", "cfloat", "channels_last", "channels_last_3d", "clear_autocast_cache", "compile",
    "compiler", "complex64", "complex128", "connect", "contiguous_format", "cpu", "cuda",
    "current_session", "default_generator", "delete_session", "device", "distributed", "distributions",
    "double", "dsmm", "dtype", "e", "enable_grad", "fft", "finfo", "float", "float16", "float32",
    "float64", "from_dlpack", "from_numpy", "from_torch", "frombuffer", "func", "function", "functional",
    "functorch", "fx", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_device_module",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads", "get_rng_state", "half",
    "has_lapack", "has_mkl", "has_openmp", "has_spectral", "hsmm", "hspmm", "hub", "iinfo", "inf",
    "inference_mode", "initial_seed", "int", "int8", "int16", "int32", "int64",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled", "is_autocast_enabled", "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "is_storage", "is_tensor", "is_warn_always_enabled",
    "jit", "layout", "library", "linalg", "load", "long", "manual_seed", "masked", "memory_format", "mps",
    "mtia", "multiprocessing", "nan", "newaxis", "nn", "no_grad", "offload", "onnx", "ops", "optim",
    "overrides", "parallel", "pi", "preserve_format", "profiler", "quasirandom", "random", "result_type",
    "return_types", "saddmm", "save", "seed", "serialization", "set_anomaly_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype", "set_default_device",
    "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_grad_enabled", "set_num_interop_threads",
    "set_num_threads", "set_printoptions", "set_rng_state", "set_warn_always", "short", "signal", "smm",
    "sparse", "sparse_bsc", "sparse_bsc_tensor", "sparse_bsr", "sparse_bsr_tensor",
    "sparse_compressed_tensor", "sparse_coo", "sparse_coo_tensor", "sparse_csc", "sparse_csc_tensor",
    "sparse_csr", "sparse_csr_tensor", "special", "spmm", "sspaddmm", "storage", "strided", "sym_float",
    "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum", "tensor", "testing",
    "types", "uint8", "uint16", "uint32", "uint64", "use_deterministic_algorithms", "utils", "version",
    "vmap", "xpu",
]  # fmt: skip
__all__ += _functions
globals().update(_FOREACH)
