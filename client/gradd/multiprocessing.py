"""Python's multiprocessing, and `spawn` (torch.multiprocessing).

A child has a session of its own; tensors that it is sent are copies. No memory is shared: processes that are
to work on one model share a named session of a daemon.

Source: https://docs.pytorch.org/docs/stable/multiprocessing.html
"""

from __future__ import annotations

import contextlib as _contextlib
import multiprocessing as _multiprocessing
import multiprocessing.connection as _connection
import signal as _signal
import sys as _sys
import traceback as _traceback
from collections.abc import Callable as _Callable
from multiprocessing import *  # noqa: F403 - the module is to have all of it
from multiprocessing import __all__ as _standard
from typing import Any as _Any

__all__ = [
    *_standard, "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip


class _ProcessFailed(Exception):
    """A child ended badly: its number, `error_index`, and its process id, `error_pid`."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, pid


class ProcessRaisedException(_ProcessFailed):
    """A child raised."""


class ProcessExitedException(_ProcessFailed):
    """A child was ended by a signal, or exited with a code that is not 0."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _child(fn: _Callable[..., _Any], index: int, args: tuple[_Any, ...], told: _Any) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        _sys.exit(0)
    except Exception:
        told.send(_traceback.format_exc())
        _sys.exit(1)


class ProcessContext:
    """The children of `start_processes`."""

    def __init__(self, processes: list[_Any], told: list[_Any]) -> None:
        self.processes = processes
        self._told = told
        self._live = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their process ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for some of them to end, at most `timeout` seconds; whether all have. Where one failed, the
        others are terminated, after `grace_period` seconds, and ProcessRaisedException or
        ProcessExitedException is raised.
        """
        if not self._live:
            return True
        ended = [self._live.pop(done) for done in _connection.wait(list(self._live), timeout)]
        failed = None
        for index in ended:
            self.processes[index].join()
            if failed is None and self.processes[index].exitcode != 0:
                failed = index
        if failed is None:
            return not self._live
        for process in self.processes:
            if grace_period is not None:
                process.join(grace_period)
            if process.is_alive():
                process.terminate()
            process.join()
        self._raise(failed)
        return True

    def _raise(self, index: int) -> None:
        process = self.processes[index]
        with _contextlib.suppress(EOFError):  # it said nothing
            told = self._told[index].recv()
            message = f"\n\n-- Process {index} terminated with the following error:\n{told}"
            raise ProcessRaisedException(message, index, process.pid)
        code = process.exitcode
        if code < 0:
            name = _signal.Signals(-code).name
            message = f"process {index} terminated with signal {name}"
            raise ProcessExitedException(message, index, process.pid, code, name)
        raise ProcessExitedException(
            f"process {index} terminated with exit code {code}", index, process.pid, code
        )


SpawnContext = ProcessContext


def start_processes(
    fn: _Callable[..., _Any],
    args: tuple[_Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in `nprocs` processes; wait for all, or with `join` False return what waits."""
    context = _multiprocessing.get_context(start_method)
    processes, told = [], []
    for index in range(nprocs):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_child, args=(fn, index, args, there), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        there.close()
        processes.append(process)
        told.append(here)
    made = ProcessContext(processes, told)
    if not join:
        return made
    while not made.join():
        continue
    return None


def spawn(
    fn: _Callable[..., _Any],
    args: tuple[_Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """As `start_processes` (torch.multiprocessing.spawn)."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """How tensors travel between processes: as copies."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """How tensors travel between processes: as copies."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Has no effect: no memory is shared. AssertionError for what is no strategy of PyTorch's."""
    assert new_strategy in ("file_system", "file_descriptor"), f"unknown sharing strategy {new_strategy}"
