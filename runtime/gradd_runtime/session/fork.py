"""A session that begins where another one's snapshot was taken: with what its names held there and its
scripts had logged, and none of its clients.

The file may be a stranger's. Its rows are all looked at, and its bytes are counted, before anything is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from gradd_engine.data import OutOfQuota
from gradd_engine.freezing import BadFrozen, Frozen, check, thaw
from gradd_engine.schema import REGISTRY
from gradd_protocol import jsonform, names
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import validate

from ..store import BadSnapshot
from ..tensors import Marks
from .image import flat_memory, read_image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradd_engine.tensor import Tensor

    from ..store import Snapshot
    from .image import SessionImage
    from .json_hooks import HookImage, Hooks
    from .state import SessionState

#: bytes that a member of JSON takes when it is decoded, about, and what may be taken at least
_EACH, _LEAST = 32, 64 << 20
_MOST = (1 << 62) - 1


def begin_at(session: SessionState, hooks: Hooks, snapshot: Snapshot, limit: int) -> None:
    """Make a new session begin at a snapshot. Raises BadSnapshot, and OutOfQuota where it would hold more
    than `limit`; it is closed then.
    """
    try:
        _weigh(snapshot.state, limit)
        image = read_image(snapshot)
        roots = image.graph.roots
        image.graph.roots = {name: at for name, at in roots.items() if name[:1] != "@"}
        _check(image)
        held = sum(storage.nbytes for storage in image.graph.storages)
        if held > limit:
            raise OutOfQuota(held, 0, limit)
        frozen = Frozen(image.graph, flat_memory(image, snapshot.arrays, held))
        check(frozen)
        session.position = image.position
        session.generator.seed, session.generator.step = image.stream
        session.curves.restore(image.series or [])
        tensors = thaw(frozen, session.backend, hooks.restore(session, image.hooks))
        session.table.restore(tensors, _marks(tensors))
        session.settle()
        if session.account.held > limit:
            raise OutOfQuota(session.account.held, 0, limit)
    except (BadFrozen, ProtocolError, KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        session.close()
        if isinstance(error, BadSnapshot):
            raise
        raise BadSnapshot(f"the snapshot's state does not go together: {error}") from error
    except OutOfQuota:
        session.close()
        raise
    # Its record begins with what it is now, so no record of nothing can stand for it.
    session.entries = 1


def _weigh(state: bytes, limit: int) -> None:
    """Refuse JSON that would take too much when it is decoded."""
    if len(state) > DEFAULT.snapshot_state_bytes:
        raise OutOfQuota(len(state), 0, DEFAULT.snapshot_state_bytes)
    weight = _EACH * (2 * (state.count(b"[") + state.count(b"{")) + state.count(b","))
    if weight > max(limit, _LEAST):
        raise OutOfQuota(weight, 0, max(limit, _LEAST))


def _check(image: SessionImage) -> None:
    """What is not rows of tensors and nodes."""
    for name in image.graph.roots:
        names.tensor(name)
    seed, step = image.stream
    if not (0 <= seed < 1 << 64 and 0 <= step <= _MOST and 0 <= image.position <= _MOST):
        raise BadSnapshot("its position or random stream is none")
    if len(image.hooks) > DEFAULT.hooks or len({hook.name for hook in image.hooks}) < len(image.hooks):
        raise BadSnapshot("it has too many hooks, or two of one name")
    for hook in image.hooks:
        _check_hook(hook)


def _check_hook(hook: HookImage) -> None:
    names.tensor(hook.name)
    form = jsonform.decode_hook(msgspec.json.encode(hook.said))
    program = hook.program
    validate(program)
    ops = [REGISTRY.get(step.op) for step in program.steps]
    if len(ops) > DEFAULT.hook_steps or any(op is None or op.effects.backward_pass for op in ops):
        raise BadSnapshot(f"hook {hook.name!r} has steps that none may have")
    if program.inputs != len(form.inputs) + len(hook.named) or hook.runs < 0:
        raise BadSnapshot(f"hook {hook.name!r} has other inputs than its program")
    slots = range(program.inputs + sum(step.outputs for step in program.steps))
    for slot, bound in hook.binds:
        if slot not in slots:
            raise BadSnapshot(f"hook {hook.name!r} names what it does not make")
        for name in bound:
            names.tensor(name)
    if any(slot is not None and slot not in slots for slot in hook.outputs or ()):
        raise BadSnapshot(f"hook {hook.name!r} gives what it does not make")
    for name in hook.named:
        names.reference(name)


def _marks(tensors: Mapping[str, Tensor]) -> Marks:
    called: dict[int, list[str]] = {}
    for name, t in tensors.items():
        called.setdefault(id(t), []).append(name)
    seen = {name: (n,) for n, name in enumerate(tensors, 1)}
    return Marks(0, len(tensors), seen, {}, [c for c in called.values() if len(c) > 1])
