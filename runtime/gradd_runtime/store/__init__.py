"""What stands between executing a batch and answering it: a journal of what was applied."""

from .journal import MemoryStore, Record, Store

__all__ = ["MemoryStore", "Record", "Store"]
