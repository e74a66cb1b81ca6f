"""Lines of progress: on a terminal alone, for long work alone, and gone when it ends."""

from __future__ import annotations

import io
import os
import threading
import warnings
from contextlib import suppress

import pytest
from gradd_engine import progress
from gradd_engine.progress import PIECE, Line, Transfer, counted, say, size, terminal

from tests.terminals import Terminal

CLEARED = "\r\x1b[K"


def test_a_line_is_drawn_anew_and_gone_at_the_end(screen: Terminal) -> None:
    with Line() as line:
        line.tick(lambda seconds: "one and a half")
        line.tick(lambda seconds: f"two, {seconds >= 0}")
        assert screen.seen() == ["gradd: two, True"]
    assert screen.seen() == [""]
    assert screen.written().endswith(CLEARED)


def test_short_work_shows_nothing(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER", 1e9)
    with Line() as line:
        line.tick(lambda seconds: "one")
    assert screen.written() == ""


def test_a_line_is_drawn_now_and_then(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 1e9)
    with Line() as line:
        for n in range(1000):
            line.tick(lambda seconds, n=n: f"number {n}")
    assert screen.written().count("number") == 1


@pytest.mark.parametrize(("variable", "value"), [("GRADD_PROGRESS", "0"), ("TERM", "dumb")])
def test_it_can_be_turned_off(
    variable: str, value: str, screen: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with Line() as line:
        line.tick(lambda seconds: "one")
    assert screen.written() == ""


@pytest.mark.parametrize("kind", ["pipe", "closed", "none"])
def test_without_a_terminal_nothing_is_written(
    kind: str, screen: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", None if kind == "none" else other)
    if kind == "closed":
        other.close()
    assert terminal() is None
    with Line() as line:
        line.tick(lambda seconds: "one")
    assert screen.written() == ""
    assert kind == "closed" or other.getvalue() == ""


def test_what_is_said_stays_above(screen: Terminal) -> None:
    with Line() as line:
        line.tick(lambda seconds: "a long line of progress")
        say("gradd: said")
        assert screen.seen() == ["gradd: said", ""]
        line.tick(lambda seconds: "on")
        assert screen.seen() == ["gradd: said", "gradd: on"]
    assert screen.seen() == ["gradd: said", ""]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_no_line(error: type[BaseException], screen: Terminal) -> None:
    def work() -> None:
        with Line() as line:
            line.tick(lambda seconds: "one")
            raise error

    with pytest.raises(error):
        work()
    assert screen.seen() == [""]


def test_of_several_lines_the_last_is_seen(screen: Terminal) -> None:
    with Line() as first, Line() as second:
        first.tick(lambda seconds: "first")
        second.tick(lambda seconds: "second")
        first.end()
        assert screen.seen() == ["gradd: second"]
        first.tick(lambda seconds: "first")
        second.end()
        assert screen.seen() == ["gradd: first"]
    assert screen.seen() == [""]


def test_threads_draw_whole_lines(screen: Terminal) -> None:
    def work(name: str) -> None:
        with Line() as line:
            for _ in range(50):
                line.tick(lambda seconds: name * 20)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert screen.seen() == [""]
    drawn = screen.written().replace("\x1b[K", "").split("\r")
    assert {part for part in drawn if part} <= {"gradd: " + name * 20 for name in "abcd"}


def test_a_line_fits_its_terminal(monkeypatch: pytest.MonkeyPatch, screen: Terminal) -> None:
    narrow = Terminal(columns=20)
    monkeypatch.setattr(progress.sys, "stderr", narrow.stream)
    with Line() as line:
        line.tick(lambda seconds: "x" * 100)
        assert narrow.seen() == ["gradd: " + "x" * 12]
    narrow.close()


def test_a_text_sends_no_codes_to_the_terminal(screen: Terminal) -> None:
    with Line() as line:
        line.tick(lambda seconds: "http://\x1b]0;title\x07\n\x9b2J")
        assert "gradd: http://?]0;title???2J" in screen.written()


def test_a_terminal_that_is_gone_is_no_error(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", gone.stream)
    with Line() as line:
        line.tick(lambda seconds: "one")
        os.close(gone._master)
        line.tick(lambda seconds: "two")
    assert progress._shown is None
    with suppress(OSError):
        gone.stream.close()


def test_a_forked_child_owes_nothing(screen: Terminal) -> None:
    with Line() as line:
        line.tick(lambda seconds: "parent")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # no other thread draws meanwhile
            child = os.fork()
        if not child:
            line.end()  # not the child's to clear
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert screen.seen() == ["gradd: parent"]


# -- transfers --------------------------------------------------------------------------------------


def test_a_transfer_says_bytes_share_and_rate(screen: Terminal) -> None:
    with Transfer("uploading", 4 * 1024**2) as transfer:
        transfer.add(1024**2)
        screen.until(r"gradd: uploading 1\.0 MiB of 4\.0 MiB \(25%\), \S+ \w+/s")
    assert screen.seen() == [""]


def test_a_body_goes_in_pieces_that_are_counted(screen: Terminal) -> None:
    body = os.urandom(2 * PIECE + 5)
    with Transfer("uploading", len(body)) as transfer:
        assert b"".join(map(bytes, transfer.pieces(body))) == body
        assert "(100%)" in screen.written()


def test_pieces_that_are_not_taken_let_go_of_the_body(screen: Terminal) -> None:
    body = bytearray(2 * PIECE)
    pieces = Transfer("uploading", len(body)).pieces(memoryview(body))
    kept = next(pieces)
    pieces.close()
    body.clear()  # BufferError while somebody looks at it
    with pytest.raises(ValueError, match="released"):
        len(kept)


def test_a_part_of_a_transfer_counts_in_the_whole(screen: Terminal) -> None:
    with Transfer("saving", 400) as whole:
        with Transfer("downloading", 200) as part:
            part.add(100)
            screen.until(r"saving 100 B of 400 B \(25%\)")
            part.add(100)
        whole.add(200)
        screen.until(r"saving 200 B of 400 B \(50%\)")
        with Transfer("downloading", 200) as part:
            part.add(200)
        assert "saving 400 B of 400 B (100%)" in screen.written()
    assert "downloading" not in screen.written()
    with Transfer("downloading", 1) as alone:
        alone.add(1)
    assert "downloading" in screen.written()


def test_counted_work(screen: Terminal) -> None:
    assert list(counted(iter("abcd"), "letters", 4)) == [*"abcd"]
    assert "gradd: letters: 3 of 4 (75%), 0 s" in screen.written()
    assert list(counted(iter("ab"), "some")) == ["a", "b"]
    assert "gradd: some: 2, 0 s" in screen.written()
    assert screen.seen() == [""]


@pytest.mark.parametrize(
    ("nbytes", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 40, "5120.0 GiB")]
)
def test_sizes(nbytes: int, text: str) -> None:
    assert size(nbytes) == text


def test_kernels_that_are_compiled_are_counted(screen: Terminal) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    from gradd_engine.kernels import native

    loading = Line()
    with pytest.MonkeyPatch.context() as patch, loading:
        patch.setattr(native, "LOADING", loading)
        patch.setattr(native, "_CACHE", None)
        native.compiled(native.REAL)(lambda x: x)
        screen.until(r"compiling kernels, once for this machine: \d+ are done, \d+ s")
    assert screen.seen() == [""]
