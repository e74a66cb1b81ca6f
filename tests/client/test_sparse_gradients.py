"""Sparse gradients of embeddings: what they say, what optimizers do with them, SparseAdam."""

from __future__ import annotations

from typing import Any

import gradd
import pytest

#: PyTorch says that some of it is new, and some old
pytestmark = pytest.mark.filterwarnings("ignore:.*[Ss]parse:UserWarning")


def _table(T: Any, **options: Any) -> Any:
    table = T.nn.Embedding(5, 2, sparse=True, **options)
    with T.no_grad():
        table.weight.copy_(T.arange(10.0).reshape(5, 2) / 4)
    return table


def _words(T: Any) -> Any:
    return T.tensor([[0, 3, 3], [1, 4, 0]])


def test_a_gradient_says_which_rows_were_looked_up(T: Any) -> None:
    table = _table(T)
    assert repr(table) == "Embedding(5, 2, sparse=True)"
    out = table(T.tensor([0, 3, 4]))
    assert type(out.grad_fn).__name__ == "EmbeddingBackward0" or out.grad_fn.name() == "EmbeddingBackward0"
    out.pow(2).sum().backward()
    g = table.weight.grad
    assert (g.is_sparse, g.layout, g.sparse_dim(), g.dense_dim(), g._nnz()) == (True, T.sparse_coo, 1, 1, 3)
    assert not g.is_coalesced()
    assert g._indices().tolist() == [[0, 3, 4]]
    assert g._values().tolist() == [[0.0, 0.5], [3.0, 3.5], [4.0, 4.5]]
    assert g.to_dense().tolist() == [[0.0, 0.5], [0.0, 0.0], [0.0, 0.0], [3.0, 3.5], [4.0, 4.5]]
    assert tuple(g.shape) == (5, 2)


def test_rows_looked_up_several_times_are_summed(T: Any) -> None:
    table = _table(T, padding_idx=1)
    table(_words(T)).sum().backward()
    g = table.weight.grad
    assert g._indices().tolist() == [[0, 3, 3, 4, 0]]
    c = g.coalesce()
    assert c.is_coalesced()
    assert (c.indices().tolist(), c.values().tolist()) == ([[0, 3, 4]], [[2.0, 2.0], [2.0, 2.0], [1.0, 1.0]])


def test_gradients_add_up(T: Any) -> None:
    table = _table(T)
    first = table(T.tensor([1, 2])).sum()
    (first + table(T.tensor([2])).sum()).backward()
    assert table.weight.grad.is_sparse
    assert table.weight.grad._nnz() == 3
    table(T.tensor([4])).sum().backward()
    g = table.weight.grad
    assert g.is_sparse
    assert g._nnz() == 4
    assert g.coalesce().indices().tolist() == [[1, 2, 4]]
    assert g.to_dense()[:, 0].tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
    table.weight.sum().backward()
    assert not table.weight.grad.is_sparse
    assert table.weight.grad[:, 0].tolist() == [1.0, 2.0, 3.0, 1.0, 2.0]


def test_one_dense_use_makes_it_dense(T: Any) -> None:
    table = _table(T)
    (table(T.tensor([1])).sum() + table.weight.sum()).backward()
    assert not table.weight.grad.is_sparse
    assert table.weight.grad[:, 0].tolist() == [1.0, 2.0, 1.0, 1.0, 1.0]


def test_clearing(T: Any) -> None:
    table = _table(T)
    table(T.tensor([1])).sum().backward()
    table.zero_grad(set_to_none=False)
    assert table.weight.grad.is_sparse
    assert table.weight.grad._nnz() == 0
    assert table.weight.grad.to_dense().abs().sum().item() == 0
    table(T.tensor([2])).sum().backward()
    assert table.weight.grad.coalesce().indices().tolist() == [[2]]
    table.zero_grad()
    assert table.weight.grad is None


def test_a_zeroed_one_is_added_to(T: Any) -> None:
    table = _table(T)
    table(T.tensor([1, 1])).sum().backward()
    table.weight.grad.zero_()
    assert table.weight.grad._nnz() == 0
    table(T.tensor([3])).sum().backward()
    g = table.weight.grad.coalesce()
    assert (g.indices().tolist(), g.values().tolist()) == ([[3]], [[1.0, 1.0]])


def test_one_that_was_assigned_is_added_to(T: Any) -> None:
    table = _table(T)
    table.weight.grad = T.sparse_coo_tensor(T.tensor([[1, 1]]), T.ones(2, 2), (5, 2))
    table(T.tensor([3])).sum().backward()
    g = table.weight.grad.coalesce()
    assert (g.indices().tolist(), g.values()[:, 0].tolist()) == ([[1, 3]], [2.0, 1.0])
    table.weight.sum().backward()
    assert not table.weight.grad.is_sparse
    assert table.weight.grad[:, 0].tolist() == [1.0, 3.0, 1.0, 2.0, 1.0]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_with_a_graph_of_its_own_it_remains_sparse(T: Any) -> None:
    table = _table(T)
    for _ in range(2):
        table(T.tensor([1, 4])).pow(2).sum().backward(create_graph=True)
    g = table.weight.grad
    assert (g.is_sparse, g.requires_grad) == (True, True)
    assert g.detach().coalesce().values().tolist() == [[2.0, 3.0], [8.0, 9.0]]
    table.zero_grad(set_to_none=False)
    g = table.weight.grad
    assert (g.is_sparse, g.requires_grad, g._nnz()) == (True, False, 0)


def test_a_cleared_one_that_was_assigned_is_added_to(T: Any) -> None:
    table = _table(T)
    table.weight.grad = T.sparse_coo_tensor(T.tensor([[1, 1]]), T.ones(2, 2), (5, 2))
    table.zero_grad(set_to_none=False)
    assert table.weight.grad._nnz() == 0
    table(T.tensor([3])).sum().backward()
    assert table.weight.grad.coalesce().indices().tolist() == [[3]]


def test_a_tensor_that_is_no_leaf_keeps_it(T: Any) -> None:
    weight = T.ones(4, 1, requires_grad=True)
    rows = weight.clone()
    rows.retain_grad()
    T.nn.functional.embedding(T.tensor([2, 0]), rows, sparse=True).sum().backward()
    assert rows.grad.coalesce().indices().tolist() == [[0, 2]]


def test_a_hook_and_a_function_may_give_one(T: Any) -> None:
    class Sparse(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.to_sparse()

    x = T.zeros(2, 2, requires_grad=True)
    for count in (1, 2):
        Sparse.apply(x).triu().sum().backward()
        assert (x.grad.is_sparse, x.grad.sparse_dim()) == (True, 2)
        assert x.grad.coalesce().values().tolist() == [float(count)] * 3
    table = _table(T)
    table.weight.register_hook(lambda g: g.coalesce())
    table(T.tensor([3, 3])).sum().backward()
    assert table.weight.grad.coalesce().indices().tolist() == [[3]]


def test_grad_returns_it_and_hooks_see_it(T: Any) -> None:
    table = _table(T)
    (g,) = T.autograd.grad(table(T.tensor([3])).sum(), table.weight)
    assert g.is_sparse
    assert g.coalesce().indices().tolist() == [[3]]
    seen = []
    table.weight.register_hook(lambda g: seen.append(g.is_sparse))
    table(T.tensor([3])).sum().backward()
    assert seen == [True]
    assert table.weight.grad.is_sparse


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags(T: Any, mode: str) -> None:
    bag = T.nn.EmbeddingBag(5, 2, mode=mode, sparse=True)
    bag(T.tensor([0, 3, 1, 4]), T.tensor([0, 2])).sum().backward()
    g = bag.weight.grad
    assert g.is_sparse
    assert g.coalesce().indices().tolist() == [[0, 1, 3, 4]]
    assert g.coalesce().values().tolist() == [[1.0, 1.0] if mode == "sum" else [0.5, 0.5]] * 4
    functional = T.nn.functional.embedding_bag
    with pytest.raises(ValueError, match="max mode does not support sparse weights"):
        functional(_words(T), bag.weight, mode="max", sparse=True)


def test_what_is_refused(T: Any) -> None:
    table = _table(T)
    rows = T.nn.functional.embedding(_words(T), table.weight, scale_grad_by_freq=True, sparse=True)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        rows.sum().backward()


def _trained(T: Any, make: Any, steps: int = 3) -> Any:
    table = _table(T)
    optimizer = make(table.parameters())
    for words in ([0, 3, 3], [1, 0, 4], [3, 3, 1])[:steps]:
        optimizer.zero_grad()
        table(T.tensor(words)).pow(2).sum().backward()
        optimizer.step()
    return table.weight.detach().flatten().tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ],
)
def test_optimizers_that_take_it(T: Any, name: str, options: dict[str, Any]) -> None:
    def dense(params: Any) -> Any:
        made = getattr(T.optim, name)(params, **options)
        for p in made.param_groups[0]["params"]:
            p.register_post_accumulate_grad_hook(_make_dense)
        return made

    found = _trained(T, lambda params: getattr(T.optim, name)(params, **options))
    assert found == pytest.approx(_trained(T, dense), abs=1e-6)


def _make_dense(p: Any) -> None:
    p.grad = p.grad.to_dense()


#: three steps of PyTorch's
SPARSE_ADAM = [
    0.0, 0.0542511046, 0.3403748870, 0.5900900960, 1.0, 1.25,
    1.3143589497, 1.5643223524, 1.9255863428, 2.1755862236,
]  # fmt: skip


def test_sparse_adam(T: Any) -> None:
    found = _trained(T, lambda params: T.optim.SparseAdam(params, lr=0.1))
    assert found == pytest.approx(SPARSE_ADAM, abs=1e-5)
    up = _trained(T, lambda params: T.optim.SparseAdam(params, lr=0.1, maximize=True), 1)
    assert up == pytest.approx([0.0, 0.35, 0.5, 0.75, 1.0, 1.25, 1.6, 1.85, 2.0, 2.25], abs=1e-5)


def test_sparse_adam_leaves_other_rows_as_they_are(T: Any) -> None:
    table = _table(T)
    optimizer = T.optim.SparseAdam(list(table.parameters()), lr=0.1)
    assert repr(optimizer).splitlines()[2:4] == ["    betas: (0.9, 0.999)", "    eps: 1e-08"]
    table(T.tensor([1])).sum().backward()
    optimizer.step()
    before = optimizer.state[table.weight]["exp_avg"][1].tolist()
    optimizer.zero_grad()
    table(T.tensor([2])).sum().backward()
    optimizer.step()
    state = optimizer.state[table.weight]
    assert state["step"] == 2
    assert state["exp_avg"][1].tolist() == before
    assert table.weight[4].tolist() == [2.0, 2.25]
    again = T.optim.SparseAdam(list(table.parameters()))
    again.load_state_dict(optimizer.state_dict())
    assert again.state[table.weight]["step"] == 2


def test_what_sparse_adam_refuses(T: Any) -> None:
    weight = T.nn.Parameter(T.ones(2))
    for options, message in (
        ({"lr": 0}, "Invalid learning rate: 0"),
        ({"eps": 0}, "Invalid epsilon value: 0"),
        ({"betas": (1, 0)}, "Invalid beta parameter at index 0: 1"),
    ):
        with pytest.raises(ValueError, match=message):
            T.optim.SparseAdam([weight], **options)
    with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 0\]\]: SparseAdam requires dense"):
        T.optim.SparseAdam([T.ones(2, 2).to_sparse()])
    with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 0\]\]: SparseAdam does not"):
        T.optim.SparseAdam([T.ones(2, dtype=T.complex64)])
    weight.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients, please consider Adam instead"):
        T.optim.SparseAdam([weight]).step()


@pytest.mark.parametrize(
    "name",
    "Adam AdamW NAdam RAdam Adamax Adadelta RMSprop Rprop ASGD Adafactor Muon".split(),  # noqa: SIM905
)
def test_optimizers_that_refuse_it(T: Any, name: str) -> None:
    table = _table(T)
    optimizer = getattr(T.optim, name)(table.parameters())
    table(_words(T)).sum().backward()
    said = "Adam does not support sparse gradients, please consider SparseAdam instead"
    if not name.startswith("Adam") or name == "Adamax":
        said = f"{name} does not support sparse gradients"
    with pytest.raises(RuntimeError, match=f"^{said}$"):
        optimizer.step()


def test_weight_decay_is_refused(T: Any) -> None:
    table = _table(T)
    table(_words(T)).sum().backward()
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        T.optim.SGD(table.parameters(), weight_decay=0.1).step()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible with sparse gradients"):
        T.optim.Adagrad(table.parameters(), weight_decay=0.1).step()


def test_training_reads_nothing() -> None:
    with gradd.connect("local:") as session:
        table = _table(gradd)
        optimizer = gradd.optim.SparseAdam(table.parameters())
        words = _words(gradd)
        before = session.stats()["round_trips"]
        for _ in range(3):
            optimizer.zero_grad()
            table(words).sum().backward()
            optimizer.step()
        assert session.stats()["round_trips"] == before
