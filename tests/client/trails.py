"""Random loops with and without a trail: what they send, what their mirrors say, what their graphs are.

A body is drawn once and repeated; now and then a repetition is not quite the same.
"""

from __future__ import annotations

import gc
import random
import warnings
from contextlib import nullcontext
from typing import Any

import gradd
import msgspec
from gradd._exceptions import line_of
from gradd._recording.trail import Trail
from gradd_engine.tensor import Saved, places

from tests.congruence.loops import ERRORS, Body

REPETITIONS = 9
#: of a batch, what no clock decides; when a tensor dies that is part of a cycle, the collector does
_FIELDS = ("seq", "program", "inputs", "values", "keep", "first", "fetch", "bind", "unbind", "state")


class Heard:
    """What a session sent, and how many ops its trail answered."""

    def __init__(self, session: Any) -> None:
        self.told: list[Any] = []
        self.prefix = session.wire.prefix
        post = session.wire.post

        def listening(sent: Any) -> None:
            message = {name: getattr(sent.message, name) for name in _FIELDS}
            text = repr(msgspec.to_builtins(message)).replace(self.prefix, "t")
            lines = [line_of(site)[0] for site in sent.built.sites] if sent.built is not None else []
            self.told.append((text, [str(step) for step in sent.built.steps], lines))
            post(sent)

        session.wire.post = listening


def graph_of(t: Any) -> list[Any]:
    """The nodes behind a tensor in the order of their numbers: names, edges, what they saved, where they were
    made.
    """
    root = t.grad_fn
    if root is None:
        return []
    nodes = [root]
    for node in nodes:
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
    nodes.sort(key=lambda n: n.priority)
    found = []
    for node in nodes:
        saved = [
            (list(e.tensor.shape), e.version, e.tensor._vc.n, e.is_output, e.source() is not None)
            for _, _, e in places(getattr(node, "saved", None) or {})
            if type(e) is Saved
        ]
        edges = [(None if n is None else nodes.index(n), nr) for n, nr in node.next_functions]
        line = None if node.site is None else line_of(node.site)[0]
        found.append((node.name(), edges, node.freed(), saved, line, list(getattr(node, "wants", ()))))
    return found


def _other(rng: random.Random, lib: Any, n: int) -> tuple[Any, Any, set[int], Any]:
    """The leaves of a repetition, the steps to leave out, and the mode to run in."""
    w = lib.tensor([0.5, -1.0, 0.25], dtype=lib.float64, requires_grad=True)
    skipped: set[int] = set()
    mode: Any = nullcontext()
    match rng.randrange(9) if n > 2 and rng.random() < 0.5 else -1:
        case 0:
            w = lib.tensor([0.5, -1.0, 0.25], dtype=lib.float32, requires_grad=True)
        case 1:
            w = lib.tensor([0.5, -1.0, 0.25], dtype=lib.float64)
        case 2:
            w = lib.tensor([0.5, -1.0], dtype=lib.float64, requires_grad=True)
        case 3 | 4:
            skipped = {rng.randrange(8)}
        case 5:
            mode = lib.no_grad()
        case 6:
            w.register_hook(lambda g: g * 0.5)
        case 7:
            w = (w * 2)[:]
        case 8:
            w = w.detach()[:].requires_grad_()
    return w, None, skipped, mode


def run(seed: int, on: bool) -> tuple[list[Any], int]:
    """What the loop of `seed` tells, with its trail or without, and how many ops were answered."""
    rng, body = random.Random(seed), Body(seed)
    before, Trail.on = Trail.on, on
    gc.disable()
    gc.collect()
    gc.freeze()  # what is there is looked through no more, nor by later loops
    try:
        with gradd.connect("local:") as session, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _loop(session, rng, body), session.recorder().trail.answered
    finally:
        Trail.on = before
        gc.enable()


def _loop(session: Any, rng: random.Random, body: Body) -> list[Any]:
    heard = Heard(session)
    told = heard.told
    kept = gradd.tensor([[0.5, 2.0], [-0.5, 1.0]], dtype=gradd.float64, requires_grad=True)
    # a graph of its own, which has a hook where the gradient of `kept` is accumulated, until it is dropped
    hooked: Any = kept * 2 if rng.random() < 0.15 else None
    dropped = rng.randrange(REPETITIONS), rng.randrange(4)
    if hooked is not None:
        hooked.grad_fn.next_functions[0][0].register_hook(lambda *_: told.append("called"))
    for n in range(REPETITIONS):
        w, _, skipped, mode = _other(rng, gradd, n)
        kept.grad = None
        seen: list[Any] = []
        env: dict[str, Any] = {"w": w, "m": kept, "seen": seen}
        looks = rng.random() < 0.15
        for k, (text, step) in enumerate(body.steps):
            if (n, k) == dropped:
                hooked = None
            if k in skipped:
                continue
            try:
                with mode:
                    step(gradd, env)
            except (NameError, AttributeError):
                told.append((n, text, "nothing there"))
            except ERRORS as error:
                told.append((n, text, f"{type(error).__name__}: {str(error)[:90]}"))
            if looks and rng.random() < 0.3:
                told.append((n, text, _graphs(env)))
        if rng.random() < 0.3:
            told.append((n, "graphs", _graphs(env)))
        gc.collect()
        told.append((n, "seen", seen))
        told.append((n, "mirror", [repr(row).replace(heard.prefix, "t") for row in session.mirror()]))
        told.append(
            (n, "values", {k: t.detach().tolist() for k, t in env.items() if hasattr(t, "requires_grad")})
        )
        grads = [t.grad for t in (w, kept) if t.is_leaf]
        told.append((n, "grads", [None if g is None else g.tolist() for g in grads]))
        if rng.random() < 0.5:
            del env, seen, w
    return told


def _graphs(env: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, t in env.items():
        if hasattr(t, "requires_grad"):
            try:
                found[name] = graph_of(t)
            except RuntimeError as error:
                found[name] = str(error)[:60]
    return found
