"""`gradd.offload`: what a model of PyTorch's keeps when it computes in a session, and what travels when."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import gradd
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.client.torch_models import GPT2, ConvNet  # noqa: E402

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def session() -> Iterator[gradd.Session]:
    torch.manual_seed(0)
    with gradd.connect("local:") as found:
        yield found


def close(here: Any, there: Any) -> None:
    one, other = (np.asarray(t.detach().numpy()) for t in (here, there))
    assert one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def made(forward: Any, **parameters: Any) -> Any:
    """A module with that `forward(self, ...)` and those parameters."""
    model = type("Own", (torch.nn.Module,), {"forward": forward})()
    for name, value in parameters.items():
        model.register_parameter(name, torch.nn.Parameter(torch.as_tensor(value)))
    return model


def mlp() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))


def test_a_call_and_its_backward_pass_are_a_round_trip_each(session: gradd.Session) -> None:
    offloaded = gradd.offload(ConvNet(), torch.randn(2, 3, 8, 8))
    optimizer = torch.optim.SGD(offloaded.parameters(), 0.1)
    for _ in range(3):
        before = session.stats()["round_trips"]
        loss = offloaded(torch.randn(2, 3, 8, 8)).sum()
        between = session.stats()["round_trips"]
        loss.backward()
        assert (between - before, session.stats()["round_trips"] - between) == (1, 1)
        optimizer.step()


def test_many_large_parameters_are_one_upload_and_one_download(daemon: str) -> None:
    model = torch.nn.Sequential(
        *(torch.nn.Linear(200, 200) for _ in range(6)), torch.nn.Linear(200, 3).double()
    )
    model[5].register_forward_hook(lambda module, given, out: out.double())
    twin, x = copy.deepcopy(model), torch.randn(2, 200)
    with gradd.connect(daemon) as session:
        offloaded = gradd.offload(model, x)
        before = session.stats()
        offloaded(x).sum().backward()
        now = session.stats()
    assert now["batches"] - before["batches"] == 2
    assert now["round_trips"] - before["round_trips"] == 4
    twin(x).sum().backward()
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        close(p.grad, q.grad)
        assert p.grad.untyped_storage().nbytes() == p.nbytes


def test_parameters_are_sent_again_when_they_changed(session: gradd.Session) -> None:
    model = torch.nn.Linear(100, 100)
    offloaded, x = gradd.offload(model, torch.randn(1, 100)), torch.ones(1, 100)

    def sent() -> int:
        before = session.stats()["bytes_sent"]
        close(offloaded(x), model(x))
        return session.stats()["bytes_sent"] - before

    whole = sent()
    assert whole > 40_000
    assert sent() < 4_000
    with torch.no_grad():
        model.bias.add_(1)
    assert sent() < 4_000
    with torch.no_grad():
        model.weight.mul_(2)
    assert 40_000 < sent() <= whole
    model.weight = torch.nn.Parameter(torch.zeros(100, 100))
    assert sent() > 40_000
    model.load_state_dict({"weight": torch.ones(100, 100), "bias": torch.ones(100)})
    assert sent() > 40_000
    model.weight.data.zero_()
    offloaded.resend()
    assert sent() > 40_000


def test_inputs_get_gradients_and_frozen_parameters_none() -> None:
    model, x = mlp(), torch.randn(3, 4, requires_grad=True)
    model[0].weight.requires_grad_(False)
    offloaded = gradd.offload(model, x)
    offloaded(x).square().sum().backward()
    grads = [x.grad, *(p.grad for p in model.parameters())]
    twin, z = copy.deepcopy(model), x.detach().clone().requires_grad_()
    twin.zero_grad()
    twin(z).square().sum().backward()
    assert model[0].weight.grad is None
    for g, h in zip(grads, [z.grad, *(p.grad for p in twin.parameters())], strict=True):
        assert (g is None) == (h is None)
        if g is not None:
            close(g, h)
    model[0].weight.requires_grad_(True)
    offloaded(x).sum().backward()
    assert model[0].weight.grad is not None


def test_gradients_accumulate_through_a_script_of_torchs() -> None:
    model = mlp()
    twin = copy.deepcopy(model)
    offloaded = gradd.offload(model, torch.randn(3, 4))
    for m, body in ((model, offloaded), (twin, twin)):
        head = torch.ones(2, requires_grad=True)
        torch.manual_seed(1)
        for _ in range(2):
            a, b = torch.randn(2, 3, 4)
            (body(a) * head + body(b)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        close(p.grad, q.grad)


def test_a_graph_is_kept_and_freed_as_torch_says(session: gradd.Session) -> None:
    model, x = mlp(), torch.randn(3, 4)
    out = gradd.offload(model, x)(x).sum()
    out.backward(retain_graph=True)
    first = model[0].weight.grad.clone()
    out.backward()
    close(model[0].weight.grad, 2 * first)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()
    session.flush()
    # What stays is parameters and the input.
    assert len(session.tensors()) <= 6


def test_a_second_derivative_is_refused() -> None:
    model, x = mlp(), torch.randn(3, 4, requires_grad=True)
    (g,) = torch.autograd.grad(gradd.offload(model, x)(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        g.sum().backward()


def test_no_graph_is_made_under_no_grad() -> None:
    model, x = mlp(), torch.randn(3, 4)
    offloaded = gradd.offload(model, x)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            out = offloaded(x)
            close(out, model(x))
        assert not out.requires_grad
    assert offloaded(x).requires_grad


def test_what_is_detached_gets_no_gradient() -> None:
    def forward(self: Any, x: Any) -> Any:
        with torch.no_grad():
            scale = (x * self.w).mean()
        return x * self.w * scale + (self.w * 3).detach() * x, scale

    model, x = made(forward, w=[1.0, -2.0]), torch.randn(5, 2)
    out, scale = gradd.offload(model, x)(x)
    out.sum().backward()
    mine = model.w.grad
    model.w.grad = None
    expected, _ = model(x)
    expected.sum().backward()
    close(mine, model.w.grad)
    close(out, expected)
    assert not scale.requires_grad


def test_gradients_may_be_switched_on_again() -> None:
    model, x = made(lambda self, x: _nested(x * self.w), w=[1.0, -2.0]), torch.randn(5, 2)
    gradd.offload(model, x)(x).sum().backward()
    mine, model.w.grad = model.w.grad, None
    model(x).sum().backward()
    close(mine, model.w.grad)


def _nested(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            return y * x


def test_results_keep_their_structure() -> None:
    def forward(self: Any, x: Any, *, also: Any = None, times: int = 2) -> Any:
        out = x * self.w * times
        best = out.argmax(-1)
        return {"out": out, "more": (best, [None, 7, "word"]), "also": None if also is None else also + best}

    model, x = made(forward, w=[1.0, -2.0]), torch.randn(3, 2)
    offloaded = gradd.offload(model, x)
    for kwargs in ({}, {"times": 3}, {"also": torch.arange(3)}):
        found, expected = offloaded(x, **kwargs), model(x, **kwargs)
        close(found["out"], expected["out"])
        close(found["more"][0], expected["more"][0])
        assert found["more"][1] == [None, 7, "word"]
        assert (found["also"] is None) == (expected["also"] is None)
    assert found["also"].tolist() == expected["also"].tolist()
    assert not found["also"].requires_grad
    found["out"].sum().backward()
    assert model.w.grad is not None


def test_other_sizes_are_exported_once_and_then_free(monkeypatch: pytest.MonkeyPatch) -> None:
    exports = []
    real = torch.export.export
    monkeypatch.setattr(torch.export, "export", lambda *a, **k: exports.append(1) or real(*a, **k))
    model = mlp()
    offloaded = gradd.offload(model, torch.ones(2, 5, 4))
    for size in ((2, 5), (3, 5), (4, 5), (7, 5), (7, 9), (2, 3), (1, 4), (1, 4)):
        x = torch.randn(*size, 4)
        close(offloaded(x), model(x))
    assert len(exports) == 4
    dims = {"input": {0: torch.export.Dim("batch", min=2, max=64)}}
    offloaded = gradd.offload(model, torch.ones(3, 4), dynamic_shapes=dims)
    exports.clear()
    x = torch.randn(50, 4)
    close(offloaded(x), model(x))
    assert exports == []


def test_an_input_that_comes_twice_is_two_inputs() -> None:
    model, x, y = made(lambda self, x, y: x * self.w - y, w=[1.0, 2.0]), torch.randn(2), torch.randn(2)
    offloaded = gradd.offload(model, (x, x))
    close(offloaded(x, y), model(x, y))
    close(offloaded(y, y), model(y, y))


def test_modes_and_buffers_are_the_models_own() -> None:
    model = ConvNet(0.5)
    twin = copy.deepcopy(model)
    x = torch.randn(8, 3, 8, 8)
    offloaded = gradd.offload(model, x)
    first, second = offloaded(x), offloaded(x)
    assert not torch.equal(first, second)
    twin(x)
    twin(x)
    for b, c in zip(model.buffers(), twin.buffers(), strict=True):
        close(b, c)
    offloaded.eval()
    assert not model.training
    close(offloaded(x), twin.eval()(x))
    model.train()
    model.norm.eval()
    before = [b.clone() for b in model.buffers()]
    offloaded(x)
    for b, c in zip(model.buffers(), before, strict=True):
        close(b, c)


def test_writes_into_inputs_and_constants_are_seen() -> None:
    table = torch.tensor([3.0, 4.0])

    def forward(self: Any, x: Any) -> Any:
        x[:, 0] = 5.0
        x += table
        return (x * self.w).sum()

    model, x = made(forward, w=[1.0, -2.0]), torch.zeros(3, 2)
    there = x.clone()
    close(gradd.offload(model, torch.zeros(3, 2))(x), model(there))
    close(x, there)


def test_half_precision() -> None:
    model = mlp().bfloat16()
    x = torch.randn(3, 4, dtype=torch.bfloat16)
    offloaded = gradd.offload(model, x)
    found, expected = offloaded(x), model(x)
    assert found.dtype is torch.bfloat16
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)
    found.sum().backward()
    assert model[0].weight.grad.dtype is torch.bfloat16


def test_autocast_around_a_call_and_inside_of_a_model() -> None:
    def forward(self: Any, x: Any) -> Any:
        y = x @ self.w
        with torch.autocast("cpu", enabled=False):
            return y, x @ self.w

    model, x = made(forward, w=np.ones((3, 3), np.float32)), torch.randn(2, 3)
    offloaded = gradd.offload(model, x)
    for enabled in (False, True, False):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            found, expected = offloaded(x), model(x)
        assert [t.dtype for t in found] == [t.dtype for t in expected]
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)
    sum(t.float().sum() for t in found).backward()
    assert model.w.grad.dtype is torch.float32


def test_layers_that_torch_has_kernels_for() -> None:
    x = torch.randn(2, 5, 8)
    encoder = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    for model, args in (
        (encoder, (x,)),
        (copy.deepcopy(encoder).eval(), (x,)),
        (torch.nn.MultiheadAttention(8, 2, batch_first=True), (x, x, x)),
        (torch.nn.GRU(8, 4, 2, bidirectional=True), (x,)),
    ):
        found, expected = gradd.offload(model, args)(*args), model(*args)
        if isinstance(found, tuple):
            close(found[1], expected[1])
            found, expected = found[0], expected[0]
        close(found, expected)


def test_what_is_not_supported_is_named_before_anything_runs(session: gradd.Session) -> None:
    @torch.library.custom_op("gradd_tests::shift", mutates_args=())
    def shift(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    shift.register_fake(torch.empty_like)

    def forward(self: Any, x: Any) -> Any:
        return torch.fake_quantize_per_tensor_affine(shift(shift(x)) * self.w, 0.1, 0, 0, 255)

    before = session.stats()["batches"]
    with pytest.raises(NotImplementedError, match="these operators of the model: ") as refused:
        gradd.offload(made(forward, w=[1.0, 2.0]), torch.randn(2))
    expected = "aten.fake_quantize_per_tensor_affine_cachemask.default, gradd_tests.shift.default (2 times)"
    assert expected in str(refused.value)
    assert session.stats()["batches"] == before
    with pytest.raises(ValueError, match="parameters must be 'torch' or 'session', not 'gpu'"):
        gradd.offload(mlp(), torch.randn(3, 4), parameters="gpu")
    with pytest.raises(TypeError, match=r"offload\(\) takes a torch.nn.Module, not function"):
        gradd.offload(mlp, torch.randn(3, 4))


def test_an_error_of_a_call_is_torchs() -> None:
    model = torch.nn.Embedding(4, 2)
    offloaded = gradd.offload(model, torch.tensor([1]))
    with pytest.raises(IndexError, match="index out of range"):
        offloaded(torch.tensor([7]))
    assert offloaded(torch.tensor([3])).shape == (1, 2)


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradd.offload(mlp(), torch.randn(3, 4))(torch.randn(3, 4)).sum().backward()


# -- parameters in the session ---------------------------------------------------------------------


def test_parameters_and_optimizer_stay_in_the_session(session: gradd.Session) -> None:
    # Where a gradient is 0 but for rounding, AdamW makes a step of the rounding: hence double precision.
    model = GPT2().double()
    twin = copy.deepcopy(model)
    resident = gradd.offload(model, (torch.ones(2, 5, dtype=torch.int64),) * 2, parameters="session")
    assert isinstance(resident, gradd.nn.Module)
    assert list(resident.state_dict()) == list(model.state_dict())
    assert resident.head.weight is resident.wte.weight
    here = gradd.optim.AdamW(resident.parameters(), 1e-2)
    there = torch.optim.AdamW(twin.parameters(), 1e-2)
    for step in range(5):
        ids, labels = torch.randint(0, 11, (2, 2, 5))
        before = session.stats()
        loss = resident(ids, labels=labels)["loss"]
        here.zero_grad()
        loss.backward()
        here.step()
        value = loss.item()
        now = session.stats()
        assert now["round_trips"] - before["round_trips"] == 1
        if step > 2:
            assert now["bytes_sent"] - before["bytes_sent"] < 4_000
        expected = twin(ids, labels)["loss"]
        there.zero_grad()
        expected.backward()
        there.step()
        assert value == pytest.approx(expected.item(), abs=1e-5)
    close(resident(gradd.from_torch(ids), labels)["loss"], twin(ids, labels)["loss"])
    close(resident(ids)["logits"], twin(ids)["logits"])
    assert resident.write_back() is model
    with warnings.catch_warnings():
        # A copy was taken, so nothing is lost by a later step.
        warnings.simplefilter("error")
        here.step()
        there.step()
    resident.write_back()
    for p, q in zip(model.state_dict().values(), twin.state_dict().values(), strict=True):
        close(p, q)


def test_buffers_and_modes_in_the_session() -> None:
    model = ConvNet()
    twin, x = copy.deepcopy(model), torch.randn(4, 3, 8, 8)
    resident = gradd.offload(model, x, parameters="session")
    close(resident(x), twin(x))
    for b, c in zip(resident.buffers(), twin.buffers(), strict=True):
        close(b, c)
    resident.eval()
    close(resident(gradd.from_torch(x)), twin.eval()(x))
    resident.norm.train()
    twin.norm.train()
    close(resident(x[:2]), twin(x[:2]))
    resident.write_back()
    for b, c in zip(model.buffers(), twin.buffers(), strict=True):
        close(b, c)
