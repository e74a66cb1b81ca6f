"""`gradd.function` traces anew when something that its code depends on is another."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest
from gradd import nn


@pytest.fixture
def session() -> Iterator[gradd.Session]:
    with gradd.connect("local:") as made:
        gradd.manual_seed(0)
        yield made


def leaf(*size: int) -> Any:
    return gradd.linspace(-1.0, 1.0, size[0], requires_grad=True)


FACTOR = 2.0


def test_globals_closures_and_modes_are_guarded(
    session: gradd.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = 1.0
    drop = nn.Dropout(1.0)

    @gradd.function
    def f(x: Any) -> Any:
        return drop(x) * FACTOR + shift

    x = gradd.ones(1)
    assert [f(x).item() for _ in range(3)] == [1.0, 1.0, 1.0]
    drop.eval()
    assert [f(x).item() for _ in range(3)] == [3.0, 3.0, 3.0]
    shift = 5.0
    assert [f(x).item() for _ in range(3)] == [7.0, 7.0, 7.0]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert [f(x).item() for _ in range(3)] == [8.0, 8.0, 8.0]
    with gradd.no_grad():
        assert not f(leaf(1)).requires_grad
    assert f(leaf(1)).requires_grad


def test_an_optimizers_options_are_guarded(session: gradd.Session) -> None:
    w = leaf(1)
    opt = gradd.optim.SGD([w], lr=1.0)

    @gradd.function
    def step() -> Any:
        opt.zero_grad()
        w.sum().backward()
        opt.step()
        return w

    start = w.item()
    for _ in range(4):
        step()
    assert w.item() == pytest.approx(start - 4, abs=1e-6)
    opt.param_groups[0]["lr"] = 0.5
    for _ in range(4):
        step()
    assert w.item() == pytest.approx(start - 6, abs=1e-6)


def test_what_a_module_holds_is_guarded(session: gradd.Session) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.by, self.sizes, self.options = 1, [2, 3], {"add": 0.0}
            self.mask, self.act = gradd.ones(1), gradd.abs

        def forward(self, x: Any) -> Any:
            return self.act(x * self.mask * self.by * self.sizes[0]) + self.options["add"]

    net = Net()
    f = gradd.function(lambda x: net(x))
    x = gradd.tensor([-3])

    def told() -> list[Any]:
        found = [f(x) for _ in range(3)]
        assert len({(y.item(), y.dtype) for y in found}) == 1
        return [found[2].item(), found[2].dtype]

    assert told() == [6.0, gradd.float32]
    net.mask = gradd.tensor([1])
    net.options["add"] = 0
    assert told() == [6, gradd.int64]
    net.by = 1.0
    assert told() == [6.0, gradd.float32]
    net.sizes[0] = 5
    assert told()[0] == 15.0
    net.act = gradd.neg
    del net.by
    net.by = 2
    assert told()[0] == 30
    handle = net.register_forward_hook(lambda module, args, out: out + 1)
    assert told()[0] == 31
    handle.remove()
    net.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    assert told()[0] == 60


OPTIONS: dict[str, Any] = {"by": 1.0}


def test_what_a_function_names_is_guarded_where_it_names_it(
    session: gradd.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Options:
        add = 0.0

    class Trainer:
        def __init__(self) -> None:
            self.net: nn.Module = nn.Dropout(1.0)
            self.by, self.options, self.unnamed = 1.0, Options(), 0

        @gradd.function
        def step(self, x: Any, also: Any = nn.Identity()) -> Any:  # noqa: B008
            inner = sum(also(x) * OPTIONS["by"] for _ in range(1))
            return self.net(x) + inner * self.by + self.options.add

    trainer = Trainer()
    default = Trainer.__dict__["step"]._fn.__defaults__[0]
    x = gradd.ones(1)
    expected = 1.0

    def check() -> None:
        assert [trainer.step(x).item() for _ in range(3)] == [expected] * 3

    check()
    trainer.by, expected = 2.0, 2.0
    check()
    trainer.net.eval()
    expected = 3.0
    check()
    trainer.options.add, expected = 0.5, 3.5
    check()
    monkeypatch.setitem(OPTIONS, "by", 2.0)
    expected = 5.5
    check()
    default.register_forward_hook(lambda module, args, out: out * 2)
    expected = 9.5
    check()
    trainer.net, expected = nn.Identity(), 9.5
    check()


def test_attributes_that_a_function_does_not_name_are_no_part_of_its_key(session: gradd.Session) -> None:
    class Trainer:
        by, count = 2.0, 0

        @gradd.function
        def step(self, x: Any) -> Any:
            next(calls)
            return x * self.by

    calls = itertools.count()
    trainer = Trainer()
    for n in range(6):
        trainer.count = n
        assert trainer.step(gradd.ones(1)).item() == 2.0
    assert next(calls) == 2


def test_an_optimizers_state_and_parameters_are_guarded() -> None:
    def run(decorate: Callable[..., Any]) -> list[float]:
        with gradd.connect("local:"):
            ws = [leaf(2), leaf(3)]
            opt = gradd.optim.Adam(ws[:1], lr=0.1)

            @decorate
            def step() -> Any:
                opt.zero_grad()
                loss = sum((w * w).sum() for w in ws)
                loss.backward()
                opt.step()
                return loss

            losses = []
            for n in range(24):
                losses.append(step().item())
                if n == 3:
                    kept = copy.deepcopy(opt.state_dict())
                elif n == 9:
                    opt.load_state_dict(kept)
                elif n == 14:
                    opt.state.clear()
                elif n == 19:
                    opt.param_groups[0]["params"] = ws[1:]
            return losses

    assert run(lambda f: f) == run(gradd.function)


def test_hooks_masks_and_parametrizations_are_guarded() -> None:
    def run(decorate: Callable[..., Any]) -> list[float]:
        with gradd.connect("local:"):
            utils, everywhere = gradd.nn.utils, gradd.nn.modules.module
            layer = gradd.nn.Linear(2, 2, bias=False)
            layer.load_state_dict({"weight": gradd.tensor([[1.0, 2.0], [3.0, 4.0]])})

            @decorate
            def step(x: Any) -> Any:
                return layer(x).sum()

            values = []
            for n in range(21):
                values.append(step(gradd.ones(1, 2)).item())
                if n == 3:
                    handle = everywhere.register_module_forward_hook(lambda m, args, output: output * 10)
                elif n == 6:
                    handle.remove()
                elif n == 9:
                    utils.prune.custom_from_mask(layer, "weight", gradd.eye(2))
                elif n == 12:
                    utils.prune.remove(layer, "weight")
                    utils.parametrizations.weight_norm(layer)
                elif n == 15:
                    layer.weight = gradd.ones(2, 2)
                elif n == 18:
                    utils.parametrize.remove_parametrizations(layer, "weight")
            return values

    want = run(lambda f: f)
    assert want[::3] == [10.0, 10.0, 100.0, 10.0, 5.0, 5.0, 4.0]
    assert run(gradd.function) == want
