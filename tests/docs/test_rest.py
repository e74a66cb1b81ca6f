"""The exchange at the head of docs/rest.md, and the step it names further down, as a daemon answers them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")


def exchange() -> tuple[list[tuple[str, str, str]], str]:
    """The requests of the page's first indented block, and the line with the last one's answer."""
    block = re.search(r"(?:^    .*\n)+", PAGE, re.MULTILINE)
    assert block is not None
    text, _, answer = block[0].partition("    -> ")
    requests = re.findall(
        r"^    (PUT|POST) +(\S+)(.*?)(?=^    (?:PUT|POST)|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return requests, answer


def test_the_first_exchange(daemon: str) -> None:
    requests, answer = exchange()
    assert len(requests) == 5
    with httpx.Client(base_url=daemon, trust_env=False) as client:
        for method, path, body in requests:
            reply = client.request(
                method, path, content=body.strip(), headers={"Content-Type": "application/json"}
            )
            assert reply.is_success, reply.text
        assert client.delete(requests[0][1]).status_code == 204
    status, said = answer.strip().split(" ", 1)
    assert reply.status_code == int(status)
    expected = json.loads(said.replace("{...}", "null"))
    got = reply.json()
    gradient = got["results"].pop("w.grad")
    expected["results"].pop("w.grad")
    assert got == expected
    # y = (x @ w - t)^2 with x @ w = 5 and t = 3, so 2 * 2 * x.
    assert gradient == {"dtype": "float32", "shape": [2, 1], "data": [[4.0], [8.0]]}


@pytest.mark.parametrize("step", re.findall(r'`(\{"op": .*?\})`', PAGE))
def test_steps_named_on_the_page(daemon: str, step: str) -> None:
    path = "/v1/sessions/rest-page"
    with httpx.Client(base_url=daemon, trust_env=False) as client:
        client.put(path)
        for name in ("a", "b"):
            made = client.put(f"{path}/tensors/{name}", json={"data": [1.0, 2.0], "dtype": "float32"})
            assert made.is_success
        batch = {"steps": [{**json.loads(step), "outputs": ["%y"]}], "fetch": ["%y"]}
        reply = client.post(f"{path}/batches", json=batch)
        client.delete(path)
    assert reply.json()["results"]["%y"]["data"] == [1.0, 2.0, 1.0, 2.0]
