"""Shared names, which all writers of a session see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_protocol import names

from .._mirror import Event, adopt
from .._program import Builder
from .agreement import Agreeing

if TYPE_CHECKING:
    from .._tensor import Tensor


class Naming(Agreeing):
    """A session whose tensors have names."""

    def __setitem__(self, name: str, t: Tensor) -> None:
        """Bind a shared name, so that other clients can find the tensor."""
        with self.lock:
            self.ready()
            if t._session is not self:
                raise RuntimeError("the tensor belongs to another session")
            names.tensor(name)
            recorder = self.recorder()
            recorder.settle(t)
            if t._id is None and t._out is None:
                self.refuse_lost(t)
            self._shares = True
            recorder.flush(bind={name: t})
            # The previous tensor may have another name, from another writer.
            if self.named.get(name, t) is not t:
                self.knowledge.on(Event.RENAMED)
            self.named[name] = t
            self.wire.wait_all()
            self.check()

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of a shared name, the same object while it is alive; KeyError if there is none."""
        with self.lock:
            self.ready()
            names.tensor(name)
            recorder = self.recorder()
            recorder.flush()
            sent = self.send(Builder(), [], state=[name, f"{name}.grad"])
            assert sent is not None
            self.wire.wait(sent)
            self.check()
            info, grad = sent.state
            if info is None:
                raise KeyError(name)
            self._shares = True
            t: Any = self.live.get(info.id)
            if t is None:
                t = adopt(self.backend, info)
                if grad is not None:
                    t._grad = self.live.get(grad.id) or adopt(self.backend, grad)
                recorder.adopt(name, t)
                recorder.flush()
            self.named[name] = t
            if info.name is not None:
                self.named[info.name] = t
            return t  # type: ignore[no-any-return]

    def __delitem__(self, name: str) -> None:
        """Unbind a shared name."""
        with self.lock:
            self.ready().flush()
            self.send(Builder(), [], unbind=[name])
            if self.named.pop(name, None) is not None:
                self.knowledge.on(Event.RENAMED)
            self.wire.wait_all()
            self.check()
