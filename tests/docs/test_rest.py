"""The exchanges of docs/rest.md and the steps it names, as a daemon answers them."""

from __future__ import annotations

import json
import re
import shlex
import struct
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol.messages import Batch
from gradd_server import cli
from gradd_server.settings import Settings
from gradd_server.shares import READABLE

from tests.bearer import bearer
from tests.docs.test_pages import blocks

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")


LINE = re.compile(
    r"^    (?:(?P<method>PUT|POST|GET|DELETE) +(?P<path>\S+)|-> (?P<status>\d+))(?P<rest>.*?)"
    r"(?=^    (?:PUT|POST|GET|DELETE|->) |\Z)",
    re.MULTILINE | re.DOTALL,
)
EXCHANGES = [b for b in re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE) if LINE.match(b)]


@pytest.mark.parametrize("block", EXCHANGES, ids=range(len(EXCHANGES)))
def test_an_exchange(daemon: str, block: str) -> None:
    """The requests of an indented block, in a session of its own, are answered as the page says."""
    session = "/v1/sessions/demo"
    with httpx.Client(base_url=daemon, headers=bearer(daemon), trust_env=False) as client:
        client.delete(session)
        assert client.put(session).status_code == 201
        last: httpx.Response | None = None
        for line in LINE.finditer(block):
            body = line["rest"].strip()
            if line["status"] is None:
                assert last is None or last.is_success, last.text
                path = line["path"] if line["path"].startswith("/") else f"{session}/{line['path']}"
                headers = {"Content-Type": "application/json"} if body else {}
                last = client.request(line["method"], path, content=body, headers=headers)
                continue
            assert last is not None
            assert last.status_code == int(line["status"]), last.text
            assert not body or fits(last.json(), expected(body)), last.text
            last = None
        assert last is None or last.is_success, last.text
        assert client.delete(session).status_code == 204


def expected(body: str) -> Any:
    """An answer of the page: `...` stands for more members, for an object, or for the rest of a text."""
    text = re.sub(r", \.\.\.\}", ', "...": null}', body)
    return json.loads(text.replace("{...}", '{"...": null}'))


def fits(found: Any, said: Any) -> bool:
    """Whether an answer is what the page says."""
    if isinstance(said, dict):
        wanted = {name: value for name, value in said.items() if name != "..."}
        if not isinstance(found, dict) or not wanted.keys() <= found.keys():
            return False
        if "..." not in said and len(wanted) < len(found):
            return False
        return all(fits(found[name], value) for name, value in wanted.items())
    if isinstance(said, list):
        return isinstance(found, list) and len(found) == len(said) and all(map(fits, found, said))
    if isinstance(said, str) and said.endswith("..."):
        return isinstance(found, str) and found.startswith(said[:-3])
    return bool(found == said)


def test_the_first_exchange_has_a_gradient() -> None:
    assert len(EXCHANGES) > 10
    assert '"w.grad": {...}' in EXCHANGES[0]


@pytest.mark.parametrize("step", re.findall(r'`(\{"op": .*?\})`', PAGE))
def test_steps_named_on_the_page(daemon: str, step: str) -> None:
    path = "/v1/sessions/rest-page"
    with httpx.Client(base_url=daemon, headers=bearer(daemon), trust_env=False) as client:
        client.put(path)
        for name in ("a", "b"):
            made = client.put(f"{path}/tensors/{name}", json={"data": [1.0, 2.0], "dtype": "float32"})
            assert made.is_success
        batch = {"steps": [{**json.loads(step), "outputs": ["%y"]}], "fetch": ["%y"]}
        reply = client.post(f"{path}/batches", json=batch)
        client.delete(path)
    assert reply.json()["results"]["%y"]["data"] == [1.0, 2.0, 1.0, 2.0]


def test_the_header_of_a_frame() -> None:
    batch = Batch(writer=1, epoch=1, seq=1, ack=0, program="7c0c6ba2", uploads=[0])
    frame = bytes(frames.join(frames.encode(batch, [np.zeros(2, np.float32)])))
    (length,) = struct.unpack_from("<Q", frame)
    assert json.loads(frame[8 : 8 + length]) == json.loads(blocks("docs/rest.md", "json"))


def test_origins_are_let_in_as_the_page_says() -> None:
    (line,) = re.findall(r"^    gradd (serve --allow-origin .*)$", PAGE, re.MULTILINE)
    settings = Settings.load(vars(cli.parser().parse_args(shlex.split(line))), {})
    assert settings.origins == {"https://app.example", "http://localhost:5173"}


def test_what_a_share_reads() -> None:
    (paragraph,) = re.findall(r"^A \*share\* is a key.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    paths = [path.removeprefix("GET ") for path in re.findall(r"`((?:GET )?/\S+)`", paragraph)]
    whole = {path if path.startswith("/v1/") else f"/v1/sessions/{{name}}{path}" for path in paths}
    assert whole == set(READABLE)
