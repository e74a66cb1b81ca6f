"""The line of the script that made a node: in the SDK's graph, and in the session's."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd._program import place
from gradd_protocol import frames
from gradd_protocol.messages import Batch, GetGraph
from gradd_protocol.version import EXTENSIONS

ROOT = Path(__file__).parents[2]
HERE = "tests/client/test_lines.py"
Lines = dict[str, int]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def session() -> Any:
    with gradd.connect("local:") as session:
        yield session


def lines(nodes: list[dict[str, Any]], since: Any) -> Lines:
    """By the name of a node: its line after the first of a function of this file. Leaves have none."""
    found = {}
    for node in nodes:
        assert ("source" in node) != ("leaf" in node)
        if "source" in node:
            assert node["source"]["file"] == HERE
            found[node["name"]] = node["source"]["line"] - since.__code__.co_firstlineno
    return found


def told(session: Any, t: Any) -> list[dict[str, Any]]:
    """The nodes as the session tells them."""
    session.flush()
    _, (text,) = session.wire.request(GetGraph(t._id))
    found: list[dict[str, Any]] = json.loads(frames.text_of(text))["nodes"]
    return found


def model(w: Any) -> Any:
    y = w * 2
    y = y.exp()
    return gradd.nn.functional.cross_entropy(y, gradd.tensor(1))


def alike(w: Any) -> Any:
    """The same steps, further down."""
    y = w * 2
    y = y.exp()
    return gradd.nn.functional.cross_entropy(y, gradd.tensor(1))


MODEL = {"MulBackward0": 1, "ExpBackward0": 2, "LogSoftmaxBackward0": 3, "NllLossBackward0": 3}


def test_a_node_has_the_line_of_its_op_eagerly_and_in_plans(session: Any) -> None:
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(4):
        t = model(w)
        assert lines(session.graph(t).json()["nodes"], model) == MODEL
        assert lines(told(session, t), model) == MODEL
    assert f"ExpBackward0  float32 [2]  saved result: 8 B  {HERE}:" in str(session.graph(t))


def test_a_traced_function_has_its_lines(session: Any) -> None:
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    traced = gradd.function(model)
    for _ in range(4):
        t = traced(w)
        assert lines(session.graph(t).json()["nodes"], model) == MODEL
        assert lines(told(session, t), model) == MODEL


def test_of_one_program_on_several_lines_the_session_tells_the_first(session: Any) -> None:
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    with session.profile() as profile:
        for _ in range(2):
            model(w).item()
        t = alike(w)
        t.item()
    assert (profile.new_programs, profile.hits) == (1, 2)
    assert lines(session.graph(t).json()["nodes"], alike) == {name: at + 1 for name, at in MODEL.items()}
    assert lines(told(session, t), model) == MODEL


def directly(w: Any) -> Any:
    return w.exp()


def deeper(w: Any, calls: int = 3) -> Any:
    return deeper(w, calls - 1) if calls else w.exp()


class Own(gradd.nn.Module):
    def forward(self, w: Any) -> Any:
        return w.exp()


class Exp(gradd.nn.Module):
    def forward(self, w: Any) -> Any:
        return gradd.nn.Sequential(Own(), gradd.nn.Identity())(w)


WAYS: list[tuple[Any, Any, int]] = [
    (directly, directly, 1),
    (deeper, deeper, 1),
    (Own(), Own.forward, 1),
    (Exp(), Own.forward, 1),
    (gradd.nn.Sequential(Own()), Own.forward, 1),
    (lambda w: deeper(w, 1), deeper, 1),
    (lambda w: next(directly(e) for e in (w,)), directly, 1),
]


@pytest.mark.parametrize("seed", range(4))
def test_a_repeated_step_has_its_line_whichever_way_it_came(session: Any, seed: int) -> None:
    draw = random.Random(seed)
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    for n in range(40):
        way, last, line = WAYS[0] if n < 3 else draw.choice(WAYS)
        t = way(w)
        assert lines(session.graph(t).json()["nodes"], last) == {"ExpBackward0": line}
        t.sum().item()


def written(w: Any) -> Any:
    y = w * 2
    part = y[:1]
    part.mul_(3)
    return y


def test_a_write_through_a_view_has_its_line(session: Any) -> None:
    t = written(gradd.tensor([1.0, 2.0], requires_grad=True))
    for nodes in (session.graph(t).json()["nodes"], told(session, t)):
        assert lines(nodes, written) == {"torch::autograd::CopySlices": 3, "MulBackward0": 1}


class Twice(gradd.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def custom(w: Any) -> Any:
    return Twice.apply(w)


def test_a_function_of_the_script_has_the_line_that_applies_it(session: Any) -> None:
    t = custom(gradd.tensor([1.0, 2.0], requires_grad=True))
    for nodes in (session.graph(t).json()["nodes"], told(session, t)):
        assert lines(nodes, custom) == {"TwiceBackward": 1}


def test_a_snapshot_keeps_lines(session: Any, tmp_path: Path) -> None:
    session["t"] = model(gradd.tensor([1.0, 2.0], requires_grad=True))
    session.snapshot(tmp_path / "kept.gradd")
    with gradd.connect("local:", session=tmp_path.name, from_snapshot=tmp_path / "kept.gradd") as other:
        assert lines(told(other, other["t"]), model) == MODEL


@pytest.mark.parametrize("takes", [True, False])
def test_lines_are_told_with_a_definition_alone_and_to_who_takes_them(
    session: Any, monkeypatch: pytest.MonkeyPatch, takes: bool
) -> None:
    transport, sent = session.wire.transport, []
    real = transport.send

    def send(parts: Any, seq: int) -> None:
        sent.append(frames.decode_request(frames.join(parts))[0])
        real(parts, seq)

    monkeypatch.setattr(transport, "send", send)
    if not takes:
        monkeypatch.setattr(transport, "extensions", frozenset(EXTENSIONS) - {"sites"})
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    session.flush()
    for _ in range(3):
        t = model(w)
        session.flush()
    batches = [each for each in sent if isinstance(each, Batch)]
    assert [each.sites is not None for each in batches] == [takes, takes, False, False]
    assert [each.definition is not None for each in batches] == [True, True, False, False]
    if not takes:
        assert not any("source" in node for node in told(session, t))


def compiled(name: str) -> Any:
    made: dict[str, Any] = {}
    exec(compile("def f(): pass", name, "exec"), made)
    return made["f"].__code__


def test_a_file_is_named_from_the_current_folder_or_by_its_last_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place((compiled(str(ROOT / "a" / "b.py")), 0)) == ("a/b.py", 1)
    assert place((compiled("/home/somebody/b.py"), 0)) == ("b.py", 1)
    assert place((compiled("<string>"), 0)) == ("<string>", 1)
    assert place((compiled("\udc80.py"), 0)) == ("?.py", 1)
    assert len(place((compiled("x" * 5000), 0))[0]) == 128
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert place((compiled("/home/somebody/b.py"), 0)) == ("b.py", 1)
