"""§24: streams. A session has none that users see: it runs what it is asked in the order of the asking.

So all of 24.1 to 24.3 holds by construction, and these tests show what that means to a script: whatever was
called before is done before what is called next sees its effect, whichever thread calls.
"""

from __future__ import annotations

import threading
from typing import Any


def test_24_01_backward_follows_its_forward(T: Any, leaf: Any) -> None:
    x = leaf([[0.5] * 64] * 64)
    y = x
    for _ in range(20):
        y = (y @ y).tanh()
    y.sum().backward()
    assert x.grad.isfinite().all()
    reference = leaf([[0.5] * 64] * 64)
    y = reference
    for _ in range(20):
        y = (y @ y).tanh()
        assert y.isfinite().all()  # a value is waited for after every step
    y.sum().backward()
    assert x.grad.tolist() == reference.grad.tolist()


def test_24_02_grad_can_be_used_at_once(T: Any, leaf: Any) -> None:
    x = leaf()
    for step in range(1, 6):
        (x * x).sum().backward()
        with T.no_grad():
            x -= 0.25 * x.grad
            assert x.grad.tolist() == [2.0 * 0.5 ** (step - 1), 4.0 * 0.5 ** (step - 1)]
        x.grad = None
    assert x.tolist() == [0.5**5, 2 * 0.5**5]


def test_24_02_from_another_thread_too(leaf: Any) -> None:
    x = leaf()
    seen: list[Any] = []
    (x * x).sum().backward()
    thread = threading.Thread(target=lambda: seen.append((x.grad * 2).tolist()))
    thread.start()
    thread.join()
    assert seen == [[4.0, 8.0]]


def test_24_02_threads_hand_over_in_order(T: Any, leaf: Any) -> None:
    x, rounds = leaf([0.0]), 10
    turns = [threading.Semaphore(1), threading.Semaphore(0)]
    seen: list[list[float]] = []

    def work(mine: int) -> None:
        for _ in range(rounds):
            turns[mine].acquire()
            (x * (mine + 1)).sum().backward()
            seen.append(x.grad.tolist())
            turns[1 - mine].release()

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[float(sum(1 + i % 2 for i in range(n)))] for n in range(1, 2 * rounds + 1)]


def test_24_03_gradient_is_made_before_it_is_used(T: Any, leaf: Any) -> None:
    x, gradients = leaf(), []
    thread = threading.Thread(target=lambda: gradients.append(T.ones(2) * 3))
    thread.start()
    thread.join()
    (x * 2).backward(gradients[0])
    gradients[0].zero_()
    assert x.grad.tolist() == [6.0, 6.0]
