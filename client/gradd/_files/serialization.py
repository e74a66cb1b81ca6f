"""save and load: tensors and plain values in one safetensors file, without pickle; other objects as PyTorch
writes them.

Tensors have readable names (keys joined by "."), for other programs; nesting and plain values are JSON in the
file's metadata under ``gradd.tree``.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from gradd_engine.data import Size, dtypes
from gradd_engine.progress import Transfer
from gradd_protocol.safetensors import StoredTensor

from .._surface import Specified, tensor
from .._tensor import Tensor
from ..nn.parameter import Parameter
from . import checkpoint, safetensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np

_TREE = "gradd.tree"
_MAPPINGS: dict[str, Any] = {"dict": dict, "ordered": OrderedDict, "counter": Counter}
#: ends of paths whose files are PyTorch's
_OF_PYTORCH = (".pt", ".pth", ".bin", ".ckpt", ".tar")
_TOGETHER = 1 << 18  # bytes of small tensors fetched in one message

PathLike = str | os.PathLike[str]


def save(
    obj: Any,
    f: PathLike | BinaryIO,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, numbers, strings, None, dtypes, and dicts, lists, tuples of these to a safetensors file;
    to a path that ends with ``.pt``, ``.pth``, ``.bin``, ``.ckpt`` or ``.tar``, as PyTorch's ``torch.save``
    does, for its ``torch.load``.

    Meant for ``state_dict()`` of modules and optimizers, and checkpoints made of them. Anything else, such as
    a whole Module, is written in PyTorch's way to any file, by the names of its classes. A path is replaced
    atomically. The other arguments have no effect. Raises pickle.PicklingError or TypeError for what has no
    such name, as a lambda.
    """
    tensors: dict[str, Tensor] = {}
    try:
        tree = _describe(obj, "", tensors, {})
    except _NotPlain:
        tree = None
    of_pytorch = False
    to: contextlib.AbstractContextManager[BinaryIO]
    if isinstance(f, (str, os.PathLike)):
        of_pytorch, to = os.fspath(f).endswith(_OF_PYTORCH), _replacing(os.fspath(f))
    else:
        to = contextlib.nullcontext(f)
    with to as file, Transfer("saving", 0) as transfer:
        fetching = partial(_fetching, transfer)
        if tree is None or of_pytorch:
            checkpoint.write(file, obj, fetching)
            return
        about = {name: (t.dtype.name, tuple(t.shape)) for name, t in tensors.items()}
        values = fetching(tensors.values())
        metadata = {_TREE: json.dumps(tree, separators=(",", ":"), allow_nan=False)}
        safetensors.write(file, about, lambda name: values(tensors[name]), metadata)


def load(
    f: PathLike | BinaryIO,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """What `save` or PyTorch's ``torch.save`` wrote, with tensors in the current session; for any other
    safetensors file, a dict of tensors.

    With `weights_only` False also instances of classes that the program has, such as a whole Module; nothing
    is imported for a file, and of functions only makers of plain values are called. `map_location`, `mmap`
    and `pickle_module` have no effect: a session has one device. ValueError for a malformed file,
    pickle.UnpicklingError for one of PyTorch's with more than that.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, os.fspath(f), bool(weights_only))
    return _load(f, getattr(f, "name", "the file"), bool(weights_only))


def _load(file: BinaryIO, name: Any, weights_only: bool) -> Any:
    try:
        begins = file.read(len(checkpoint.MAGIC))
        file.seek(-len(begins), os.SEEK_CUR)
        if begins == checkpoint.MAGIC:
            return checkpoint.read(file, weights_only)
        entries, metadata = safetensors.read_header(file)
        with Transfer("loading", sum(entry.nbytes for entry in entries.values())) as transfer:
            reader = _Reader(file, entries, transfer)
            if _TREE not in metadata:
                return {key: reader.tensor(key) for key in entries}
            return reader.restore(json.loads(metadata[_TREE]))
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise ValueError(f"{name} is not a file that gradd.load reads: {e}") from e


# -- nesting ---------------------------------------------------------------------------------------


class _NotPlain(Exception):
    """There is something that the tree of a safetensors file does not describe."""


def _describe(obj: Any, path: str, tensors: dict[str, Tensor], names: dict[int, str]) -> Any:
    """`obj` as JSON: plain values as they are, the rest as one-key objects; collects tensors by name. Raises
    _NotPlain for other objects.
    """
    if obj is None or isinstance(obj, (bool, str)) or type(obj) is int:
        return obj
    if isinstance(obj, float):
        return float(obj) if math.isfinite(obj) else {"float": repr(float(obj))}
    if isinstance(obj, complex):
        return {"complex": repr(complex(obj))}
    if isinstance(obj, dtypes.DType):
        return {"dtype": obj.name}
    if isinstance(obj, Specified):
        raise _NotPlain
    if isinstance(obj, Tensor):
        name = names.get(id(obj)) or _fresh(path or "tensor", tensors)
        names[id(obj)], tensors[name] = name, obj
        return {"tensor": name, "requires_grad": obj.requires_grad, "parameter": isinstance(obj, Parameter)}

    def inner(key: Any, value: Any) -> Any:
        return _describe(value, f"{path}.{key}" if path else str(key), tensors, names)

    if isinstance(obj, Mapping):
        kind = next((kind for kind, made in _MAPPINGS.items() if type(obj) is made), "dict")
        return {kind: [[_key(key), inner(key, value)] for key, value in obj.items()]}
    if isinstance(obj, (list, tuple)):
        parts = [inner(i, value) for i, value in enumerate(obj)]
        return parts if isinstance(obj, list) else {"size" if isinstance(obj, Size) else "tuple": parts}
    raise _NotPlain


def _key(key: Any) -> Any:
    if key is None or isinstance(key, (bool, str)) or type(key) is int:
        return key
    raise _NotPlain


def _fresh(name: str, taken: dict[str, Tensor]) -> str:
    while name in taken or name == "__metadata__":
        name += "_"
    return name


class _Reader:
    """The inverse of `_describe`."""

    def __init__(self, file: BinaryIO, entries: dict[str, StoredTensor], transfer: Transfer) -> None:
        self.file = file
        self.entries = entries
        self.transfer = transfer
        self.made: dict[str, Tensor] = {}

    def restore(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.restore(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "tensor" in node:
            return self._tensor(node["tensor"], node["requires_grad"] is True, node["parameter"] is True)
        ((kind, held),) = node.items()
        if kind in _MAPPINGS:
            return _MAPPINGS[kind]({key: self.restore(value) for key, value in held})
        if kind in ("tuple", "size"):
            return (Size if kind == "size" else tuple)(self.restore(part) for part in held)
        if kind == "dtype":
            return dtypes.by_name(held)
        if kind in ("float", "complex"):
            return float(held) if kind == "float" else complex(held)
        raise ValueError(f"an unknown kind of value: {kind!r}")

    def _tensor(self, name: str, requires_grad: bool, parameter: bool) -> Tensor:
        found = self.made.get(name)
        if found is None:
            found = self.tensor(name, requires_grad and not parameter)
            if parameter:
                found = Parameter(found, requires_grad)
            self.made[name] = found
        return found

    def tensor(self, name: str, requires_grad: bool = False) -> Tensor:
        """A new tensor with the values of that name."""
        entry = self.entries[name]
        made = tensor(safetensors.read(self.file, entry), requires_grad=requires_grad)
        self.transfer.add(entry.nbytes)
        return made


# -- values and files ------------------------------------------------------------------------------


def _fetching(transfer: Transfer, tensors: Iterable[Tensor]) -> Callable[[Tensor], np.ndarray[Any, Any]]:
    """A function that gives the data of each, which `transfer` counts; small ones come together."""
    tensors = list(tensors)
    transfer.total = sum(t.nbytes for t in tensors)
    groups = _together(tensors)

    def values(t: Tensor) -> np.ndarray[Any, Any]:
        if groups.get(id(t)):
            _ask(groups[id(t)])
        found = t._values()
        transfer.add(t.nbytes)
        return found

    return values


def _together(tensors: Iterable[Tensor]) -> dict[int, list[Tensor]]:
    """Groups of small tensors to fetch in one message, by the id of each member."""
    groups: dict[int, list[Tensor]] = {}
    group: list[Tensor] = []
    held = 0
    for t in tensors:
        if t.nbytes > _TOGETHER:
            continue
        if group and (held + t.nbytes > _TOGETHER or t._session is not group[0]._session):
            group, held = [], 0
        group.append(t)
        groups[id(t)] = group
        held += t.nbytes
    return groups


def _ask(group: list[Tensor]) -> None:
    """Fetch the values of all of `group` in one batch, which reading them then waits for."""
    session = group[0]._session
    session.ready()
    session.recorder().flush([t for t in group if t._id is not None or t._out is not None])
    group.clear()


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A new file that replaces `path` once it is completely on disk."""
    made = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
        raise
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
