"""Shared by all tests: one real daemon for the whole run, and PyTorch, the oracle, asked or recorded."""

from __future__ import annotations

import gc
import os
import queue
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import IO, Any

import gradd_engine.assembly  # noqa: F401 - tests of its rooms may need all of them
import pytest
from gradd._surface import overridable
from gradd_engine import progress
from gradd_runtime.plan import Plans

from tests.browser import browser as browser  # a fixture: one browser for the whole run
from tests.covered import looked_at
from tests.oracle import HERE, Tape
from tests.recordings import Book, book
from tests.streams import check_all
from tests.terminals import Terminal
from tests.waiting import PATIENCE

CASES: Counter[str] = Counter()
Plans.checks = True
TAPE = pytest.StashKey[Tape]()
#: what is to be recorded, and which tests its files have
MADE: dict[Book, dict[str, Tape]] = {}
THERE: dict[Book, set[str]] = {}


def _name(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[2]


def pytest_configure(config: pytest.Config) -> None:
    """A daemon on a busy machine is slow, not gone; tests of one that is gone set waits of their own."""
    os.environ.setdefault("GRADD_SILENCE_SECONDS", str(PATIENCE))
    os.environ.setdefault("GRADD_ENGINE_SILENCE_SECONDS", str(PATIENCE))
    if config.getoption("--asking"):
        overridable.begin()
        overridable.end = lambda: None
    if config.getoption("--streams"):
        check_all()
    if config.getoption("--standin"):
        from tests.device.excused import begin

        begin(config)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="record what PyTorch answers (make record)")
    parser.addoption("--asking", action="store_true", help="as in a script that derives a class from Tensor")
    parser.addoption("--streams", action="store_true", help="ask each session where its random stream is")
    parser.addoption("--standin", action="store_true", help="local: sessions compute on the stand-in of CuPy")


@pytest.fixture
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    """PyTorch, or, where it is not installed, what it answered when the test was recorded."""
    item = request.node
    tape = item.stash[TAPE] = book(item.path).tape(_name(item))
    yield tape.torch
    tape.close()


@pytest.fixture
def oracle(request: pytest.FixtureRequest, torch: Any) -> Callable[[Callable[[Any], Any]], Any]:
    """`oracle(function)`: what a function of PyTorch gives, a plain value, asked or recorded."""
    return request.node.stash[TAPE].give


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """After a test that asked PyTorch: its recording must be as the test is."""
    try:
        yield
    except Exception as error:
        if not HERE and TAPE in item.stash:
            error.add_note("What PyTorch says here is a recording; if the test was changed: make record")
        raise
    if (tape := item.stash.get(TAPE, None)) is None:
        return
    at = book(item.path)
    if item.config.getoption("--record"):
        MADE.setdefault(at, {})[_name(item)] = tape
    elif fault := at.fault(_name(item), tape):
        pytest.fail(f"the recording {fault}; make record TESTS={item.location[0]}", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what asks PyTorch, before some are deselected; to record, know all tests of a file."""
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker("oracle")
        if config.getoption("--record"):
            THERE.setdefault(book(item.path), set()).add(_name(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Leave out what coverage need not look at."""
    tracer = sys.gettrace()
    looked = looked_at(item.nodeid, CASES)
    if tracer is None or looked or not type(tracer).__module__.startswith("coverage"):
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded and collected stays: no collection of garbage need look through it again."""
    if overridable._begun and not session.config.getoption("--asking"):
        raise pytest.UsageError(
            "a test file derives a class from gradd.Tensor where it is imported, so all functions ask it: "
            "derive it in a function, with the fixture as_declared"
        )
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was recorded; of files that were looked at as a whole, drop tests that are no more."""
    parts = any("::" in arg for arg in session.config.args)
    for at, made in MADE.items():
        at.write(made, {*at.tests} if parts else THERE[at])


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal as stderr, on which all work is long and each look at it is shown."""
    made = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made.stream))  # pytest sets its own
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("GRADD_PROGRESS", raising=False)
    yield made
    made.close()


def _forward(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    """Read the daemon's output to its end, so that a full pipe never stops it."""
    for line in stream:
        lines.put(line)
    lines.put(None)


def _url(lines: queue.Queue[str | None]) -> str:
    """The address in the daemon's start line."""
    seen: list[str] = []
    while True:
        line = lines.get(timeout=PATIENCE)
        if line is None:
            raise RuntimeError("gradd serve ended before it was ready:\n" + "".join(seen))
        seen.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found.group()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a `gradd serve` subprocess on a free loopback port, shared by the whole run."""
    pytest.importorskip("gradd_server.cli", reason="the server is not installed", exc_type=ImportError)
    data = tmp_path_factory.mktemp("daemon")
    command = [sys.executable, "-m", "gradd_server", "serve", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(data)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True)
    reader.start()
    try:
        try:
            url = _url(lines)
        except RuntimeError as ended:
            ended.add_note(f"its exit code: {process.wait()}")
            raise
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(timeout=PATIENCE)
        process.stdout.close()
