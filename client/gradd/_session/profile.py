"""`Session.profile()`: where a session's time goes."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradd_protocol import messages as m
from gradd_protocol.profiles import Miss

from .timeline import MarkedRange, Timeline, write
from .trips import TripLog
from .waits import WaitingLine, Waits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .agreement import Agreeing

#: how many of the lines that waited are printed
_LINES = 20


class Profile:
    """Measures a session in a `with` block, or from `profile()` to `stop()`.

    Results: ``kernels`` (name, how, calls, seconds), ``batches`` (position, program, steps, how, why,
    seconds, waited; the latest thousand), ``misses`` (program, like, step, was, found), counts ``planned``,
    ``eager``, ``hits`` (batches whose program the session knew), ``new_programs``, ``round_trips``,
    ``bytes_sent``, ``bytes_received``; ``waits``, the script's lines that waited for a value (file, line,
    code, round_trips, seconds); seconds ``wall`` (of the script), ``engine`` and ``waited`` (the sum of what
    batches waited in the daemon's queue, many of them at the same time). ``print(profile)`` shows a table,
    ``export_chrome_trace(path)`` writes all of it as one timeline. Other writers of the session are included.
    """

    waits: list[WaitingLine]

    def __init__(self, session: Agreeing) -> None:
        self._session = session
        self._report: m.Profiled | None = None
        self._ask(on=True)
        self._before = dict(session.wire.counts)
        self._waits = session.wire.watch = Waits(session.wire.counts)
        self._trips = session.wire.transport = TripLog(session.wire.transport)
        self._began = perf_counter()

    def _ask(self, *, on: bool) -> m.Profiled:
        self._session.flush()
        reply, _ = self._session.wire.request(m.ProfileSwitch(on))
        assert isinstance(reply, m.Profiled)
        return reply

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *exc: object) -> None:
        if exc[0] is None or self._session.wire.ended is None:
            self.stop()

    def stop(self) -> Profile:
        """Send what was recorded, wait for it, and end the measurement. Returns itself."""
        if self._report is None:
            if self._session.wire.watch is self._waits:
                self._session.wire.watch = None
            self.waits = self._waits.lines()
            self._session.flush()
            after = dict(self._session.wire.counts)
            self.wall = perf_counter() - self._began
            if self._session.wire.transport is self._trips:
                self._session.wire.transport = self._trips.transport
            self._report = self._ask(on=False)
            for name in ("round_trips", "bytes_sent", "bytes_received"):
                setattr(self, name, after[name] - self._before[name])
        return self

    @property
    def began(self) -> float:
        """When it began, s of `perf_counter`."""
        return self._began

    @property
    def on_gpu(self) -> bool:
        """Whether kernels run on a GPU."""
        return self._session.backend.device.type == "cuda"

    @property
    def shift(self) -> float:
        """What is to be added to the daemon's clock for `perf_counter` (s)."""
        if self._report is None:
            raise RuntimeError("a profile is measured until it is stopped")
        return Timeline(self._began, self._session.wire.writer).shift(self._report, self._trips)

    def export_chrome_trace(
        self, path: str | os.PathLike[str], ranges: Iterable[MarkedRange] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Write the latest thousand batches as a timeline over client, wire, front, engine and kernels, in
        Trace Event Format, which https://ui.perfetto.dev opens; compressed where `path` ends with ``.gz``.
        `ranges`: what `gradd.profiler.record_function` marked; `metadata`: more members of the file.
        RuntimeError while it is measured.

        The daemon's clock is put where all of its batches lie between their messages.
        """
        if self._report is None:
            raise RuntimeError("a profile is measured until it is stopped")
        timeline = Timeline(self._began, self._session.wire.writer)
        write(path, timeline.events(self._report, self._trips, self._waits, ranges), metadata or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._report is None:
            raise AttributeError(f"{name!r}: the profile is measured until stop()")
        if name == "engine":
            return self._report.seconds
        return getattr(self._report, name)

    def __str__(self) -> str:
        if self._report is None:
            return "<profile: being measured>"
        r = self._report
        ms, ran = 1e3, r.planned + r.eager
        lines = [
            f"{ran} batches: {r.planned} planned, {r.eager} eager; programs known {r.hits}, new "
            f"{r.new_programs}; {self.round_trips} round trips, {_size(self.bytes_sent)} sent, "
            f"{_size(self.bytes_received)} received",
            f"{ms * self.wall:.1f} ms in all, {ms * r.seconds:.1f} ms of it in the engine; a batch waited "
            f"{ms * r.waited / max(ran, 1):.1f} ms in the queue on average",
            "",
            f"{'kernel':<32} {'how':<8} {'calls':>8} {'ms':>10} {'us a call':>10}",
        ]
        lines += [
            f"{k.name:<32} {k.how:<8} {k.calls:>8} {ms * k.seconds:>10.2f} {1e6 * k.seconds / k.calls:>10.1f}"
            for k in r.kernels
        ]
        if self.waits:
            lines += ["", f"{'waited for a value':<18} {'round trips':>11} {'ms':>10}"]
            lines += [
                f"{w.file}:{w.line}: {w.code}\n{'':<18} {w.round_trips:>11} {ms * w.seconds:>10.2f}"
                for w in self.waits[:_LINES]
            ]
        eager: dict[str, int] = {}
        for b in r.batches:
            if b.why:
                eager[b.why] = eager.get(b.why, 0) + 1
        if eager:
            lines += ["", "eager because"]
            lines += [f"{n:>8} x {why}" for why, n in sorted(eager.items(), key=lambda item: -item[1])]
        if r.misses:
            lines += ["", "new programs"]
            lines += [_miss(x) for x in r.misses[-10:]]
        return "\n".join(lines)

    __repr__ = __str__


def _miss(x: Miss) -> str:
    if not x.like:
        return f"{x.program[:8]}: the first one"
    return f"{x.program[:8]}: unlike {x.like[:8]} at step {x.step}: {x.found} where {x.was} was"


def _size(n: int) -> str:
    return f"{n} B" if n < 1000 else f"{n / 1e3:.1f} kB" if n < 1e6 else f"{n / 1e6:.1f} MB"
