"""The page of metrics: what a scrape of a daemon has that did a little of everything."""

from __future__ import annotations

import re
import time
from itertools import chain

from gradd_runtime.process import Durations, Figures, InlinePlacement, TenantFigures
from gradd_server.front import Front
from gradd_server.sessions import Sessions
from gradd_server.settings import Settings
from gradd_server.telemetry.metrics import exposition
from gradd_server.telemetry.survey import Seen, Survey
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from .commands import sentence, table

#: labels that the format itself has
_OF_FORMAT = ("le", "quantile")


def families() -> list[Metric]:
    """The metrics, each with at least one sample."""
    settings = Settings()
    placement = InlinePlacement("cpu", 0, 0)
    try:
        front = Front(settings, Sessions(placement, settings, time.monotonic), {})
        counts = front.counts
        for counter in (counts.received, counts.sent, counts.refused):
            counter["http"] += 1
        counts.requests["GET", "/v1", 200] = Durations()
        figures = Figures({}, {}, {"default": TenantFigures()}, Durations(), Durations(), Durations())
        survey = Survey([Seen(0, True, 0, 0, True, figures)], 0, 0)
        text = exposition(front, survey, True, "")[0].decode()
    finally:
        placement.shutdown()
    return list(text_string_to_metric_families(text))


def page() -> str:
    """The page."""
    rows = []
    for family in families():
        labels = dict.fromkeys(chain.from_iterable(s.labels for s in family.samples))
        name = f"{family.name}_total" if family.type == "counter" else family.name
        said = re.sub(r"([<>*_])", r"\\\1", sentence(family.documentation))
        shown = ", ".join(f"`{label}`" for label in labels if label not in _OF_FORMAT)
        rows.append((f"`{name}`", family.type, shown, said))
    return "\n".join(
        [
            "# Metrics\n",
            "What `/metrics` of the admin listener has ([operations](../operations.md#metrics) says how to "
            "scrape it, [grafana.json](../grafana.json) is a dashboard of it). Written from a scrape; which "
            "`process_*` metrics there are depends on the system.\n",
            *table("metric", "type", "labels", "means", rows=rows),
        ]
    )
