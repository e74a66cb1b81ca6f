"""`gradd top`: what a daemon does, as a table that is drawn anew."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from gradd_server.commands.asking import add_daemon, daemon_url, get
from gradd_server.commands.exits import OK

HOME, REST, ABOVE = "\x1b[H", "\x1b[J", "\x1b[K"
"""ANSI: to the first place, clear what is below, clear the rest of a line."""
HEADS = ("ENGINE ", "TENANT ", "SESSION ")
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    top = commands.add_parser(
        "top", help="watch engine processes, tenants and sessions of a daemon; for operators"
    )
    add_daemon(top)
    top.add_argument("--once", action="store_true", help="print the table once, and end")
    top.add_argument(
        "--seconds", type=_seconds, default=2.0, metavar="S", help="between two looks [default: 2]"
    )
    top.set_defaults(run=_top)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds from 0.1 to 3600")
    return seconds


def _top(arguments: argparse.Namespace) -> int:
    url = daemon_url(arguments, os.environ)
    before: Mapping[str, Any] | None = None
    try:
        while True:
            now = get(url, "/v1/status", arguments.timeout)
            lines = table(url, now, before)
            if arguments.once:
                print("\n".join(lines))
                return OK
            _draw(lines)
            before = now
            time.sleep(arguments.seconds)
    except KeyboardInterrupt:
        return OK


def _draw(lines: list[str]) -> None:
    columns, rows = shutil.get_terminal_size()
    shown = [line[:columns] for line in lines[: rows - 1]]
    headed = [f"{BOLD}{line}{PLAIN}" if line.startswith(HEADS) else line for line in shown]
    sys.stdout.write(HOME + "".join(f"{line}{ABOVE}\n" for line in headed) + REST)
    sys.stdout.flush()


def table(url: str, now: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> list[str]:
    """The lines of the table for what `GET /v1/status` said; `before` is what it said earlier, for rates."""
    up = int(now["uptime_seconds"])
    clock = f"{up // 3600}:{up // 60 % 60:02}:{up % 60:02}"
    lines = [
        f"gradd {now['version']} at {url}: {'ready' if now['ready'] else 'NOT READY'}, up {clock}",
        f"{now['connections']} connections, {now['streams']} streams, {now['unanswered']} requests and "
        f"batches in progress ({_size(now['traffic_bytes'])}), {now['restarts']} engine processes replaced, "
        f"{now['lost']} sessions lost",
        "",
    ]
    lines += _aligned(_engines(now, before))
    lines += ["", *_aligned(_tenants(now, before))]
    lines += ["", *_aligned(_sessions(now, before))]
    return lines


def _engines(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[list[str]]:
    yield [
        "ENGINE",
        "STATE",
        "SESSIONS",
        "AWAKE",
        "MEMORY",
        "TENSORS",
        "BYTES",
        "QUEUE",
        "BATCHES",
        "/S",
        "STEPS",
        "HITS",
    ]
    earlier = {engine["pid"]: engine for engine in (before or {}).get("engines", ())}
    for engine in now["engines"]:
        counts = engine["counts"]
        state = "ready" if engine["answers"] else "computing" if engine["up"] else "silent"
        batches = counts.get("batches", 0)
        last = earlier.get(engine["pid"], {}).get("counts", {}).get("batches")
        yield [
            str(engine["pid"]), state, str(sum(engine["sessions"].values())),
            str(engine["sessions"].get("awake", 0)), _size(engine["resident_bytes"]), str(engine["tensors"]),
            _size(engine["bytes"]), str(engine["waiting"]), str(batches), _rate(batches, last, now, before),
            str(counts.get("steps", 0)), _share(counts),
        ]  # fmt: skip


def _tenants(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[list[str]]:
    yield ["TENANT", "SESSIONS", "BYTES", "BATCHES", "/S", "SECONDS"]
    earlier = {tenant["tenant"]: tenant["batches"] for tenant in (before or {}).get("tenants", ())}
    for tenant in sorted(now["tenants"], key=lambda tenant: -tenant["seconds"]):
        yield [
            tenant["tenant"], str(tenant["sessions"]), _size(tenant["bytes"]), str(tenant["batches"]),
            _rate(tenant["batches"], earlier.get(tenant["tenant"]), now, before), f"{tenant['seconds']:.1f}",
        ]  # fmt: skip


def _sessions(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[list[str]]:
    yield ["SESSION", "TENANT", "IDLE", "TENSORS", "BYTES", "BATCHES", "/S", "STEPS", "HITS"]
    earlier = {
        (s["tenant"], s["name"]): s["counts"].get("batches") for s in (before or {}).get("sessions", ())
    }
    for session in now["sessions"]:
        counts = session["counts"]
        batches = counts.get("batches", 0)
        yield [
            session["name"], session["tenant"], f"{session['idle_seconds']:.0f}s", str(session["tensors"]),
            _size(session["bytes"]), str(batches),
            _rate(batches, earlier.get((session["tenant"], session["name"])), now, before),
            str(counts.get("steps", 0)), _share(counts),
        ]  # fmt: skip


def _rate(count: int, last: int | None, now: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    if last is None or before is None or count < last:
        return "-"
    seconds = now["uptime_seconds"] - before["uptime_seconds"]
    return f"{(count - last) / seconds:.1f}" if seconds > 0 else "-"


def _share(counts: Mapping[str, int]) -> str:
    """Of the batches that ran, those that a plan ran."""
    ran = counts.get("planned", 0) + counts.get("eager", 0)
    return f"{100 * counts['planned'] / ran:.0f}%" if ran else "-"


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _aligned(rows: Iterator[list[str]]) -> list[str]:
    """Lines of columns: the first to the left, the others to the right."""
    found = list(rows)
    widths = [max(len(row[n]) for row in found) for n in range(len(found[0]))]
    return [
        "  ".join(
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in found
    ]
