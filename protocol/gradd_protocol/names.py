"""Names of tenants, sessions, devices and tensors, and the ids that clients assign (rest-by-hand rule 1).

A tensor has a shared name `a.b`, an id `@writer.n`, or in a JSON batch a temporary name `%name`; appending
`.grad` refers to its gradient.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple, TypeAlias

from msgspec import Meta

from .limits import DEFAULT
from .problems import ProtocolError

_TAIL: Final = DEFAULT.name_chars - 1
_SESSION: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{_TAIL}}}")
_TENSOR: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_.-]{{0,{_TAIL}}}")
_TEMPORARY: Final = re.compile(rf"%[A-Za-z0-9_.-]{{1,{_TAIL}}}")
_ID: Final = re.compile(r"@(0|[1-9][0-9]{0,9})\.(0|[1-9][0-9]{0,18})")
_GRAD: Final = ".grad"

DEFAULT_TENANT: Final = "default"
"""The tenant of the user who runs the daemon."""

# Regular expressions for the JSON schemas; validation is done by the functions below.
_NO_GRAD: Final = r"(?!grad$)(?!.*\.grad$)"
_ANY: Final = rf"(?:{_TENSOR.pattern}|{_TEMPORARY.pattern}|{_ID.pattern})"


def _pattern(title: str, description: str, pattern: str) -> Meta:
    return Meta(title=title, description=description, extra_json_schema={"pattern": f"^{pattern}$"})


SessionName: TypeAlias = Annotated[
    str, _pattern("SessionName", "The name of a session.", rf"(?!.*\.\.){_SESSION.pattern}")
]
TensorName: TypeAlias = Annotated[
    str,
    _pattern(
        "TensorName",
        "A shared name of a tensor. It lives until it is released or bound anew.",
        _NO_GRAD + _TENSOR.pattern,
    ),
]
TemporaryName: TypeAlias = Annotated[
    str,
    _pattern("TemporaryName", "A name that lives for its batch or hook only.", _NO_GRAD + _TEMPORARY.pattern),
]
OutputName: TypeAlias = Annotated[
    str,
    _pattern(
        "OutputName",
        "A name that a step may give: shared, or with `%` temporary.",
        rf"{_NO_GRAD}(?:{_TENSOR.pattern}|{_TEMPORARY.pattern})",
    ),
]
HeldName: TypeAlias = Annotated[
    str,
    _pattern("HeldName", "A tensor that can be freed: a shared name, an id or `%name`.", _NO_GRAD + _ANY),
]
Reference: TypeAlias = Annotated[
    str,
    _pattern(
        "Reference",
        "A tensor: a shared name, an id `@writer.n` or `%name`; with `.grad` after it, its gradient.",
        rf"(?!grad(?:\.grad)?$)(?!%\.grad$)(?!.*\.grad\.grad$){_ANY}(?:\.grad)?",
    ),
]

UploadKey: TypeAlias = Annotated[
    str,
    _pattern("UploadKey", "The key `writer.n` of an upload that waits for its batch.", r"[0-9]+\.[0-9]+"),
]


class Ref(NamedTuple):
    """A tensor, or with `grad` its gradient. `name`: a shared name, an id, or a temporary name."""

    name: str
    grad: bool = False

    def __str__(self) -> str:
        return self.name + _GRAD if self.grad else self.name


def _refuse(what: str, name: str) -> ProtocolError:
    return ProtocolError.of("invalid-name", f"{name[: DEFAULT.name_chars]!r} is not {what}")


def session(name: str) -> str:
    """Validate a session's name and return it; otherwise invalid-name (400)."""
    if not _SESSION.fullmatch(name) or ".." in name:
        raise _refuse("the name of a session", name)
    return name


def tenant(name: str) -> str:
    """The name of a tenant, itself: as a session's; invalid-name (400) where it breaks the rules."""
    if not _SESSION.fullmatch(name) or ".." in name:
        raise _refuse("the name of a tenant", name)
    return name


def keyed(tenant: str, name: str) -> str:
    """What a placement calls the session `name` of `tenant`: `name` for the default tenant, else
    `tenant/name`. No name has a slash, so no two sessions share one.
    """
    return name if tenant == DEFAULT_TENANT else f"{tenant}/{name}"


def own(key: str) -> str:
    """The session's own name, of what `keyed` made."""
    return key.rpartition("/")[2]


def owner(key: str) -> str:
    """The tenant, of what `keyed` made."""
    return key.rpartition("/")[0] or DEFAULT_TENANT


def split(name: str) -> Ref:
    """Split off `.grad`, without any checks."""
    return Ref(name.removesuffix(_GRAD), True) if name.endswith(_GRAD) else Ref(name)


def tensor(name: str) -> str:
    """Validate a shared name to bind and return it; otherwise invalid-name (400), as for `grad` and
    `x.grad`.
    """
    if not _TENSOR.fullmatch(name) or name == "grad" or name.endswith(_GRAD):
        raise _refuse("a name that a tensor can have", name)
    return name


def output(name: str) -> str:
    """Validate an output's name in a JSON batch, shared or temporary (`%d`); otherwise invalid-name (400)."""
    if not name.startswith("%"):
        return tensor(name)
    if not _TEMPORARY.fullmatch(name) or name.endswith(_GRAD):
        raise _refuse("a name that a step can give", name)
    return name


def reference(name: str) -> Ref:
    """What a shared name, an id or a temporary name, or its `.grad`, refers to; otherwise invalid-name
    (400).
    """
    ref = split(name)
    if _ID.fullmatch(ref.name):
        return ref
    if len(name) > DEFAULT.name_chars + len(_GRAD):
        raise _refuse("the name of a tensor", name)
    output(ref.name)
    return ref


def is_temporary(name: str) -> bool:
    """Whether a name exists only within its batch."""
    return name.startswith("%")


def parse_id(name: str) -> tuple[int, int] | None:
    """(writer, n) of an id `@writer.n`; otherwise None."""
    match = _ID.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def is_device(asked: str, devices: Sequence[str]) -> bool:
    """Whether a session may ask for that where there are those `devices`: ``cuda`` is any GPU."""
    return asked in devices or (asked == "cuda" and devices[0].startswith("cuda"))
