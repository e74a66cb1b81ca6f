"""A session's tensors by id (``@writer.n``) and by shared name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_protocol import names
from gradd_protocol.messages import TensorInfo
from gradd_protocol.problems import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradd_engine.tensor import Tensor


def not_found(name: str) -> ProtocolError:
    """tensor-not-found (404)."""
    return ProtocolError.of("tensor-not-found", f"there is no tensor {name!r} in this session")


def describe(t: Tensor, id: str, name: str | None) -> TensorInfo:
    """What a mirror knows of a tensor."""
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
    )


class Table:
    """Ids are given by writers, names are shared; both hold the tensor itself."""

    def __init__(self) -> None:
        self.ids: dict[str, Tensor] = {}
        self.named: dict[str, Tensor] = {}
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._changed: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids) + len(self.named)

    def find(self, name: str) -> Tensor:
        """The tensor of an id or name; tensor-not-found else."""
        t = self.ids.get(name)
        if t is None:
            t = self.named.get(name)
        if t is None:
            raise not_found(name)
        return t

    def find_ref(self, text: str) -> Tensor | None:
        """As `find`; for ``x.grad`` the gradient of ``x``, None where it has none."""
        ref = names.split(text)
        t = self.find(ref.name)
        return t._grad if ref.grad else t

    def bind(self, name: str, t: Tensor) -> bool:
        """Bind a shared name; True when it is new."""
        names.tensor(name)
        new = name not in self.named
        self.named[name] = t
        return new

    def drop(self, name: str) -> None:
        """Forget an id or a name; unknown ones are ignored (frees may come twice)."""
        self.ids.pop(name, None)
        self.named.pop(name, None)

    def name_of(self, t: Tensor) -> str | None:
        """The first shared name of the tensor in alphabetical order."""
        return min((n for n, other in self.named.items() if other is t), default=None)

    def infos(self, wanted: Iterable[str], prefix: str) -> list[TensorInfo | None]:
        """TensorInfo of ids, names and ``x.grad``, None where there is none.

        Whatever was asked for, its `id` is the one that the writer with ids of that prefix gave it, if it
        gave one: so two questions about one tensor have answers with one id.
        """
        own = {id(t): i for i, t in reversed(self.ids.items()) if i.startswith(prefix)}
        names_of = self._names()
        out: list[TensorInfo | None] = []
        for name in wanted:
            ref = names.split(name)
            t = self.ids.get(ref.name, self.named.get(ref.name))
            t = t._grad if t is not None and ref.grad else t
            known = None if t is None else names_of.get(id(t))
            out.append(None if t is None else describe(t, own.get(id(t), name), known))
        return out

    def _names(self) -> dict[int, str]:
        return {id(self.named[n]): n for n in sorted(self.named, reverse=True)}

    def rows(self) -> Iterator[TensorInfo]:
        """Every id, then every name whose tensor has no id."""
        names_of = self._names()
        covered = {id(t) for t in self.ids.values()}
        for i, t in self.ids.items():
            yield describe(t, i, names_of.get(id(t)))
        for n, t in self.named.items():
            if id(t) not in covered:
                yield describe(t, n, n)

    def note_changes(self, position: int) -> None:
        """Remember which named tensors differ from when they were last looked at."""
        for n, t in self.named.items():
            mark = (id(t), t._vc.n, t.requires_grad, t._grad is not None, t._fn is None)
            if self._seen.get(n) != mark:
                self._seen[n] = mark
                self._changed[n] = position
        for n in [n for n in self._seen if n not in self.named]:
            del self._seen[n]
            self._changed.pop(n, None)

    def changed_since(self, position: int) -> list[TensorInfo]:
        """Named tensors that changed after `position`."""
        return [describe(self.named[n], n, n) for n, p in self._changed.items() if p > position]
