"""32 clients, each training its MLP at batch 8: do they get the machine's work, each its share?"""

from __future__ import annotations

import argparse
import http.client
import statistics
import sys
import threading
import time
from urllib.parse import urlsplit

import gradd

from .bench import US, Bench, Row, main, spread
from .daemon import child, cpu_seconds
from .models import mlp
from .training import Task, cross_entropy, script, sgd

TASK = Task(mlp, (784,), 8, sgd, cross_entropy)
STEPS = 10


def client(url: str) -> None:
    """One client: says when it is ready, trains for as long as it is told, says its steps a second."""
    with gradd.connect(url):
        run = script(gradd, TASK, STEPS, STEPS, False, False)
        for _ in range(3):
            run()
        print("ready", flush=True)
        seconds, steps, began = float(sys.stdin.readline()), 0, time.monotonic()
        while (taken := time.monotonic() - began) < seconds:
            run()
            steps += STEPS
        print(steps / taken, flush=True)


class Probe(threading.Thread):
    """Asks /livez until it is stopped; milliseconds of each answer."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._host = urlsplit(url).netloc
        self.ended = threading.Event()
        self.waits: list[float] = []

    def run(self) -> None:
        """See threading.Thread."""
        connection = http.client.HTTPConnection(self._host)
        while not self.ended.wait(0.02):
            began = time.perf_counter()
            connection.request("GET", "/livez")
            connection.getresponse().read()
            self.waits.append(1e3 * (time.perf_counter() - began))
        connection.close()


def together(bench: Bench, count: int, seconds: float) -> tuple[list[float], list[float], dict[str, float]]:
    """Steps a second of each client, /livez waits, CPU seconds of the daemon."""
    processes = [child("benchmarks.clients", "--client", bench.url) for _ in range(count)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    probe = Probe(bench.url)
    if bench.pid is not None:
        probe.start()
    cpu = cpu_seconds(bench.pid)
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{seconds}\n")
        process.stdin.flush()
    rates = []
    for process in processes:
        assert process.stdout is not None
        rates.append(float(process.stdout.readline()))
        if len(rates) == 1:
            probe.ended.set()
    cpu = {process: used - cpu[process] for process, used in cpu_seconds(bench.pid).items()}
    for process in processes:
        process.communicate()
    if bench.pid is not None:
        probe.join()
    return rates, probe.waits, cpu


def in_turn(count: int, seconds: float) -> float:
    """Steps a second of as many models in one process without a network, a block of each in turn."""
    with gradd.connect("local:"):
        runs = [script(gradd, TASK, STEPS, STEPS, False, False) for _ in range(count)]
        for run in runs[:1] * 3 + runs:
            run()
        began, steps = time.perf_counter(), 0
        while (taken := time.perf_counter() - began) < seconds:
            for run in runs:
                run()
                steps += STEPS
    return steps / taken


def question(bench: Bench) -> list[Row]:
    """Throughput of all, the slowest one's share, and the daemon's pulse meanwhile."""
    count, seconds = bench.pick(32, 8, 2), bench.pick(100, 30, 1) / 10
    before = in_turn(count, seconds)
    rates, waits, cpu = together(bench, count, seconds)
    alone = statistics.mean((before, in_turn(count, seconds)))
    rate = sum(rates)
    name = f"{count} clients, MLP batch 8 each"
    rows = [
        Row(
            work=f"{name}, of the same models in turn in one process", value=rate / alone, bar=0.75,
            at_least=True, mine=f"{rate:.0f} steps/s", peer=f"local: {alone:.0f} steps/s",
            cpu={
                process: spread([US * used / (rate * seconds)])
                for process, used in cpu.items() if process != "client"  # the clients are others
            },
        ),
        Row(
            work=f"{name}, slowest of the mean", value=min(rates) / statistics.mean(rates), bar=0.5,
            at_least=True,
        ),
    ]  # fmt: skip
    if waits:
        p99 = sorted(waits)[int(0.99 * len(waits))]
        rows.append(Row(work=f"{name}, /livez p99 meanwhile", value=p99, unit="ms", bar=20))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--client")
    options, _ = parser.parse_known_args()
    if options.client:
        client(options.client)
    else:
        main(question)
