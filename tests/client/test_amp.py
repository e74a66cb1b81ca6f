"""Mixed precision: regions of autocast, and GradScaler."""

from __future__ import annotations

import contextlib
import copy
import warnings
from typing import Any

import gradd
import pytest


def _filled(T: Any, *modules: Any) -> None:
    """Parameters that are the same on both."""
    with T.no_grad():
        for m in modules:
            for p in m.parameters():
                p.copy_((T.arange(float(p.numel())).reshape(p.shape) % 7 - 3) / 5)


def _flat(t: Any) -> Any:
    """The values of a tensor."""
    return t.detach().float().flatten().tolist()


def test_a_model_trains_with_float32_parameters_and_gradients(T: Any) -> None:
    model = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.ReLU(), T.nn.LayerNorm(8), T.nn.Linear(8, 2))
    _filled(T, model)
    x, target = T.arange(12.0).reshape(3, 4) / 8, T.tensor([0, 1, 1])
    optimizer = T.optim.SGD(model.parameters(), lr=0.1)
    with T.autocast("cpu", dtype=T.bfloat16):
        out = model(x)
        loss = T.nn.functional.cross_entropy(out, target)
    assert (out.dtype, loss.dtype) == (T.bfloat16, T.float32)
    loss.backward()
    assert {p.grad.dtype for p in model.parameters()} == {T.float32}
    optimizer.step()
    assert {p.dtype for p in model.parameters()} == {T.float32}
    assert _flat(out) == pytest.approx([1.21, -1.05, 1.24, -1.13, 1.24, -1.14], abs=0.02)
    assert (model(x) @ model(x).t()).dtype == T.float32


def test_a_parameter_is_cast_once_in_a_region(T: Any) -> None:
    w, x = T.nn.Parameter(T.ones(2, 2)), T.ones(2, 2)

    def sources(**options: Any) -> int:
        with T.autocast("cpu", **options):
            both = [(x @ w).grad_fn.next_functions[1][0] for _ in range(2)]
        return len({id(node) for node in both} if T is not gradd else {str(node) for node in both})

    assert w.grad is None
    assert sources() == 1
    assert sources(cache_enabled=False) == 2
    with T.autocast("cpu"):
        once = x @ w
        with T.no_grad():
            w.mul_(3)
        T.clear_autocast_cache()
        assert (x @ w).tolist() == [[6, 6], [6, 6]]
    once.sum().backward()
    assert w.grad.dtype == T.float32


def test_regions_nest_and_end(T: Any) -> None:
    x = T.ones(2, 2)
    assert not T.is_autocast_enabled("cpu")
    assert T.get_autocast_dtype("cpu") == T.bfloat16
    assert T.get_autocast_dtype("cuda") == T.float16
    with T.autocast("cpu", dtype=T.float16):
        assert T.is_autocast_enabled("cpu")
        assert not T.is_autocast_enabled("cuda")
        assert T.get_autocast_dtype("cpu") == (x @ x).dtype == T.float16
        with T.autocast("cpu", enabled=False):
            assert not T.is_autocast_enabled("cpu")
            assert (x @ x).dtype == T.float32
            with T.amp.autocast_mode.autocast("cpu", T.bfloat16, cache_enabled=False):
                assert not T.is_autocast_cache_enabled()
                assert (x @ x).dtype == T.bfloat16
            assert T.is_autocast_cache_enabled()
        with pytest.raises(RuntimeError), T.autocast("cpu"):
            x @ T.ones(3, 3)
        assert (x @ x).dtype == T.float16
        assert (x @ x + x).dtype == T.float32
    assert (x @ x).dtype == T.float32
    assert T.get_autocast_dtype("cpu") == T.bfloat16


def test_a_region_decorates_functions(T: Any) -> None:
    @T.autocast(device_type="cpu")
    def product(x: Any) -> Any:
        """Of itself."""
        return x @ x

    assert product.__doc__ == "Of itself."
    assert product(T.ones(2, 2)).dtype == T.bfloat16
    with pytest.raises(TypeError, match=r"autocast\(\)\(func\) requires a callable, but got int"):
        T.autocast("cpu")(3)


def test_what_is_no_region(T: Any) -> None:
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
        T.autocast(3)
    with pytest.raises(RuntimeError, match=r"nowhere|unsupported"):
        T.autocast("nowhere")
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        region = T.autocast("cpu", dtype=T.float32)
    with region:
        assert not T.is_autocast_enabled("cpu")
    with pytest.warns(
        UserWarning, match="CUDA is not available or torch_xla is imported. Disabling autocast"
    ):
        region = T.autocast("cuda")
    with region:
        assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float32
    assert T.amp.is_autocast_available("cpu")
    assert T.amp.is_autocast_available("cuda")


def test_settings_without_a_region(T: Any) -> None:
    T.set_autocast_enabled("cpu", True)
    T.set_autocast_dtype("cpu", T.float16)
    T.set_autocast_cache_enabled(False)
    try:
        assert T.autocast_increment_nesting() == 1
        assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float16
        assert T.autocast_decrement_nesting() == 0
        assert not T.is_autocast_cache_enabled()
    finally:
        T.set_autocast_enabled("cpu", False)
        T.set_autocast_dtype("cpu", T.bfloat16)
        T.set_autocast_cache_enabled(True)
    assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float32


def test_tensors_are_turned_in_place_in_a_region(T: Any) -> None:
    x = T.ones(2, 3, requires_grad=True)
    with T.autocast("cpu", dtype=T.bfloat16):
        for turn in (
            "t_()",
            "unsqueeze_(0)",
            "squeeze_()",
            "transpose_(0, 1)",
            "as_strided_((3, 2), (1, 3))",
        ):
            y = x * 2
            eval(f"y.{turn}", {"y": y})
            (y * y).sum().backward()
    assert x.grad.tolist() == [[40.0] * 3] * 2


def test_what_stays_as_it_is(T: Any) -> None:
    x, out = T.ones(2, 2), T.zeros(2, 2)
    with T.autocast("cpu"):
        assert x.addmm_(x, x).dtype == T.float32  # in place: the target's
        assert T.mm(x, x, out=out).dtype == T.float32
        assert (x.double() @ x.double()).dtype == T.float64
        assert T.nn.functional.relu(x).dtype == T.float32


def test_recurrent_layers(T: Any) -> None:
    x = T.arange(8.0).reshape(1, 2, 4) / 8
    for kind, want in (("LSTM", T.bfloat16), ("GRU", T.float32), ("RNN", T.bfloat16)):
        layer = getattr(T.nn, kind)(4, 3, batch_first=True)
        try:
            with T.autocast("cpu"):
                out = layer(x)[0]
        except RuntimeError as error:
            if "primitive descriptor" not in str(error):
                raise
            pytest.skip(f"PyTorch's library has no {kind} of bfloat16 for this CPU")
        assert out.dtype == want, kind
        out.sum().backward()
        assert layer.weight_hh_l0.grad.dtype == T.float32
    with T.autocast("cpu"):
        assert T.nn.LSTMCell(4, 3)(x[0])[0].dtype == T.float32


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_recomputes_with_the_same_casts(T: Any, reentrant: bool) -> None:
    seen = []

    def block(x: Any) -> Any:
        seen.append((T.is_autocast_enabled("cpu"), (x @ x.t()).dtype))
        return layer(x).sigmoid()

    layer = T.nn.Linear(2, 2)
    _filled(T, layer)
    x = T.ones(3, 2, requires_grad=True)
    with T.autocast("cpu"):
        out = T.utils.checkpoint.checkpoint(block, x, use_reentrant=reentrant)
    assert out.dtype == T.bfloat16
    out.float().sum().backward()
    assert seen == [(True, T.bfloat16)] * 2
    assert not T.is_autocast_enabled("cpu")
    assert _flat(layer.weight.grad) == pytest.approx([0.418, 0.418, 0.6875, 0.6875], abs=0.01)


def test_functions_choose_their_casts(T: Any) -> None:
    seen = []

    class Product(T.autograd.Function):
        @staticmethod
        @T.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a.mm(b)

        @staticmethod
        @T.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append(g.mm(b.t()).dtype)
            return g.mm(b.t()).to(a.dtype), a.t().mm(g).to(b.dtype)

    class Whole(T.autograd.Function):
        @staticmethod
        @T.amp.custom_fwd(device_type="cpu", cast_inputs=T.float32)
        def forward(ctx: Any, a: Any) -> Any:
            seen.append((a.dtype, T.is_autocast_enabled("cpu")))
            return a * 2

        @staticmethod
        @T.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    a, b = (T.ones(2, 2, requires_grad=True) for _ in range(2))
    with T.autocast("cpu"):
        out = Product.apply(a, b)
        assert out.dtype == T.bfloat16
        found = Whole.apply(out)
    assert found.dtype == T.float32
    found.sum().backward()
    assert seen == [(T.float32, False), T.bfloat16]
    assert a.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert Whole.apply(a).dtype == T.float32
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        T.amp.custom_fwd(device_type=1)


def test_transforms_cast_too(T: Any) -> None:
    w, x = T.ones(2, 2), T.ones(3, 2)
    with T.autocast("cpu"):
        each = T.func.vmap(lambda row: row @ w)(x)
        slope = T.func.grad(lambda w: (x @ w).float().sum())(w)
    assert each.dtype == T.bfloat16
    assert each.tolist() == [[2.0, 2.0]] * 3
    assert slope.dtype == T.float32
    assert slope.tolist() == [[3.0, 3.0]] * 2


def test_a_recorded_function_knows_of_casts() -> None:
    with gradd.connect("local:") as session:
        w, x = gradd.nn.Parameter(gradd.ones(2, 2)), gradd.ones(2, 2)

        @gradd.function
        def step(x: Any) -> Any:
            return x @ w

        for _ in range(4):
            assert step(x).dtype == gradd.float32
            with gradd.autocast("cpu"):
                outside = x @ w
                found = step(x)
                assert found.dtype == outside.dtype == gradd.bfloat16
            with gradd.no_grad():
                w.add_(1)
            assert found.tolist() == outside.tolist()
        sent = session.wire.seq
        with gradd.autocast("cpu"):
            step(x)
        assert session.wire.seq == sent + 1


def _setup(T: Any, **options: Any) -> tuple[Any, Any, Any]:
    w = T.nn.Parameter(T.tensor([1.0, 2.0]))
    scaler = T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2, **options)
    return w, T.optim.SGD([w], lr=0.5), scaler


def test_a_scaled_loss_gives_the_same_step(T: Any) -> None:
    w, optimizer, scaler = _setup(T)
    for _ in range(3):
        optimizer.zero_grad()
        loss = (w * T.tensor([1.0, 3.0])).sum()
        scaled = scaler.scale(loss)
        assert scaled.item() == loss.item() * scaler.get_scale()
        scaled.backward()
        scaler.step(optimizer)
        scaler.update()
    assert w.tolist() == [-0.5, -2.5]
    assert scaler.get_scale() == 8.0
    assert scaler.state_dict() == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1,
    }  # fmt: skip


def test_a_step_with_infinite_gradients_is_skipped(T: Any) -> None:
    w, optimizer, scaler = _setup(T)
    for bad in (float("inf"), float("nan")):
        optimizer.zero_grad()
        scaler.scale((w * T.tensor([1.0, bad])).sum()).backward()
        scaler.unscale_(optimizer)
        assert w.grad[0].item() == 1.0
        T.nn.utils.clip_grad_norm_([w], 1.0)
        assert scaler.step(optimizer) is None
        scaler.update()
    assert w.tolist() == [1.0, 2.0]
    assert scaler.get_scale() == 1.0
    optimizer.zero_grad()
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update(16.0)
    assert (w.tolist(), scaler.get_scale()) == ([0.5, 1.5], 16.0)
    scaler.update(T.tensor(3.0))
    assert scaler.get_scale() == 3.0


def test_what_is_called_out_of_order(T: Any) -> None:
    w, optimizer, scaler = _setup(T)
    for name in ("unscale_", "step"):
        with pytest.raises(AssertionError, match=f"Attempted {name} but _scale is None.  This may indicate"):
            getattr(scaler, name)(optimizer)
    with pytest.raises(AssertionError, match="Attempted update but _scale is None"):
        scaler.update()
    scaler.scale(w.sum())
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler.update(4.0)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="has already been called on this optimizer since the last update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="is being called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="has already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
        copy.deepcopy(scaler)
    w.grad, w.data = None, w.data.half()
    scaler.update()
    scaler.scale(w.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match=r"The growth factor must be > 1\.0"):
        T.amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match=r"The backoff factor must be < 1\.0"):
        T.amp.GradScaler("cpu", backoff_factor=1.0)
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)


def test_several_outputs_are_scaled(T: Any) -> None:
    _, _, scaler = _setup(T)
    one, (two, three) = scaler.scale([T.ones(()), (T.ones(1), T.ones(2))])
    assert (one.item(), two.tolist(), three.tolist()) == (4.0, [4.0], [4.0, 4.0])


def test_a_scaler_is_saved_and_copied(T: Any) -> None:
    w, optimizer, scaler = _setup(T)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    other = T.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == copy.deepcopy(scaler).state_dict()
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    told = scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()
    assert told == (3.0, 0.25, 7)
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        scaler.load_state_dict({})


def test_a_disabled_scaler_passes_everything_through(T: Any) -> None:
    w, optimizer, scaler = _setup(T, enabled=False)
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 1.5]
    assert (scaler.is_enabled(), scaler.get_scale(), scaler.state_dict()) == (False, 1.0, {})
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available.  Disabling"):
        assert not T.amp.GradScaler().is_enabled()


def test_the_old_names_warn(T: Any) -> None:
    def late(match: str) -> Any:
        stack = contextlib.ExitStack()
        stack.enter_context(pytest.warns(FutureWarning, match=match))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", category=UserWarning)
        return stack

    with late(r"`torch.cuda.amp.autocast\(args...\)` is deprecated"):
        assert T.cuda.amp.autocast(enabled=False).device == "cuda"
    with late(r"Please use `torch.amp.GradScaler\('cuda', args...\)` instead"):
        assert not T.cuda.amp.GradScaler(enabled=False).is_enabled()
    with late(r"Please use `torch.amp.custom_fwd\(args..., device_type='cuda'\)` instead"):
        assert callable(T.cuda.amp.custom_fwd(lambda ctx: None))
    with late(r"Please use `torch.amp.custom_bwd\(args..., device_type='cuda'\)` instead"):
        assert callable(T.cuda.amp.custom_bwd(lambda ctx: None))
    with late(r"Please use `torch.amp.autocast\('cpu', args...\)` instead"):
        region = T.cpu.amp.autocast()
    with region:
        assert (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.bfloat16
    with late(r"Please use `torch.amp.GradScaler\('cpu', args...\)` instead"):
        assert T.cpu.amp.GradScaler().is_enabled()


def test_old_questions() -> None:
    assert not gradd.is_autocast_cpu_enabled()
    assert gradd.get_autocast_cpu_dtype() is gradd.bfloat16
    assert gradd.get_autocast_gpu_dtype() is gradd.float16
    gradd.set_autocast_enabled(True)
    assert gradd.is_autocast_enabled()
    gradd.set_autocast_enabled(False)
    with pytest.raises(RuntimeError, match="unknown device type for autocast"):
        gradd.get_autocast_dtype("nowhere")
    assert (gradd.cpu.is_available(), gradd.cpu.device_count(), gradd.cpu.current_device()) == (
        True,
        1,
        "cpu",
    )
