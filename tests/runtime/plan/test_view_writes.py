"""A graph with writes through views that crosses batches gives the same gradients in every repetition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest

Body = Callable[[Any, Any], Any]
REPETITIONS = 5


def rows(torch: Any, w: Any) -> Any:
    s = torch.zeros(2)
    s[0] = w[0]
    s[1] = w[1]
    return s


def one_write(torch: Any, w: Any) -> Any:
    s = torch.zeros(2)
    s[1] = w[1]
    return s


def slices(torch: Any, w: Any) -> Any:
    s = torch.zeros(6)
    s[0:2] = w
    s[4:6] = w * 3
    s[2:4] += w.exp()
    return s


def cells(torch: Any, w: Any) -> Any:
    out = torch.zeros(3, 2)
    h = w
    for t in range(3):
        h = (h * w).tanh()
        out[t] = h
    return out


def two_views(torch: Any, w: Any) -> Any:
    s = torch.zeros(3, 2)
    first, last = s[1], s[:, 1]
    first.copy_(w)
    assert last.grad_fn is not None
    last.mul_(w[0])
    last.add_(w[1])
    assert first.grad_fn is not None
    first.mul_(2)
    return s


def transposed(torch: Any, w: Any) -> Any:
    s = torch.zeros(2, 3)
    t = s.t()
    t[1] = w
    t[2].copy_(w * 3)
    s.t()[1:].mul_(w[0])
    return s


def masked(torch: Any, w: Any) -> Any:
    s = torch.ones(2, 2)
    s[1][torch.tensor([True, False])] = w[:1]
    s[torch.tensor([[False, True], [False, True]])] = w * 3
    s[1].masked_fill_(torch.tensor([False, True]), w[0])
    return s


def put(torch: Any, w: Any) -> Any:
    s = torch.ones(4)
    s[1:].index_put_((torch.tensor([0, 2]),), w)
    s[2:].index_put_((torch.tensor([1, 1]),), w * 2, accumulate=True)
    return s


def expanded(torch: Any, w: Any) -> Any:
    s = torch.zeros(3, 2)
    s[1:] = w.expand(2, 2)
    s[2].mul_(w[1].expand(2))
    return s


def complex_views(torch: Any, w: Any) -> Any:
    s = torch.zeros(2, dtype=torch.complex64)
    s[1].real.copy_(w[0])
    s.imag[1:].add_(w[1])
    s[1:].mul_(w[0])
    return torch.view_as_real(s)


def nested(torch: Any, w: Any) -> Any:
    s = torch.zeros(3, 4)
    s[1:][1].view(2, 2)[1] = w
    s[1, 2:].narrow(0, 1, 1).add_(w.sum())
    s[2, 3].mul_(w[0])
    return s


def made_of_it(torch: Any, w: Any) -> Any:
    s = w * 1
    s[1] = s[0] + w[0]
    s[0] = s[1] * 3
    return s


def pieces(torch: Any, w: Any) -> Any:
    s = torch.zeros(4)
    s[0:2] = w
    s[2:4] = w * 3
    return s


def two_rows(torch: Any, w: Any) -> Any:
    s = torch.zeros(2, 2)
    s[0].copy_(w)
    s[1].copy_(w * 2)
    return s


def filled(torch: Any, w: Any) -> Any:
    s = torch.ones(2, 2)
    s[0].masked_fill_(torch.tensor([True, False]), w[0])
    s[1].masked_fill_(torch.tensor([True, False]), w[1])
    return s


def complex_parts(torch: Any, w: Any) -> Any:
    s = torch.zeros(2, dtype=torch.complex64)
    s[0] = w[0]
    s[1] = w[1]
    return torch.view_as_real(s)


def numbers(torch: Any, w: Any) -> Any:
    s = torch.zeros(3)
    s[0] = w[0]
    s[1] = 2.0
    s[2] = w[1]
    return s


BODIES: list[Body] = [
    rows, one_write, slices, cells, two_views, transposed, masked, put, expanded, complex_views, nested,
    made_of_it, pieces, two_rows, filled, complex_parts, numbers,
]  # fmt: skip


def look(torch: Any, s: Any) -> None:
    s.sum().item()


def look_elsewhere(torch: Any, s: Any) -> None:
    torch.ones(2).sum().item()


def loop(torch: Any, body: Body, glance: Callable[[Any, Any], None]) -> list[Any]:
    """The gradients of each repetition."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    found = []
    for _ in range(REPETITIONS):
        w.grad = None
        s = body(torch, w)
        glance(torch, s)
        (s * s).sum().backward()
        found.append(w.grad.tolist())
    return found


@pytest.fixture(params=["local:", "daemon"])
def place(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("daemon") if request.param == "daemon" else request.param
    return url


@pytest.mark.parametrize("glance", [look, look_elsewhere], ids=lambda f: f.__name__)
@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_each_repetition_has_the_same_gradient(place: str, body: Body, glance: Any) -> None:
    with gradd.connect(place):
        first, *others = loop(gradd, body, glance)
        whole = gradd.tensor([1.0, 2.0], requires_grad=True)
        s = body(gradd, whole)
        (s * s).sum().backward()  # in one batch
        assert whole.grad.tolist() == first
    assert others == [first] * (REPETITIONS - 1)
    assert any(first)


def test_the_gradient_of_rows_is_right_from_the_first_to_the_last(place: str) -> None:
    with gradd.connect(place):
        assert loop(gradd, rows, look) == [[2.0, 4.0]] * REPETITIONS


def test_a_row_that_moves_takes_its_gradient_along(place: str) -> None:
    with gradd.connect(place):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        for n in (0, 1, 2, 1, 0, 2):
            s = gradd.zeros(3, 2)
            s[n] = w
            s.sum().item()
            (found,) = gradd.autograd.grad((s * gradd.arange(6).reshape(3, 2)).sum(), w)
            assert found.tolist() == [2.0 * n, 2.0 * n + 1]


def test_writes_that_overlap_are_judged_by_where_they_are(place: str) -> None:
    with gradd.connect(place):
        x = gradd.arange(8).double()
        for n in (4, 5, 4, 4, 2, 4):
            if n == 2:
                with pytest.raises(RuntimeError, match="refer to a single memory location"):
                    x[n : n + 3].copy_(x[:3])
            else:
                x[n : n + 3].copy_(x[:3])
            x.sum().item()
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 2.0]


@pytest.mark.oracle
@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_pytorch(oracle: Callable[..., Any], body: Body) -> None:
    with gradd.connect("local:"):
        found = loop(gradd, body, look)
    np.testing.assert_allclose(found, oracle(lambda torch: loop(torch, body, look)), rtol=1e-5)
