"""`session.graph(t)`: the graph behind a tensor as text, DOT, SVG and data; what looking at nodes costs."""

from __future__ import annotations

import gc
import re
import xml.etree.ElementTree as ET
from typing import Any

import gradd
import httpx
import pytest
from gradd._mirror import LOST
from gradd._session.drawing import layers
from gradd_protocol.messages import GetGraph

from tests.bearer import bearer


@pytest.fixture
def session() -> Any:
    with gradd.connect("local:") as session:
        yield session


def loss(session: Any) -> Any:
    session["w"] = w = gradd.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = gradd.tensor([1.0, 2.0], requires_grad=True)
    y = (w @ x).exp()
    return (y * y.detach()).sum() + w.mean()


def without_lines(text: str) -> list[str]:
    """The lines of a graph's text, without those that made the nodes (`test_lines.py`)."""
    return [re.sub(r"  \S+\.py:\d+$", "", line) for line in text.splitlines()]


def test_text(session: Any) -> None:
    assert without_lines(str(session.graph(loss(session)))) == [
        "AddBackward0  float32 []",
        "├─ SumBackward0  float32 []",
        "│  MulBackward0  float32 [2]  saved other: 8 B",
        "│  ExpBackward0  float32 [2]  saved result: 8 B",
        "│  MvBackward0  float32 [2]  saved vec, self: 24 B",
        "│  ├─ AccumulateGrad w  float32 [2, 2]",
        "│  └─ AccumulateGrad @1.2  float32 [2]",
        "└─ MeanBackward0  float32 []",
        "   AccumulateGrad w  above",
    ]


class Product(gradd.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        out = x * y
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, g


def test_what_a_function_saved(session: Any) -> None:
    x = gradd.tensor([1.0, 2.0], requires_grad=True)
    t = Product.apply(x, x)
    assert without_lines(str(session.graph(t)))[0] == "ProductBackward  float32 [2]  saved tensors: 16 B"
    assert [s["name"] for s in session.graph(t).json()["nodes"][0]["saved"]] == ["tensors", "tensors"]
    t.sum().backward()
    assert without_lines(str(session.graph(t)))[0] == "ProductBackward  float32 [2]  freed"


def test_freed_and_none(session: Any) -> None:
    t = loss(session)
    t.backward()
    assert "ExpBackward0  float32 [2]  freed" in str(session.graph(t))
    assert str(session.graph(t.detach())) == "no graph: the tensor needs no gradient"
    assert session.graph(t.detach()).json()["root"] is None
    ET.fromstring(session.graph(t.detach()).svg())


@pytest.mark.parametrize("other", [3, None, "y"])
def test_what_is_no_tensor(session: Any, other: Any) -> None:
    with pytest.raises(TypeError, match=r"^graph\(\): argument 't' must be Tensor, not (int|NoneType|str)$"):
        session.graph(other)


def test_dot(session: Any) -> None:
    text = session.graph(loss(session)).dot()
    assert text.startswith("digraph gradients {")
    assert '  n0 [label="AddBackward0\\nfloat32 []\\ntests/client/test_graph.py:' in text
    assert 'label="AccumulateGrad w\\nfloat32 [2, 2]", style=filled' in text
    assert text.count(" -> ") == len(session.graph(loss(session)).json()["edges"])


def test_svg(session: Any) -> None:
    graph = session.graph(loss(session))
    root = ET.fromstring(graph._repr_svg_())
    space = "{http://www.w3.org/2000/svg}"
    nodes, edges = graph.json()["nodes"], graph.json()["edges"]
    boxes = root.findall(f"{space}rect")
    assert len(boxes) == len(nodes)
    assert len(root.findall(f"{space}g/{space}path")) == len(edges)
    assert "AddBackward0" in {t.text for t in root.iter(f"{space}text")}
    tops = [float(box.attrib["y"]) for box in boxes]
    assert all(tops[e["from"]] < tops[e["to"]] for e in edges)
    for one in boxes:
        for other in boxes:
            a, b = (
                {k: float(v) for k, v in box.attrib.items() if k in ("x", "y", "width")}
                for box in (one, other)
            )
            assert (
                one is other
                or a["y"] != b["y"]
                or a["x"] >= b["x"] + b["width"]
                or b["x"] >= a["x"] + a["width"]
            )


def test_layers_follow_the_longest_way() -> None:
    assert layers(4, [(0, 1), (1, 2), (0, 2), (2, 3)]) == [[0], [1], [2], [3]]
    assert layers(0, []) == []


def test_it_is_bounded(session: Any) -> None:
    t = gradd.ones(2, requires_grad=True)
    for _ in range(5000):
        t = t * 1.0
    graph = session.graph(t, max_nodes=100)
    assert len(graph.json()["nodes"]) == 100
    assert graph.json()["truncated"]
    assert str(graph).endswith("... more than 100 nodes")
    assert "more than 100 nodes" in graph.dot()
    assert "more than 100 nodes" in graph.svg()


def test_the_server_says_the_same(daemon: str) -> None:
    with gradd.connect(daemon) as session:
        x = gradd.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        first, second = (x * 2).unbind()
        session["y"] = y = gradd.stack([first, second]).exp().sum()
        path = f"{daemon}/v1/sessions/{session.name}/tensors/y/graph"
        with httpx.Client(headers=bearer(daemon), trust_env=False) as client:
            assert client.get(path).json() == session.graph(y).json()
            drawn = client.get(path, headers={"accept": "text/vnd.graphviz"})
            assert drawn.headers["content-type"].startswith("text/vnd.graphviz")
            assert drawn.text == session.graph(y).dot()
            assert len(client.get(path, params={"max_nodes": 2}).json()["nodes"]) == 2
            for bad in ("0", "-1", "x", "10001", "²"):
                assert client.get(path, params={"max_nodes": bad}).status_code == 400
            assert client.get(path, headers={"accept": "image/png"}).status_code == 406
            assert client.get(path.replace("/y/", "/nobody/")).status_code == 404
            assert client.get(path.replace("/y/", "/y.grad/")).status_code == 404


def test_where_the_mirror_lost_sight_the_server_is_asked(session: Any) -> None:
    x = gradd.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    moves = gradd.tensor([0.0])
    session.flush()
    x.detach()[gradd.tensor([7])]
    moves.data = gradd.tensor([1.0])  # nobody can tell what shares that memory
    with pytest.raises(IndexError):
        session.flush()
    assert y.grad_fn.name() == LOST
    assert str(session.graph(y)).startswith("SumBackward0")


def steps(session: Any) -> int:
    session.flush()
    found: int = session.stats()["steps"]
    return found


def test_looking_at_nodes_is_recorded_once(session: Any) -> None:
    x = gradd.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    before = steps(session)
    str(y), repr(y), session.graph(y)
    assert steps(session) == before
    for _ in range(3):
        y.grad_fn.next_functions[0][0].name()
    assert steps(session) == before + 1


def test_what_nobody_holds_is_freed(session: Any) -> None:
    x = gradd.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    fn = y.grad_fn
    edge = gradd.autograd.graph.get_gradient_edge(y)
    fn(gradd.ones(2))
    session.flush()
    del y
    assert len(session.tensors()) == 2  # x, and what stands for fn
    del fn, edge
    gc.collect()
    assert len(session.tensors()) == 1
    assert session.tensors() == session.mirror()


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_daemon_is_asked_for_the_graph_that_the_mirror_lost(daemon: str, transport: str) -> None:
    with gradd.connect(daemon, transport=transport) as session:
        x = gradd.ones(2, requires_grad=True)
        y = (x * x).sum()
        session.flush()
        _, (text,) = session.wire.request(GetGraph(str(y._id)))
        assert b"SumBackward0" in text.tobytes()
