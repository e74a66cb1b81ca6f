"""PyTorch's functions: the engine's ops in the current session, tensors from data, random streams, and
queries on tensors and dtypes.
"""

from .creation import as_tensor, asarray, from_numpy, is_tensor, tensor
from .facts import FACTS, layout, strided
from .functions import namespace
from .generator import (
    DRAWING,
    Generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .limits import finfo, iinfo
from .methods import attach

__all__ = [
    "DRAWING", "FACTS", "Generator", "as_tensor", "asarray", "attach", "finfo", "from_numpy", "get_rng_state",
    "iinfo", "initial_seed", "is_tensor", "layout", "manual_seed", "namespace", "seed", "set_rng_state",
    "strided", "tensor",
]  # fmt: skip
