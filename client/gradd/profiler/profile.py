"""profile: a session's profile, measured in the steps that a schedule says."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from time import time_ns
from typing import Any

from .._session import MarkedRange, current
from .averages import EventList, averages
from .ranges import LISTENING


class ProfilerActivity(Enum):
    """What may be measured."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What is done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured in the current session."""
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if current().backend.device.type == "cuda" else found


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps in cycles of `wait`, `warmup` and `active`, `repeat` times or for ever (torch.profiler.schedule).
    AssertionError for impossible numbers.
    """
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError("Invalid profiler schedule arguments")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """What writes each trace to a folder under a name of its own. NotImplementedError for `use_gzip`."""
    if use_gzip:
        raise NotImplementedError("traces are not compressed by gradd")

    def write(p: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        p.export_chrome_trace(str(Path(dir_name) / f"{worker}.{time_ns()}.pt.trace.json"))

    return write


class profile:
    """Measures the current session in a `with` block, or between `start` and `stop`
    (https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile).

    With a `schedule`, `step` says when the script's next step begins, and `on_trace_ready` gets the profile
    when a cycle is over. Shapes, memory, stacks and FLOPs are not recorded: what asks for them has no effect.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        **options: Any,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self._action_of = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self._action()
        self._measured: Any = None
        self._ranges: list[MarkedRange] = []
        self._events = EventList()
        self._latest: Any = None

    def _action(self) -> ProfilerAction:
        if self._action_of is None:
            return ProfilerAction.RECORD
        return self._action_of(self.step_num)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin, with step 0."""
        self._switch(self.current_action)

    def stop(self) -> None:
        """End; `on_trace_ready` is called if something was being measured."""
        measuring = self._measured is not None
        self._end()
        if measuring and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step of the script begins."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action()
        if before is ProfilerAction.RECORD_AND_SAVE:
            self.stop()
        self._switch(self.current_action)

    def _switch(self, action: ProfilerAction) -> None:
        if action in (ProfilerAction.NONE, ProfilerAction.WARMUP):
            self._end()
        elif self._measured is None:
            self._ranges = []
            self._measured = current().profile()
            LISTENING.append(self._ranges)

    def _end(self) -> None:
        if self._measured is None:
            return
        measured, self._measured = self._measured.stop(), None
        self._latest = measured
        LISTENING[:] = [heard for heard in LISTENING if heard is not self._ranges]
        self._events = averages(measured.kernels, self._ranges, current().backend.device.type == "cuda")

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:  # fmt: skip
        """What was measured in the latest cycle, by name. RuntimeError while it is measured."""
        if self._measured is not None:
            raise RuntimeError("a profile is measured until it is stopped")
        return self._events

    def events(self) -> EventList:
        """As `key_averages`: single calls are not told apart."""
        return self.key_averages()

    def export_chrome_trace(self, path: str) -> None:
        """Write the latest cycle as a trace for Perfetto or chrome://tracing, as a session's profile does;
        RuntimeError where nothing was measured.
        """
        self.key_averages()
        if self._latest is None:
            raise RuntimeError("nothing was measured")
        self._latest.export_chrome_trace(path, self._ranges)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Raise NotImplementedError: stacks are not recorded."""
        raise NotImplementedError("gradd's profiles have no stacks")

    def add_metadata(self, key: str, value: str) -> None:
        """Has no effect: the trace has none."""

    def add_metadata_json(self, key: str, value: str) -> None:
        """Has no effect: the trace has none."""
