"""spawn: processes that run one function each, whose errors are raised here."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = ["file_descriptor"]


class ProcessRaisedException(Exception):
    """A process raised: its number and its words."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid


class ProcessExitedException(Exception):
    """A process ended with an exit code or a signal: its number and the code."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid, self.exit_code = msg, error_index, error_pid, exit_code


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], told: Any) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too
    except Exception:
        told.send(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], told: list[Any]) -> None:
        self.processes = processes
        self._told = told

    def pids(self) -> list[int]:
        """Their numbers."""
        return [int(p.pid) for p in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one has ended; True if all have. Where one failed the others are ended, and
        ProcessRaisedException or ProcessExitedException is raised.
        """
        left = {p.sentinel: p for p in self.processes if p.exitcode is None}
        for done in wait(list(left), timeout) if left else ():
            left[done].join()
        failed = next((i for i, p in enumerate(self.processes) if p.exitcode not in (None, 0)), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        for p in self.processes:
            p.terminate()
            p.join(grace_period)
        self._raise(failed)
        return False

    def _raise(self, i: int) -> None:
        p = self.processes[i]
        try:
            words = self._told[i].recv()
        except EOFError:  # it had no time to say why
            words = None
        if words is not None:
            words = f"\n\n-- Process {i} terminated with the following error:\n{words}"
            raise ProcessRaisedException(words, i, p.pid)
        raise ProcessExitedException(
            f"process {i} terminated with exit code {p.exitcode}", i, p.pid, p.exitcode
        )


def start_processes(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """Run ``fn(i, *args)`` in `nprocs` processes; wait for them, or return their context
    (torch.multiprocessing.start_processes).
    """
    kind: Any = multiprocessing.get_context(start_method)
    processes, told = [], []
    for i in range(nprocs):
        here, there = kind.Pipe(duplex=False)
        p = kind.Process(target=_run, args=(fn, i, args, there), daemon=daemon)
        p.start()
        there.close()
        processes.append(p)
        told.append(here)
    context = ProcessContext(processes, told)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
    daemon: bool = False, start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """As `start_processes`, each in a fresh interpreter (torch.multiprocessing.spawn)."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


def get_all_sharing_strategies() -> set[str]:
    """PyTorch's names of ways to share memory; none has an effect."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """What `set_sharing_strategy` was told."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Has no effect: tensors travel as their values. AssertionError for an unknown one."""
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy}")
    _strategy[0] = new_strategy
