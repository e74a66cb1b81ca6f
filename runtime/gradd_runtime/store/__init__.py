"""A session's record, an ordered list of all that changed it; its snapshots; and where both are kept."""

from .blobs import BLOB_BYTES, Blobs, sync_folder
from .bucket import Bucket, bucket_of, is_url
from .examine import Examined, examine, examine_snapshots
from .failpoints import arm, failpoint
from .journal import Damaged, Diverged, Entry, MemoryStore, Store, Trouble
from .lease import LeaseLost, RecordLease, newest, take
from .record import LEVELS, FileStore, make_record
from .snapshot import RESERVED, BadSnapshot, Snapshot, most_bytes, parts, read

__all__ = [
    "BLOB_BYTES",
    "LEVELS",
    "RESERVED",
    "BadSnapshot",
    "Blobs",
    "Bucket",
    "Damaged",
    "Diverged",
    "Entry",
    "Examined",
    "FileStore",
    "LeaseLost",
    "MemoryStore",
    "RecordLease",
    "Snapshot",
    "Store",
    "Trouble",
    "arm",
    "bucket_of",
    "examine",
    "examine_snapshots",
    "failpoint",
    "is_url",
    "make_record",
    "most_bytes",
    "newest",
    "parts",
    "read",
    "sync_folder",
    "take",
]
