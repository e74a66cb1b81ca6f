"""A daemon with several addresses: whichever answers is taken, and another where that one ends."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import gradd
import pytest
from gradd._transports import waits
from gradd._transports.credentials import Credentials
from gradd_protocol import advice, runtimefile

from tests.server.fronts.test_relay import relayed


@pytest.fixture
def dead() -> str:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """Where connections are taken, and nothing is said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def front(stack: ExitStack, daemon: str) -> str:
    """A front that passes connections on to the daemon, until the stack is left."""
    host, port = daemon.removeprefix("http://").rsplit(":", 1)
    listener = stack.enter_context(relayed((host, int(port))))
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def steps(before: Callable[[int], object] = lambda step: None) -> list[float]:
    """Losses of a small training, each asked for; `before` is called with the number of each step."""
    gradd.manual_seed(0)
    w = gradd.randn(4, requires_grad=True)
    losses = []
    for step in range(12):
        before(step)
        loss = ((w * 2 - 1) ** 2).sum()
        loss.backward()
        with gradd.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_the_first_that_answers_is_taken(daemon: str, dead: str, transport: str) -> None:
    with gradd.connect(f"{dead}, {daemon}/", transport=transport) as session:
        assert gradd.ones(3).sum().item() == 3.0
        assert len(session.info().name) > 0


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_one_that_says_nothing_is_not_waited_for(
    daemon: str, silent: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "OPEN", 0.2)
    monkeypatch.setattr("gradd._transports.websocket.OPEN", 0.2)
    monkeypatch.setenv("GRADD_SILENCE_SECONDS", "1")
    with gradd.connect(f"{silent},{daemon}", transport=transport, reconnect=20):
        assert gradd.ones(3).sum().item() == 3.0


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_script_goes_on_at_another_where_one_ends(
    daemon: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_there = runtimefile.find(daemon)
    assert found_there is not None
    monkeypatch.setenv("GRADD_API_KEY", found_there.key)
    with gradd.connect(daemon):
        expected = steps()
    with ExitStack() as first, ExitStack() as second:
        url = f"{front(first, daemon)},{front(second, daemon)}"
        with gradd.connect(url, session="goes-on", transport=transport):
            found = steps(lambda step: step == 6 and first.close())
        gradd.delete_session("goes-on", url)
    assert found == expected


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_where_none_answers_all_are_named(dead: str, transport: str) -> None:
    url = f"{dead},http://127.0.0.1:9"
    with pytest.raises(gradd.ConnectionFailed, match=f"answers at {dead} or http://127.0.0.1:9: ") as failed:
        gradd.connect(url, transport=transport).close()
    assert "Connection refused" in str(failed.value)


def test_addresses_that_are_none_are_refused(dead: str) -> None:
    with pytest.raises(ValueError, match="starts with http"):
        gradd.connect(f"{dead},localhost:4733")
    with pytest.raises(ValueError, match="have one path"):
        gradd.connect(f"{dead},{dead}/under")
    assert advice.mistake(f"{dead},{dead}") == ""
    assert advice.addresses(" http://a:1/ ,http://b:2") == ["http://a:1", "http://b:2"]


def test_each_address_is_tried_once_from_the_last_on() -> None:
    there = Credentials("http://a:1,http://b:2,http://c:3", "key")
    assert list(there.in_turn()) == ["http://a:1", "http://b:2", "http://c:3"]
    assert there.base == "http://c:3"
    assert list(there.in_turn()) == ["http://c:3", "http://a:1", "http://b:2"]
    there.turn()
    assert there.base == "http://c:3"
    assert there.whom == "http://a:1 or http://b:2 or http://c:3"
    alone = Credentials("http://a:1", "key")
    alone.turn()
    assert (alone.base, alone.whom) == ("http://a:1", "http://a:1")
