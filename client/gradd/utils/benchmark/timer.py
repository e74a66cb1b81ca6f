"""Timer: how long a statement takes."""

from __future__ import annotations

import textwrap
import timeit
from collections.abc import Callable
from time import perf_counter
from typing import Any

from ..._session import current
from .measurement import Measurement, TaskSpec


def timer() -> float:
    """Seconds, after waiting until the daemon has done what was recorded."""
    current().flush()
    return perf_counter()


def _dedented(code: str) -> str:
    """Lines of a text between triple quotes, as if they began at the left."""
    return textwrap.dedent(code).removeprefix("\n").rstrip()


class Timer:
    """Times a statement (https://docs.pytorch.org/docs/stable/benchmark_utils.html).

    `globals` are the names that it may use. NotImplementedError for other languages than Python.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if str(language).lower() not in ("python", "py"):
            raise NotImplementedError(f"gradd times statements of Python, not of {language}")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved "
                "to `setup`."
            )
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._timer = timeit.Timer(stmt, setup, timer, globals=dict(globals or {}))
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Time `number` runs, after a few to warm up."""
        self._timer.timeit(max(number // 100, 2))
        return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> Any:
        """Raise NotImplementedError, as PyTorch's does."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> Any:
        """Raise NotImplementedError, as PyTorch's does."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Time blocks until they took `min_run_time` seconds in all."""
        number = self._block(min_run_time)
        return self._until(number, callback, lambda times: sum(times) >= min_run_time)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
        """Time blocks until their quartiles are less than `threshold` of the median apart, for
        `max_run_time` seconds at most.
        """
        number = self._block(0.05 * min_run_time)

        def enough(times: list[float]) -> bool:
            if sum(times) >= max_run_time:
                return True
            known = len(times) > 3 and sum(times) >= min_run_time
            return known and self._measured(number, times).meets_confidence(threshold)

        return self._until(number, callback, enough)

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> Any:
        """Raise NotImplementedError: the work is the daemon's."""
        raise NotImplementedError("instructions are not counted by gradd: the work is the daemon's")

    def _block(self, min_run_time: float) -> int:
        """How many runs make a block of which the clock takes no part worth mentioning."""
        number = 1
        while True:
            took = self._timer.timeit(number)
            if took >= min_run_time / 1000 and took >= 1e-3:
                return number
            number *= 10

    def _until(
        self, number: int, callback: Callable[[int, float], Any] | None, enough: Callable[[list[float]], bool]
    ) -> Measurement:
        times: list[float] = []
        while not times or not enough(times):
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)
