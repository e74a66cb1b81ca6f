"""What a script's long waits and transfers show on a terminal, and that they show nothing elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest
from gradd._exceptions import error_of
from gradd._transports import Dropped, waits
from gradd._transports.waits import Waiting, result
from gradd._transports.websocket import Closed, WebSocket
from gradd._wire import absence
from gradd._wire.absence import Absence, Hurry
from gradd_protocol.problems import problem
from websockets.sync.server import ServerConnection, serve

from tests.terminals import Terminal
from tests.waiting import PATIENCE

#: of which a transfer has several pieces
LARGE = (1 << 19) + 3


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_transfers_show_how_far_they_are(daemon: str, transport: str, screen: Terminal) -> None:
    values = np.arange(LARGE, dtype=np.float64)
    with gradd.connect(daemon, transport=transport):
        t = gradd.tensor(values)
        screen.until(r"gradd: uploading 4\.0 MiB of 4\.0 MiB \(100%\), \S+ \w+/s")
        assert np.array_equal((t + 1).numpy(), values + 1)
        screen.until(r"gradd: downloading 4\.0 MiB of 4\.0 MiB \(100%\)")
    assert screen.seen() == [""]


def test_files_are_counted_whole(daemon: str, screen: Terminal, tmp_path: Path) -> None:
    with gradd.connect(daemon):
        state = {f"part{n}": gradd.full((LARGE,), float(n)) for n in range(3)}
        for name in ("x.safetensors", "x.pt"):
            gradd.save(state, tmp_path / name)
            screen.until(r"saving 6\.0 MiB of 6\.0 MiB \(100%\)")
        assert "downloading" not in screen.written()
        found = gradd.load(tmp_path / "x.safetensors")
        screen.until(r"loading 6\.0 MiB of 6\.0 MiB \(100%\)")
        assert "uploading" not in screen.written()
        assert found["part2"][-1].item() == 2.0
    assert screen.seen() == [""]


def test_a_snapshot_shows_how_far_it_is(daemon: str, screen: Terminal, tmp_path: Path) -> None:
    with gradd.connect(daemon, "long-snapshot") as session:
        session["x"] = gradd.full((LARGE,), 1.0)
        session.snapshot(tmp_path / "x")
    screen.until(r"downloading 2\.0 MiB of 2\.0 MiB \(100%\)")
    with gradd.connect(daemon, "begun-there", from_snapshot=tmp_path / "x") as session:
        screen.until(r"uploading 2\.0 MiB of 2\.0 MiB \(100%\)")
        assert session["x"].sum().item() == LARGE
    gradd.delete_session("long-snapshot", daemon)
    gradd.delete_session("begun-there", daemon)
    assert screen.seen() == [""]


SCRIPT = """
import sys
import gradd, numpy as np
from gradd_engine import progress
progress.AFTER = progress.EVERY = 0.0
gradd.connect(sys.argv[1])
print(int(gradd.tensor(np.ones(600_000)).add(1).numpy().sum()))
"""


@pytest.mark.parametrize("where", ["terminal", "turned off", "pipe"])
def test_a_script_shows_it_on_a_terminal_alone(where: str, daemon: str) -> None:
    terminal = Terminal()
    environ = {name: value for name, value in os.environ.items() if name != "GRADD_PROGRESS"}
    environ |= {"TERM": "xterm"} | ({"GRADD_PROGRESS": "0"} if where == "turned off" else {})
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, daemon],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if where == "pipe" else terminal.stream,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == b"1200000\n"
    assert not done.stderr
    assert ("uploading" in terminal.written()) == (where == "terminal")
    assert terminal.seen() == [""]
    terminal.close()


# -- waits ------------------------------------------------------------------------------------------


@pytest.fixture
def slow(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The same terminal, where each piece of a wait is short and shown."""
    monkeypatch.setattr(waits, "SLOW", 0.0)
    monkeypatch.setattr("gradd._transports.websocket.HEED", 0.01)
    monkeypatch.setattr(waits, "HEED", 0.01)
    return screen


def answering(after: threading.Event, use: Callable[[WebSocket], None]) -> None:
    """`use` a socket at whose other end an answer waits for an event."""

    def handler(connection: ServerConnection) -> None:
        after.wait(PATIENCE)
        connection.send(b"answer")

    with serve(handler, "127.0.0.1", 0, subprotocols=["t"]) as server:  # type: ignore[list-item]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"
        socket = WebSocket(url, "t", {}, max_size=1 << 20, silence=0.2)
        try:
            use(socket)
        finally:
            after.set()
            socket.close()
            server.shutdown()
            thread.join()


def test_a_long_wait_says_for_whom(slow: Terminal) -> None:
    event = threading.Event()

    def use(socket: WebSocket) -> None:
        looks = threading.Thread(target=lambda: (slow.until(r"it is there, as it said 0 s ago"), event.set()))
        looks.start()
        assert socket.receive(block=True) == b"answer"
        looks.join()
        slow.until(r"gradd: waiting for 127\.0\.0\.1:\d+, \d+ s")

    answering(event, use)
    assert slow.seen() == [""]


def test_a_wait_that_fails_leaves_no_line(slow: Terminal) -> None:
    def use(socket: WebSocket) -> None:
        def fail() -> None:
            slow.until("waiting for")
            socket._socket.shutdown(2)

        thread = threading.Thread(target=fail)
        thread.start()
        with pytest.raises(Closed):
            socket.receive(block=True)
        thread.join()
        assert slow.seen() == [""]

    answering(threading.Event(), use)


def test_what_is_computed_here_is_waited_for_in_sight(slow: Terminal) -> None:
    future: Future[int] = Future()
    thread = threading.Thread(target=lambda: (slow.until("waiting for the session"), future.set_result(1)))
    thread.start()
    assert result(future, "the session in this process") == 1
    thread.join()
    assert slow.seen() == [""]


def test_after_ctrl_c_no_line_is_left(slow: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = Waiting.go_on

    def interrupted(self: Waiting) -> None:
        go_on(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Waiting, "go_on", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result(Future(), "http://x")
    assert slow.seen() == [""]
    assert "waiting for http://x, 0 s" in slow.written()


def test_a_fast_answer_makes_no_line(monkeypatch: pytest.MonkeyPatch, daemon: str) -> None:
    made: list[Any] = []
    monkeypatch.setattr("gradd._transports.websocket.Waiting", lambda *given: made.append(given))
    monkeypatch.setattr("gradd._transports.websocket.HEED", PATIENCE)
    with gradd.connect(daemon):
        assert gradd.ones(3).sum().item() == 3.0
    assert made == []


# -- a daemon that is away --------------------------------------------------------------------------


@pytest.fixture
def away(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> Absence:
    """A daemon that is away; nobody rests, and the user is told at once."""
    monkeypatch.setattr(Hurry, "rest", lambda self, seconds: None)
    monkeypatch.setattr(absence, "_NOTE", 0.0)
    return Absence("http://x", 300.0, Hurry())


def test_reconnecting_says_since_when_which_try_and_until_when(away: Absence, screen: Terminal) -> None:
    assert away.pause(Dropped("gone"))
    clock = r"\d\d:\d\d:\d\d"
    screen.until(rf"gradd: http://x does not answer since {clock} \(\d+ s\); try 1, and again until {clock}")
    assert away.pause(error_of(problem("recovering"), None, None))
    screen.until(r"gradd: http://x answers '[^']+' since \S+ \(\d+ s\); try 2, and again until")
    away.back()
    assert screen.seen() == ["gradd: http://x is back after 0 s", ""]


def test_who_gives_up_leaves_no_line(away: Absence, screen: Terminal) -> None:
    assert away.pause(Dropped("gone"))
    away._left = 0.0
    assert not away.pause(Dropped("gone"))
    assert screen.seen() == [""]


def test_who_stops_trying_leaves_no_line(away: Absence, screen: Terminal) -> None:
    assert away.pause(Dropped("gone"))
    away.stop()
    assert screen.seen() == [""]
