"""CUDA queries: without a GPU as PyTorch, and, with a session that says it is on one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd import cuda

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        if module().cuda.is_available():
            pytest.skip("there is a GPU")
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


#: what scripts ask of a machine without a GPU: lines, in order
LINES = """cuda.get_device_name()
cuda.get_device_name(0)
cuda.get_device_properties(0)
cuda.get_device_capability()
cuda.mem_get_info()
cuda.memory_allocated()
cuda.max_memory_allocated()
cuda.memory_reserved()
cuda.max_memory_reserved()
cuda.memory_stats()
cuda.memory_stats_as_nested_dict()
cuda.empty_cache()
cuda.ipc_collect()
cuda.synchronize()
cuda.current_device()
cuda.is_initialized()
cuda.init()
cuda.device(0).__enter__()
cuda.device("cuda:0").__enter__()
cuda.device(-1).__enter__()
cuda.device_of(T.ones(1)).__enter__()
cuda.stream(None).__enter__()
cuda.is_bf16_supported()
cuda.is_tf32_supported()
cuda.manual_seed(1)
cuda.manual_seed_all(1)
cuda.seed()
cuda.seed_all()
cuda.initial_seed()
cuda.get_rng_state()
cuda.get_rng_state_all()
cuda.set_rng_state_all([])
cuda.is_available()
cuda.device_count()
cuda.get_arch_list()
cuda.get_gencode_flags()
cuda.can_device_access_peer(0, 1)
cuda.utilization()
cuda.temperature()
cuda.list_gpu_processes()
cuda.set_per_process_memory_fraction(0.5)
cuda.get_per_process_memory_fraction()
cuda.get_sync_debug_mode()
cuda.set_sync_debug_mode(0)
cuda.cudart()
cuda.current_blas_handle()
cuda.caching_allocator_alloc(3)
cuda.has_magma, cuda.has_half, cuda.default_generators
cuda.amp.common.amp_definitely_not_available()
cuda.OutOfMemoryError is T.OutOfMemoryError
issubclass(T.OutOfMemoryError, RuntimeError), issubclass(T.AcceleratorError, RuntimeError)
cuda.FloatTensor(3)
isinstance(T.ones(1), cuda.FloatTensor)
isinstance(T.ones(1).half(), cuda.HalfTensor)
cuda.LongTensor
accelerator.device_count()
accelerator.is_available()
accelerator.current_accelerator()
accelerator.current_device_index()
accelerator.set_device_index(0)
accelerator.current_stream()
accelerator.synchronize()
accelerator.device_index(None).__enter__()
accelerator.device_index(0).__enter__()
accelerator.empty_cache()
accelerator.memory_allocated()
accelerator.max_memory_allocated()
accelerator.memory_stats()
accelerator.reset_peak_memory_stats()
accelerator.get_memory_info()
accelerator.get_device_capability()
mps.is_available()
mps.device_count()
mps.synchronize()
mps.empty_cache()
mps.manual_seed(1)
mps.seed()
mps.current_allocated_memory()
mps.driver_allocated_memory()
mps.recommended_max_memory()
mps.set_per_process_memory_fraction(0.5)
mps.set_per_process_memory_fraction(5)
mps.set_per_process_memory_fraction(5.0)
mps.get_rng_state()
xpu.is_available()
xpu.device_count()
xpu.current_device()
xpu.synchronize()
xpu.empty_cache()
xpu.manual_seed(1)
xpu.manual_seed_all(1)
xpu.get_device_name()
xpu.memory_allocated()
xpu.max_memory_allocated()
xpu.is_bf16_supported()
xpu.set_device(0)
xpu.is_initialized()
mtia.is_available()
mtia.device_count()
backends.cuda.is_built()
backends.cuda.is_flash_attention_available()
backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
backends.cudnn.is_available(), backends.cudnn.version()
backends.cudnn.is_acceptable(T.ones(1))
backends.cudnn.enabled, backends.cudnn.benchmark, backends.cudnn.deterministic
backends.mps.is_available(), backends.mps.is_built()
backends.opt_einsum.is_available() in (True, False)
backends.cusparselt.is_available()
backends.kleidiai.is_available()
cpu.is_available(), cpu.device_count(), cpu.current_device(), cpu.is_initialized()
cpu.stream(None).__enter__()
T.get_device_module("cuda") is cuda
T.get_device_module(T.device("cpu")) is cpu
T.get_device_module("cow")""".splitlines()


def _outcome(T: Any, line: str) -> Any:
    rooms = ("cuda", "accelerator", "mps", "xpu", "mtia", "backends", "cpu")
    try:
        return repr(eval(line, {"T": T, **{name: getattr(T, name, None) for name in rooms}}))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.skipif(not ITSELF, reason="asks PyTorch")
def test_what_scripts_ask_without_a_gpu() -> None:
    torch = module()
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with gradd.connect("local:"):
        found = {line: (_outcome(torch, line), _outcome(gradd, line)) for line in LINES}
    assert {line: both for line, both in found.items() if both[0] != both[1]} == {}


def test_without_a_gpu(T: Any) -> None:
    assert not T.cuda.is_available()
    assert not T.cuda.is_initialized()
    assert not T.cuda.is_bf16_supported()
    assert T.cuda.device_count() == T.cuda.memory_allocated() == 0
    T.cuda.empty_cache()
    T.manual_seed(1)
    first = T.rand(2).tolist()
    T.manual_seed(1)
    T.cuda.manual_seed_all(2)
    T.cuda.manual_seed(3)
    assert T.rand(2).tolist() == first  # another device's stream
    for ask in (T.cuda.current_device, T.cuda.synchronize):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            ask()


def test_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:") as session:
        monkeypatch.setattr(session.backend, "device", gradd.device("cuda"))
        assert cuda.current_device() == 0
        assert cuda.device_count() == 1
        assert cuda.is_bf16_supported()
        assert cuda.is_bf16_supported(including_emulation=False)
        assert cuda.is_tf32_supported()
        for own in (0, "cuda", "cuda:0", gradd.device("cuda"), gradd.device("cuda", 0)):
            cuda.set_device(own)
        for other in (1, "cuda:1"):
            with pytest.raises(RuntimeError, match="invalid device ordinal"):
                cuda.set_device(other)
        with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
            cuda.set_device("cpu")
        cuda.manual_seed_all(3)
        first = gradd.rand(2).tolist()
        gradd.manual_seed(3)
        assert gradd.rand(2).tolist() == first
        kept = gradd.ones(1000)
        before = session.wire.seq
        cuda.synchronize()
        assert session.wire.answered == session.wire.seq == before + 1
        assert cuda.memory_allocated() >= kept.nbytes


def test_figures_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:") as session:
        monkeypatch.setattr(session.backend, "device", gradd.device("cuda"))
        cuda.reset_peak_memory_stats()
        kept = gradd.ones(1000)
        most = cuda.max_memory_allocated()
        assert most >= kept.nbytes
        del kept
        session.flush()
        assert cuda.memory_allocated() < most == cuda.max_memory_allocated()
        assert cuda.memory_stats()["allocated_bytes.all.peak"] == most
        assert cuda.memory_stats_as_nested_dict()["reserved_bytes"]["all"]["peak"] == most
        assert "Allocated memory" in cuda.memory_summary()
        with cuda.device(0), cuda.device_of(gradd.ones(1)):
            assert gradd.accelerator.memory_allocated() == cuda.memory_allocated()
        with pytest.raises(RuntimeError, match="invalid device ordinal"), cuda.device(1):
            pass
        for untold in (cuda.get_device_name, cuda.get_device_properties, cuda.mem_get_info):
            with pytest.raises(NotImplementedError, match="is not yet told by gradd"):
                untold()
        state = cuda.get_rng_state()
        first = gradd.rand(2).tolist()
        cuda.set_rng_state_all([state])
        assert gradd.rand(2).tolist() == first


def test_what_a_daemon_does_itself_is_refused() -> None:
    for make in (cuda.CUDAGraph, cuda.graph, cuda.make_graphed_callables, cuda.graph_pool_handle):
        with pytest.raises(RuntimeError, match="Tried to instantiate dummy base class"):
            make()
    assert not cuda.is_current_stream_capturing()


def test_memory_that_is_not_there_is_pytorchs_error() -> None:
    with gradd.connect("local:"), pytest.raises(gradd.cuda.OutOfMemoryError, match="out of memory"):
        gradd.ones(1 << 45).sum().item()


@pytest.mark.filterwarnings("ignore:TF32 acceleration")
def test_switches_of_backends_keep_what_they_are_told(T: Any) -> None:
    backends = T.backends
    with backends.mkldnn.flags(enabled=False):
        assert not backends.mkldnn.enabled
    assert backends.mkldnn.enabled
    with backends.mkl.verbose(backends.mkl.VERBOSE_OFF):
        assert backends.mkl.VERBOSE_ON == 1
    assert backends.cuda.is_flash_attention_available() in (True, False)
    backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    assert backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    with pytest.raises(RuntimeError, match=r"Cannot execute isOnMacOSorNewer\(\) without MPS backend"):
        backends.mps.is_macos13_or_newer()
    with T.cpu.stream(T.cpu.Stream()):
        assert T.cpu.Event().query()


def test_streams_of_numbers_without_a_gpu(T: Any) -> None:
    assert T.cuda.get_rng_state_all() == []
    T.cuda.set_rng_state_all([])
    T.cuda.set_rng_state(T.get_rng_state())
    for ask in (T.cuda.get_rng_state, T.cuda.initial_seed, T.cuda.get_device_name):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            ask()
    assert not T.cuda._initialized
    with T.cuda.device(-1), T.cuda.device_of(T.ones(2)):
        assert not T.cuda.is_initialized()
    assert T.utils.checkpoint.get_device_states(T.ones(2)) in (([], []), ((), ()))


def test_types_without_a_gpu(T: Any) -> None:
    x = T.ones(2)
    assert not isinstance(x, T.cuda.FloatTensor)
    assert repr(T.cuda.LongTensor) == "<class 'torch.cuda.LongTensor'>"
    assert T.cuda.DoubleTensor.dtype == T.float64
    with pytest.raises(TypeError, match=r"type torch.cuda.FloatTensor not available. Torch not compiled"):
        T.cuda.FloatTensor(3)


def test_types_and_blocks_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:") as session:
        monkeypatch.setattr(session.backend, "device", gradd.device("cuda"))
        x = cuda.FloatTensor([1, 2])
        assert isinstance(x, cuda.FloatTensor)
        assert not isinstance(x, cuda.LongTensor)
        assert x.type(cuda.LongTensor).dtype is gradd.int64
        states = cuda.get_rng_state_all()
        first = gradd.rand(2).tolist()
        cuda.set_rng_state_all(states)
        assert gradd.rand(2).tolist() == first
        with pytest.raises(RuntimeError, match="invalid device ordinal"), cuda.device(1):
            cuda.synchronize()
