"""The journal of applied batches, written before they are answered, and snapshots."""

from .journal import MemoryStore, Record, Store
from .snapshot import RESERVED, BadSnapshot, Snapshot, parts, read

__all__ = ["RESERVED", "BadSnapshot", "MemoryStore", "Record", "Snapshot", "Store", "parts", "read"]
