"""What the machine, or the control group in which the daemon runs, has."""

from __future__ import annotations

import functools
import logging
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

logger = logging.getLogger("gradd.server")

UNTOLD = 4 << 30
"""Bytes that a machine is taken to have which does not tell."""


@functools.cache
def memory_bytes(root: Path = Path("/")) -> int:
    """Bytes of memory that the daemon may use: the machine's, or less where a control group has less; of one
    that does not tell, `UNTOLD`. `root` is where `proc` and `sys` are.
    """
    found = [_total(root / "proc/meminfo") or _pages() or _untold()]
    for file in _limits(root):
        with suppress(OSError, ValueError):  # no such group here, or "max"
            found.append(int(file.read_text()))
    return min(found)


def processor_budgets(process_bytes: int, tenant_bytes: int) -> tuple[int, int, int]:
    """Bytes that the sessions of an engine process of this machine, those of a tenant there, and those of all
    its engine processes may hold; a 0 that is given is a share of the memory.
    """
    machine = memory_bytes() * 4 // 5
    process = process_bytes or machine
    return process, min(process, tenant_bytes or process * 3 // 4), machine


def most_files() -> int:
    """How many files the process may have open, which it raises as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            return hard
    return soft


def _total(meminfo: Path) -> int:
    """What Linux tells; 0 for nothing."""
    with suppress(OSError):
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) << 10
    return 0


def _pages() -> int:
    """What others tell, such as macOS; 0 for nothing."""
    try:
        return max(0, os.sysconf("SC_PAGE_SIZE")) * max(0, os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError):
        return 0


def _untold() -> int:
    logger.warning("the machine does not tell its memory: limits are those of a machine with 4 GiB")
    return UNTOLD


def _limits(root: Path) -> Iterator[Path]:
    """The files that limit this process's group and those around it."""
    try:
        rows = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for row in rows:
        _, controllers, group = row.split(":", 2)
        # In a container the group is often named as the host sees it, and mounted at the top.
        at = PurePosixPath(group.lstrip("/"))
        if not controllers:
            home, file = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            home, file = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        yield from (home / each / file for each in (at, *at.parents))
