"""Every limit of the wire, in one table: served by `GET /v1`, enforced by decoders and the server."""

import dataclasses

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a daemon. Sizes are in bytes unless the name says otherwise; `DEFAULT` has the defaults."""

    json_bytes: int = 16 * MIB
    """A JSON body, and the JSON header of a frame."""
    json_depth: int = 64
    """Nesting of a JSON body."""
    json_containers: int = 1 << 20
    """Arrays and objects in one JSON text, which bounds the memory that a small text can expand to."""
    client_message_bytes: int = MIB
    """A stream message from a client."""
    server_message_bytes: int = 2 * MIB
    """A stream message from the server."""
    upload_bytes: int = GIB
    """One uploaded tensor."""
    inline_upload_bytes: int = 256 * KIB
    """An upload inside its batch; larger ones are staged."""
    inline_result_bytes: int = 256 * KIB
    """A result inside its reply; larger ones are pinned and read with GET."""
    staged_bytes: int = 2 * GIB
    """Uploads of one session waiting for their batch."""
    session_bytes: int = 8 * GIB
    """Tensors of one session, unless it was opened with its own quota."""
    session_tensors: int = 1 << 17
    """Ids and names of tensors of one session."""
    session_nodes: int = 1 << 22
    """Nodes of the graphs of one session, about: a batch is not begun where there are so many."""
    batch_steps: int = 4096
    """Steps of one batch."""
    batch_ids: int = 1 << 16
    """Entries of any one list of a batch (inputs, values, keep, fetch, free, ...)."""
    window_batches: int = 256
    """Unacknowledged batches of one writer."""
    window_bytes: int = 32 * MIB
    """Bytes of the unacknowledged batches of one writer."""
    hooks: int = 256
    """Hooks of one session declared over REST."""
    hook_steps: int = 256
    """Steps of one hook declared over REST."""
    batch_hook_steps: int = 1 << 14
    """Steps of such hooks in one batch, in all."""
    graph_nodes: int = 10_000
    """Nodes in one picture of a graph."""
    measured_batches: int = 200
    """Batches that are measured at a request, after which it ends by itself."""
    snapshots: int = 100
    """Snapshots of one session that were taken by hand and not deleted."""
    snapshot_state_bytes: int = 256 * MIB
    """What a snapshot has beside its tensors' elements."""
    stored_keys: int = 1024
    """Idempotency keys remembered by one session."""
    dims: int = 64
    """Dimensions of one tensor."""
    frame_buffers: int = 4096
    """Buffers of one frame."""
    static_depth: int = 4
    """Nesting of lists in a static parameter."""
    name_chars: int = 128
    """A session or tensor name."""
    op_name_chars: int = 64
    """An op or attribute name."""
    http_header_bytes: int = 32 * KIB
    """All headers of one HTTP request."""
    http_headers: int = 100
    """Number of headers of one HTTP request."""

    def as_dict(self) -> dict[str, int]:
        """Each limit's value by name, in declaration order."""
        return dataclasses.asdict(self)


DEFAULT = Limits()
