"""PyTorch's functions: the engine's ops in the current session, tensors from data, random streams, and
queries on tensors and dtypes.
"""

from .compressed import (
    CompressedTensor,
    sparse_bsc,
    sparse_bsc_tensor,
    sparse_bsr,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_csc,
    sparse_csc_tensor,
    sparse_csr,
    sparse_csr_tensor,
)
from .coo import SparseTensor, sparse, sparse_coo, sparse_coo_tensor
from .creation import as_tensor, asarray, from_numpy, frombuffer, is_tensor, tensor
from .exchange import dlpack, from_dlpack
from .facts import FACTS, layout, strided
from .foreach import FOREACH
from .functions import namespace
from .generator import (
    DRAWING,
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .invariants import check_sparse_tensor_invariants
from .limits import finfo, iinfo
from .methods import attach
from .overridable import begin
from .sparse_methods import rebuilt, smm, sspaddmm
from .specified import Specified
from .storages import UntypedStorage
from .switches import (
    are_deterministic_algorithms_enabled,
    get_default_device,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_fp32_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_fp32_precision,
    set_num_interop_threads,
    set_num_threads,
    use_deterministic_algorithms,
)
from .typed_storages import STORAGES, TypedStorage, is_storage

__all__ = [
    "DRAWING",
    "FACTS",
    "FOREACH",
    "STORAGES",
    "CompressedTensor",
    "Generator",
    "SparseTensor",
    "Specified",
    "TypedStorage",
    "UntypedStorage",
    "are_deterministic_algorithms_enabled",
    "as_tensor",
    "asarray",
    "attach",
    "begin",
    "check_sparse_tensor_invariants",
    "default_generator",
    "dlpack",
    "finfo",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_fp32_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "get_rng_state",
    "iinfo",
    "initial_seed",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_storage",
    "is_tensor",
    "layout",
    "manual_seed",
    "namespace",
    "rebuilt",
    "seed",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_fp32_precision",
    "set_num_interop_threads",
    "set_num_threads",
    "set_rng_state",
    "smm",
    "sparse",
    "sparse_bsc",
    "sparse_bsc_tensor",
    "sparse_bsr",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo",
    "sparse_coo_tensor",
    "sparse_csc",
    "sparse_csc_tensor",
    "sparse_csr",
    "sparse_csr_tensor",
    "sspaddmm",
    "strided",
    "tensor",
    "use_deterministic_algorithms",
]
