"""profile: a session's profile, measured in the steps that a schedule says."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from time import time_ns
from typing import Any, NoReturn
from uuid import uuid4

from .._session import MarkedRange, current
from .events import EventList, FunctionEvent, FunctionEventAvg, Interval, averages
from .ranges import LISTENING, record_function


class ProfilerActivity(Enum):
    """What may be measured."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What is done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured in the current session."""
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if current().backend.device.type == "cuda" else found


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps in cycles of `wait`, `warmup` and `active`, `repeat` times or for ever (torch.profiler.schedule).
    AssertionError for impossible numbers, and for a step below 0.
    """
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError("Invalid profiler schedule arguments")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
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


def kineto_available() -> bool:
    """True: `profile` needs nothing of PyTorch's that may be absent (torch.profiler.kineto_available)."""
    return True


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[profile], None]:
    """What writes each trace to a folder under a name of its own, compressed with `use_gzip`.
    `use_python_export` has no effect: there is one way to write it.
    """

    def write(p: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        p.export_chrome_trace(str(Path(dir_name) / name))

    return write


class ExecutionTraceObserver:
    """PyTorch's writer of execution traces; NotImplementedError: gradd writes none."""

    def __init__(self) -> None:
        raise NotImplementedError("gradd writes no execution traces: use export_chrome_trace() of a profile")


class profile:
    """Measures the current session in a `with` block, or between `start` and `stop`
    (https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile).

    With a `schedule`, `step` says when the script's next step begins, each is a range ``ProfilerStep#<n>``,
    and `on_trace_ready` gets the profile when a cycle is over; with `acc_events` it has the events of all
    cycles. Shapes, memory, stacks, FLOPs and modules are not recorded: what asks for them has no effect, nor
    have `experimental_config` and `post_processing_timeout_s`. NotImplementedError for an
    `execution_trace_observer`.
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
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        if execution_trace_observer is not None:
            ExecutionTraceObserver()
        self._action_of = schedule
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.step_num = 0
        self.current_action = self._action()
        self._measured: Any = None
        self._ranges: list[MarkedRange] = []
        self._step: record_function | None = None
        #: what cycles found: the latest, or all of them
        self._kernels = EventList()
        self._calls = EventList()
        self._latest: Any = None
        self._metadata: dict[str, Any] = {}
        self._trace_id: str | None = None

    def _action(self) -> ProfilerAction:
        if self._action_of is None:
            return ProfilerAction.RECORD
        action = self._action_of(self.step_num)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise AssertionError("a schedule does not return DEVICE_STOPPED")
        return action

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin, with step 0."""
        self._switch(self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End; `on_trace_ready` is called if something was being measured."""
        self._end_step()
        measuring = self._measured is not None
        self.stop_trace()
        if measuring and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step of the script begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action()
        if before is ProfilerAction.RECORD_AND_SAVE:
            self.stop()
        self._switch(self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self._action_of is not None:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _switch(self, action: ProfilerAction) -> None:
        if action in (ProfilerAction.NONE, ProfilerAction.WARMUP):
            self.stop_trace()
        else:
            self.start_trace()

    def prepare_trace(self) -> None:
        """Has no effect: nothing has to be warmed up."""

    def start_trace(self) -> None:
        """Begin to measure, whatever the schedule says."""
        if self._measured is None:
            self._ranges = []
            self._trace_id = (self.custom_trace_id_callback or _trace_id)()
            self._measured = current().profile()
            LISTENING.append(self._ranges)

    def stop_trace(self) -> None:
        """End what `start_trace` began."""
        if self._measured is None:
            return
        measured, self._measured = self._measured, None
        LISTENING[:] = [heard for heard in LISTENING if heard is not self._ranges]
        self._latest = measured.stop()
        calls = _events(measured, self._ranges)
        kernels: list[FunctionEvent | FunctionEventAvg] = [e for e in calls if e.is_user_annotation]
        kernels += _kernels(measured)
        if self.acc_events:
            calls, kernels = [*self._calls, *calls], [*self._kernels, *kernels]
        self._calls, self._kernels = EventList(calls), averages(kernels)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> NoReturn:
        """Raise NotImplementedError: a profile measures all or nothing."""
        raise NotImplementedError("gradd measures all activities or none: use start_trace() and stop_trace()")

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:  # fmt: skip
        """What was measured in the latest cycle, by name: `FunctionEventAvg`s. RuntimeError while it is
        measured.
        """
        self._check()
        return self._kernels

    def events(self) -> EventList:
        """The ranges and the latest calls of kernels, in their order: `FunctionEvent`s. RuntimeError while
        it is measured.
        """
        self._check()
        return self._calls

    def _check(self) -> None:
        if self._measured is not None:
            raise RuntimeError("a profile is measured until it is stopped")

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the latest cycle as a trace for Perfetto or chrome://tracing, as a session's profile does;
        RuntimeError where nothing was measured. There is one way to write it: `use_python_export` has no
        effect.
        """
        self._check()
        if self._latest is None:
            raise RuntimeError("nothing was measured")
        metadata = {**self._metadata, "trace_id": self._trace_id}
        self._latest.export_chrome_trace(path, self._ranges, metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> NoReturn:
        """Raise NotImplementedError: stacks are not recorded."""
        raise NotImplementedError("gradd's profiles have no stacks")

    def export_memory_timeline(self, path: str, device: str | None = None) -> NoReturn:
        """Raise NotImplementedError: memory is not measured."""
        raise NotImplementedError("gradd's profiles do not measure memory")

    def add_metadata(self, key: str, value: str) -> None:
        """Give the trace a member of that name, a string."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Give the trace a member of that name, a text of JSON. ValueError where it is none."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def get_trace_id(self) -> str | None:
        """What tells this cycle's trace from others; None before the first."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Have `callback` make the ids of traces."""
        self.custom_trace_id_callback = callback


def _trace_id() -> str:
    return uuid4().hex.upper()


def _kernels(measured: Any) -> Iterator[FunctionEventAvg]:
    """All calls of each kernel."""
    gpu = measured.on_gpu
    for k in measured.kernels:
        us = 1e6 * k.seconds
        yield FunctionEventAvg(k.name, k.calls, 0.0 if gpu else us, us if gpu else 0.0)


def _events(measured: Any, ranges: list[MarkedRange]) -> list[FunctionEvent]:
    """Ranges of the script, and calls in the daemon, whose clock may be another's."""
    found = [(r.name, r.thread, r.began - measured.began, r.ended - measured.began, False) for r in ranges]
    shift = measured.shift - measured.began
    found += [
        (call.name, 0, call.began + shift, call.began + call.seconds + shift, measured.on_gpu)
        for call in measured.calls
    ]
    found.sort(key=lambda event: (event[2], -event[3]))
    return [
        FunctionEvent(n, name, thread, Interval(1e6 * began, 1e6 * ended), gpu, bool(thread))
        for n, (name, thread, began, ended, gpu) in enumerate(found)
    ]
