"""torch.profiler and torch.autograd.profiler name by name: what PyTorch has is here, with its arguments."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module

pytestmark = pytest.mark.skipif(not ITSELF, reason="asks PyTorch for its names")

#: methods of PyTorch's lists of events that are those of a list
_LIST = frozenset(dir(list))


def classes() -> dict[str, tuple[Any, Any]]:
    """PyTorch's class and ours, by name. Those of events have their members in instances alone."""
    torch = module()
    assert torch is not None
    util = torch.autograd.profiler_util
    return {
        "profile": (torch.profiler.profile, gradd.profiler.profile),
        "autograd profile": (torch.autograd.profiler.profile, gradd.autograd.profiler.profile),
        "record_function": (torch.profiler.record_function, gradd.profiler.record_function),
        "EventList": (util.EventList, gradd.profiler.EventList),
    }


def functions() -> dict[str, tuple[Any, Any]]:
    """PyTorch's function and ours, by name."""
    torch = module()
    assert torch is not None
    new = {name: (getattr(torch.profiler, name), getattr(gradd.profiler, name)) for name in (
        "schedule", "supported_activities", "tensorboard_trace_handler",
    )}  # fmt: skip
    older = ("load_nvprof", "parse_nvprof_trace", "emit_itt", "emit_nvtx")
    return new | {
        name: (getattr(torch.autograd.profiler, name), getattr(gradd.autograd.profiler, name))
        for name in older
    }


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults, without `self`."""
    given = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in given if p.name != "self"]


@pytest.mark.parametrize("name", functions() if ITSELF else [])
def test_a_function_takes_what_pytorch_s_takes(name: str) -> None:
    theirs, ours = functions()[name]
    assert parameters(ours) == parameters(theirs)


@pytest.mark.parametrize("name", classes() if ITSELF else [])
def test_a_class_has_what_pytorch_s_has(name: str) -> None:
    theirs, ours = classes()[name]
    public = [n for n in dir(theirs) if not n.startswith("_") and not (name == "EventList" and n in _LIST)]
    assert len(public) + (name == "record_function") > 0
    lacking = []
    for member in public:
        if not hasattr(ours, member):
            lacking.append(member)
        elif callable(getattr(theirs, member)):
            assert parameters(getattr(ours, member)) == parameters(getattr(theirs, member)), member
    assert lacking == []
    if name != "EventList":  # made by PyTorch alone
        assert parameters(ours) == parameters(theirs)


#: members that PyTorch's profiler sets when it makes events
_MAKING = {
    "add", "append_cpu_child", "append_kernel", "set_cpu_parent", "self_cpu_percent", "total_cpu_percent",
    "self_device_percent", "total_device_percent", "event_metadata",
    "activity_type", "device_index", "device_resource_id", "external_id", "extra_meta", "flow_id",
    "flow_start", "flow_type", "fwd_thread", "input_dtypes", "is_python_function", "linked_correlation_id",
    "metadata_json", "python_module_id", "sequence_nr", "structured_input_shapes",
    "structured_input_strides", "trace_name",
}  # fmt: skip


def profiled(T: Any) -> Any:
    activities = [T.profiler.ProfilerActivity.CPU]
    with T.profiler.profile(activities=activities) as p, T.profiler.record_function("range"):
        T.ones(4).exp().sum()
    return p


def test_events_have_pytorch_s_members_or_say_why_not() -> None:
    theirs = profiled(module())
    with gradd.connect("local:"):
        ours = profiled(gradd)
    for their, our in (
        (theirs.key_averages()[0], ours.key_averages()[0]),
        (theirs.events()[0], ours.events()[0]),
    ):
        missing = {}
        for member in sorted({*dir(their), *vars(their)} - _MAKING):
            if member.startswith("_"):
                continue
            try:
                getattr(our, member)
            except AttributeError as error:
                missing[member] = str(error)
        assert {member for member, why in missing.items() if not why.endswith("by gradd")} == set()


def test_a_table_has_pytorch_s_columns_and_lines() -> None:
    theirs = profiled(module()).key_averages()
    with gradd.connect("local:"):
        ours = profiled(gradd).key_averages()
    for options in ({}, {"header": "A header"}, {"top_level_events_only": True}, {"time_unit": "ms"}):
        their, our = (t.table(**options).splitlines() for t in (theirs, ours))
        for one, other in zip(their, our, strict=False):
            if one.startswith((" ", "A", "T")) and "Name" not in one and "." in one:
                break
            assert other.split() == one.split() or set(one.strip()) <= {"-", "=", " "}
        assert our[-1].startswith("Self CPU time total: ")
    rows = ours.table(time_unit="ms").splitlines()[3:]
    assert all("us " not in row for row in rows)


def test_tables_are_sorted_by_the_same_keys() -> None:
    theirs = profiled(module()).key_averages()
    with gradd.connect("local:"):
        ours = profiled(gradd).key_averages()
    keys = [
        f"{whose}{of}_time{total}"
        for whose in ("", "self_")
        for of in ("cpu", "cuda", "xpu")
        for total in ("", "_total")
    ]
    keys += [f"{whose}{of}_memory_usage" for whose in ("", "self_") for of in ("cpu", "cuda")]
    keys += ["count", "key", "flops", "input_shapes", "scope", "node_id", "nothing", "Self CPU"]

    def answer(events: Any, key: str) -> str:
        try:
            return str(events.table(sort_by=key).count("Self CPU time total"))
        except AttributeError as error:
            return str(error)

    assert {key: answer(ours, key) for key in keys} == {key: answer(theirs, key) for key in keys}
    counts = [e.count for e in ours]
    lines = ours.table(sort_by="count").splitlines()[3:-2]
    assert [int(line.split()[-1]) for line in lines] == sorted(counts, reverse=True)


def test_schedules_are_pytorch_s(recwarn: pytest.WarningsRecorder) -> None:
    torch = module()
    assert torch is not None
    for wait, warmup, active, repeat, skip, early in itertools.product(
        (0, 1, 3), (0, 2), (1, 3), (0, 2), (0, 2), (0, 1)
    ):
        said = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip}
        plans = [P.schedule(**said, skip_first_wait=early) for P in (torch.profiler, gradd.profiler)]
        theirs, ours = ([plan(n).name for n in range(25)] for plan in plans)
        assert ours == theirs, said
    for plan in plans:
        with pytest.raises(AssertionError, match="non-negative"):
            plan(-1)


def test_enumerations_are_pytorch_s() -> None:
    torch = module()
    assert torch is not None
    P = torch.profiler
    ours, theirs = ({a.name: a.value for a in T.ProfilerAction} for T in (gradd.profiler, P))
    assert ours == theirs
    for name in ("DeviceType", "ProfilerActivity"):
        members = getattr(P, name).__members__
        assert {m.name: m.value for m in getattr(gradd.profiler, name)} == {
            n: int(m) for n, m in members.items() if n != "COMPILE_TIME_MAX_DEVICE_TYPES"
        }
