"""Does a batch cost more where many tensors live, an op more on a large graph, or either more beside sessions
that idle?

Of each kind there are two sides: a client in a process of its own, with a daemon of its own. One grows, the
other stays as small as both began. They run in turn, and what counts is the CPU time of client, front and
engine process: that of all rounds together, since a collection of garbage that comes seldom counts as well.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any, NamedTuple, Protocol

import gradd
import msgspec
from gradd import nn

from .bench import US, Bench, Curve, Row, main, spread
from .daemon import child, cpu_seconds, serving

#: how much dearer a step may be on the side that grew
BAR = 1.2
#: ops of a batch that ends by its length
ADDS = 4096
#: pieces until all is planned
WARM = 6
#: CPU time (ms) of a daemon in a second in which nobody asks it
REST = 10.0
#: in place of a size
AS_IT_IS = -1
#: CPU time (s) of each process
Cpu = dict[str, float]


class Subject(Protocol):
    """What grows in a session that is connected."""

    def grow(self, size: int) -> None:
        """Let it be of that size."""

    def run(self, steps: int) -> None:
        """Make so many steps, and wait for the last."""


def training() -> Callable[[], float]:
    """A step of training of an MLP 20-16-4 with SGD at batch 64, whose loss is read."""
    x, y = gradd.randn(64, 20), gradd.randint(0, 4, (64,))
    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = gradd.optim.SGD(model.parameters(), lr=0.1)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


class Tensors:
    """Tensors that live beside a training."""

    def __init__(self, _: str) -> None:
        self._step = training()
        self._alive: list[Any] = []

    def grow(self, size: int) -> None:
        """See Subject."""
        del self._alive[size:]
        self._alive += [gradd.zeros(4) for _ in range(size - len(self._alive))]
        gradd.current_session().flush()

    def run(self, steps: int) -> None:
        """See Subject."""
        for _ in range(steps):
            self._step()


class Nodes:
    """A graph onto which is added. Where it has to begin anew, no garbage is looked for in the client: what
    that costs is to be seen on the other side.
    """

    def __init__(self, _: str) -> None:
        self._one = gradd.ones(4, requires_grad=True)
        self._sum, self._size = self._one, 0

    def grow(self, size: int) -> None:
        """See Subject."""
        gc.enable()
        if size < self._size:
            self._sum, self._size = self._one, 0
            # Small graphs that die one after another would have all modules looked through again and again.
            gc.disable()
        self.run(size - self._size)

    def run(self, steps: int) -> None:
        """See Subject."""
        one, total = self._one, self._sum
        for _ in range(steps):
            total = total + one
        self._sum, self._size = total, self._size + steps
        gradd.current_session().flush()


class Sessions:
    """Named sessions without a client, beside a training."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._step = training()
        self._made = 0

    def grow(self, size: int) -> None:
        """See Subject."""
        for n in range(self._made, size):
            with gradd.connect(self._url, session=f"idle{n}"):
                gradd.ones(4).numpy()
        self._made = max(self._made, size)

    def run(self, steps: int) -> None:
        """See Subject. No step at all is a second of rest."""
        if not steps:
            time.sleep(1)
        for _ in range(steps):
            self._step()


class Kind(NamedTuple):
    """What is measured: at each size so many rounds of `pieces` times `steps` steps, where the other side is
    of size `small` at the begin of each piece. The figure is of the `last` rounds.
    """

    name: str
    #: what a step is and what grows, as in a sentence
    work: str
    along: str
    small: int
    sizes: Sequence[int]
    rounds: int
    pieces: int
    steps: int
    last: int


SUBJECTS: dict[str, Callable[[str], Subject]] = {"tensors": Tensors, "nodes": Nodes, "sessions": Sessions}


def kinds(bench: Bench) -> list[Kind]:
    """What is measured, as far as there is time."""
    full, smoke = bench.effort == "full", bench.effort == "smoke"
    rounds = bench.pick(7, 3)
    steps = bench.pick(100, 50, 2)
    step = "a training step (MLP 20-16-4, loss read)"
    tensors = (10, 100, 1000, 5000, 10_000, 20_000) if full else (10, 20) if smoke else (10, 20_000)
    nodes = (ADDS, 3 * ADDS) if smoke else (ADDS, *range(125_000, 1_000_001 if full else 250_001, 125_000))
    sessions = (1, 10, 100, 1000, 10_000) if full else (1, 2) if smoke else (1, 200)
    add = "an add onto a graph of {} nodes"
    return [
        Kind("tensors", f"{step} beside {{}} live tensors", "tensors", 10, tensors, rounds, 1, steps, rounds),
        Kind("nodes", add, "nodes", ADDS, nodes, 1, bench.pick(29, 29, 1), ADDS, len(nodes) - 1),
        Kind("sessions", f"{step}, {{}} idle sessions", "sessions", 1, sessions, rounds, 1, steps, rounds),
    ]


def side(url: str, subject: str) -> None:
    """One side: for each line with a size, a number of steps and one of pieces, says what these cost."""
    at = serving("--sessions=20000", "--tenant-sessions=20000") if url == "" else nullcontext((url, None))
    with at as (where, pid), gradd.connect(where):
        grows = SUBJECTS[subject](where)
        for line in sys.stdin:
            size, steps, pieces = map(int, line.split())
            cost: Cpu = {}
            for _ in range(pieces):
                if size != AS_IT_IS:
                    grows.grow(size)
                before = cpu_seconds(pid)
                grows.run(steps)
                for process, used in cpu_seconds(pid).items():
                    cost[process] = cost.get(process, 0.0) + used - before[process]
            print(msgspec.json.encode(cost).decode(), flush=True)


class Side:
    """The process of one side, as the one that measures sees it."""

    def __init__(self, url: str, subject: str) -> None:
        self._process = child("benchmarks.growth", "--side", subject, "--at", url)

    def cost(self, size: int, steps: int, pieces: int = 1) -> Cpu:
        """CPU time of `pieces` times `steps` steps, before each of which it is made of that size."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{size} {steps} {pieces}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a side ended before it was asked to")
        return msgspec.json.decode(line, type=Cpu)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


class Round(NamedTuple):
    """CPU time of a step on both sides."""

    size: int
    large: Cpu
    small: Cpu


def measured(large: Side, small: Side, kind: Kind) -> list[Round]:
    """All rounds. Another side begins each time."""
    found: list[Round] = []
    for one in (large, small):
        one.cost(kind.small, kind.steps, WARM)
    for size in kind.sizes:
        large.cost(size, kind.steps)
        for _ in range(kind.rounds):
            sides = [(large, AS_IT_IS), (small, kind.small)]
            took = {}
            for one, told in sides if len(found) % 2 else reversed(sides):
                cost = one.cost(told, kind.steps, kind.pieces)
                took[one] = {process: s / kind.steps / kind.pieces for process, s in cost.items()}
            found.append(Round(size, took[large], took[small]))
    return found


def mean(costs: Sequence[Cpu]) -> Cpu:
    """Of each process."""
    return {process: sum(cost[process] for cost in costs) / len(costs) for process in costs[0]}


def told(kind: Kind, found: Sequence[Round]) -> Row:
    """How much dearer a step is at the largest size."""
    last = found[-kind.last :]
    large, small = mean([each.large for each in last]), mean([each.small for each in last])
    _, low, high = spread([sum(each.large.values()) / sum(each.small.values()) for each in last])
    size = kind.sizes[-1]
    points: dict[str, list[tuple[float, float]]] = {}
    for at in kind.sizes:
        for process, used in mean([each.large for each in found if each.size == at]).items():
            points.setdefault(process, []).append((at, US * used))
    beside = ", ".join(f"{process} {US * used:.1f} µs" for process, used in small.items())
    return Row(
        work=f"CPU of {kind.work.format(f'{size:,}')}, beside one with {kind.small:,}",
        value=sum(large.values()) / sum(small.values()), low=low, high=high, bar=BAR,
        mine=f"{US * sum(large.values()):.1f} µs", peer=f"{US * sum(small.values()):.1f} µs",
        cpu={process: spread([US * each.large[process] for each in last]) for process in large},
        where=f"With {kind.small:,}: {beside}.",
        curve=Curve(f"growth-{kind.name}", f"CPU of {kind.work.format('n')}", kind.along, points),
    )  # fmt: skip


def at_rest(large: Side, small: Side, kind: Kind, seconds: int) -> Row:
    """What the daemon does where nobody asks it for anything."""
    used, before = (one.cost(AS_IT_IS, 0, seconds) for one in (large, small))
    ms = [
        1e3 * sum(s for process, s in cost.items() if process != "client") / seconds
        for cost in (used, before)
    ]
    return Row(
        work=f"CPU of the daemon in a second of rest, {kind.sizes[-1]:,} idle sessions", value=ms[0],
        unit="ms", bar=REST, peer=f"{kind.small}: {ms[1]:.2f} ms",
    )  # fmt: skip


def question(bench: Bench) -> list[Row]:
    """A row of each kind, and one of rest."""
    rows = []
    for kind in kinds(bench):
        with ExitStack() as stack:
            both = []
            for _ in range(2):
                both.append(Side("" if bench.pid is not None else bench.url, kind.name))
                stack.callback(both[-1].close)
            large, small = both
            rows.append(told(kind, measured(large, small, kind)))
            if kind.name == "sessions":
                rows.append(at_rest(large, small, kind, bench.pick(10, 5)))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--side")
    parser.add_argument("--at")
    options, _ = parser.parse_known_args()
    if options.side:
        side(options.at, options.side)
    else:
        main(question)
