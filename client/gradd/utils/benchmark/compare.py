"""Compare: a table of measurements."""

from __future__ import annotations

from collections.abc import Iterable

from .measurement import Measurement, time_unit


class Compare:
    """Measurements as a table for each label: a row for each sub-label and number of threads, a column for
    each description (torch.utils.benchmark.Compare).
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results = list(results)
        self._trim = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show no more than three digits."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Has no effect: the table has no colours."""

    def highlight_warnings(self) -> None:
        """Has no effect."""

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = dict.fromkeys(m.task_spec.label for m in merged)
        return "\n".join(
            self._table(label, [m for m in merged if m.task_spec.label == label]) for label in labels
        )

    def _table(self, label: str | None, held: list[Measurement]) -> str:
        unit, scale = time_unit(min(m.median for m in held))
        columns = list(dict.fromkeys(m.task_spec.description or "" for m in held))
        rows = list(dict.fromkeys((m.task_spec.num_threads, m.as_row_name) for m in held))
        of = {(m.task_spec.num_threads, m.as_row_name, m.task_spec.description or ""): m for m in held}
        shown = [["", *columns]]
        for threads, name in rows:
            cells = [of.get((threads, name, column)) for column in columns]
            row = [f"{name} ({threads} threads)" if threads != 1 else name]
            shown.append(row + ["" if m is None else self._number(m.median / scale) for m in cells])
        widths = [max(len(row[i]) for row in shown) for i in range(len(columns) + 1)]
        lines = ["  |  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in shown]
        title = f"[{label or ''}]".center(max(map(len, lines)), "-")
        return "\n".join([title, lines[0], "-" * len(title), *lines[1:], f"Times are in {unit}."])

    def _number(self, value: float) -> str:
        return f"{value:.3g}" if self._trim else f"{value:.1f}"
