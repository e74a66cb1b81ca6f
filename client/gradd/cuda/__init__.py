"""CUDA device queries. A session has one device, the daemon's. On a CPU these answer as PyTorch does without
a GPU.

As https://docs.pytorch.org/docs/stable/cuda.html.
"""

from __future__ import annotations

from typing import Any

from .._exceptions import AcceleratorError as AcceleratorError
from .._exceptions import OutOfMemoryError as OutOfMemoryError
from .._session import current
from . import amp as amp
from . import graphs as graphs
from . import memory as memory
from . import nvtx as nvtx
from . import profiler as profiler
from . import random as random
from . import streams as streams
from ._devices import can_device_access_peer as can_device_access_peer
from ._devices import clock_rate as clock_rate
from ._devices import current_device as current_device
from ._devices import device as device
from ._devices import device_count as device_count
from ._devices import device_memory_used as device_memory_used
from ._devices import device_of as device_of
from ._devices import get_arch_list as get_arch_list
from ._devices import get_device_capability as get_device_capability
from ._devices import get_device_name as get_device_name
from ._devices import get_device_properties as get_device_properties
from ._devices import get_gencode_flags as get_gencode_flags
from ._devices import init as init
from ._devices import is_available as is_available
from ._devices import is_bf16_supported as is_bf16_supported
from ._devices import is_initialized as is_initialized
from ._devices import is_tf32_supported as is_tf32_supported
from ._devices import list_gpu_processes as list_gpu_processes
from ._devices import memory_usage as memory_usage
from ._devices import power_draw as power_draw
from ._devices import set_device as set_device
from ._devices import temperature as temperature
from ._devices import utilization as utilization
from ._devices import want as _want
from ._types import TYPES as _TYPES
from .graphs import CUDAGraph as CUDAGraph
from .graphs import graph as graph
from .graphs import graph_pool_handle as graph_pool_handle
from .graphs import is_current_stream_capturing as is_current_stream_capturing
from .graphs import make_graphed_callables as make_graphed_callables
from .memory import caching_allocator_alloc as caching_allocator_alloc
from .memory import caching_allocator_delete as caching_allocator_delete
from .memory import empty_cache as empty_cache
from .memory import get_per_process_memory_fraction as get_per_process_memory_fraction
from .memory import ipc_collect as ipc_collect
from .memory import max_memory_allocated as max_memory_allocated
from .memory import max_memory_cached as max_memory_cached
from .memory import max_memory_reserved as max_memory_reserved
from .memory import mem_get_info as mem_get_info
from .memory import memory_allocated as memory_allocated
from .memory import memory_cached as memory_cached
from .memory import memory_reserved as memory_reserved
from .memory import memory_stats as memory_stats
from .memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from .memory import memory_summary as memory_summary
from .memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from .memory import reset_max_memory_allocated as reset_max_memory_allocated
from .memory import reset_max_memory_cached as reset_max_memory_cached
from .memory import reset_peak_memory_stats as reset_peak_memory_stats
from .memory import set_per_process_memory_fraction as set_per_process_memory_fraction
from .random import get_rng_state as get_rng_state
from .random import get_rng_state_all as get_rng_state_all
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import manual_seed_all as manual_seed_all
from .random import seed as seed
from .random import seed_all as seed_all
from .random import set_rng_state as set_rng_state
from .random import set_rng_state_all as set_rng_state_all
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import StreamContext as StreamContext
from .streams import current_stream as current_stream
from .streams import default_stream as default_stream
from .streams import set_stream as set_stream
from .streams import stream as stream

#: what PyTorch calls of its build
has_half, has_magma = True, False
#: a session's stream is no generator of a device's
default_generators: tuple[Any, ...] = ()
CudaError = AcceleratorError

BFloat16Tensor, HalfTensor, FloatTensor, DoubleTensor = (
    _TYPES["BFloat16Tensor"], _TYPES["HalfTensor"], _TYPES["FloatTensor"], _TYPES["DoubleTensor"],
)  # fmt: skip
BoolTensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor = (
    _TYPES["BoolTensor"], _TYPES["ByteTensor"], _TYPES["CharTensor"], _TYPES["ShortTensor"],
    _TYPES["IntTensor"], _TYPES["LongTensor"],
)  # fmt: skip


def synchronize(device: Any = None) -> None:
    """Send what is recorded, and wait until the daemon has answered all of it. Raises as `set_device`."""
    _want(device)
    current().flush()


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """NotImplementedError: `Session.profile` tells the lines that wait. AssertionError without a GPU."""
    _want(None)
    raise NotImplementedError("warnings of waits are not yet supported by gradd: see Session.profile()")


def get_sync_debug_mode() -> int:
    """0: nobody is warned. AssertionError without a GPU."""
    _want(None)
    return 0


def cudart() -> Any:
    """NotImplementedError: CUDA's library is the daemon's. AssertionError without a GPU."""
    _want(None)
    raise NotImplementedError("CUDA's library is the daemon's, and not called from gradd's clients")


def current_blas_handle() -> int:
    """NotImplementedError: CUDA's libraries are the daemon's. AssertionError without a GPU."""
    _want(None)
    raise NotImplementedError("CUDA's libraries are the daemon's, and not called from gradd's clients")


def __getattr__(name: str) -> Any:
    """``_initialized``, which reversible networks ask for."""
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
