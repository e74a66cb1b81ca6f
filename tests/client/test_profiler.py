"""torch.profiler's form of a profile, timers of torch.utils.benchmark, events and streams."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd.profiler.ranges import LISTENING


def _work(T: Any) -> None:
    with T.profiler.record_function("forward"):
        x = T.ones(8, 8, requires_grad=True)
        (x @ x).exp().sum().backward()


def test_a_profile_says_what_ran(T: Any, tmp_path: Path) -> None:
    P = T.profiler
    with P.profile(activities=[P.ProfilerActivity.CPU], record_shapes=True) as p:
        _work(T)
    events = {e.key.removeprefix("aten::"): e for e in p.key_averages()}
    assert events["forward"].count == 1
    assert events["mm"].count >= 1
    assert events["mm"].self_cpu_time_total > 0
    assert events["exp"].cpu_time_total > 0
    table = p.key_averages().table(sort_by="cpu_time_total", row_limit=5)
    assert "Self CPU time total" in table
    assert "# of Calls" in table
    for memory in ("self_cpu_memory_usage", "cpu_memory_usage"):
        assert "# of Calls" in p.key_averages().table(sort_by=memory)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        p.key_averages().table(sort_by="nothing")
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    names = {e.get("name") for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert "forward" in names
    assert names & {"exp", "aten::exp"}


def test_a_schedule_says_which_steps_are_measured(T: Any) -> None:
    P, seen = T.profiler, []
    plan = P.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    assert [plan(i).name for i in range(7)] == [
        "NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE",
    ]  # fmt: skip
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        P.schedule(wait=0, warmup=0, active=0)

    def ready(p: Any) -> None:
        seen.append((p.step_num, {e.key: e.count for e in p.key_averages()}["forward"]))

    options = {"activities": [P.ProfilerActivity.CPU], "on_trace_ready": ready}
    with P.profile(schedule=P.schedule(wait=0, warmup=1, active=2, repeat=1), **options) as p:
        for _ in range(4):
            _work(T)
            p.step()
    assert seen == [(3, 2)]


@pytest.mark.parametrize("use_gzip", [False, True])
def test_traces_for_tensorboard(T: Any, tmp_path: Path, use_gzip: bool) -> None:
    ready = T.profiler.tensorboard_trace_handler(str(tmp_path / "log"), worker_name="w", use_gzip=use_gzip)
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], on_trace_ready=ready):
        _work(T)
    (written,) = (tmp_path / "log").iterdir()
    assert written.name.startswith("w.")
    assert written.name.endswith(".pt.trace.json.gz" if use_gzip else ".pt.trace.json")
    data = written.read_bytes()
    assert json.loads(gzip.decompress(data) if use_gzip else data)["traceEvents"]


def test_steps_are_ranges_and_cycles_may_be_kept(T: Any, tmp_path: Path) -> None:
    P, seen, files = T.profiler, [], []

    def ready(p: Any) -> None:
        files.append(tmp_path / f"{len(files)}.json")
        p.export_chrome_trace(str(files[-1]))
        seen.append({e.key: e.count for e in p.key_averages()})

    options = {"activities": [P.ProfilerActivity.CPU], "on_trace_ready": ready, "acc_events": True}
    with P.profile(schedule=P.schedule(wait=1, warmup=1, active=2, repeat=2), **options) as p:
        for _ in range(8):
            _work(T)
            p.step()
    assert [found["ProfilerStep*"] for found in seen] == [2, 4]
    assert [found["forward"] for found in seen] == [2, 4]
    steps = [
        sorted(
            e["name"]
            for e in json.loads(file.read_text())["traceEvents"]
            if e["ph"] == "X" and e["name"].startswith("ProfilerStep#")
        )
        for file in files
    ]
    assert steps == [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]]


def test_events_are_single_calls_in_their_order(T: Any) -> None:
    P = T.profiler
    with P.profile(activities=[P.ProfilerActivity.CPU]) as p, P.record_function("outer"):
        for _ in range(2):
            _work(T)
    events = [e for e in p.events() if e.name in ("outer", "forward")]
    assert [e.name for e in events] == ["outer", "forward", "forward"]
    outer, first, second = (e.time_range for e in events)
    assert outer.start <= first.start <= first.end <= second.start <= second.end <= outer.end
    assert events[0].cpu_time_total == outer.elapsed_us() > 0
    assert events[0].device_type == P.DeviceType.CPU
    assert events[0].thread == events[1].thread
    exps = [e for e in p.events() if e.name.removeprefix("aten::") == "exp"]
    assert len(exps) == 2
    assert [e.id for e in p.events()] == sorted({e.id for e in p.events()})
    averages = {e.key: e for e in p.events().key_averages()}
    assert averages["forward"].count == 2
    assert float(averages["outer"].cpu_time_total_str.rstrip("mus")) > 0


def test_a_trace_has_the_metadata_that_it_was_given(T: Any, tmp_path: Path) -> None:
    P, file = T.profiler, tmp_path / "trace.json"
    p = P.profile(activities=[P.ProfilerActivity.CPU], custom_trace_id_callback=lambda: "mine")
    assert p.get_trace_id() is None
    p.preset_metadata_json("early", "[1, 2]")
    p.start()
    _work(T)
    p.add_metadata("name", "a model")
    p.add_metadata_json("shape", '{"rows": 3}')
    p.stop()
    assert p.get_trace_id() == "mine"
    p.export_chrome_trace(str(file))
    said = json.loads(file.read_text())
    assert (said["early"], said["name"], said["shape"]) == ([1, 2], "a model", {"rows": 3})


def test_traces_begin_and_end_by_hand(T: Any) -> None:
    P = T.profiler
    p = P.profile(activities=[P.ProfilerActivity.CPU])
    p.prepare_trace()
    p.start_trace()
    _work(T)
    p.stop_trace()
    assert {e.key for e in p.key_averages()} >= {"forward"}


def test_the_older_profile(T: Any) -> None:
    with T.autograd.profiler.profile() as p, T.autograd.profiler.record_function("mine"):
        _work(T)
    keys = {e.key.removeprefix("aten::") for e in p.key_averages()}
    assert {"mine", "forward", "exp"} <= keys
    assert p.self_cpu_time_total > 0
    assert "exp" in p.table(sort_by="self_cpu_time_total")
    assert "exp" in str(p)
    assert p.total_average().count > 2
    with T.autograd.profiler.profile(enabled=False) as p:
        _work(T)


def test_what_profiles_refuse(tmp_path: Path) -> None:
    with gradd.connect("local:"):
        assert gradd.profiler.supported_activities() == {gradd.profiler.ProfilerActivity.CPU}
        with gradd.profiler.profile() as p:
            with pytest.raises(RuntimeError, match="until it is stopped"):
                p.key_averages()

            @gradd.profiler.record_function("decorated")
            def double(x: Any) -> Any:
                return x * 2

            assert double(gradd.ones(1)).tolist() == [2.0]
        assert [e.count for e in p.events() if e.key == "decorated"] == [1]
        with pytest.raises(NotImplementedError, match="have no stacks"):
            p.export_stacks(str(tmp_path / "stacks"))
        with pytest.raises(NotImplementedError, match="do not measure memory"):
            p.export_memory_timeline(str(tmp_path / "memory"))
        with pytest.raises(NotImplementedError, match="all activities or none"):
            p.toggle_collection_dynamic(True, [])
        with pytest.raises(NotImplementedError, match="no execution traces"):
            gradd.profiler.ExecutionTraceObserver()
        with pytest.raises(NotImplementedError, match="no execution traces"):
            gradd.profiler.profile(execution_trace_observer=object())
        with pytest.raises(NotImplementedError, match="of the profile"):
            p.events().export_chrome_trace(str(tmp_path / "events"))
        with pytest.raises(NotImplementedError, match="have no stacks"):
            p.events().export_stacks(str(tmp_path / "stacks"), "self_cpu_time_total")
        (first, *_) = p.key_averages()
        for name, why in {"cpu_memory_usage": "memory", "input_shapes": "shapes", "flops": "FLOPs"}.items():
            with pytest.raises(AttributeError, match=f"no attribute '{name}': {why}"):
                getattr(first, name)
        profiler = gradd.autograd.profiler
        for refused in (profiler.emit_nvtx, profiler.emit_itt):
            with pytest.raises(NotImplementedError, match="profile the daemon's process"):
                refused()
        for refused in (profiler.load_nvprof, profiler.parse_nvprof_trace):
            with pytest.raises(NotImplementedError, match="is not supported by gradd"):
                refused("trace")
        with (
            gradd.autograd.profiler.profile(enabled=False) as off,
            pytest.raises(RuntimeError, match="Profiler didn't finish running"),
        ):
            off.key_averages()


def test_timers_measure_statements(T: Any) -> None:
    B, x = importlib.import_module(f"{T.__name__}.utils.benchmark"), T.ones(4)
    timer = B.Timer("x + n", setup="n = 2", globals={"x": x}, label="add", sub_label="four", description="d")
    once = timer.timeit(10)
    assert once.number_per_run == 10
    assert 0 < once.median == once.mean == once.times[0] == once.raw_times[0] / 10
    assert once.iqr == 0
    assert (once.title, once.as_row_name) == ("add: four", "four")
    assert "1 measurement, 10 runs , 1 thread" in repr(once)
    assert "setup: n = 2" in repr(once)
    indented = B.Timer(
        """
            y = x + n
            y * 2
        """,
        setup="""
            n = 2
        """,
        globals={"x": x},
    )
    assert indented.timeit(2).median > 0
    told: list[int] = []
    many = timer.blocked_autorange(lambda number, seconds: told.append(number), min_run_time=0.02)
    assert sum(many.raw_times) >= 0.02
    assert len(told) == len(many.times) >= 1
    assert timer.adaptive_autorange(0.5, min_run_time=0.01, max_run_time=0.2).median > 0
    table = str(B.Compare([once, many]))
    assert "add" in table.splitlines()[0]
    assert "four" in table
    assert "Times are in" in table
    for name in ("repeat", "autorange"):
        with pytest.raises(NotImplementedError, match=r"See `Timer.blocked_autorange.`"):
            getattr(timer, name)()
    with pytest.raises(ValueError, match=r"global_setup is C\+\+ only, got `int x;`"):
        B.Timer(global_setup="int x;")


def test_measurements_are_merged_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    B = gradd.utils.benchmark
    specs = [
        B.TaskSpec("f()", label="mm", sub_label=row, description=column)
        for row in ("8x8", "16x16")
        for column in ("a", "b")
    ]
    held = [B.Measurement(10, [0.01 * (i + 1), 0.02], spec) for i, spec in enumerate(specs)]
    (merged,) = B.Measurement.merge([held[0], B.Measurement(10, [0.03], specs[0])])
    assert merged.raw_times == [0.01, 0.02, 0.03]
    assert merged.meets_confidence(1.0)
    assert "3 measurements, 10 runs per measurement" in repr(merged)
    compare = B.Compare(held[:2])
    compare.extend_results(held[2:])
    compare.trim_significant_figures()
    compare.colorize()
    compare.highlight_warnings()
    compare.print()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip("-") == "[mm]"
    assert lines[1].split() == ["|", "a", "|", "b"]
    assert lines[3].split() == ["8x8", "|", "1.5", "|", "2"]
    assert lines[-1] == "Times are in ms."
    with pytest.raises(NotImplementedError, match="statements of Python"):
        B.Timer(language="c++")
    with gradd.connect("local:"), pytest.raises(NotImplementedError, match="instructions are not counted"):
        B.Timer().collect_callgrind()


def test_a_profile_whose_session_is_gone_is_over() -> None:
    """Else what is marked later would be kept for ever, for nobody."""
    session = gradd.connect("local:")
    p = gradd.profiler.profile()
    with pytest.raises(gradd.SessionClosed), p:
        session.close()
    assert LISTENING == []
    p.stop()
    assert p.key_averages() == []


def test_events_are_where_the_measured_session_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:"):
        p = gradd.profiler.profile()
        p.start()
        gradd.ones(2).tolist()
        with gradd.connect("local:") as other:
            monkeypatch.setattr(other.backend, "device", gradd.device("cuda"))
            p.stop()
    assert {e.device_type for e in (*p.events(), *p.key_averages())} == {gradd.profiler.DeviceType.CPU}


def test_events_and_streams_keep_the_one_order() -> None:
    cuda = gradd.cuda
    with gradd.connect("local:") as session:
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        with pytest.raises(RuntimeError, match="must be recorded before calculating elapsed time"):
            begin.elapsed_time(end)
        begin.record()
        x = gradd.ones(4) + 1
        end.record()
        assert session.wire.answered == session.wire.seq
        assert begin.elapsed_time(end) > 0
        assert end.elapsed_time(begin) < 0
        with pytest.raises(RuntimeError, match="must be created with argument 'enable_timing=True'"):
            begin.elapsed_time(cuda.Event())
        s = cuda.Stream()
        with cuda.stream(s):
            s.wait_stream(cuda.current_stream())
            s.wait_event(s.record_event())
            y = x * 2
        cuda.set_stream(cuda.default_stream())
        with cuda.stream(None):
            assert y.tolist() == [4.0] * 4
        assert cuda.current_stream().query()
        assert end.query()
        end.wait()
        with pytest.raises(NotImplementedError, match="several processes"):
            cuda.Event(interprocess=True)
    assert cuda.nvtx.range_push("a") == 0
    with cuda.nvtx.range("step {}", 1):
        assert cuda.nvtx.range_push("c") == 2
        assert cuda.nvtx.range_pop() == 2
    assert cuda.nvtx.range_pop() == 0
    assert cuda.nvtx.range_pop() == -1
    cuda.nvtx.mark("here")
    cuda.nvtx.range_end(cuda.nvtx.range_start("b"))
