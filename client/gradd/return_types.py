"""The named tuples that functions of several results return (torch.return_types)."""

from gradd_engine.ops.shared.common import RETURN_TYPES

globals().update(RETURN_TYPES)
