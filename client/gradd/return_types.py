"""The named tuples of functions with several results (torch.return_types)."""

from gradd_engine.ops.shared.common import RETURN_TYPES

globals().update(RETURN_TYPES)
