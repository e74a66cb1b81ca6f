"""A session's record, an ordered list of all that changed it; its snapshots; and where both are kept."""

from .blobs import BLOB_BYTES, Blobs, sync_folder
from .bucket import Bucket, is_url
from .examine import Examined, examine, examine_snapshots
from .failpoints import arm, failpoint
from .folder import Files, Folder
from .journal import Damaged, Diverged, Entry, MemoryStore, Store, Trouble
from .lease import LeaseLost, RecordLease, newest, take
from .objects import Added, Began, ObjectLog, Ran, Shortened, Stood, What
from .places import link, reading, remove, size_of, writing
from .record import LEVELS, FileStore, make_record
from .snapshot import RESERVED, BadSnapshot, Snapshot, most_bytes, parts, read

__all__ = [
    "BLOB_BYTES",
    "LEVELS",
    "RESERVED",
    "Added",
    "BadSnapshot",
    "Began",
    "Blobs",
    "Bucket",
    "Damaged",
    "Diverged",
    "Entry",
    "Examined",
    "FileStore",
    "Files",
    "Folder",
    "LeaseLost",
    "MemoryStore",
    "ObjectLog",
    "Ran",
    "RecordLease",
    "Shortened",
    "Snapshot",
    "Stood",
    "Store",
    "Trouble",
    "What",
    "arm",
    "examine",
    "examine_snapshots",
    "failpoint",
    "is_url",
    "link",
    "make_record",
    "most_bytes",
    "newest",
    "parts",
    "read",
    "reading",
    "remove",
    "size_of",
    "sync_folder",
    "take",
    "writing",
]
