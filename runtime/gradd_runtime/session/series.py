"""What scripts log: a curve for each name, of bounded size."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.fields import CurveName, CurveStep, Logged, LoggedValue, Real
from gradd_protocol.problems import Problem, ProtocolError, problem
from msgspec import Meta

from ..tensors import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..batch import Outcome, Work
    from ..tensors import TensorTable

#: names of one session; what has another is dropped
MOST_NAMES = 64
#: points of a curve; at so many, every second one is dropped, and of those to come
MOST_POINTS = 2048
#: points that a curve of a snapshot may have had: the numbers of those to come are steps
MOST_COUNTED = 1 << 62


class SeriesImage(msgspec.Struct, array_like=True):
    """A curve in a snapshot; values are those of `Series.told`."""

    name: CurveName
    every: Annotated[int, Meta(ge=1, le=MOST_COUNTED)]
    count: Annotated[int, Meta(ge=1, le=MOST_COUNTED)]
    steps: list[CurveStep]
    values: list[Real]
    last: tuple[CurveStep, Real]


class Series:
    """A curve: every so many of its points, and the last."""

    def __init__(self) -> None:
        self.every = 1
        self.count = 0
        self._steps = array("q")
        self._values = array("d")
        self._last = (0, 0.0)

    def add(self, step: int | None, value: float) -> None:
        """Another point; its step is the number of points before it where none is given."""
        self._last = (self.count if step is None else step, value)
        if self.count % self.every == 0:
            self._steps.append(self._last[0])
            self._values.append(value)
            if len(self._steps) >= MOST_POINTS:
                self._steps, self._values = self._steps[::2], self._values[::2]
                self.every *= 2
        self.count += 1

    def told(self) -> dict[str, Any]:
        """As JSON has it."""
        steps, values = list(self._steps), list(self._values)
        if (self.count - 1) % self.every:
            steps.append(self._last[0])
            values.append(self._last[1])
        return {
            "count": self.count, "every": self.every, "steps": steps, "values": [_real(v) for v in values],
        }  # fmt: skip

    def image(self, name: str) -> SeriesImage:
        """Itself in a snapshot."""
        values = [_real(v) for v in self._values]
        last = (self._last[0], _real(self._last[1]))
        return SeriesImage(name, self.every, self.count, list(self._steps), values, last)

    @classmethod
    def of(cls, image: SeriesImage) -> Series:
        """The curve of a snapshot. ValueError where its points are not as many as it says."""
        kept = -(-image.count // image.every)
        if not len(image.steps) == len(image.values) == kept < MOST_POINTS:
            raise ValueError(f"the curve {image.name!r} has not the points that it says")
        made = cls()
        made.every, made.count = image.every, image.count
        made._steps = array("q", image.steps)
        made._values = array("d", [float(v) for v in image.values])
        made._last = (image.last[0], float(image.last[1]))
        return made


def _real(value: float) -> Real:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


class Curves:
    """The curves of a session, by name."""

    def __init__(self) -> None:
        self._series: dict[str, Series] = {}
        #: points whose name was one too many
        self.dropped = 0

    def take(self, log: Sequence[Logged], table: TensorTable) -> None:
        """Add what a batch logs. What is no number, or is not there because its step failed, is left out."""
        for entry in log:
            value = _value(entry.value, table)
            if value is not None:
                self.add(entry.name, value, entry.step)

    def take_results(self, work: Work, outcome: Outcome) -> Problem | None:
        """Add what a batch in JSON logs; where something is no real number, nothing, and say so."""
        results = iter(outcome.results[len(work.labels) :])
        points = []
        for name, value, step in work.log:
            if value is None:
                array, dtype, _ = next(results)
                value = None if array is None else _real_number(array, dtype)
                if value is None:
                    what = "None" if array is None else f"{dtype} of shape {list(array.shape)}"
                    detail = f"a point of {name!r} is no real number: {what}"
                    return problem("op-failed", detail, exception="ValueError", applied=outcome.applied)
            points.append((name, value, step))
        for point in points:
            self.add(*point)
        return None

    def add(self, name: str, value: float, step: int | None) -> None:
        """Add a point to the curve of that name; dropped where there are too many names."""
        found = self._series.get(name)
        if found is None:
            if len(self._series) >= MOST_NAMES:
                self.dropped += 1
                return
            found = self._series[name] = Series()
        found.add(step, value)

    def answer(self) -> tuple[m.JsonReply, list[Any]]:
        """The reply to GetSeries."""
        said = {"series": {n: s.told() for n, s in self._series.items()}, "dropped": self.dropped}
        return m.JsonReply(), [frames.text_buffer(msgspec.json.encode(said))]

    def images(self) -> list[SeriesImage]:
        """All of them, in a snapshot."""
        return [series.image(name) for name, series in self._series.items()]

    def restore(self, images: Iterable[SeriesImage]) -> None:
        """Be as those of a snapshot. ValueError for what a session's curves cannot be."""
        self._series = {image.name: Series.of(image) for image in images}
        if len(self._series) > MOST_NAMES:
            raise ValueError(f"it has more than {MOST_NAMES} curves")


def _value(said: LoggedValue, table: TensorTable) -> float | None:
    if not isinstance(said, str):
        return float(said)
    if said[:1] != "@":
        return float(said) if said in ("NaN", "Infinity", "-Infinity") else None
    try:
        t = table.find(said)
    except ProtocolError:
        return None
    return _real_number(values_of(t), t.dtype.name) if math.prod(t.shape) == 1 else None


def _real_number(array: Any, dtype: str) -> float | None:
    """The one element of an array, if it has one that is real."""
    return None if array.size != 1 or dtype.startswith("complex") else float(array.reshape(-1)[0])
