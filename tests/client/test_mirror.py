"""What the mirror knows without asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._mirror import LOST
from gradd_engine.graph import OpNode


@pytest.fixture
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


def test_it_knows_everything_but_numbers(session: Any) -> None:
    before = session.stats()
    x = torch.ones(2, 3, requires_grad=True)
    y = (x.T * 2).expand(4, 3, 2)
    assert (y.shape, y.stride(), y.dtype, y.is_leaf, y.requires_grad) == (
        (4, 3, 2),
        (0, 1, 3),
        torch.float32,
        False,
        True,
    )
    assert y.grad_fn.name() == "ExpandBackward0"
    y.sum().backward()
    assert (x.grad.shape, x.grad.stride(), x._version) == ((2, 3), (3, 1), 0)
    x.detach().add_(1)
    assert x._version == 1
    assert session.stats() == before


def test_gradients_keep_their_identity(session: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    assert x.grad is g
    assert g.tolist() == [5.0, 5.0]
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad is not g
    assert (g.tolist(), x.grad.tolist()) == ([5.0, 5.0], [3.0, 3.0])


def test_after_a_failure_gradients_are_who_they_were(session: Any) -> None:
    table, x = torch.ones(3), torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    held = x.grad
    session.flush()
    table[torch.tensor([99])]
    x.grad = None
    (x * 5).sum().backward()
    new = x.grad
    with pytest.raises(IndexError):
        session.flush()
    assert x.grad is held
    assert held.tolist() == [2.0, 2.0]
    with pytest.raises(IndexError):
        new.tolist()


def test_after_a_failure_graphs_are_the_servers_to_judge(session: Any) -> None:
    table, x = torch.ones(3), torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    session.flush()
    table[torch.tensor([99])]
    y.backward()  # skipped: the graph is still whole over there
    with pytest.raises(IndexError):
        session.flush()
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        session.flush()


class Double(torch.autograd.Function):
    """Its backward is not that of doubling, so that a pass which goes by it shows."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        return a * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 7


def lose_sight(session: Any) -> None:
    """A step that fails, and one behind it of which nobody can tell what it touched."""
    other, table = torch.ones(2), torch.ones(3)
    session.flush()
    table[torch.tensor([99])]
    other.data = torch.zeros(2)
    with pytest.raises(IndexError):
        session.flush()


WHERE = pytest.mark.parametrize("where", ["leaf", "inside", "function", "looked_at"])


def hooked(where: str, x: Any, seen: list[Any]) -> tuple[Any, Any]:
    """A graph with a callback, and where a pass over it begins."""
    y = Double.apply(x) if where == "function" else x * 2
    if where != "function":
        (x if where == "leaf" else y).register_hook(seen.append)
    z = y.sum()
    return z, torch.autograd.graph.get_gradient_edge(z)


@WHERE
def test_after_a_failure_callbacks_of_graphs_that_nothing_touched_are_called(
    session: Any, where: str
) -> None:
    x, seen = torch.ones(2, requires_grad=True), []
    z, edge = hooked(where, x, seen)
    w = torch.ones(2)
    torch.ones(3)[torch.tensor([99])]
    w.add_(1)
    (w.requires_grad_() * 2).sum().backward()
    with pytest.raises(IndexError):
        session.flush()
    torch.autograd.backward(edge) if where == "looked_at" else z.backward()
    assert x.grad.tolist() == ([7.0, 7.0] if where == "function" else [2.0, 2.0])
    assert len(seen) == (where != "function")
    assert (w.tolist(), w.grad, w.requires_grad) == ([1.0, 1.0], None, False)


@WHERE
def test_after_a_failure_no_pass_goes_by_hooks_without_calling_them(session: Any, where: str) -> None:
    x, seen = torch.ones(2, requires_grad=True), []
    z, edge = hooked(where, x, seen)
    lose_sight(session)
    with pytest.raises(RuntimeError, match="hooks may stand in it: run the forward again"):
        torch.autograd.backward(edge) if where == "looked_at" else z.backward()
    assert (seen, x.grad) == ([], None)
    z = (Double.apply(x) if where == "function" else x * 2).sum()
    z.backward()
    assert x.grad.tolist() == [7.0, 7.0] if where == "function" else [2.0, 2.0]
    assert len(seen) == (where == "leaf")


@pytest.mark.parametrize("where", ["leaf", "inside"])
def test_no_pass_goes_by_hooks_that_came_after_the_graph_was_lost(session: Any, where: str) -> None:
    x, seen = torch.ones(2, requires_grad=True), []
    y = x * 2
    z = y.sum()
    lose_sight(session)
    (x if where == "leaf" else y).register_hook(seen.append)
    with pytest.raises(RuntimeError, match="run the forward again"):
        z.backward()
    assert (seen, x.grad) == ([], None)


@pytest.mark.parametrize("what", ["pass", "write", "history", "retained", "view"])
def test_after_a_failure_a_graph_that_lost_steps_touched_is_not_relied_on(session: Any, what: str) -> None:
    x, seen = torch.ones(2, requires_grad=True), []
    y = x * 2
    y.register_hook(seen.append)
    z = (y * y).sum()
    session.flush()
    torch.ones(3)[torch.tensor([99])]
    if what == "pass":
        z.backward()
    elif what == "write":
        y.mul_(5)
    elif what == "view":
        y[0].mul_(5)
    elif what == "history":
        y.detach_()
    else:
        y.retain_grad()
    with pytest.raises(IndexError):
        session.flush()
    seen.clear()
    t = y.sum() if what in ("write", "view", "history") else z
    with pytest.raises(RuntimeError, match="run the forward again"):
        t.backward()
    assert (seen, x.grad, y.tolist()) == ([], None, [2.0, 2.0])


def test_a_write_that_never_ran_leaves_what_saved_the_tensor(session: Any) -> None:
    w, x = torch.ones(2), torch.ones(2, requires_grad=True)
    z = Double.apply(x * w).sum()
    session.flush()
    torch.ones(3)[torch.tensor([99])]
    w.add_(1)
    with pytest.raises(IndexError):
        session.flush()
    z.backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_what_never_came_to_be_is_refused_and_graphs_stand(session: Any) -> None:
    w, x = torch.ones(2), torch.ones(2, requires_grad=True)
    z = Double.apply(x * w).sum()
    bad = torch.ones(3)[torch.tensor([99])]
    with pytest.raises(IndexError):
        session.flush()
    for use in (lambda: bad * 2, lambda: w.add_(bad), lambda: bad.sum().backward()):
        with pytest.raises(IndexError, match="99"):
            use()
    assert (w._version, w.tolist()) == (0, [1.0, 1.0])
    z.backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_a_pass_that_the_mirror_ran_further_than_the_server_does_not_go_on(session: Any) -> None:
    x, told = torch.ones(2, requires_grad=True), []

    def fails(g: Any) -> Any:
        torch.ones(3)[torch.tensor([99])]
        return g * 2

    def catches(g: Any) -> Any:
        try:
            session.flush()
        except IndexError as error:
            told.append(str(error))
        return torch.ones(2) * 100

    y = x * 3
    y.register_hook(catches)
    z = y * 5
    z.register_hook(fails)
    with pytest.raises(IndexError, match="99"):
        z.sum().backward()
    assert len(told) == 1
    assert x.grad is None


def test_a_node_that_a_lost_step_looked_at_is_looked_at_anew(session: Any) -> None:
    x, seen = torch.ones(2, requires_grad=True), []
    y = Double.apply(x)
    session.flush()
    torch.ones(3)[torch.tensor([99])]
    assert y.grad_fn.name() == "DoubleBackward"
    with pytest.raises(IndexError):
        session.flush()
    y.grad_fn.register_hook(lambda *gs: seen.append(len(gs)))
    torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y), torch.ones(2))
    assert (seen, x.grad.tolist()) == ([2], [7.0, 7.0])


@pytest.mark.parametrize("grad", [False, True])
def test_after_a_failure_tensors_are_turned_as_the_server_has_them(session: Any, grad: bool) -> None:
    table, x = torch.ones(3), torch.ones(2, 3, requires_grad=grad)
    y, z = x * 2, x * 3
    y.t_()
    session.flush()
    table[torch.tensor([99])]
    y.t_()
    z.unsqueeze_(0)
    with pytest.raises(IndexError):
        session.flush()
    assert [(tuple(t.shape), t.stride(), t._version) for t in (y, z)] == [
        ((3, 2), (1, 3), 1),
        ((2, 3), (3, 1), 0),
    ]
    assert session.mirror() == session.tensors()
    assert (y @ z).tolist() == [[12.0] * 3] * 3
    if grad:
        (y @ z).sum().backward()
        assert x.grad.tolist() == [[36.0] * 3] * 2


@pytest.mark.parametrize("how", ["no_grad view", "view of what had no gradients", "flag of its own"])
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("lost", [False, True])
def test_after_a_failure_a_view_follows_its_base(session: Any, how: str, written: bool, lost: bool) -> None:
    table = gradd.ones(3)
    base = gradd.ones(3, requires_grad=how == "no_grad view")
    with gradd.no_grad():
        view = base[:2]
    if how == "view of what had no gradients":
        view = base[:2]
    if how == "flag of its own":
        view.requires_grad_()
    base.requires_grad_()
    if written:
        with gradd.no_grad():
            base.add_(1)
    session.flush()
    table[gradd.tensor([99])]
    session.step_done()
    if lost:
        base * 2
    with pytest.raises(IndexError):
        session.flush()
    session.flush()
    assert session.mirror() == session.tensors()
    base.requires_grad_(False)
    assert view.requires_grad is (how == "flag of its own")
    session.flush()
    assert session.mirror() == session.tensors()


def test_it_lists_what_the_server_lists(session: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    session["x"] = x
    y = x[:1] * 2
    y.retain_grad()
    y.backward()
    rows = session.mirror()
    assert rows == session.tensors()
    assert [(r.name, r.has_grad, r.is_leaf, r.version) for r in rows if r.id in (x._id, y._id)] == [
        ("x", True, True, 0),
        (None, True, False, 0),
    ]


def test_it_lists_them_in_the_order_in_which_they_were_made(session: Any) -> None:
    tensors = [torch.full((1,), float(n)) for n in range(12)]
    assert session.mirror() == session.tensors()
    assert [row.id for row in session.mirror()] == [t._id for t in tensors]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda v: torch.matmul(v, torch.ones(3, 2)),
    "linear": lambda v: torch.nn.functional.linear(v, torch.ones(3, 3)),
    "cross_entropy": lambda v: torch.nn.functional.cross_entropy(v, torch.ones(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_op_may_have_renewed_a_view(session: Any, name: str) -> None:
    """PyTorch gives the gradients too: the view is no leaf any more once the op took it."""
    w, base = torch.ones(2, requires_grad=True), torch.ones(3, 2)
    view = base[0]
    base[1].copy_(w)
    with pytest.raises((RuntimeError, ValueError)):
        REFUSED[name](view)
    view.add_(1)
    session.flush()
    (base * base).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


def test_each_node_of_graphs_that_are_lost_together_is_visited_once(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.ones(2, requires_grad=True).register_hook(lambda g: None)  # so that callbacks are looked for
    held = [torch.ones(2, requires_grad=True) * 2]
    for _ in range(40):
        held.append(held[-1] * held[-1])
    nodes = {t.grad_fn for t in held}
    visits: list[Any] = []
    waits = OpNode.waits

    def counted(node: OpNode, at: str) -> bool:
        visits.append((node, at))
        return waits(node, at)

    monkeypatch.setattr(OpNode, "waits", counted)
    lose_sight(session)
    assert [t.grad_fn.name() for t in held] == [LOST] * len(held)
    assert {node for node, _ in visits} == nodes
    assert len(visits) == len(set(visits))


def test_a_pass_over_a_lost_graph_is_hindered_by_hooks_of_its_own_leaves_alone(session: Any) -> None:
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    both, other = (a * b).sum(), (b * c).sum()
    lose_sight(session)
    c.register_hook(lambda g: None)
    both.backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.0, 1.0], [1.0, 1.0])
    with pytest.raises(RuntimeError, match="run the forward again"):
        other.backward()
