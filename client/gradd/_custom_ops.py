"""The former place of what `gradd.library` has."""

from .library import custom_op, impl
from .library import register_fake as impl_abstract

__all__ = ["custom_op", "impl", "impl_abstract"]
