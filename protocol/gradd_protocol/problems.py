"""Problems (RFC 9457): the table of what can go wrong, and the exceptions that carry a problem."""

import dataclasses
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The body of an `application/problem+json` answer; frames use the same members."""

    type: Annotated[str, Meta(title="ProblemType")]
    """`/problems/<slug>`, where the daemon serves a description."""
    title: str
    status: int
    detail: str = ""
    """What happened this time; PyTorch's message if a step failed."""
    exception: str | None = None
    """Name of PyTorch's exception class, e.g. `RuntimeError`."""
    step: int | None = None
    """Index of the step at fault in its batch."""
    applied: int | None = None
    """Number of steps that took effect."""
    node: int | None = None
    """Index of the node in the backward pass in which anomaly detection found NaN."""
    whose: str | None = None
    """Whose limit it is, where it is not the session's: `tenant`, `engine process`."""
    what: str | None = None
    """What the limit counts, where it is not bytes: `tensors`, `graph nodes`."""
    limit: int | None = None
    used: int | None = None
    requested: int | None = None
    expected_seq: int | None = None
    epoch: int | None = None
    supported: list[str] | None = None
    errors: list[dict[str, str]] | None = None
    """`[{"detail": ..., "pointer": "/steps/0/op"}]`: where the error is in a JSON body."""
    retry_after: int | None = None
    """In seconds."""
    request_id: str | None = None

    @property
    def slug(self) -> str:
        """The last component of `type`."""
        return self.type.rpartition("/")[2]


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """One row of the table, which describes a slug."""

    slug: str
    status: int
    title: str
    description: str


_ROWS: Final = (
    Kind(
        "malformed-frame",
        400,
        "Malformed frame",
        "The body is not a frame: its length prefix, header, buffer table or bytes disagree, or its message"
        " has a field that is unknown, missing, repeated or of another type. Nothing was run.",
    ),
    Kind(
        "invalid-json",
        400,
        "Invalid JSON",
        "The body is not JSON, or is JSON with a key repeated, nested too deep, or with a member that is "
        "unknown, missing or of another type. Nothing was run.",
    ),
    Kind(
        "invalid-name",
        400,
        "Invalid name",
        "A session or tensor name breaks the rules: sessions are [A-Za-z0-9][A-Za-z0-9._-]{0,127} without "
        "'..', tensors [A-Za-z_][A-Za-z0-9_.-]{0,127}, and a last component 'grad' is reserved for "
        "gradients.",
    ),
    Kind(
        "bad-request",
        400,
        "Bad request",
        "A header, a query parameter or a path component cannot be read as what it should be.",
    ),
    Kind(
        "unauthenticated",
        401,
        "Not authenticated",
        "The request carries no API key, or one that is unknown, revoked or expired. Send Authorization: "
        "Bearer KEY; 'gradd keys create' makes one. Nothing was run.",
    ),
    Kind(
        "forbidden",
        403,
        "Forbidden",
        "The API key is valid, and its role does not allow this. Nothing was run.",
    ),
    Kind(
        "read-only",
        403,
        "Read-only",
        "The API key is a share: it reads one session, by GET, and does nothing else. Nothing was run.",
    ),
    Kind(
        "origin-refused",
        403,
        "Origin refused",
        "The request comes from a web page of another origin. The daemon answers only pages of its own, and "
        "those of its --allow-origin.",
    ),
    Kind("not-found", 404, "Not found", "There is nothing at this path."),
    Kind(
        "session-not-found",
        404,
        "Session not found",
        "No session has this name. It was never created, was deleted, or was anonymous and has ended.",
    ),
    Kind(
        "tensor-not-found",
        404,
        "Tensor not found",
        "The session has no tensor of this name or id; for 'x.grad', x has no gradient.",
    ),
    Kind(
        "op-not-found",
        404,
        "Operation not found",
        "The catalogue has no operation of this name. GET /v1/ops lists it.",
    ),
    Kind(
        "hook-not-found",
        404,
        "Hook not found",
        "The session has no hook of this name. It was never declared, was removed, or went with its tensor.",
    ),
    Kind(
        "result-not-found",
        404,
        "Result not found",
        "No pinned result has this key. It was never pinned, or was acknowledged and dropped.",
    ),
    Kind(
        "batch-not-found",
        404,
        "Batch not found",
        "The writer has not applied a batch of this number: it did not land.",
    ),
    Kind(
        "snapshot-not-found",
        404,
        "Snapshot not found",
        "The session has no snapshot of this id. It was never taken, or was deleted.",
    ),
    Kind(
        "method-not-allowed",
        405,
        "Method not allowed",
        "The path exists and does not know this method. The Allow header lists those it knows.",
    ),
    Kind(
        "not-acceptable",
        406,
        "Not acceptable",
        "None of the media types the request accepts can be produced. 'supported' lists those that can.",
    ),
    Kind(
        "request-timeout",
        408,
        "Request timeout",
        "The body did not arrive in time. Nothing was run.",
    ),
    Kind(
        "deadline-exceeded",
        408,
        "Deadline exceeded",
        "The batch took longer than its Request-Timeout. The steps before 'step' stand. It is consumed.",
    ),
    Kind(
        "sequence-gap",
        409,
        "Sequence gap",
        "The batch number is beyond the writer's next. 'expected_seq' is the number to send. Nothing was "
        "run.",
    ),
    Kind(
        "sequence-conflict",
        409,
        "Sequence conflict",
        "A batch of this number was applied with another body. Nothing was run.",
    ),
    Kind(
        "writer-fenced",
        409,
        "Writer fenced",
        "The session was acquired anew since this writer attached, so its epoch is over. Attach again.",
    ),
    Kind(
        "writer-unknown",
        409,
        "Writer unknown",
        "The session never gave out this writer number, or not in this epoch. Attach first.",
    ),
    Kind(
        "program-unknown",
        409,
        "Program unknown",
        "The batch names a program that the session does not hold. Send it again with its definition. The "
        "batch number was not consumed.",
    ),
    Kind(
        "upload-missing",
        409,
        "Upload missing",
        "The batch names a staged upload that has not arrived. Stage it and send the batch again. The batch"
        " number was not consumed.",
    ),
    Kind(
        "idempotency-conflict",
        409,
        "Idempotency key conflict",
        "This Idempotency-Key was used with another body. Nothing was run.",
    ),
    Kind(
        "window-exceeded",
        409,
        "Window exceeded",
        "The writer has more unacknowledged batches, or bytes of them, than its window allows. Read replies"
        " and acknowledge them first. The batch number was not consumed.",
    ),
    Kind(
        "cancelled",
        409,
        "Batch cancelled",
        "Somebody asked the session to stop its batches, or deleted it. The steps before 'step' stand "
        "('applied'), the rest were not run. The batch number is consumed.",
    ),
    Kind(
        "session-exists",
        409,
        "Session exists",
        "A session of this name exists with other settings.",
    ),
    Kind(
        "session-busy",
        409,
        "Session busy",
        "The session is being made of a snapshot, or is in a backward pass, where none can be taken. Try "
        "again after 'retry_after' seconds.",
    ),
    Kind(
        "reply-expired",
        410,
        "Reply expired",
        "The batch was applied, and its reply was dropped after it was acknowledged.",
    ),
    Kind("length-required", 411, "Length required", "An upload must say its Content-Length."),
    Kind(
        "body-too-large",
        413,
        "Body too large",
        "The body or the message is over its limit. 'limit' says which size is allowed.",
    ),
    Kind(
        "unsupported-media-type",
        415,
        "Unsupported media type",
        "The Content-Type or Content-Encoding of the request is not one that this path reads.",
    ),
    Kind(
        "host-refused",
        421,
        "Host refused",
        "The Host header does not name this daemon: localhost, 127.0.0.1, [::1], or one of its "
        "--allowed-hosts.",
    ),
    Kind(
        "invalid-op",
        422,
        "Invalid step",
        "A step was refused before any ran: an unknown operation, a wrong number of inputs or outputs, an "
        "unknown or ill-typed attribute, shapes or dtypes that do not go together, an unknown tensor, or a "
        "backward pass from a non-scalar without gradient. 'step' says which. Nothing was run.",
    ),
    Kind(
        "op-not-callable",
        422,
        "Operation not callable",
        "The operation is one that the engine alone calls. GET /v1/ops lists those that a step may call. "
        "Nothing was run.",
    ),
    Kind(
        "invalid-data",
        422,
        "Invalid data",
        "The data of a tensor does not fit its dtype or its shape: a ragged list, a wrong count, a value "
        "out of the range of an integer dtype, a value of another kind.",
    ),
    Kind(
        "invalid-snapshot",
        422,
        "Invalid snapshot",
        "The file is no snapshot, is damaged, or says what no session can be. 'detail' says what is wrong. "
        "No session was made.",
    ),
    Kind(
        "op-failed",
        422,
        "Step failed",
        "A step failed while running. The steps before it stand ('applied'), the rest were not run. "
        "'exception' and 'detail' are PyTorch's exception class and message.",
    ),
    Kind(
        "work-exceeded",
        422,
        "Too much work",
        "A step would take longer than any may: its cost in elementary operations, by its shapes and numbers,"
        " is over 'limit'. The steps before it stand ('applied'), the rest were not run.",
    ),
    Kind(
        "skipped",
        424,
        "Batch skipped",
        "An earlier batch of this writer failed and its failure is not acknowledged yet. Nothing was run.",
    ),
    Kind(
        "time-exceeded",
        429,
        "Too much time",
        "The batch ran for longer than one may: 'used' and 'limit' are seconds. The steps before 'step' "
        "stand ('applied'), the rest were not run. The batch number is consumed: make batches smaller.",
    ),
    Kind(
        "rate-limited",
        429,
        "Too many requests",
        "The requests and answers under way, of the tenant or of all, hold as many bytes as they may: 'used' "
        "of 'limit'. Read the answers, or try again after 'retry_after' seconds. Nothing was run.",
    ),
    Kind(
        "too-many",
        429,
        "Too many",
        "There are as many sessions or connections, of the tenant or of all, or shares of a session, as "
        "there may be: 'used' of 'limit'. Delete or close some; where 'retry_after' is given, some may end "
        "by themselves. Nothing was run.",
    ),
    Kind(
        "headers-too-large",
        431,
        "Headers too large",
        "The headers of the request are over their limit.",
    ),
    Kind(
        "internal",
        500,
        "Internal error",
        "The daemon has a bug. Its log has the details under 'request_id'. The session goes on.",
    ),
    Kind(
        "draining",
        503,
        "Draining",
        "The daemon is shutting down and takes no new work.",
    ),
    Kind(
        "not-ready",
        503,
        "Not ready",
        "An engine process does not answer or is being replaced, or the data directory takes no files.",
    ),
    Kind(
        "device-lost",
        503,
        "Device lost",
        "The engine process that held the session ended, and with it everything in the session. Whether a "
        "batch in flight ran cannot be told. Delete the session and create it again.",
    ),
    Kind(
        "recovering",
        503,
        "Recovering",
        "The engine process of the session ended, and the session is made again from its store. Nothing that "
        "was answered as done is lost. Whether this request was applied cannot be told: send it again after "
        "'retry_after' seconds. A batch that has a number is applied once.",
    ),
    Kind(
        "store-failed",
        503,
        "Store failed",
        "The session's store cannot be written or read, so the session answers nothing as done. What was "
        "answered before is kept. 'detail' says whether trying again helps.",
    ),
    Kind(
        "overloaded",
        503,
        "Overloaded",
        "The daemon's queues are full. Try again after 'retry_after' seconds.",
    ),
    Kind(
        "disk-full",
        507,
        "Disk full",
        "The daemon's disk has no room for the record of this request, so it was not applied, and the "
        "session takes nothing until there is. Send it again then.",
    ),
    Kind(
        "quota-exceeded",
        507,
        "Quota exceeded",
        "The step, upload or session would take more bytes than allowed. 'limit', 'used' and 'requested' "
        "are bytes; 'whose' says whose limit it is, if not the session's.",
    ),
)

TABLE: Final = {row.slug: row for row in _ROWS}
"""Rows by slug."""

PREFIX: Final = "/problems/"


def problem(slug: str, detail: str = "", **members: Any) -> Problem:
    """A problem with the slug's status and title. KeyError for an unknown slug."""
    row = TABLE[slug]
    return Problem(type=PREFIX + slug, title=row.title, status=row.status, detail=detail, **members)


class ProtocolError(Exception):
    """An error that is answered with `.problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail or problem.title)
        self.problem = problem

    @classmethod
    def of(cls, slug: str, detail: str = "", **members: Any) -> "ProtocolError":
        """An error with that problem."""
        return ProtocolError(problem(slug, detail, **members))


class Malformed(ProtocolError):
    """Bytes that are not a frame, or a program or message that breaks the wire's own rules."""

    def __init__(self, detail: str) -> None:
        super().__init__(problem("malformed-frame", detail))
