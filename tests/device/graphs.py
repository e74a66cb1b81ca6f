"""Random training loops on the stand-in, where their steps become CUDA graphs: the values of a NumPy session.

``python -m tests.device.graphs 200`` runs so many; prints the seeds where something differs, and what became
of the plans. Half of the loops have ops that no graph can hold, as they wait for the device; half of them
read or write at indices that are uploads.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import gradd
import numpy as np
from gradd import nn
from gradd.nn import functional
from gradd_runtime.plan import cache
from gradd_runtime.plan.captured import GraphCapture, GraphSegment
from gradd_runtime.plan.replay import Plan

from tests.device.indices import Indexing, index_ways
from tests.device.loops import There
from tests.device.programs import Close
from tests.standin.memory import reusing
from tests.standin.sessions import sessions_there

STEPS = 16
#: what exponentials of two libraries may make of some steps
CLOSE: Close = {"rtol": 2e-4, "atol": 2e-5}
#: what a loop may do in each step, or now and then
WAYS = (
    "windows", "upload", "dropout", "noise", "scaled", "schedule", "clip", "momentum", "adam", "held", "item",
    "buffer", "accumulate", "embedding", "short batch", "moved", "frozen", "views",
)  # fmt: skip
#: the same with ops that wait for the device, of which every other loop has some
WAITING = (
    "spectral", "exponential", "scattered", "selected", "unique", "rows", "chosen", "counts", "written",
    "kept", "late",
)  # fmt: skip
#: what a replay of a plan may not end with: it was given what it does not fit
BROKEN = "eagerly: a kernel raised: "
_GRAPHS = ("launched", "in segments")


def waiting_ways(seed: int) -> set[str]:
    """Those that wait of a loop."""
    rng = random.Random(f"waits {seed}")
    return {way for way in WAITING if rng.random() < 0.25} if rng.random() < 0.5 else set()


class Loop:
    """A small model and the ways in which its steps differ, drawn from `seed`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ways = {way for way in WAYS if self.rng.random() < 0.35} | waiting_ways(seed)
        self.ways |= index_ways(seed)
        gradd.manual_seed(seed)
        width = self.rng.choice([3, 5, 8])
        self.table = nn.Embedding(7, 4)
        self.layers = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2))
        self.data = gradd.randn(24, 4)
        self.words = gradd.randint(0, 7, (24,))
        self.buffer = gradd.zeros(2)
        owned = [*self.table.parameters(), *self.layers.parameters()]
        self.owned = owned
        rate = self.rng.choice([0.05, 0.2])
        if "adam" in self.ways:
            self.optimizer: Any = gradd.optim.Adam(owned, lr=rate / 10)
        else:
            self.optimizer = gradd.optim.SGD(owned, lr=rate, momentum=0.9 * ("momentum" in self.ways))
        self.held: list[Any] = []
        self.indexing = Indexing(seed, self.ways)

    def batch(self, n: int) -> tuple[Any, Any]:
        """What a step trains on."""
        many = 3 if "short batch" in self.ways and n == STEPS - 2 else 4
        at = (n * 5) % 20 if "windows" in self.ways else 0
        if "upload" in self.ways:
            numbers = np.random.default_rng(n).normal(size=(many, 4)).astype(np.float32)
            return gradd.tensor(numbers), self.words[at : at + many]
        return self.data[at : at + many], self.words[at : at + many]

    def loss(self, n: int) -> Any:
        """A step's loss."""
        x, words = self.batch(n)
        if "noise" in self.ways:
            x = x + 0.1 * gradd.randn_like(x)
        if "embedding" in self.ways:
            x = x + self.table(words)
        if "dropout" in self.ways:
            x = functional.dropout(x, 0.25)
        x = self.indexing.step(n, self.waiting(n, x, words))
        out = self.layers(x)
        if "scattered" in self.ways:
            out = out.masked_scatter(out > 0.1, out * 0.5)
        if "scaled" in self.ways:
            out = out * (1 + n / 8)
        if "views" in self.ways:
            out = out[n % 2 :].t().contiguous().t()
        if "buffer" in self.ways:
            # a part of the mean: with all of it a gradient would be nothing but rounding
            self.buffer.mul_(0.5).add_(out.detach().mean(0), alpha=0.3)
            out = out - self.buffer
        loss = (out**2).mean()
        if "late" in self.ways:
            loss = loss + 0.01 * gradd.linalg.svdvals(self.layers[2].weight).sum()
        return loss

    def waiting(self, n: int, x: Any, words: Any) -> Any:
        """`x` after ops that wait for the device, in the midst of what does not."""
        weight = self.layers[0].weight
        if "spectral" in self.ways:
            x = x / (1 + gradd.linalg.svdvals(weight)[0])
        if "exponential" in self.ways:
            x = x @ gradd.linalg.matrix_exp(0.05 * weight.t() @ weight)
        if "written" in self.ways:
            # made by an op that waits, and written to in several ways afterwards
            made = gradd.linalg.pinv(weight.detach())
            made[:, 1:].mul_(0.5)
            x = x + 0.1 * made.t()[0] + 0.01 * made.sum()
        if "kept" in self.ways:
            left, values, right = gradd.linalg.svd(weight.detach(), full_matrices=False)
            self.held += [values, values.mul_(2) + n / 4, (left * values) @ right]
            x = x + 0.01 * values.sum()
        if "selected" in self.ways:
            x = x + 0.1 * self.data[self.words == 3].mean(0)
        if "unique" in self.ways:
            kinds, places = gradd.unique(words, return_inverse=True)
            x = x + 0.1 * self.table(kinds)[places]
        if "rows" in self.ways:
            x = x + 0.1 * self.data[gradd.nonzero_static(self.words > 4, size=2)[:, 0]].sum(0)
        if "chosen" in self.ways:
            x = x + 0.1 * self.data[gradd.multinomial(gradd.ones(5), 4)[:1]].sum(0)
        if "counts" in self.ways:
            x = x + 0.01 * gradd.poisson(self.data[:1].abs() * 3)
        return x

    def step(self, n: int) -> list[Any]:
        """Train once: what is read of it."""
        seen: list[Any] = []
        if not ("accumulate" in self.ways and n % 3):
            self.optimizer.zero_grad()
        loss = self.loss(n)
        if "item" in self.ways and n % 2:
            seen.append(loss.item())
        loss.backward()
        self.indexing.after()
        if "clip" in self.ways:
            seen.append(nn.utils.clip_grad_norm_(self.owned, 0.5))
        if "held" in self.ways:
            self.held += [loss.detach(), self.owned[3].grad, self.owned[-1].detach() * 2]
        if "frozen" in self.ways:
            self.owned[1].requires_grad_(n < 6)
        self.optimizer.step()
        if "schedule" in self.ways:
            self.optimizer.param_groups[0]["lr"] *= 0.9 if n % 4 == 3 else 1
        if "moved" in self.ways and n == 6:
            with gradd.no_grad():
                self.owned[-1].data = self.owned[-1].data.clone()
        return [*seen, loss.detach()]


def run(seed: int) -> list[Any]:
    """What the loop of a seed gives in a session of its own, step by step."""
    with gradd.connect("local:") as session:
        loop = Loop(seed)
        told: list[Any] = []
        for n in range(STEPS):
            seen = loop.step(n)
            session.flush()
            told += [x.tolist() if hasattr(x, "tolist") else x for x in (seen if n % 4 == 3 else [])]
        told += [p.tolist() for p in loop.owned]
        told += [None if p.grad is None else p.grad.tolist() for p in loop.owned]
        held = [*loop.held, *loop.indexing.held, loop.buffer, loop.indexing.board]
        return [*told, *[h.tolist() for h in held]]


@contextmanager
def outcomes() -> Iterator[Counter[str]]:
    """What became of the plans' graphs in the block: launches, those in segments, and why there is none."""
    found: Counter[str] = Counter()
    launch, real, run = GraphCapture.run, Plan.replay, cache.Plans.run

    def launched(self: GraphCapture, *args: Any) -> None:
        launch(self, *args)
        found["launched"] += any(isinstance(part, GraphSegment) for part in self.parts)
        found["in segments"] += len(self.parts) > 1

    def replay(self: Plan, *args: Any) -> Any:
        done = real(self, *args)
        if self.graph is not None and self.graph.why:
            found[self.graph.why] += 1
        return done

    def ran(self: cache.Plans, *args: Any) -> Any:
        segments, reasons = found["in segments"], _told(self)
        done = run(self, *args)
        found["eagerly: " + self.why if done is None else "planned"] += 1
        more = found["in segments"] - segments, _told(self) - reasons
        found["in segments, and not told"] += done is not None and more[0] > more[1]
        return done

    with (
        mock.patch.object(GraphCapture, "run", launched),
        mock.patch.object(Plan, "replay", replay),
        mock.patch.object(cache.Plans, "run", ran),
    ):
        yield found


def reasons(found: Counter[str]) -> list[str]:
    """Of `outcomes`, why plans have no graph."""
    return [why for why in found if found[why] and not why.startswith(("planned", "eagerly: ", *_GRAPHS))]


def _told(plans: cache.Plans) -> int:
    return sum(n for why, n in plans.reasons.items() if why.startswith((cache.NOT_ONE, cache.NO_GRAPH)))


def differ(seed: int, there: There = sessions_there, close: Close = CLOSE) -> str:
    """What is not as in a NumPy session; empty where nothing is. Every other loop has memory where it was in
    the last step, as on a device.

    Numbers of two libraries may grow apart where a loop does not settle: then they have to be those, to the
    bit, that the same kernels give without graphs. Integers may not: a loop computes none.
    """
    with reusing(seed % 2 == 1):
        return _differ(seed, there, close)


def _differ(seed: int, there: There, close: Close) -> str:
    want = run(seed)
    with outcomes() as found, there():
        try:
            got = run(seed)
        except (RuntimeError, IndexError) as error:  # what a device finds out of bounds is told late
            return f"it raised: {error}"
    if broken := [why for why in found if why.startswith(BROKEN)]:
        return broken[0]
    if found["in segments, and not told"]:
        return "it runs in segments, and nothing says why"
    if len(got) != len(want):
        return f"{len(got)} values instead of {len(want)}"
    pairs = list(zip(got, want, strict=True))
    if wrong := [n for n, (a, b) in enumerate(pairs) if np.array(b).dtype.kind in "iub" and a != b]:
        return f"value {wrong[0]} of {len(want)}: {got[wrong[0]]} instead of {want[wrong[0]]}"
    for n, (a, b) in enumerate(pairs):
        try:
            if b is None:
                assert a == b
            else:
                np.testing.assert_allclose(np.array(a), np.array(b), **close)
        except (AssertionError, TypeError) as error:
            with mock.patch.dict(os.environ, {"GRADD_CUDA_GRAPHS": "0"}), there():
                plain = run(seed)
            return "" if repr(plain) == repr(got) else f"value {n} of {len(want)}: {str(error)[:300]}"
    return ""


def main(loops: int, first: int = 0) -> int:
    """Run so many, from a seed on; how many differ."""
    bad = 0
    with outcomes() as found:
        for seed in range(first, first + loops):
            said = differ(seed)
            if said:
                bad += 1
                print(f"seed {seed}: {sorted(Loop(seed).ways)}: {said}", flush=True)
    print(
        f"{loops} random loops on the stand-in, {found['launched']} times by graphs, of these "
        f"{found['in segments']} in segments, {bad} differ"
    )
    for why, many in found.most_common():
        if many:
            print(f"{many:8} {why}")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
