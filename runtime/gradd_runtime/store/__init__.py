"""The journal of applied batches, written before they are answered."""

from .journal import MemoryStore, Record, Store

__all__ = ["MemoryStore", "Record", "Store"]
