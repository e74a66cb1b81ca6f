"""Profiles in PyTorch's form (torch.profiler) of what `Session.profile` measures: the kernels of the daemon,
and the ranges that a script marks with `record_function`.

Source: https://docs.pytorch.org/docs/stable/profiler.html
"""

from .events import DeviceType, EventList, FunctionEvent, FunctionEventAvg
from .profile import (
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from .ranges import record_function

__all__ = [
    "DeviceType",
    "EventList",
    "ExecutionTraceObserver",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
