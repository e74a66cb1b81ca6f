"""What the replaying mode takes tests for that are made for one run: each with its reason. `test_exempt` bounds how
many there are.
"""

from __future__ import annotations

#: not replayed at all: files, or tests
LEFT_OUT = {
    "tests/benchmarks/": "measures, in processes of its own",
    "tests/client/test_fork.py": "forks",
    "tests/client/test_gradcheck.py": "perturbs every element of every op; the bodies of op samples do what it does once",
    "tests/client/test_hangs.py": "stops and kills daemons of its own",
    "tests/client/test_interrupts.py": "interrupts itself by a clock",
    "tests/client/test_threads.py": "threads record in an order of their own",
    "tests/congruence/": "random programs, which are bodies of their own here",
    "tests/replay/": "is this mode",
    "tests/runtime/test_plans.py": "records frames and replays them itself",
    "tests/runtime/test_planted_faults.py": "plants faults in plans",
}

#: replayed, and what their sessions answer is compared; their own assertions need not hold when they are cut or
#: repeated
EXEMPT: dict[str, str] = {}


def _reason(table: dict[str, str], nodeid: str) -> str | None:
    name = nodeid.partition("[")[0]
    places = (name, name.partition("::")[0], "/".join(name.split("/")[:2]) + "/")
    return next((table[p] for p in places if p in table), None)


def left_out(nodeid: str) -> str | None:
    """Why a test is not replayed; None where it is."""
    return _reason(LEFT_OUT, nodeid)


def exempt(nodeid: str) -> str | None:
    """Why a replayed test may fail by its own measure; None where it may not."""
    return _reason(EXEMPT, nodeid)
