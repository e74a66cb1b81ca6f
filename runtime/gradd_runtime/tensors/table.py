"""A session's tensors by id (``@writer.n``) and by shared name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_protocol import names
from gradd_protocol.messages import TensorInfo
from gradd_protocol.problems import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gradd_engine.tensor import Tensor


def not_found(name: str) -> ProtocolError:
    """tensor-not-found (404)."""
    return ProtocolError.of("tensor-not-found", f"there is no tensor {name!r} in this session")


def describe(t: Tensor, id: str, name: str | None) -> TensorInfo:
    """A tensor's info for the mirror."""
    return TensorInfo(
        id,
        name,
        list(t.shape),
        list(t.strides),
        t.dtype.name,
        t.requires_grad,
        t._leaf,
        t._vc.n,
        t._grad is not None,
        t._vc.inference,
        t._conj,
        t._fn is not None,
        t._requires_grad,
    )


class Marks(NamedTuple):
    """What a table remembers beside its tensors: see `TensorTable`. `called`: of tensors with several, their
    ids and names.
    """

    writer: int
    bindings: int
    seen: dict[str, tuple[Any, ...]]
    changed: dict[str, int]
    called: list[list[str]]


class TensorTable:
    """Ids are assigned by writers, names are shared; both hold the tensor itself."""

    def __init__(self) -> None:
        self._ids: dict[str, Tensor] = {}
        self._named: dict[str, Tensor] = {}
        #: by identity of a tensor: its ids and names, in order of assignment
        self._called: dict[int, str | list[str]] = {}
        self._writer = 0
        self._bindings = 0
        #: name -> its binding and the tensor's state when last checked
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._changed: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids) + len(self._named)

    @property
    def ids(self) -> Mapping[str, Tensor]:
        """Tensors by id."""
        return self._ids

    @property
    def named(self) -> Mapping[str, Tensor]:
        """The tensors that have a shared name, by it."""
        return self._named

    def marks(self) -> Marks:
        """What `restore` takes beside the tensors."""
        called = [list(c) for c in self._called.values() if not isinstance(c, str) and len(c) > 1]
        return Marks(self._writer, self._bindings, dict(self._seen), dict(self._changed), called)

    def restore(self, tensors: Mapping[str, Tensor], marks: Marks) -> None:
        """Fill an empty table with tensors by id and name, in the order in which they were given."""
        for name, t in tensors.items():
            self._give(self._ids if name[0] == "@" else self._named, name, t)
        for names_ in marks.called:
            self._called[id(tensors[names_[0]])] = names_
        self._writer, self._bindings = marks.writer, marks.bindings
        self._seen = {name: tuple(mark) for name, mark in marks.seen.items()}
        self._changed = dict(marks.changed)

    def clear(self) -> None:
        """Forget all."""
        for held in (self._ids, self._named, self._called, self._seen, self._changed):
            held.clear()

    def find(self, name: str) -> Tensor:
        """The tensor of an id or name; otherwise tensor-not-found."""
        t = self._ids.get(name)
        if t is None:
            t = self._named.get(name)
        if t is None:
            raise not_found(name)
        return t

    def find_ref(self, text: str) -> Tensor | None:
        """Like `find`; for ``x.grad`` the gradient of ``x``, or None."""
        ref = names.split(text)
        t = self.find(ref.name)
        return t._grad if ref.grad else t

    # -- ids and names -----------------------------------------------------------------------------

    def keep(self, id: str, t: Tensor) -> None:
        """Give a tensor an id."""
        self._give(self._ids, id, t)

    def bind(self, name: str, t: Tensor) -> bool:
        """Bind a shared name; True if it is new."""
        names.tensor(name)
        new = name not in self._named
        self._give(self._named, name, t)
        self._bindings += 1
        self._seen[name] = (self._bindings,)
        return new

    def _give(self, to: dict[str, Tensor], name: str, t: Tensor) -> None:
        if name in to:
            self._take(to, name)
        to[name] = t
        called = self._called
        key = id(t)
        known = called.get(key)
        if known is None:
            called[key] = name
        elif known.__class__ is str:
            called[key] = [known, name]
        else:
            known.append(name)  # type: ignore[union-attr]

    def _take(self, of: dict[str, Tensor], name: str) -> None:
        t = of.pop(name, None)
        if t is None:
            return
        known = self._called[id(t)]
        if known.__class__ is str or len(known) == 1:
            del self._called[id(t)]
        else:
            known.remove(name)  # type: ignore[union-attr]

    def drop(self, name: str) -> None:
        """Forget an id or a name; unknown ones are ignored (frees may come twice)."""
        self._take(self._ids, name)
        if name in self._named:
            self._take(self._named, name)
            del self._seen[name]
            self._changed.pop(name, None)

    def calls(self, t: Tensor) -> Sequence[str]:
        """The tensor's ids (``@...``) and names, in order of assignment."""
        known = self._called.get(id(t), ())
        return (known,) if isinstance(known, str) else known

    def name_of(self, t: Tensor) -> str | None:
        """The first shared name of the tensor in alphabetical order."""
        return min((n for n in self.calls(t) if n[0] != "@"), default=None)

    def infos(self, wanted: Iterable[str], prefix: str) -> list[TensorInfo | None]:
        """TensorInfo of ids, names and ``x.grad``, or None.

        Each `id` is the one that the writer with that prefix assigned, if any, so that all answers about a
        tensor have the same id.
        """
        out: list[TensorInfo | None] = []
        for name in wanted:
            ref = names.split(name)
            t = self._ids.get(ref.name, self._named.get(ref.name))
            t = t._grad if t is not None and ref.grad else t
            if t is None:
                out.append(None)
            else:
                own = next((n for n in self.calls(t) if n.startswith(prefix)), name)
                out.append(describe(t, own, self.name_of(t)))
        return out

    def rows(self) -> Iterator[TensorInfo]:
        """All ids, then all names of tensors without an id."""
        for i, t in self._ids.items():
            yield describe(t, i, self.name_of(t))
        for n, t in self._named.items():
            if not any(c[0] == "@" for c in self.calls(t)):
                yield describe(t, n, n)

    # -- changes by other writers ------------------------------------------------------------------

    def turn(self, writer: int, position: int) -> None:
        """Before something of `writer` runs (0: none): if another wrote last, note what it changed.

        Changes matter only to other writers, so a single writer pays nothing.
        """
        if writer != self._writer:
            self._writer = writer
            self.note_changes(position)

    def note_changes(self, position: int) -> None:
        """Remember which named tensors changed since the last check."""
        seen = self._seen
        for n, t in self._named.items():
            mark = (seen[n][0], t._vc.n, t.requires_grad, t._grad is not None, t._fn is None)
            if seen[n] != mark:
                seen[n] = mark
                self._changed[n] = position

    def changed_since(self, position: int) -> list[TensorInfo]:
        """Named tensors that changed after `position`."""
        return [describe(self._named[n], n, n) for n, p in self._changed.items() if p > position]
