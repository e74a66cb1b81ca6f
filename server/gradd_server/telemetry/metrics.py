"""The daemon's counts in the terms of Prometheus.

What an engine process counts has the label `process`, its place among them: it begins at 0 again when
another takes the place, which Prometheus takes for what it is. No label is a session or a tensor.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate

from gradd_protocol.version import VERSION, WIRE
from gradd_runtime.process import SECONDS, Durations, Figures
from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gradd_server.front import Front
from gradd_server.telemetry.survey import Survey

MOST_TENANTS = 200
"""Tenants with a label of their own; the rest, by name, are `other`."""

PHASES: dict[str, Callable[[Figures], Durations]] = {
    "queue": lambda figures: figures.queue,
    "exec": lambda figures: figures.execution,
    "journal": lambda figures: figures.journal,
}


def exposition(front: Front, survey: Survey, ready: bool, accept: str) -> tuple[bytes, str]:
    """All metrics in the format that `accept` asks for, and its media type."""
    registry = CollectorRegistry()
    registry.register(_Scrape(front, survey, ready))
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
        registry.register(collector)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class _Scrape(Collector):
    """The metrics of one moment."""

    def __init__(self, front: Front, survey: Survey, ready: bool) -> None:
        self._ready = ready
        self._front = front
        self._survey = survey

    def collect(self) -> Iterator[Metric]:
        """See Collector."""
        yield GaugeMetricFamily("gradd_ready", "1 where /readyz says so.", float(self._ready))
        yield from _front(self._front)
        yield from _processes(self._survey)
        yield from _sessions(self._front, self._survey)
        told = [(str(n), seen.figures) for n, seen in enumerate(self._survey.processes)]
        yield from _work([(place, figures) for place, figures in told if figures is not None])


def _front(front: Front) -> Iterator[Metric]:
    counts = front.counts
    yield InfoMetricFamily("gradd_build", "Versions.", {"version": VERSION, "wire": WIRE})
    yield GaugeMetricFamily("gradd_start_time_seconds", "When the daemon began.", counts.began)
    yield GaugeMetricFamily("gradd_connections", "Connections that are open.", front.connections())
    limits = GaugeMetricFamily("gradd_limit", "What there may be.", labels=["of"])
    settings, disk = front.settings, front.sessions.disk
    disk_limits = []
    if disk is not None:
        disk_limits = [("tenant_disk_bytes", disk.tenant_limit), ("disk_free_bytes", disk.reserve)]
    for what, limit in (
        ("process_bytes", settings.budgets[0]), ("tenant_bytes", settings.budgets[1]),
        ("sessions", settings.sessions), ("tenant_sessions", settings.tenant_sessions),
        ("connections", front.connected.limit), ("tenant_connections", front.connected.tenant_limit),
        ("traffic_bytes", front.traffic.limit), ("tenant_traffic_bytes", front.traffic.tenant_limit),
        *disk_limits,
    ):  # fmt: skip
        limits.add_metric([what], limit)
    yield limits
    yield GaugeMetricFamily("gradd_streams", "Streams that are open.", len(front.streams))
    yield CounterMetricFamily("gradd_streams_opened", "Streams that were opened.", counts.streams)
    yield GaugeMetricFamily("gradd_unanswered", "Requests and batches in progress.", front.unanswered)
    yield GaugeMetricFamily(
        "gradd_traffic_bytes", "What requests and answers under way hold.", front.traffic.used
    )
    yield _counters("gradd_received_bytes", "Bytes of bodies and messages.", "over", counts.received)
    yield _counters("gradd_sent_bytes", "Bytes of bodies and messages.", "over", counts.sent)
    yield _counters("gradd_rejected", "Requests and streams refused, by problem.", "reason", counts.refused)
    yield GaugeMetricFamily("http_server_active_requests", "Requests in progress.", counts.active)
    labels = ["http_request_method", "http_route", "http_response_status_code"]
    requests = HistogramMetricFamily(
        "http_server_request_duration_seconds", "What requests took.", labels=labels
    )
    for (method, route, status), durations in sorted(counts.requests.items()):
        requests.add_metric([method, route, str(status)], *_buckets(durations))
    yield requests
    try:
        free = shutil.disk_usage(front.settings.data_dir).free
    except OSError:
        return
    yield GaugeMetricFamily("gradd_data_dir_free_bytes", "Room on the disk of the data directory.", free)


def _processes(survey: Survey) -> Iterator[Metric]:
    up = GaugeMetricFamily("gradd_engine_up", "1 where the process shows signs of life.", labels=["process"])
    fresh = GaugeMetricFamily("gradd_engine_answers", "1 where it answered the scrape.", labels=["process"])
    depth = GaugeMetricFamily("gradd_queue_depth", "Frames that are not answered.", labels=["process"])
    memory = GaugeMetricFamily("gradd_engine_resident_bytes", "Memory in RAM.", labels=["process"])
    for n, seen in enumerate(survey.processes):
        place = [str(n)]
        up.add_metric(place, float(seen.up))
        fresh.add_metric(place, float(seen.answered))
        depth.add_metric(place, seen.waiting)
        memory.add_metric(place, seen.resident)
    yield from (up, fresh, depth, memory)
    if any(seen.node for seen in survey.processes):
        nodes = GaugeMetricFamily("gradd_engine_node", "1: where it runs.", labels=["process", "node"])
        for n, seen in enumerate(survey.processes):
            nodes.add_metric([str(n), seen.node], 1)
        yield nodes
    yield CounterMetricFamily(
        "gradd_engine_restarts", "Processes that took the place of one that ended.", survey.restarts
    )


def _sessions(front: Front, survey: Survey) -> Iterator[Metric]:
    states: Counter[str] = Counter(lost=survey.lost)
    for seen in survey.processes:
        if seen.figures is not None:
            states.update(seen.figures.sessions)
    sessions = GaugeMetricFamily("gradd_sessions", "Sessions by state.", labels=["state"])
    for state, count in sorted(states.items()):
        sessions.add_metric([state], count)
    yield sessions
    by_tenant = Counter(entry.tenant for entry in front.sessions)
    yield GaugeMetricFamily("gradd_tenants", "Tenants that have sessions.", len(by_tenant))
    named = GaugeMetricFamily("gradd_tenant_sessions", "Sessions of a tenant.", labels=["tenant"])
    for tenant, held in _capped(by_tenant).items():
        named.add_metric([tenant], held)
    yield named


def _work(told: list[tuple[str, Figures]]) -> Iterator[Metric]:
    batches = CounterMetricFamily("gradd_batches", "Batches by outcome.", labels=["process", "outcome"])
    steps = CounterMetricFamily("gradd_steps", "Steps that were run.", labels=["process"])
    plans = CounterMetricFamily(
        "gradd_plan_runs", "Batches that a plan ran (hit), or not.", labels=["process", "plan"]
    )
    traced = CounterMetricFamily("gradd_plans_traced", "Plans that were made.", labels=["process"])
    appended = CounterMetricFamily("gradd_journal_bytes", "Bytes of recorded frames.", labels=["process"])
    appends = CounterMetricFamily("gradd_journal_appends", "Entries of records.", labels=["process"])
    tensors = GaugeMetricFamily("gradd_tensors", "Tensors of sessions that are awake.", labels=["process"])
    used = GaugeMetricFamily("gradd_tensor_bytes", "Bytes that count against quotas.", labels=["process"])
    quota = GaugeMetricFamily(
        "gradd_quota_bytes", "The quotas of sessions that are awake.", labels=["process"]
    )
    took = HistogramMetricFamily(
        "gradd_batch_duration_seconds",
        "What frames waited in the engine process (queue), batches took (exec), their records (journal).",
        labels=["process", "phase"],
    )
    for place, figures in told:
        counts = Counter(figures.counts)
        batches.add_metric([place, "applied"], counts["batches"] - counts["failed"])
        for outcome in ("failed", "replayed", "refused"):
            batches.add_metric([place, outcome], counts[outcome])
        steps.add_metric([place], counts["steps"])
        plans.add_metric([place, "hit"], counts["planned"])
        plans.add_metric([place, "miss"], counts["eager"])
        traced.add_metric([place], counts["traced"])
        appended.add_metric([place], figures.journal_bytes)
        appends.add_metric([place], sum(figures.journal.counts))
        tensors.add_metric([place], figures.tensors)
        used.add_metric([place], figures.bytes)
        quota.add_metric([place], figures.quota)
        for phase, durations in PHASES.items():
            took.add_metric([place, phase], *_buckets(durations(figures)))
    yield from (batches, steps, plans, traced, appended, appends, tensors, used, quota, took)
    yield from _tenants(told)


def _tenants(told: list[tuple[str, Figures]]) -> Iterator[Metric]:
    labels = ["process", "tenant"]
    used = GaugeMetricFamily("gradd_tenant_bytes", "Bytes that count against its quotas.", labels=labels)
    batches = CounterMetricFamily("gradd_tenant_batches", "Batches of a tenant.", labels=labels)
    seconds = CounterMetricFamily("gradd_tenant_device_seconds", "Engine time of a tenant.", labels=labels)
    for place, figures in told:
        tenants = figures.tenants
        for family, values in (
            (used, {name: t.bytes for name, t in tenants.items()}),
            (batches, {name: t.batches for name, t in tenants.items()}),
            (seconds, {name: t.seconds for name, t in tenants.items()}),
        ):
            for tenant, value in _capped(values).items():
                family.add_metric([place, tenant], value)
    yield from (used, batches, seconds)


def _capped(by_tenant: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for n, name in enumerate(sorted(by_tenant)):
        label = name if n < MOST_TENANTS else "other"
        found[label] = found.get(label, 0) + by_tenant[name]
    return found


def _counters(name: str, help: str, label: str, counts: Counter[str]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, help, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _buckets(durations: Durations) -> tuple[list[tuple[str, float]], float]:
    bounds: Iterable[str] = (*map(str, SECONDS), "+Inf")
    return list(zip(bounds, map(float, accumulate(durations.counts)), strict=True)), durations.seconds
