"""The connection for bulk and for batches over http: kept, made again, never reused in doubt."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from gradd._transports.base import Dropped, Silent
from gradd._transports.http import FRAME, _Line
from gradd._transports.link import Link
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem

from tests.waiting import PATIENCE

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server(threading.Thread):
    """Plays `scripts`, one a connection: what to say to each request in turn; it hangs up after the last."""

    def __init__(self, *scripts: list[bytes]) -> None:
        super().__init__()
        self._scripts = scripts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []

    def run(self) -> None:
        with self._listener:
            for script in self._scripts:
                connection, _ = self._listener.accept()
                with connection, connection.makefile("rb") as file:
                    for answer in script:
                        self.requests.append(self._request(file))
                        connection.sendall(answer)

    @staticmethod
    def _request(file: socket.SocketIO | object) -> bytes:
        read: Callable[[], bytes] = file.readline  # type: ignore[union-attr, assignment]
        first, length = read(), 0
        while (line := read().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return first.split()[0] + b" " + file.read(length)  # type: ignore[union-attr]


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(*scripts: list[bytes]) -> Server:
        made.append(Server(*scripts))
        made[-1].start()
        return made[-1]

    yield start
    for server in made:
        server.join(PATIENCE)
        assert not server.is_alive()


def test_one_connection_serves_many_requests(serve: Callable[..., Server]) -> None:
    server = serve([OK, OK])
    link = Link(server.base, {})
    assert link.call("PUT", "/a", memoryview(b"body"))[1] == b"ok"
    assert link.call("GET", "/b")[1] == b"ok"
    link.close()
    server.join(PATIENCE)
    assert server.requests == [b"PUT body", b"GET "]


def test_a_connection_that_was_closed_while_idle_is_made_again(serve: Callable[..., Server]) -> None:
    server = serve([OK], [OK])
    link = Link(server.base, {})
    for _ in range(2):
        assert link.call("PUT", "/a", memoryview(b"body"))[1] == b"ok"
    link.close()


def test_what_fails_on_a_new_connection_is_dropped(serve: Callable[..., Server]) -> None:
    server = serve([b""], [OK])
    link = Link(server.base, {})
    with pytest.raises(Dropped):
        link.call("GET", "/a")
    assert link.call("GET", "/a")[1] == b"ok"
    link.close()


def test_an_answer_that_says_so_ends_its_connection(serve: Callable[..., Server]) -> None:
    server = serve([b"HTTP/1.1 413 Large\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlong"], [OK])
    link = Link(server.base, {})
    response, body = link.call("PUT", "/a", memoryview(b"body"))
    assert (response.status, body) == (413, b"long")
    assert link.call("GET", "/a")[1] == b"ok"
    link.close()


def test_an_interrupted_request_leaves_no_connection(serve: Callable[..., Server]) -> None:
    server = serve([OK], [OK])
    link = Link(server.base, {})

    def interrupted(response: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        link.call("GET", "/a", take=interrupted)
    assert link.call("GET", "/b")[1] == b"ok"
    link.close()


def test_nobody_there() -> None:
    with pytest.raises(Dropped):
        Link("http://127.0.0.1:9", {}).call("GET", "/a")


# -- batches over http -----------------------------------------------------------------------------------


class Scripted:
    """A link that answers in turn with a status and a frame; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self._answers = iter(answers)
        self.sent: list[str] = []
        self.closed = threading.Event()

    def call(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[object, bytes]:
        self.sent.append(path)
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        status, kind, frame = answer  # type: ignore[misc]
        return SimpleNamespace(status=status, headers={"Content-Type": kind}), frame

    def close(self) -> None:
        self.closed.set()


def reply(seq: int, slug: str = "") -> tuple[int, str, bytes]:
    fault = problem(slug) if slug else None
    frame = frames.join(frames.encode(m.BatchReply(seq=seq, position=seq, problem=fault)))
    return (fault.status if fault else 200), FRAME, frame


REFUSED = (409, FRAME, frames.join(frames.encode(m.ProblemReply(problem("program-unknown")))))


@pytest.mark.parametrize(
    ("second", "sent"),
    [
        (reply(2), 3),
        (reply(2, "op-failed"), 3),  # consumed: those behind it have their turn
        (REFUSED, 2),
        (Dropped("gone"), 2),
        ((502, "text/html", b"a proxy's"), 2),
        (OSError("of the thread"), 2),
    ],
)
def test_nothing_is_sent_behind_a_batch_that_was_not_consumed(second: object, sent: int) -> None:
    link = Scripted(reply(1), second, reply(3))
    line = _Line(link, "/b", 1)  # type: ignore[arg-type]
    for seq in (1, 2, 3):
        line.put(seq, b"frame")
    found = [reply.exception(PATIENCE) or reply.result() for reply in line.replies]
    line.end()
    assert link.closed.wait(PATIENCE)
    assert link.sent == ["/b/1", "/b/2", "/b/3"][:sent]
    assert found[0] == reply(1)[2]
    dropped = not isinstance(second, tuple) or second[0] == 502
    assert [isinstance(one, Dropped) for one in found[1:]] == [dropped, sent == 2]


# -- silence -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 64 << 20], ids=["answers nothing", "reads nothing"])
def test_a_daemon_that_says_nothing_is_left(size: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        link = Link(f"http://127.0.0.1:{listener.getsockname()[1]}", {}, 0.2)
        with pytest.raises(Silent, match="said nothing"):
            link.call("PUT", "/a", memoryview(bytes(size)))
        link.close()


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_daemon_that_reads_no_more_may_have_answered(hangs_up: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        link = Link(f"http://127.0.0.1:{listener.getsockname()[1]}", {}, 0.2)
        ended: list[object] = []

        def put() -> None:
            try:
                ended.append(link.call("PUT", "/a", memoryview(bytes(64 << 20)))[1])
            except Dropped as e:
                ended.append(type(e))

        thread = threading.Thread(target=put)
        thread.start()
        connection, _ = listener.accept()
        with connection:
            if hangs_up:
                connection.shutdown(socket.SHUT_RDWR)
            else:
                connection.sendall(OK)
            thread.join(PATIENCE)
        link.close()
    assert ended == [Dropped if hangs_up else b"ok"]


def asked(listener: socket.socket) -> tuple[socket.socket, bytes] | None:
    """The next connection and its request; None where it ended without one."""
    connection, _ = listener.accept()
    with connection.makefile("rb") as file:
        if file.peek(1):
            return connection, Server._request(file)
    connection.close()
    return None


def test_a_connection_that_took_half_a_body_is_left() -> None:
    def serve(listener: socket.socket) -> None:
        first, _ = listener.accept()
        with first:
            first.sendall(OK)
            found = asked(listener)
            if found is not None:
                with found[0] as second:
                    second.sendall(OK)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        link = Link(f"http://127.0.0.1:{port}", {}, 0.2)
        try:
            assert link.call("PUT", "/a", memoryview(bytes(64 << 20)))[1] == b"ok"
            assert link.call("GET", "/b")[1] == b"ok"
        finally:
            link.close()
            socket.create_connection(("127.0.0.1", port)).close()
            thread.join(PATIENCE)


def live(listener: socket.socket, stop: threading.Event, seen: list[bytes]) -> None:
    """Answer every probe, and of the other requests all but the first."""
    held = []
    while not stop.is_set():
        found = asked(listener)
        if found is None:
            continue
        connection, said = found
        if said.startswith(b"GET"):
            connection.sendall(OK)
            connection.close()
            continue
        seen.append(said)
        held.append(connection)
        if len(seen) > 1:
            connection.sendall(OK)
    for connection in held:
        connection.close()


def test_where_the_daemon_lives_the_request_is_sent_again() -> None:
    stop, seen = threading.Event(), []  # type: ignore[var-annotated]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=live, args=(listener, stop, seen))
        thread.start()
        link = Link(f"http://127.0.0.1:{port}", {}, 0.2)
        assert link.call("PUT", "/a", b"body")[1] == b"ok"
        link.close()
        stop.set()
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join(PATIENCE)
    assert seen == [b"PUT body"] * 2


def halting(listener: socket.socket, stop: threading.Event, seen: list[bytes]) -> None:
    """Answer every probe, and the other requests in two pieces: the second after three probes more."""
    waiting, probes = [], 0
    while not stop.is_set():
        found = asked(listener)
        if found is None:
            continue
        connection, said = found
        if said.startswith(b"PUT"):
            seen.append(said)
            connection.sendall(OK[:-1])
            waiting.append(connection)
            continue
        connection.sendall(OK)
        connection.close()
        probes += 1
        if probes == 3:
            for one in waiting:
                one.sendall(OK[-1:])
    for one in waiting:
        one.close()


def test_an_answer_that_halts_midway_is_waited_for_while_the_daemon_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradd._transports.link._LOOKS", 9)
    stop, seen = threading.Event(), []  # type: ignore[var-annotated]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=halting, args=(listener, stop, seen))
        thread.start()
        link = Link(f"http://127.0.0.1:{port}", {}, 0.4)
        try:
            assert link.call("PUT", "/a", b"body")[1] == b"ok"
        finally:
            link.close()
            stop.set()
            socket.create_connection(("127.0.0.1", port)).close()
            thread.join(PATIENCE)
    assert seen == [b"PUT body"]
