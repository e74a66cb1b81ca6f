"""Hooks declared over REST: programs in JSON form, which the session runs during passes.

A hook receives tensors under temporary names (``%g``), reads and writes the session's tensors by the names
they have when it runs, and may replace what it received by its outputs. For the engine it is a function,
registered as with torch.Tensor.register_hook and the like, so order and messages are PyTorch's.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import collect, set_mode
from gradd_engine.data.state import state
from gradd_engine.schema import REGISTRY
from gradd_engine.tensor import RemovableHandle, Tensor, detached, node_of
from gradd_protocol import frames, jsonform, names
from gradd_protocol import messages as m
from gradd_protocol.fields import Scalar
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError, problem
from gradd_protocol.program import Program, ValueKind
from gradd_protocol.values import decode_scalar, encode_scalar, kind_of

from ..batch import Compiler
from ..program import admit, bind_program, invalid, run_step

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from gradd_protocol.jsonform import HookForm

    from .state import SessionState

Answer = tuple["m.JsonReply | m.Done", "list[Any]"]


class HookImage(msgspec.Struct, array_like=True):
    """A declared hook in a snapshot. `program` has inputs for what a pass gives, then for `named` tensors."""

    name: str
    said: Any
    runs: int
    program: Program
    named: list[str]
    values: list[tuple[ValueKind, Scalar]]
    binds: list[tuple[int, list[str]]]
    outputs: list[int | None] | None


class Hook:
    """A declared hook, checked and bound once."""

    def __init__(self, name: str, form: HookForm, target: Tensor, session: SessionState) -> None:
        self._begin(name, session)
        for i, step in enumerate(form.steps):
            op = REGISTRY.get(step.op)
            if op is not None and op.effects.backward_pass is not None:
                raise invalid(i, f"a hook does not start passes: {step.op}()")
        compiled = Compiler(session.table, form.steps, form.inputs)
        self._bound = bind_program(compiled.program, compiled.program.id())
        self._named = list(compiled.inputs)
        self._values = compiled.values
        self._binds = compiled.binds
        self._outputs = None if form.outputs is None else [_slot(compiled, ref) for ref in form.outputs]
        self._check_counts(form, target)
        if form.kind in ("tensor", "post_accumulate"):
            given = detached(target) if form.kind == "tensor" else target
            refused = admit(self._bound, [given, *compiled.tensors], self._values)
            if refused is not None:
                raise ProtocolError(refused)

    def _begin(self, name: str, session: SessionState) -> None:
        self.name = self.__name__ = name
        self.runs = 0
        # Not the session itself, which would be a cycle: it holds the tensor that holds the hook.
        self._table, self._backend, self._counts = session.table, session.backend, session.counts
        self._ration = session.ration

    def image(self, said: Any) -> HookImage:
        """What `restored` takes; `said`: how it was declared."""
        return HookImage(
            self.name, said, self.runs, self._bound.definition, self._named,
            [(kind_of(v), encode_scalar(v)) for v in self._values], list(self._binds.items()), self._outputs,
        )  # fmt: skip

    @classmethod
    def restored(cls, image: HookImage, session: SessionState) -> Hook:
        """A hook again. The tensors that it names need not be there: they are looked for when it runs."""
        hook = cls.__new__(cls)
        hook._begin(image.name, session)
        hook.runs = image.runs
        hook._bound = bind_program(image.program, image.program.id())
        hook._named, hook._binds, hook._outputs = image.named, dict(image.binds), image.outputs
        hook._values = [decode_scalar(v, kind) for kind, v in image.values]
        return hook

    def _check_counts(self, form: HookForm, target: Tensor) -> None:
        """invalid-op if it takes or returns the wrong number of tensors."""
        takes, gives = 1, 1 if form.kind == "tensor" else 0
        if form.kind in ("prehook", "posthook"):
            node = node_of(target)
            if node is None:
                raise ProtocolError.of(
                    "invalid-op", f"{form.kind}: {form.tensor} is a leaf, it has no node to hang the hook on"
                )
            takes = gives = node.width
            if form.kind == "posthook":
                gives = len(node.edges)
                takes += gives
        if len(form.inputs) != takes:
            raise ProtocolError.of(
                "invalid-op", f"a {form.kind} hook here takes {takes} inputs, {len(form.inputs)} were named"
            )
        if form.outputs is not None and len(form.outputs) != gives:
            raise ProtocolError.of(
                "invalid-op", f"a {form.kind} hook here gives {gives} outputs, {len(form.outputs)} were named"
            )

    def __call__(self, *given: Any) -> Any:
        """Run the steps on a tensor, or tuples of them; returns the replacement, or None."""
        if given[0] is None:
            return None  # no gradient, so nothing to run the steps on
        self._ration.take(len(self._bound.steps))
        flat = [t for x in given for t in (x if isinstance(x, (tuple, list)) else [x])]
        table, backend = self._table, self._backend
        try:
            slots = [*flat, *(table.find(name) for name in self._named)]
        except ProtocolError as error:
            raise RuntimeError(f"hook {self.name!r}: {error}") from None
        values = iter(self._values)
        before = state.grad, state.inference
        try:
            for step in self._bound.steps:
                set_mode(step.grad)
                state.grad = state.grad and before[0]
                for k, made in enumerate(run_step(step, slots, values, iter(()), backend)[: step.outputs]):
                    slots.append(made)
                    for name in self._binds.get(step.first + k, ()):
                        table.bind(name, made)
        finally:
            state.grad, state.inference = before
        self.runs += 1
        self._counts["steps"] += len(self._bound.steps)
        if not self._outputs:
            return None
        found = [None if at is None else slots[at] for at in self._outputs]
        return tuple(found) if isinstance(given[0], (tuple, list)) else found[0]


def _slot(compiled: Compiler, ref: Any) -> int | None:
    if ref is None:
        return None
    if ref.grad or ref.name not in compiled.scope:
        raise ProtocolError.of("invalid-op", f"no step and no input of the hook is named {str(ref)!r}")
    return compiled.scope[ref.name]


def _check_place(said: Any, registry: list[Any], owner: Any) -> None:
    """ValueError where a hook of a snapshot hangs where it is not given what it takes."""
    kind, given = said.get("kind", "tensor"), said.get("inputs")
    takes = 1 if given is None else len(given)
    if isinstance(owner, Tensor):
        fits = registry is (owner._hooks if kind == "tensor" else owner._post_hooks)
        fits = fits and kind in ("tensor", "post_accumulate") and takes == 1
    elif kind == "tensor":
        fits = any(registry is hooks for hooks in (owner.tensor_hooks or {}).values()) and takes == 1
    elif kind == "prehook":
        fits = registry is owner.pre_hooks and takes == owner.width
    else:
        fits = kind == "posthook" and registry is owner.post_hooks
        fits = fits and takes == owner.width + len(owner.edges)
    if not fits:
        raise ValueError("a hook hangs where it does not belong")


class Declared:
    """A hook and its handle. It lives as long as the tensor or node that it is registered on."""

    def __init__(self, hook: Hook, form: HookForm, text: bytes, target: Tensor) -> None:
        self.hook = hook
        self.said = msgspec.json.decode(text)
        self.anchor: weakref.ref[Any]
        node = node_of(target)
        if form.kind == "post_accumulate":
            self.handle = target.register_post_accumulate_grad_hook(hook)
        elif form.kind == "tensor":
            self.handle = target.register_hook(hook)
        else:
            assert node is not None
            self.handle = (node.register_prehook if form.kind == "prehook" else node.register_hook)(hook)
        self.anchor = weakref.ref(target if node is None else node)

    @classmethod
    def restored(cls, hook: Hook, said: Any, registry: list[Any], owner: Any) -> Declared:
        """A hook that hangs in a registry of `owner`, a tensor or node, from now on."""
        declared = cls.__new__(cls)
        declared.hook, declared.said = hook, said
        declared.handle, declared.anchor = RemovableHandle(registry, hook), weakref.ref(owner)
        return declared

    def describe(self) -> dict[str, Any]:
        """The answer to GET."""
        defaults = {"kind": "tensor", "inputs": ["%g"], "steps": [], "outputs": None}
        return {"name": self.hook.name, **defaults, **self.said, "runs": self.hook.runs}


class Hooks:
    """The hooks of a session, by name, in order of declaration."""

    def __init__(self) -> None:
        self._declared: dict[str, Declared] = {}

    def answer(
        self,
        session: SessionState,
        message: m.PutHook | m.GetHook | m.DeleteHook | m.ListHooks,
        buffers: Sequence[Any],
    ) -> Answer:
        """Answer a message about hooks."""
        self._prune()
        if isinstance(message, m.ListHooks):
            return _said(200, {"hooks": [d.describe() for d in self._declared.values()]})
        if isinstance(message, m.PutHook):
            return self._put(session, message.name, frames.text_of(buffers[0]))
        if isinstance(message, m.DeleteHook):
            session.change.begun = True
            self._remove(message.name)
            session.position += 1
            return m.Done(), []
        found = self._declared.get(message.name)
        if found is None:
            raise ProtocolError.of("hook-not-found", f"there is no hook {message.name!r} in this session")
        return _said(200, found.describe())

    def images(self, hung: Container[str]) -> list[HookImage]:
        """The hooks that hang somewhere, in the order in which they were declared."""
        return [d.hook.image(d.said) for name, d in self._declared.items() if name in hung]

    def restore(
        self, session: SessionState, images: Sequence[HookImage]
    ) -> Callable[[str, list[Any], Any], None]:
        """Be as other hooks were; gives what hangs one up in a registry of a tensor or node."""
        found = {image.name: image for image in images}
        # In their order, whichever is hung first.
        places: dict[str, Declared | None] = dict.fromkeys(found)

        def hang(name: str, registry: list[Any], owner: Any) -> None:
            _check_place(found[name].said, registry, owner)
            hook = Hook.restored(found[name], session)
            places[name] = Declared.restored(hook, found[name].said, registry, owner)
            self._declared = {n: d for n, d in places.items() if d is not None}

        return hang

    def _put(self, session: SessionState, name: str, text: bytes) -> Answer:
        names.tensor(name)
        form = jsonform.decode_hook(text)
        target = session.table.find_ref(str(form.tensor))
        if target is None:
            raise ProtocolError.of("tensor-not-found", f"{form.tensor}: the tensor has no gradient")
        if len(self._declared) >= DEFAULT.hooks:
            collect()  # those of tensors in a cycle go with them, and when that is must not matter
            self._prune()
        new = name not in self._declared
        if new and len(self._declared) >= DEFAULT.hooks:
            raise ProtocolError.of(
                "invalid-op", f"a session has at most {DEFAULT.hooks} hooks", limit=DEFAULT.hooks
            )
        hook = Hook(name, form, target, session)
        try:
            declared = Declared(hook, form, text, target)
        except (RuntimeError, TypeError) as error:
            raise ProtocolError(problem("op-failed", str(error), exception=type(error).__name__)) from None
        session.change.begun = True
        self._remove(name)
        self._declared[name] = declared
        session.position += 1
        return _said(201 if new else 200, declared.describe())

    def _prune(self) -> None:
        for name in [n for n, d in self._declared.items() if d.anchor() is None]:
            del self._declared[name]

    def _remove(self, name: str) -> None:
        old = self._declared.pop(name, None)
        if old is not None:
            old.handle.remove()


def _said(status: int, what: dict[str, Any]) -> Answer:
    return m.JsonReply(status), [frames.text_buffer(msgspec.json.encode(what))]
